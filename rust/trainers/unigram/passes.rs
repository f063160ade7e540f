//! What is found out on a walk through the lattice: expected counts, best segmentations, alternatives.

use std::ops::Range;

use super::corpus::Corpus;
use super::lattice::{Block, Visitor};
use super::nearest;

/// A power of two by which sums that get small are scaled.
const SMALL: i32 = 256;

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

/// What all segmentations say of one beginning on the path.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// The likelihood of the beginning, over all its segmentations.
    forward: f64,
    /// By how many words it is gone on from, each divided by its likelihood.
    backward: f64,
    /// The power of two that `forward` has to be multiplied by, and `backward` divided.
    power: i32,
}

/// How often each piece is expected over all segmentations: forwards on entering a beginning, backwards on leaving it.
pub(super) struct Expectation<'a> {
    block: &'a Block,
    /// By word.
    counts: &'a [u64],
    likelihoods: &'a [f64],
    /// Parts of one that are counted.
    precision: f64,
    path: Vec<Sums>,
    /// Likelihoods of the edges on the path, looked up once.
    factors: Vec<f64>,
    /// Beginnings on the path that have a power.
    powers: usize,
    expected: &'a mut [u64],
}

impl<'a> Expectation<'a> {
    /// Adds to `expected`, in parts of one: `precision` is their number, a power of two.
    pub(super) fn new(
        block: &'a Block,
        counts: &'a [u64],
        likelihoods: &'a [f64],
        precision: f64,
        expected: &'a mut [u64],
    ) -> Self {
        let path = vec![Sums { forward: 1.0, ..Sums::default() }];
        Self { block, counts, likelihoods, precision, path, factors: Vec::new(), powers: 0, expected }
    }

    /// Counts as all beginnings with powers are, whether they have one or not.
    #[cfg(test)]
    pub(super) fn always_with_powers(mut self) -> Self {
        self.powers = 1;
        self
    }

    #[inline]
    fn count(&mut self, edge: usize, share: f64) {
        // What all characters can be expected has 62 bits; the half makes it the nearest integer.
        self.expected[self.block.ids[edge] as usize] += (share * self.precision + 0.5) as i64 as u64;
    }

    fn enter_with_powers(&self, depth: usize, edges: Range<usize>, factors: usize) -> Sums {
        let start = |edge: usize| &self.path[depth - usize::from(self.block.lens[edge])];
        // The power of two is that of the first sum to come.
        let mut power = start(edges.start).power;
        let mut forward = 0.0;
        for (edge, factor) in edges.zip(&self.factors[factors..]) {
            let start = start(edge);
            forward += scaled(start.forward * factor, start.power - power);
        }
        if forward < scaled(1.0, -SMALL) {
            forward = scaled(forward, SMALL);
            power -= SMALL;
        }
        Sums { forward, backward: 0.0, power }
    }

    fn leave_with_powers(&mut self, depth: usize, edges: Range<usize>, factors: usize) {
        let Sums { backward, power, .. } = self.path[depth];
        for (at, edge) in edges.enumerate() {
            let start = &mut self.path[depth - usize::from(self.block.lens[edge])];
            let (factor, power) = (self.factors[factors + at], start.power - power);
            start.backward += scaled(factor * backward, power);
            let share = scaled(start.forward * factor * backward, power);
            self.count(edge, share);
        }
    }
}

impl Visitor for Expectation<'_> {
    #[inline]
    fn enter(&mut self, depth: usize, edges: Range<usize>) {
        let factors = self.factors.len();
        let mut sums = Sums::default();
        let (ids, lens) = (&self.block.ids[edges.clone()], &self.block.lens[edges.clone()]);
        for (&id, &len) in ids.iter().zip(lens) {
            let factor = self.likelihoods[id as usize];
            self.factors.push(factor);
            sums.forward += self.path[depth - usize::from(len)].forward * factor;
        }
        if self.powers > 0 || sums.forward < scaled(1.0, -SMALL) {
            sums = self.enter_with_powers(depth, edges, factors);
            self.powers += usize::from(sums.power != 0);
        }
        self.path.push(sums);
    }

    #[inline]
    fn end_word(&mut self, word: usize, path: &[Range<usize>]) {
        let sums = &mut self.path[path.len()];
        sums.backward += nearest(u128::from(self.counts[word])) / sums.forward;
    }

    #[inline]
    fn leave(&mut self, depth: usize, edges: Range<usize>) {
        let factors = self.factors.len() - edges.len();
        if self.powers > 0 {
            self.leave_with_powers(depth, edges, factors);
            self.powers -= usize::from(self.path[depth].power != 0);
        } else {
            let backward = self.path[depth].backward;
            for (at, edge) in edges.enumerate() {
                let start = &mut self.path[depth - usize::from(self.block.lens[edge])];
                let factor = self.factors[factors + at];
                start.backward += factor * backward;
                let share = start.forward * factor * backward;
                self.count(edge, share);
            }
        }
        self.factors.truncate(factors);
        self.path.truncate(depth);
    }
}

