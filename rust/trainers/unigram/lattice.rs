//! All segmentations of all words: by position, the pieces that start there.
//!
//! The edges come from the sorted suffixes themselves, so no piece is ever looked up: the suffixes of a seed's interval
//! are the places where it starts. When pieces go, their edges go with them. 6 bytes an edge.

use std::ops::Range;

use super::corpus::Corpus;
use super::seeds::{Seed, Suffixes};

/// The id of a piece that is gone.
pub(super) const GONE: u32 = u32::MAX;

/// A power of two by which sums that get small are scaled.
const SMALL: i32 = 256;

/// Edges by position.
#[derive(Debug, Default)]
pub(super) struct Lattice {
    /// Where the edges of each position begin, and the end of the last ones.
    firsts: Vec<usize>,
    ids: Vec<u32>,
    lens: Vec<u16>,
}

/// A piece in its place in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: u32,
}

impl Lattice {
    /// The edges of all characters, whose ids are their codes, and of the seeds, whose ids follow.
    pub(super) fn new(corpus: &Corpus, suffixes: &Suffixes, seeds: &[Seed]) -> Self {
        let n = corpus.codes.len();
        let mut firsts = vec![1usize; n + 1];
        for seed in seeds {
            for index in seed.first..seed.end {
                firsts[suffixes.position(index)] += 1;
            }
        }
        let mut total = 0;
        for first in &mut firsts {
            total += std::mem::replace(first, total);
        }
        let mut next = firsts.clone();
        let (mut ids, mut lens) = (vec![0; total - 1], vec![0; total - 1]);
        let mut push = |at: usize, id: u32, len: u16| {
            ids[next[at]] = id;
            lens[next[at]] = len;
            next[at] += 1;
        };
        for (at, &code) in corpus.codes.iter().enumerate() {
            push(at, code, 1);
        }
        let mut by_len: Vec<u32> = (0..seeds.len() as u32).collect();
        by_len.sort_by_key(|&seed| seeds[seed as usize].len);
        for place in by_len {
            let Seed { first, end, len, .. } = seeds[place as usize];
            for index in first..end {
                push(suffixes.position(index), corpus.alphabet.len() as u32 + place, len);
            }
        }
        Self { firsts, ids, lens }
    }

    /// Renames pieces and drops the edges of those that are [`GONE`].
    pub(super) fn rename(&mut self, new_ids: &[u32]) {
        let mut kept = 0;
        let mut start = 0;
        for at in 1..self.firsts.len() {
            let end = self.firsts[at];
            for edge in start..end {
                let id = new_ids[self.ids[edge] as usize];
                if id != GONE {
                    (self.ids[kept], self.lens[kept]) = (id, self.lens[edge]);
                    kept += 1;
                }
            }
            start = end;
            self.firsts[at] = kept;
        }
        self.ids.truncate(kept);
        self.lens.truncate(kept);
    }

    /// The edges that start at `start`, shorter ones first.
    #[inline]
    pub(super) fn edges_at(&self, start: usize) -> impl Iterator<Item = Edge> + '_ {
        let range = self.firsts[start]..self.firsts[start + 1];
        let (ids, lens) = (&self.ids[range.clone()], &self.lens[range]);
        ids.iter().zip(lens).map(move |(&id, &len)| Edge { start, end: start + usize::from(len), id })
    }
}

/// Numbers at places, each with a power of two of its own, so that none becomes too small.
#[derive(Debug, Default)]
struct Sums {
    values: Vec<f64>,
    /// [`NOTHING`] where nothing was added yet.
    powers: Vec<i32>,
}

const NOTHING: i32 = i32::MAX;

/// `value` times a power of two, rounded once at most unless it vanishes.
#[inline]
pub(super) fn scaled(mut value: f64, mut power: i32) -> f64 {
    const STEP: i32 = 512;
    if power == 0 {
        return value;
    }
    let by = |power: i32| f64::from_bits(((1023 + power) as u64) << 52);
    while power < -STEP {
        value *= by(-STEP);
        power += STEP;
        if value == 0.0 {
            return value;
        }
    }
    while power > STEP {
        value *= by(STEP);
        power -= STEP;
    }
    value * by(power)
}

impl Sums {
    fn start(&mut self, length: usize, first: usize) {
        self.values.clear();
        self.values.resize(length + 1, 0.0);
        self.powers.clear();
        self.powers.resize(length + 1, NOTHING);
        (self.values[first], self.powers[first]) = (1.0, 0);
    }

    #[inline]
    fn leave(&mut self, place: usize) {
        let value = self.values[place];
        if value > 0.0 && value < scaled(1.0, -SMALL) {
            self.values[place] = scaled(value, SMALL);
            self.powers[place] -= SMALL;
        }
    }

    #[inline]
    fn add(&mut self, source: usize, target: usize, factor: f64) {
        let power = self.powers[source];
        if power == NOTHING {
            return;
        }
        if self.powers[target] == NOTHING {
            self.powers[target] = power;
        }
        self.values[target] += scaled(self.values[source] * factor, power - self.powers[target]);
    }
}

