//! The passes over the lattice: expected counts, counts in the best segmentations, and alternatives to a piece.

use std::ops::Range;

use super::corpus::Corpus;
use super::lattice::{Block, Visitor};
use super::nearest;

/// Power of two by which small sums are scaled.
const SMALL: i32 = 256;

/// `value` times a power of two; rounded at most once, unless it underflows to 0.
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

/// Sums over all segmentations, for one prefix on the path.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// The likelihood of the prefix: the sum over its segmentations.
    forward: f64,
    /// The sum over all words that begin with the prefix: the word's count times the likelihood of the text after the prefix,
    /// divided by the likelihood of the word.
    backward: f64,
    /// The true values are `forward` times 2^power, and `backward` divided by it.
    power: i32,
}

/// Expected count of each piece over all segmentations: forward sums on entering a prefix, backward sums on leaving it.
pub(super) struct Expectation<'a> {
    block: &'a Block,
    /// By word.
    counts: &'a [u64],
    likelihoods: &'a [f64],
    /// Counts are multiples of one divided by this power of two.
    precision: f64,
    path: Vec<Sums>,
    /// Likelihoods of the edges on the path, read once.
    factors: Vec<f64>,
    /// Number of prefixes on the path with a power other than 0.
    powers: usize,
    expected: &'a mut [u64],
}

impl<'a> Expectation<'a> {
    /// Adds to `expected`, which counts in multiples of one divided by `precision`, a power of two.
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

    /// Uses powers for every prefix, needed or not.
    #[cfg(test)]
    pub(super) fn always_with_powers(mut self) -> Self {
        self.powers = 1;
        self
    }

    #[inline]
    fn count(&mut self, edge: usize, share: f64) {
        // All counts together have 62 bits. Adding one half rounds to the nearest integer.
        self.expected[self.block.ids[edge] as usize] += (share * self.precision + 0.5) as i64 as u64;
    }

    fn enter_with_powers(&self, depth: usize, edges: Range<usize>, factors: usize) -> Sums {
        let start = |edge: usize| &self.path[depth - usize::from(self.block.lens[edge])];
        // Sums are scaled relative to the first one.
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

/// The best segmentation of one prefix on the path.
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
    /// Adds to `used`; `counts` are the counts of the words.
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

/// The best segmentation of a piece's text without the piece itself, found at one of its occurrences.
pub(super) struct Alternatives<'a, F> {
    block: &'a Block,
    corpus: &'a Corpus,
    scores: &'a [f64],
    /// Ids, starts in the corpus and lengths of occurrences, by start.
    places: std::iter::Peekable<std::slice::Iter<'a, (u32, usize, u16)>>,
    /// By end in the piece: the score of the best segmentation, its last piece and that piece's length.
    best: Vec<(f64, u32, u16)>,
    pieces: Vec<u32>,
    each: F,
}

impl<'a, F: FnMut(u32, &[u32])> Alternatives<'a, F> {
    /// Calls `each` with every piece in `places` and its alternative, whose pieces are given from right to left.
    ///
    /// Skips a piece whose alternative has a higher score.
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
