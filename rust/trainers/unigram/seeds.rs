//! Frequent substrings: the inner nodes of the words' suffix tree, cut at the longest length a piece may have.
//!
//! Suffixes are sorted by their first characters, packed into one number, and only equals by the rest; neighbours that
//! begin alike form intervals, and an interval is a substring that different characters or ends follow. Positions are
//! 64-bit. Memory: 16 bytes a character for the suffixes and 8 for sums. Source: Abouelhoda, Kurtz, Ohlebusch 2004.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::corpus::Corpus;
use crate::Result;
use crate::structures::progress::OnProgress;
use crate::structures::workers::{METER_EVERY, Pacer, run_parts};

const STAGE: &str = "find seeds";

/// A suffix: its first characters as a number, and where it starts.
type Suffix = (u64, u64);

/// A substring and the sorted suffixes that begin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seed {
    /// How often it occurs, weighted.
    pub(super) count: u64,
    /// Its first suffix.
    pub(super) first: usize,
    /// Behind its last suffix.
    pub(super) end: usize,
    /// In characters.
    pub(super) len: u16,
}

impl Seed {
    fn weight(&self) -> u128 {
        u128::from(self.count) * u128::from(self.len)
    }

    /// Higher weights first, equals by their text: a prefix before what it begins, others as their suffixes.
    fn order(&self) -> (Reverse<u128>, usize, u16) {
        (Reverse(self.weight()), self.first, self.len)
    }
}

/// All suffixes of all words, sorted.
pub(super) struct Suffixes {
    sorted: Vec<Suffix>,
    /// By position: characters from there to the end of the word, no more than a piece may have.
    room: Vec<u16>,
}

impl Suffixes {
    /// Sorts the suffixes of `corpus` by their first `longest` characters.
    pub(super) fn new(
        corpus: &Corpus,
        longest: u16,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let codes = &corpus.codes;
        let mut room = vec![0; codes.len()];
        for index in 0..corpus.len() {
            let word = corpus.word(index);
            for at in word.clone() {
                room[at] = (word.end - at).min(usize::from(longest)) as u16;
            }
        }
        let packing = corpus.packed();
        let packed = packing.codes;
        let key = |at: usize| packing.pack(&codes[at..at + usize::from(room[at])]);
        let rest = |&(_, at): &Suffix| {
            let at = at as usize;
            &codes[at + packed.min(usize::from(room[at]))..at + usize::from(room[at])]
        };
        let (mut sorted, starts) = by_first_code(codes, corpus.alphabet.len(), key);
        let groups = split_groups(&mut sorted, &starts, threads);
        run_parts(STAGE, codes.len() as u64, groups, on_progress, |groups, meter| {
            let mut done = 0;
            for group in groups {
                done += group.len();
                group.sort_unstable_by(|left, right| {
                    left.0.cmp(&right.0).then_with(|| rest(left).cmp(rest(right))).then(left.1.cmp(&right.1))
                });
                if done >= METER_EVERY && !meter.add(std::mem::take(&mut done)) {
                    return;
                }
            }
        })?;
        Ok(Self { sorted, room })
    }

    /// Where the suffix at `index` starts in the codes.
    pub(super) fn position(&self, index: usize) -> usize {
        self.sorted[index].1 as usize
    }

    /// Number of suffixes.
    fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Characters that two neighbours have in common.
    fn common(&self, codes: &[u32], index: usize) -> u16 {
        let (left, right) = (self.position(index - 1), self.position(index));
        let most = self.room[left].min(self.room[right]);
        let is_same = |at: &u16| codes[left + usize::from(*at)] == codes[right + usize::from(*at)];
        (0..most).take_while(is_same).count() as u16
    }