/// Memory that one thread reuses from word to word.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    forward: Sums,
    backward: Sums,
    best: Vec<(f64, Option<Edge>)>,
    /// Likelihoods of a word's edges, looked up once.
    factors: Vec<f64>,
}

impl Lattice {
    /// Calls `each` with every edge of a word and the share of all segmentations, by likelihood, that it is part of.
    pub(super) fn shares(
        &self,
        word: Range<usize>,
        likelihoods: &[f64],
        scratch: &mut Scratch,
        mut each: impl FnMut(u32, f64),
    ) {
        if !self.plain_shares(word.clone(), likelihoods, scratch, &mut each) {
            self.scaled_shares(word, likelihoods, scratch, each);
        }
    }

    /// As [`Self::shares`] where no sum gets small, which no word of ordinary length has; answers whether that is so.
    fn plain_shares(
        &self,
        word: Range<usize>,
        likelihoods: &[f64],
        scratch: &mut Scratch,
        mut each: impl FnMut(u32, f64),
    ) -> bool {
        let edges = self.firsts[word.start]..self.firsts[word.end];
        let (ids, lens) = (&self.ids[edges.clone()], &self.lens[edges.clone()]);
        let Scratch {
            forward: Sums { values: forward, .. },
            backward: Sums { values: backward, .. },
            factors,
            ..
        } = scratch;
        factors.clear();
        factors.extend(ids.iter().map(|&id| likelihoods[id as usize]));
        for values in [&mut *forward, &mut *backward] {
            values.clear();
            values.resize(word.len() + 1, 0.0);
        }
        (forward[0], backward[word.len()]) = (1.0, 1.0);
        let small = scaled(1.0, -SMALL);
        let firsts = &self.firsts[word.start..=word.end];
        let bounds = |at: usize| firsts[at] - edges.start..firsts[at + 1] - edges.start;
        for start in 0..word.len() {
            let so_far = forward[start];
            if so_far < small {
                return false;
            }
            for edge in bounds(start) {
                forward[start + usize::from(lens[edge])] += so_far * factors[edge];
            }
        }
        for start in (0..word.len()).rev() {
            let mut sum = 0.0;
            for edge in bounds(start) {
                sum += backward[start + usize::from(lens[edge])] * factors[edge];
            }
            backward[start] = sum;
            if sum < small {
                return false;
            }
        }
        let total = forward[word.len()];
        for start in 0..word.len() {
            let left = forward[start];
            for edge in bounds(start) {
                each(ids[edge], left * factors[edge] * backward[start + usize::from(lens[edge])] / total);
            }
        }
        true
    }

    pub(super) fn scaled_shares(
        &self,
        word: Range<usize>,
        likelihoods: &[f64],
        scratch: &mut Scratch,
        mut each: impl FnMut(u32, f64),
    ) {
        let (base, length) = (word.start, word.len());
        let Scratch { forward, backward, .. } = scratch;
        forward.start(length, 0);
        backward.start(length, length);
        for start in word.clone() {
            forward.leave(start - base);
            for edge in self.edges_at(start) {
                forward.add(start - base, edge.end - base, likelihoods[edge.id as usize]);
            }
        }
        for start in word.clone().rev() {
            for edge in self.edges_at(start) {
                backward.add(edge.end - base, start - base, likelihoods[edge.id as usize]);
            }
            backward.leave(start - base);
        }
        let (total, total_power) = (forward.values[length], forward.powers[length]);
        if total == 0.0 {
            return;
        }
        for start in word {
            let (left, left_power) = (forward.values[start - base], forward.powers[start - base]);
            for edge in self.edges_at(start) {
                let (right, right_power) =
                    (backward.values[edge.end - base], backward.powers[edge.end - base]);
                if left_power != NOTHING && right_power != NOTHING {
                    let product = left * likelihoods[edge.id as usize] * right / total;
                    each(edge.id, scaled(product, left_power + right_power - total_power));
                }
            }
        }
    }

    /// Calls `each` with the edges of the path of the highest score through `word`, from right to left.
    ///
    /// Edges that leave `word` and those of piece `without` do not count.
    pub(super) fn best_path(
        &self,
        word: Range<usize>,
        scores: &[f64],
        without: u32,
        scratch: &mut Scratch,
        mut each: impl FnMut(Edge),
    ) {
        let best = &mut scratch.best;
        best.clear();
        best.resize(word.len() + 1, (f64::NEG_INFINITY, None));
        best[0].0 = 0.0;
        for start in word.clone() {
            let so_far = best[start - word.start].0;
            if so_far == f64::NEG_INFINITY {
                continue;
            }
            let inside = |edge: &Edge| edge.end <= word.end && edge.id != without;
            for edge in self.edges_at(start).filter(inside) {
                let known = &mut best[edge.end - word.start];
                let score = scores[edge.id as usize] + so_far;
                if known.1.is_none() || score > known.0 {
                    *known = (score, Some(edge));
                }
            }
        }
        let mut end = word.len();
        while let Some(edge) = best[end].1 {
            each(edge);
            end = edge.start - word.start;
        }
    }
}
