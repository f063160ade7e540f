//! Frequent substrings: the inner nodes of the words' suffix tree, cut at the maximal length of a piece.
//!
//! Suffixes are sorted by their first characters, packed into one key; only suffixes with equal keys are compared further.
//! Neighbours with a common prefix form intervals, and each interval is a substring that different characters or ends of
//! words follow. Positions are 64-bit. Memory: 16 bytes a character for the suffixes, and 16 for keys, weights and sums.
//! Source: Abouelhoda, Kurtz, Ohlebusch 2004.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;
use std::ops::Range;

use super::corpus::{Corpus, Packed};
use super::seed_filter::SeedFilter;
use crate::structures::huge_pages::vec_filled;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::sort_in_runs;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::{Error, Result};

const STAGE: &str = "find seeds";

/// A suffix: the key of its first characters, and its position.
type Suffix = (u64, u64);

/// A substring, as the interval of sorted suffixes that begin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seed {
    /// How often it occurs, weighted by the words' counts.
    pub(super) count: u64,
    /// Index of its first suffix.
    pub(super) first: usize,
    /// Index after its last suffix.
    pub(super) end: usize,
    /// Length in characters.
    pub(super) len: u16,
}

impl Seed {
    fn can_be_piece(&self) -> bool {
        self.len > 1 && self.count > 1
    }

    fn weight(&self) -> u128 {
        u128::from(self.count) * u128::from(self.len)
    }

    /// Higher weights first, equal weights by text.
    fn order(&self) -> (Reverse<u128>, usize, u16) {
        (Reverse(self.weight()), self.first, self.len)
    }
}

