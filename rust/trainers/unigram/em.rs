//! Expectation maximisation and pruning.

use std::ops::Range;

use super::corpus::Corpus;
use super::lattice::{Edge, GONE, Lattice, Scratch};
use super::nearest;
use super::seeds::{Seed, Suffixes};
use crate::Result;
use crate::structures::progress::OnProgress;
use crate::structures::workers::{METER_EVERY, Meter, run_parts};

/// Shares of a word are counted in parts of this: sums of integers are the same in any order.
const SHARE: f64 = 1_099_511_627_776.0;

/// A piece with a smaller expected count goes; a character counts at least as much.
const LEAST: u128 = 1 << 39;

/// Where a piece occurs first, or `None` for a character that no word holds.
type Place = Option<(usize, u16)>;

/// Pieces with their scores, and all their places.
pub(super) struct Pieces<'a> {
    corpus: &'a Corpus,
    lattice: Lattice,
    /// By id; characters come first and have their codes for ids.
    places: Vec<Place>,
    scores: Vec<f64>,
    threads: usize,
}

impl<'a> Pieces<'a> {
    /// Characters and seeds, scored by their counts and lengths.
    pub(super) fn new(corpus: &'a Corpus, suffixes: &Suffixes, seeds: &[Seed], threads: usize) -> Self {
        let lattice = Lattice::new(corpus, suffixes, seeds);
        let mut places: Vec<Place> = vec![None; corpus.alphabet.len()];
        for (at, &code) in corpus.codes.iter().enumerate().rev() {
            places[code as usize] = Some((at, 1));
        }
        places.extend(seeds.iter().map(|seed| Some((suffixes.position(seed.first), seed.len))));
        let characters = corpus.char_counts.iter().map(|&count| u128::from(count.max(1)));
        let seeds = seeds.iter().map(|seed| u128::from(seed.count) * u128::from(seed.len));
        let weights: Vec<u128> = characters.chain(seeds).collect();
        let total = nearest(weights.iter().sum());
        let scores = weights.into_iter().map(|weight| (nearest(weight) / total).ln()).collect();
        Self { corpus, lattice, places, scores, threads }
    }

    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    fn characters(&self) -> usize {
        self.corpus.alphabet.len()
    }

    /// One round of expectation and maximisation.
    pub(super) fn improve(&mut self, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let expected = self.expect(on_progress)?;
        let mut new_ids = vec![GONE; expected.len()];
        let mut kept = Vec::with_capacity(expected.len());
        for (id, &count) in expected.iter().enumerate() {
            if count >= LEAST || id < self.characters() {
                new_ids[id] = kept.len() as u32;
                kept.push(count.max(LEAST));
            }
        }
        let log_total = digamma(nearest(kept.iter().sum()) / SHARE);
        self.rename(&new_ids);
        self.scores = kept.into_iter().map(|count| digamma(nearest(count) / SHARE) - log_total).collect();
        Ok(())
    }

    /// How often each piece is expected over all segmentations, times [`SHARE`].
    fn expect(&self, on_progress: &mut OnProgress<'_>) -> Result<Vec<u128>> {
        let likelihoods: Vec<f64> = self.scores.iter().map(|score| score.exp()).collect();
        let parts = self.over_words("estimate", on_progress, |words, meter| {
            let (mut sums, mut scratch) = (vec![0u128; self.len()], Scratch::default());
            for index in metered(self.corpus, words, meter) {
                let count = u128::from(self.corpus.counts[index]);
                self.lattice.shares(self.corpus.word(index), &likelihoods, &mut scratch, |id, share| {
                    sums[id as usize] += count * u128::from(rounded(share * SHARE));
                });
            }
            sums
        })?;
        Ok(added(parts))
    }

    /// Keeps characters and the pieces without which the likelihood would fall most, `n` in all if there are so many.
    pub(super) fn prune(&mut self, n: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let used = added(self.over_words("prune", on_progress, |words, meter| {
            let (mut used, mut scratch) = (vec![0u64; self.len()], Scratch::default());
            for index in metered(self.corpus, words, meter) {
                let count = self.corpus.counts[index];
                let add = |edge: Edge| used[edge.id as usize] += count;
                self.lattice.best_path(self.corpus.word(index), &self.scores, GONE, &mut scratch, add);
            }
            used
        })?);
        let total = used.iter().map(|&count| u128::from(count)).sum();
        let share = self.len() / self.threads.max(1) + 1;
        let ranges =
            (0..self.threads.max(1)).map(|thread| thread * share..((thread + 1) * share).min(self.len()));
        let losses = run_parts("prune", self.len() as u64, ranges.collect(), on_progress, |ids, meter| {
            let mut scratch = Scratch::default();
            let ids = ids.start.max(self.characters())..ids.end;
            let counted = ids.filter(|&id| (id % METER_EVERY != 0 || meter.add(METER_EVERY)) && used[id] > 0);
            let loss = |id| self.loss_without(id, &used, total, &mut scratch).map(|loss| (loss, id));
            counted.filter_map(loss).collect::<Vec<(f64, usize)>>()
        })?;
        let mut losses = losses.concat();
        losses.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        losses.truncate(n.saturating_sub(self.characters()));
        let mut is_kept = vec![false; self.len()];
        is_kept[..self.characters()].fill(true);
        for &(_, id) in &losses {
            is_kept[id] = true;
        }
        let mut new_ids = vec![GONE; self.len()];
        let kept: Vec<usize> = (0..self.len()).filter(|&id| is_kept[id]).collect();
        for (new, &id) in (0u32..).zip(&kept) {
            new_ids[id] = new;
        }
        let scores = kept.iter().map(|&id| self.scores[id]).collect();
        self.rename(&new_ids);
        self.scores = scores;
        Ok(())
    }

