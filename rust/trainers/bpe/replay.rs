//! Replaying merges: each word by itself goes through all of them, in order, without a search for the best pair.
//!
//! The effect of a merge on one word does not depend on other words, so words can be taken one by one and shared among threads. In
//! a word, the next merge is the earliest of the list, after the last one applied, whose pair is there. O(n log n) in the symbols of
//! a word, and one lookup for each new pair.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::apply_merges::Replacement;
use super::cells::{Cell, is_header};
use super::pair_key::key;
use super::word_index::WordIndex;
use crate::structures::flat_map::FlatMap;
use crate::structures::parallel::{METER_EVERY, Meter};

/// In place of a number of a merge: there is none.
const NONE: u32 = u32::MAX;

/// Words of more tokens find the next merge by a heap, shorter ones by a scan.
const LONG: usize = 64;

/// Merges in order, by pair.
pub(super) struct MergeOrder<'a> {
    merges: &'a [Replacement],
    /// The first merge of a pair.
    first: FlatMap<u32>,
    /// By merge: the next one of the same pair.
    next: Vec<u32>,
}

impl<'a> MergeOrder<'a> {
    pub(super) fn new(merges: &'a [Replacement]) -> Self {
        let mut first: FlatMap<u32> = FlatMap::with_capacity(merges.len());
        let mut next = vec![NONE; merges.len()];
        for (number, merge) in merges.iter().enumerate().rev() {
            let key = key(merge.left, merge.right);
            next[number] = first.get(key).unwrap_or(NONE);
            *first.entry(key) = number as u32;
        }
        Self { merges, first, next }
    }

    /// The earliest merge of a pair from number `from` on.
    #[inline]
    fn find(&self, left: u32, right: u32, from: u32) -> u32 {
        let mut number = self.first.get(key(left, right)).unwrap_or(NONE);
        while number < from {
            number = self.next[number as usize];
        }
        number
    }
}

