//! A random segmentation: forward filtering, backward sampling (Kudo 2018, section 3.2).
//!
//! The forward pass sums the weights of all paths to each position, in logarithms; then pieces are drawn from the end
//! back. Time and memory are linear in the number of edges of the lattice.

use super::best_path::char_len;
use super::{Edge, Scratch, Unigram};
use crate::Result;

const NONE: u32 = u32::MAX;

/// An edge of the lattice, in the linked list of all edges with the same end.
struct Incoming {
    edge: Edge,
    log: f64,
    next: u32,
}

impl Unigram {
    /// Fills `scratch.path` with a random segmentation; its probability is proportional to exp(alpha * score).
    pub(super) fn sample(&self, word: &str, alpha: f64, scratch: &mut Scratch) -> Result<()> {
        // Logarithm of the summed weights of all paths to each position.
        let mut sums = vec![f64::NEG_INFINITY; word.len() + 1];
        sums[0] = 0.0;
        let (mut incoming, mut heads) = (Vec::<Incoming>::new(), vec![NONE; word.len() + 1]);
        let mut start = 0;
        while start < word.len() {
            let char_end = start + char_len(word.as_bytes()[start]);
            let so_far = sums[start];
            let mut offer = |end: usize, id: u32, score: f64| {
                let log = so_far + alpha * score;
                sums[end] = log_add(sums[end], log);
                let edge = Edge { start: start as u32, end: end as u32, id };
                incoming.push(Incoming { edge, log, next: heads[end] });
                heads[end] = incoming.len() as u32 - 1;
            };
            // No path leads to this position, so none leads on from it.
            if so_far > f64::NEG_INFINITY
                && !self.pieces_at(word, start, &mut offer)
                && let Some(unk_id) = self.options.unk_id
            {
                offer(char_end, unk_id, self.unknown_score());
            }
            start = char_end;
        }
        scratch.path.clear();
        let mut end = word.len();
        while end > 0 {
            let first = heads[end];
            let next = |&at: &u32| incoming.get(at as usize).map(|edge| edge.next);
            let list: Vec<&Incoming> =
                std::iter::successors(Some(first), next).filter_map(|at| incoming.get(at as usize)).collect();
            if list.is_empty() {
                let reached = sums.iter().rposition(|&sum| sum > f64::NEG_INFINITY).unwrap_or(0);
                return Err(self.no_unk_id(word, reached));
            }
            let chosen = scratch.choose(list.iter().map(|edge| edge.log));
            scratch.path.push(list[chosen].edge);
            end = list[chosen].edge.start as usize;
        }
        Ok(())
    }
}

impl Scratch {
    /// Draws an index with a probability proportional to the exponential of its number.
    ///
    /// There must be at least one.
    pub(super) fn choose(&mut self, logs: impl Iterator<Item = f64> + Clone) -> usize {
        let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
        let weights = logs.map(|log| (log - largest).exp());
        let mut left = self.random.f64() * weights.clone().sum::<f64>();
        let mut last = 0;
        for (index, weight) in weights.enumerate().filter(|&(_, weight)| weight > 0.0) {
            (last, left) = (index, left - weight);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

/// log(exp(left) + exp(right)).
fn log_add(left: f64, right: f64) -> f64 {
    let (high, low) = (left.max(right), left.min(right));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}