    /// By how much the log likelihood falls if the next best segmentation takes the place of a piece; `None` if the
    /// piece is not the best segmentation of itself.
    fn loss_without(&self, id: usize, used: &[u64], total: u128, scratch: &mut Scratch) -> Option<f64> {
        let (start, len) = self.places[id]?;
        let word = start..start + usize::from(len);
        let mut edges = 0;
        self.lattice.best_path(word.clone(), &self.scores, GONE, scratch, |_| edges += 1);
        if edges > 1 {
            return None;
        }
        let mut alternative = Vec::new();
        self.lattice.best_path(word, &self.scores, id as u32, scratch, |edge| alternative.push(edge.id));
        let count = used[id];
        let more = u128::from(count) * (alternative.len() as u128).saturating_sub(1);
        let log_total = nearest(total + more).ln();
        let mut score = 0.0;
        for &other in alternative.iter().rev() {
            score += nearest(u128::from(used[other as usize]) + u128::from(count)).ln() - log_total;
        }
        let (count, total) = (nearest(u128::from(count)), nearest(total));
        Some(count / total * (count.ln() - total.ln() - score))
    }

    fn rename(&mut self, new_ids: &[u32]) {
        self.lattice.rename(new_ids);
        let mut id = 0;
        self.places.retain(|_| {
            id += 1;
            new_ids[id - 1] != GONE
        });
    }

    /// Characters and the best others, `n` in all, by descending score; equals by code points.
    pub(super) fn finish(self, n: usize) -> Vec<(String, f64)> {
        let text = |id: usize| match (self.corpus.alphabet.get(id), self.places[id]) {
            (Some(c), _) => c.to_string(),
            (None, Some((start, len))) => {
                self.corpus.text(&self.corpus.codes[start..start + usize::from(len)])
            }
            (None, None) => String::new(),
        };
        let by_score = |left: &(String, f64), right: &(String, f64)| {
            right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0))
        };
        let characters = self.characters();
        let mut all: Vec<(String, f64)> = (0..self.len()).map(|id| (text(id), self.scores[id])).collect();
        all[characters..].sort_unstable_by(by_score);
        all.truncate(n.max(characters));
        all.sort_unstable_by(by_score);
        all
    }

    fn over_words<R: Send>(
        &self,
        stage: &'static str,
        on_progress: &mut OnProgress<'_>,
        work: impl Fn(Range<usize>, &Meter) -> R + Sync,
    ) -> Result<Vec<R>> {
        let parts = self.corpus.parts(self.threads);
        run_parts(stage, self.corpus.codes.len() as u64, parts, on_progress, work)
    }
}

/// The words of a part, for as long as the result is wanted.
fn metered<'a>(
    corpus: &'a Corpus,
    words: Range<usize>,
    meter: &'a Meter,
) -> impl Iterator<Item = usize> + 'a {
    let mut done = 0;
    words.take_while(move |&index| {
        done += corpus.word(index).len();
        done < METER_EVERY || meter.add(std::mem::take(&mut done))
    })
}

/// The nearest integer, ties to even, of a number from 0 to 2^51.
fn rounded(number: f64) -> u64 {
    // From 2^52 on doubles are integers: the sum is rounded, and its low bits are the result.
    const INTEGERS: f64 = 4_503_599_627_370_496.0;
    (number + INTEGERS).to_bits() & ((1 << 52) - 1)
}

/// Sums of several parts, item by item.
fn added<T: Copy + std::ops::AddAssign>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_default();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// The derivative of log(gamma(x)) for positive x, to 10 digits (Bernardo 1976).
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let square = 1.0 / (x * x);
    let fourth = square * square;
    result += x.ln() + square / 24.0 - 7.0 / 960.0 * fourth;
    result + 31.0 / 8064.0 * fourth * square - 127.0 / 30720.0 * fourth * fourth
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounded_matches_naive(number in 0.0..1e12f64, half in 0..1u64 << 40) {
            prop_assert_eq!(rounded(number), number.round_ties_even() as u64);
            let tie = nearest(u128::from(half)) + 0.5;
            prop_assert_eq!(rounded(tie), tie.round_ties_even() as u64);
        }
    }

    #[test]
    fn digamma_has_its_known_values() {
        // At 1 it is the negative of Euler's constant, and it grows by 1 / x from x to x + 1.
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-10);
        assert!((digamma(8.5) - digamma(7.5) - 1.0 / 7.5).abs() < 1e-10);
    }
}