/// Replays merges in words of one thread.
pub(super) struct Replay<'a> {
    order: &'a MergeOrder<'a>,
    /// For each merge, how often it was applied, weighted by the words' counts.
    performed: Vec<u64>,
    tokens: Vec<u32>,
    /// The number of the next merge of each token with the one after it.
    numbers: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    /// For a long word: the next token and the one before, by position.
    after: Vec<u32>,
    before: Vec<u32>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(order: &'a MergeOrder<'a>) -> Self {
        Self {
            order,
            performed: vec![0; order.merges.len()],
            tokens: Vec::new(),
            numbers: Vec::new(),
            heap: BinaryHeap::new(),
            after: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Replays the merges in compact `cells` of whole words and compacts them; returns how many cells remain.
    pub(super) fn compact<C: Cell>(&mut self, cells: &mut [C], index: &WordIndex, meter: &Meter) -> usize {
        let (mut read, mut write, mut pause) = (0, 0, METER_EVERY);
        while read < cells.len() {
            let header = cells[read];
            let tokens = cells[read + 1..].iter().map(|cell| cell.wide());
            self.tokens.clear();
            self.tokens.extend(tokens.take_while(|&cell| !is_header(cell)));
            let len = self.tokens.len();
            read += 1 + len;
            self.apply(index.weight(header.wide()), LONG);
            if self.tokens.len() > 1 || len == 0 {
                cells[write] = header;
                for (cell, &token) in cells[write + 1..].iter_mut().zip(&self.tokens) {
                    *cell = C::of(token);
                }
                write += 1 + self.tokens.len();
            }
            if read >= pause {
                pause = read + METER_EVERY;
                if !meter.add(METER_EVERY) {
                    break;
                }
            }
        }
        write
    }

    /// How often each merge was applied.
    pub(super) fn into_performed(self) -> Vec<u64> {
        self.performed
    }

    /// Applies all merges to the tokens; of more than `long` by the heap.
    fn apply(&mut self, weight: u64, long: usize) {
        if self.tokens.len() > long { self.apply_to_long(weight) } else { self.apply_to_short(weight) }
    }

    fn apply_to_short(&mut self, weight: u64) {
        let Self { order, performed, tokens, numbers, .. } = self;
        numbers.clear();
        numbers.extend(tokens.windows(2).map(|pair| order.find(pair[0], pair[1], 0)));
        while let Some(number) = numbers.iter().copied().min().filter(|&number| number != NONE) {
            let joined = order.merges[number as usize].joined;
            let mut at = 0;
            while at < numbers.len() {
                if numbers[at] == number {
                    performed[number as usize] += weight;
                    tokens[at] = joined;
                    tokens.remove(at + 1);
                    numbers.remove(at);
                    if at < numbers.len() {
                        numbers[at] = order.find(joined, tokens[at + 1], number + 1);
                    }
                    if at > 0 {
                        numbers[at - 1] = order.find(tokens[at - 1], joined, number + 1);
                    }
                }
                at += 1;
            }
        }
    }

    fn apply_to_long(&mut self, weight: u64) {
        let Self { order, performed, tokens, heap, after, before, .. } = self;
        let end = tokens.len() as u32;
        after.clear();
        after.extend(1..=end);
        before.clear();
        before.extend((0..end).map(|at| at.wrapping_sub(1)));
        for (at, pair) in (0..).zip(tokens.windows(2)) {
            push(heap, order.find(pair[0], pair[1], 0), at);
        }
        while let Some(Reverse((number, at))) = heap.pop() {
            let Replacement { left, right, joined } = order.merges[number as usize];
            let middle = after[at as usize];
            // An entry is out of date if its tokens have been merged; a token that was merged into another one is `NONE`.
            if tokens[at as usize] != left || middle == end || tokens[middle as usize] != right {
                continue;
            }
            performed[number as usize] += weight;
            tokens[at as usize] = joined;
            tokens[middle as usize] = NONE;
            let next = after[middle as usize];
            after[at as usize] = next;
            if next != end {
                before[next as usize] = at;
                push(heap, order.find(joined, tokens[next as usize], number + 1), at);
            }
            if let Some(&token) = tokens.get(before[at as usize] as usize) {
                push(heap, order.find(token, joined, number + 1), before[at as usize]);
            }
        }
        tokens.retain(|&token| token != NONE);
    }
}

fn push(heap: &mut BinaryHeap<Reverse<(u32, u32)>>, number: u32, at: u32) {
    if number != NONE {
        heap.push(Reverse((number, at)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One merge after the other, each from left to right.
    fn naive(tokens: &[u32], merges: &[Replacement]) -> (Vec<u32>, Vec<u64>) {
        let (mut tokens, mut performed) = (tokens.to_vec(), vec![0; merges.len()]);
        for (number, merge) in merges.iter().enumerate() {
            let mut at = 0;
            while at + 1 < tokens.len() {
                if (tokens[at], tokens[at + 1]) == (merge.left, merge.right) {
                    tokens.splice(at..at + 2, [merge.joined]);
                    performed[number] += 3;
                }
                at += 1;
            }
        }
        (tokens, performed)
    }

    proptest! {
        #[test]
        fn replay_matches_naive(
            tokens in prop::collection::vec(0u32..3, 0..80),
            // Merges of any two tokens, which may be learnt twice and make a token that is there already.
            merges in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::option::of(any::<prop::sample::Index>())), 0..25),
            long in prop::sample::select(vec![0, 8, 1000]),
        ) {
            let mut ids = 3;
            let merges: Vec<Replacement> = merges.into_iter().map(|(left, right, joined)| {
                let (left, right) = (left.index(ids) as u32, right.index(ids) as u32);
                let joined = joined.map_or(ids, |joined| joined.index(ids)) as u32;
                ids = ids.max(joined as usize + 1);
                // A token is longer than its parts, unless its right part is nothing but a prefix.
                Replacement { left, right, joined: if joined == left || joined == right { (ids as u32, ids += 1).0 } else { joined } }
            }).collect();
            let order = MergeOrder::new(&merges);
            let mut replay = Replay::new(&order);
            replay.tokens.clone_from(&tokens);
            replay.apply(3, long);
            let (expected, performed) = naive(&tokens, &merges);
            prop_assert_eq!(&replay.tokens, &expected);
            prop_assert_eq!(replay.into_performed(), performed);
        }
    }
}