/// All suffixes of all words, sorted.
pub(super) struct Suffixes {
    sorted: Vec<Suffix>,
    /// By first character: the range of suffixes that begin with it.
    groups: Vec<Range<usize>>,
    /// By position: characters up to the end of the word, at most the maximal length of a piece.
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
        let keys = corpus.suffix_keys(packing, usize::from(longest));
        let rest = |&(_, at): &Suffix| {
            let at = at as usize;
            &codes[at + packed.min(usize::from(room[at]))..at + usize::from(room[at])]
        };
        let (mut sorted, ends) = by_first_bits(&keys, packing);
        drop(keys);
        let (mut rest_of_all, mut start) = (sorted.as_mut_slice(), 0);
        let buckets = ends.into_iter().filter_map(|end| {
            let len = end - std::mem::replace(&mut start, end);
            rest_of_all.split_off_mut(..len).filter(|bucket| !bucket.is_empty())
        });
        let dealt = deal(buckets.collect(), threads, |bucket| bucket.len());
        run_parts(STAGE, codes.len() as u64, dealt, on_progress, |buckets, meter| {
            let mut done = 0;
            for bucket in buckets {
                done += bucket.len();
                bucket.sort_unstable_by_key(|&(key, at)| u128::from(key) << 64 | u128::from(at));
                // Suffixes that fit into their keys need no further comparison; many words have the same ending.
                let is_same = |left: &Suffix, right: &Suffix| left.0 == right.0;
                for equals in bucket.chunk_by_mut(is_same).filter(|equals| packing.is_full(equals[0].0)) {
                    equals.sort_unstable_by(|left, right| {
                        rest(left).cmp(rest(right)).then(left.1.cmp(&right.1))
                    });
                }
                if done >= METER_EVERY && !meter.add(std::mem::take(&mut done)) {
                    return;
                }
            }
        })?;
        Ok(Self { sorted, groups: groups(codes, corpus.alphabet.len()), room })
    }

    /// Position of the suffix at `index` in the codes.
    pub(super) fn position(&self, index: usize) -> usize {
        self.sorted[index].1 as usize
    }

    /// Number of suffixes.
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Length of the common prefix of the suffixes at `index - 1` and `index`.
    fn common(&self, codes: &[u32], index: usize) -> u16 {
        let (left, right) = (self.position(index - 1), self.position(index));
        let most = self.room[left].min(self.room[right]);
        let is_same = |at: &u16| codes[left + usize::from(*at)] == codes[right + usize::from(*at)];
        (0..most).take_while(is_same).count() as u16
    }

    /// The `n` substrings that `filter` lets through with the highest count times length, in that order.
    ///
    /// # Errors
    /// The errors of [`SeedFilter::allows`] and of `on_progress`.
    pub(super) fn best(
        &self,
        corpus: &Corpus,
        n: usize,
        filter: SeedFilter<'_>,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<Seed>> {
        let excluded = filter.excluded;
        let weights = self.weights(corpus);
        let parts = deal(self.groups.clone(), threads, ExactSizeIterator::len);
        let found = run_parts(STAGE, self.len() as u64, parts, on_progress, |groups, meter| {
            let mut best = Best { keep: n.saturating_add(excluded.len()).max(1 << 16), seeds: Vec::new() };
            for group in groups {
                if !self.offer_group(group, corpus, &weights, filter, meter, &mut best)? {
                    break;
                }
            }
            best.cut();
            Ok(best.seeds)
        })?;
        let mut seeds: Vec<Seed> =
            found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let excluded: BTreeSet<Vec<u32>> = excluded.iter().filter_map(|text| corpus.codes_of(text)).collect();
        if !excluded.is_empty() {
            seeds.retain(|seed| !excluded.contains(self.codes_of(corpus, seed)));
        }
        sort_in_runs(&mut seeds, threads, |left, right| left.order().cmp(&right.order()));
        seeds.truncate(n);
        Ok(seeds)
    }

    /// The intervals of texts that words hold.
    pub(super) fn required(&self, corpus: &Corpus, texts: &[&str]) -> Vec<Seed> {
        if texts.is_empty() {
            return Vec::new();
        }
        let weights = self.weights(corpus);
        let seed = |codes: Vec<u32>| {
            let compare = |&(_, at): &Suffix| {
                let (at, len) = (at as usize, codes.len());
                corpus.codes[at..at + usize::from(self.room[at]).min(len)].cmp(&codes)
            };
            let first = self.sorted.partition_point(|suffix| compare(suffix) == Ordering::Less);
            let end = self.sorted.partition_point(|suffix| compare(suffix) != Ordering::Greater);
            let count = (first..end).map(|index| weights[self.position(index)]).fold(0, u64::saturating_add);
            Seed { count, first, end, len: codes.len() as u16 }
        };
        texts.iter().filter_map(|text| corpus.codes_of(text)).map(seed).collect()
    }

    /// Offers all substrings that begin with the character of a group; returns false if the meter stops.
    ///
    /// `weights` are the words' counts by position.
    fn offer_group(
        &self,
        group: Range<usize>,
        corpus: &Corpus,
        weights: &[u64],
        filter: SeedFilter<'_>,
        meter: &Meter,
        best: &mut Best,
    ) -> Result<bool> {
        // For each suffix, the sum of the weights of all suffixes before it.
        let mut sums = Vec::with_capacity(group.len() + 1);
        sums.push(0u64);
        for &(_, at) in &self.sorted[group.clone()] {
            sums.push(sums[sums.len() - 1].saturating_add(weights[at as usize]));
        }
        let mut offer = |first: usize, end: usize, len: u16| {
            let seed = Seed { count: sums[end - group.start] - sums[first - group.start], first, end, len };
            if seed.can_be_piece() && filter.allows(corpus, self.codes_of(corpus, &seed))? {
                best.push(seed);
            }
            Ok::<(), Error>(())
        };
        let mut open: Vec<(u16, usize)> = Vec::new();
        let (mut before, mut done) = (0, 0);
        for end in group.start + 1..=group.end {
            let after = if end == group.end { 0 } else { self.common(&corpus.codes, end) };
            let own = self.room[self.position(end - 1)];
            if own > before.max(after) {
                offer(end - 1, end, own)?;
            }
            let mut first = end - 1;
            while let Some((len, start)) = open.pop_if(|&mut (len, _)| len > after) {
                offer(start, end, len)?;
                first = start;
            }
            if open.last().map_or(0, |&(len, _)| len) < after {
                open.push((after, first));
            }
            before = after;
            done += 1;
            if done == METER_EVERY && !meter.add(std::mem::take(&mut done)) {
                return Ok(false);
            }
        }
        Ok(meter.add(done))
    }

    /// A substring of at least one code, if it occurs; its count is not looked for.
    pub(super) fn find(&self, corpus: &Corpus, text: &[u32]) -> Option<Seed> {
        let group = self.groups.get(*text.first()? as usize)?.clone();
        let start_of = |&(_, at): &Suffix| {
            let (at, room) = (at as usize, usize::from(self.room[at as usize]));
            &corpus.codes[at..at + room.min(text.len())]
        };
        let suffixes = &self.sorted[group.clone()];
        let first = group.start + suffixes.partition_point(|suffix| start_of(suffix) < text);
        let end = group.start + suffixes.partition_point(|suffix| start_of(suffix) <= text);
        (first < end).then_some(Seed { count: 0, first, end, len: text.len() as u16 })
    }

    /// The codes of a seed.
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