    /// The `n` substrings of the highest count times length, in that order; `excluded` ones left out.
    pub(super) fn best(
        &self,
        corpus: &Corpus,
        n: usize,
        excluded: &BTreeSet<&str>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<Seed>> {
        let mut sums = Vec::with_capacity(self.len() + 1);
        sums.push(0u64);
        let weights = self.weights(corpus);
        for &(_, at) in &self.sorted {
            sums.push(sums[sums.len() - 1].saturating_add(weights[at as usize]));
        }
        drop(weights);
        let mut seeds: Vec<Seed> = Vec::new();
        let keep = n.saturating_mul(2).max(1 << 16);
        let mut offer = |first: usize, end: usize, len: u16| {
            let count = sums[end] - sums[first];
            if len < 2 || count < 2 {
                return;
            }
            seeds.push(Seed { count, first, end, len });
            if seeds.len() >= 2 * keep {
                seeds.select_nth_unstable_by_key(keep, Seed::order);
                seeds.truncate(keep);
            }
        };
        let mut pacer = Pacer::new(STAGE, self.len() as u64);
        let mut open: Vec<(u16, usize)> = Vec::new();
        let mut before = 0;
        for end in 1..=self.len() {
            let after = if end == self.len() { 0 } else { self.common(&corpus.codes, end) };
            let own = self.room[self.position(end - 1)];
            if own > before.max(after) {
                offer(end - 1, end, own);
            }
            let mut first = end - 1;
            while let Some((len, start)) = open.pop_if(|&mut (len, _)| len > after) {
                offer(start, end, len);
                first = start;
            }
            if open.last().map_or(0, |&(len, _)| len) < after {
                open.push((after, first));
            }
            before = after;
            pacer.tick(1, end as u64, on_progress)?;
        }
        let excluded: BTreeSet<Vec<u32>> = excluded.iter().filter_map(|text| corpus.codes_of(text)).collect();
        if !excluded.is_empty() {
            seeds.retain(|seed| !excluded.contains(self.codes_of(corpus, seed)));
        }
        seeds.sort_unstable_by_key(Seed::order);
        seeds.truncate(n);
        Ok(seeds)
    }

    /// By position, the seeds that start there.
    pub(super) fn chains(&self, seeds: &[Seed]) -> Chains {
        // Outer intervals before inner ones.
        let mut order: Vec<(usize, u16, u32)> =
            (0..).zip(seeds).map(|(seed, &Seed { first, len, .. })| (first, len, seed)).collect();
        order.sort_unstable();
        let mut order = order.into_iter().peekable();
        let mut links = vec![Link { shorter: NONE, len: 0 }; seeds.len()];
        let mut longest_at = vec![NONE; self.len()];
        let mut open: Vec<u32> = Vec::new();
        for (index, &(_, at)) in self.sorted.iter().enumerate() {
            while open.pop_if(|seed| seeds[*seed as usize].end <= index).is_some() {}
            while let Some((_, len, seed)) = order.next_if(|&(first, ..)| first == index) {
                let shorter = open.last().copied().unwrap_or(NONE);
                links[seed as usize] = Link { shorter, len };
                open.push(seed);
            }
            longest_at[at as usize] = open.last().copied().unwrap_or(NONE);
        }
        let longest = seeds.iter().map(|seed| usize::from(seed.len)).max().unwrap_or(1);
        Chains { longest_at, links, longest }
    }

    /// The characters of a seed.
    pub(super) fn codes_of<'a>(&self, corpus: &'a Corpus, seed: &Seed) -> &'a [u32] {
        let start = self.position(seed.first);
        &corpus.codes[start..start + usize::from(seed.len)]
    }

    /// By position: the count of the word.
    fn weights(&self, corpus: &Corpus) -> Vec<u64> {
        let mut weights = Vec::with_capacity(self.len());
        for index in 0..corpus.len() {
            weights.extend(std::iter::repeat_n(corpus.counts[index], corpus.word(index).len()));
        }
        weights
    }
}

/// No seed.
const NONE: u32 = u32::MAX;

/// A seed in a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The longest seed that it begins with.
    shorter: u32,
    len: u16,
}

/// The seeds at each position: the longest one, and from each the next shorter one.
#[derive(Debug)]
pub(super) struct Chains {
    longest_at: Vec<u32>,
    links: Vec<Link>,
    longest: usize,
}

impl Chains {
    /// The seeds that start at `position`, with their lengths, longer ones first.
    pub(super) fn at(&self, position: usize) -> impl Iterator<Item = (u32, u16)> + '_ {
        let mut seed = self.longest_at[position];
        std::iter::from_fn(move || {
            let Link { shorter, len } = *self.links.get(seed as usize)?;
            Some((std::mem::replace(&mut seed, shorter), len))
        })
    }

    /// Characters of the longest seed.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}

/// Suffixes grouped by their first character, and where each group starts.
fn by_first_code(codes: &[u32], alphabet: usize, key: impl Fn(usize) -> u64) -> (Vec<Suffix>, Vec<usize>) {
    let mut starts = vec![0; alphabet + 1];
    for &code in codes {
        starts[code as usize + 1] += 1;
    }
    for code in 0..alphabet {
        starts[code + 1] += starts[code];
    }
    let mut next = starts.clone();
    let mut suffixes = vec![(0, 0); codes.len()];
    for (at, &code) in codes.iter().enumerate() {
        suffixes[next[code as usize]] = (key(at), at as u64);
        next[code as usize] += 1;
    }
    (suffixes, starts)
}

/// The groups, dealt out to threads in pieces of about the same size.
fn split_groups<'a>(
    mut suffixes: &'a mut [Suffix],
    starts: &[usize],
    threads: usize,
) -> Vec<Vec<&'a mut [Suffix]>> {
    let mut groups: Vec<&'a mut [Suffix]> = Vec::new();
    for bounds in starts.windows(2) {
        let (group, rest) = suffixes.split_at_mut(bounds[1] - bounds[0]);
        groups.push(group);
        suffixes = rest;
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    let mut dealt: Vec<Vec<&'a mut [Suffix]>> = (0..threads.max(1)).map(|_| Vec::new()).collect();
    let mut sizes = vec![0; dealt.len()];
    for group in groups {
        let least = (0..sizes.len()).min_by_key(|&thread| sizes[thread]).unwrap_or(0);
        sizes[least] += group.len();
        dealt[least].push(group);
    }
    dealt
}