/// The best segmentation of one beginning on the path.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    score: f64,
    /// Its last piece.
    id: u32,
    len: u16,
    /// How often it is used.
    count: u64,
}

/// How often each piece is used if every word has its best segmentation.
pub(super) struct Usage<'a> {
    block: &'a Block,
    counts: &'a [u64],
    scores: &'a [f64],
    path: Vec<Best>,
    used: &'a mut [u64],
}

impl<'a> Usage<'a> {
    /// Adds to `used`; `counts` are those of the words.
    pub(super) fn new(block: &'a Block, counts: &'a [u64], scores: &'a [f64], used: &'a mut [u64]) -> Self {
        Self { block, counts, scores, path: vec![Best::default()], used }
    }
}

impl Visitor for Usage<'_> {
    #[inline]
    fn enter(&mut self, depth: usize, edges: Range<usize>) {
        let mut best = Best { score: f64::NEG_INFINITY, ..Best::default() };
        for (&id, &len) in self.block.ids[edges.clone()].iter().zip(&self.block.lens[edges]) {
            let score = self.scores[id as usize] + self.path[depth - usize::from(len)].score;
            if score > best.score {
                best = Best { score, id, len, count: 0 };
            }
        }
        self.path.push(best);
    }

    #[inline]
    fn end_word(&mut self, word: usize, path: &[Range<usize>]) {
        let count = &mut self.path[path.len()].count;
        *count = count.saturating_add(self.counts[word]);
    }

    #[inline]
    fn leave(&mut self, depth: usize, _edges: Range<usize>) {
        let Some(Best { id, len, count, .. }) = self.path.pop() else { return };
        let used = &mut self.used[id as usize];
        *used = used.saturating_add(count);
        let before = &mut self.path[depth - usize::from(len)].count;
        *before = before.saturating_add(count);
    }
}

/// The best segmentations of pieces without themselves, each found where the piece stands in a word.
pub(super) struct Alternatives<'a, F> {
    block: &'a Block,
    corpus: &'a Corpus,
    scores: &'a [f64],
    /// Ids, starts in the corpus and lengths, by start.
    places: std::iter::Peekable<std::slice::Iter<'a, (u32, usize, u16)>>,
    /// By end in the piece: the score, the last piece and its length.
    best: Vec<(f64, u32, u16)>,
    pieces: Vec<u32>,
    each: F,
}

impl<'a, F: FnMut(u32, &[u32])> Alternatives<'a, F> {
    /// Calls `each` with the piece at each of `places`, and with the others from right to left, unless they are better.
    pub(super) fn new(
        block: &'a Block,
        corpus: &'a Corpus,
        scores: &'a [f64],
        places: &'a [(u32, usize, u16)],
        each: F,
    ) -> Self {
        let places = places.iter().peekable();
        Self { block, corpus, scores, places, best: Vec::new(), pieces: Vec::new(), each }
    }

    fn find(&mut self, id: u32, path: &[Range<usize>]) {
        self.best.clear();
        self.best.push((0.0, 0, 0));
        for (end, edges) in (1..).zip(path) {
            let mut best = (f64::NEG_INFINITY, 0, 0);
            for edge in edges.clone() {
                let (other, len) = (self.block.ids[edge], self.block.lens[edge]);
                if usize::from(len) > end || other == id {
                    continue;
                }
                let score = self.scores[other as usize] + self.best[end - usize::from(len)].0;
                if score > best.0 {
                    best = (score, other, len);
                }
            }
            self.best.push(best);
        }
        if self.best[path.len()].0 > self.scores[id as usize] {
            return;
        }
        self.pieces.clear();
        let mut end = path.len();
        while end > 0 {
            let (_, other, len) = self.best[end];
            self.pieces.push(other);
            end -= usize::from(len);
        }
        (self.each)(id, &self.pieces);
    }
}

impl<F: FnMut(u32, &[u32])> Visitor for Alternatives<'_, F> {
    fn enter(&mut self, _depth: usize, _edges: Range<usize>) {}

    fn end_word(&mut self, word: usize, path: &[Range<usize>]) {
        let word = self.corpus.word(word);
        while let Some(&&(id, start, len)) = self.places.peek().filter(|(_, start, _)| *start < word.end) {
            let depth = start - word.start;
            self.find(id, &path[depth..depth + usize::from(len)]);
            self.places.next();
        }
    }

    fn leave(&mut self, _depth: usize, _edges: Range<usize>) {}
}