/// The best substrings so far.
struct Best {
    /// At least this many are kept, if there are as many.
    keep: usize,
    seeds: Vec<Seed>,
}

impl Best {
    fn push(&mut self, seed: Seed) {
        self.seeds.push(seed);
        if self.seeds.len() / 2 >= self.keep {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.seeds.len() > self.keep {
            self.seeds.select_nth_unstable_by_key(self.keep, Seed::order);
            self.seeds.truncate(self.keep);
        }
    }
}

/// Suffixes are put into buckets by this many leading bits of their keys, so that a bucket fits into the cache.
const FIRST_BITS: u32 = 16;

/// The suffixes in buckets by the first bits of their keys, and the ends of the buckets.
fn by_first_bits(keys: &[u64], packing: Packed) -> (Vec<Suffix>, Vec<usize>) {
    let shift = packing.key_bits().saturating_sub(FIRST_BITS);
    let bucket = |key: u64| (key >> shift) as usize;
    let mut next = vec![0; 1 << FIRST_BITS];
    for &key in keys {
        next[bucket(key)] += 1;
    }
    let mut sum = 0;
    for place in &mut next {
        sum += std::mem::replace(place, sum);
    }
    let mut suffixes = vec_filled((0, 0), keys.len());
    for (&key, at) in keys.iter().zip(0..) {
        let place = &mut next[bucket(key)];
        suffixes[*place] = (key, at);
        *place += 1;
    }
    (suffixes, next)
}

/// By character: the range of sorted suffixes that begin with it.
fn groups(codes: &[u32], alphabet: usize) -> Vec<Range<usize>> {
    let mut counts = vec![0; alphabet];
    for &code in codes {
        counts[code as usize] += 1;
    }
    let mut end = 0;
    let group = |count| {
        end += count;
        end - count..end
    };
    counts.into_iter().map(group).collect()
}

/// Distributes `groups` over threads in shares of about the same size: the largest first, each to the smallest share.
fn deal<T>(mut groups: Vec<T>, threads: usize, len: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    groups.sort_by_key(|group| Reverse(len(group)));
    let mut dealt: Vec<Vec<T>> = (0..threads.max(1)).map(|_| Vec::new()).collect();
    let mut sizes = vec![0; dealt.len()];
    for group in groups {
        let least = (0..sizes.len()).min_by_key(|&thread| sizes[thread]).unwrap_or(0);
        sizes[least] += len(&group);
        dealt[least].push(group);
    }
    dealt
}
