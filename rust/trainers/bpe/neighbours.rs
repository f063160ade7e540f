//! The changes of pair counts that merges cause, summed by neighbouring token.
//!
//! Where a merge joins `left` and `right`, the pairs with the token before and the token after change. These neighbours are
//! tallied in dense arrays, so an occurrence costs no hashing.

use std::ops::Range;

use super::cells::Applied;
use crate::Result;
use crate::structures::parallel::METER_EVERY;

/// In place of a slot: the pair is not tracked, so its positions are not needed.
pub(super) const UNPLACED: u32 = u32::MAX;

/// In place of an index: the token has no tally yet.
const ABSENT: u32 = u32::MAX;

/// How often one token is a neighbour of a merge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Sum of the words' counts.
    pub(super) weight: u64,
    /// Number of occurrences.
    pub(super) occurrences: u32,
    /// Where its next position is written, or [`UNPLACED`].
    pub(super) slot: u32,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.occurrences += other.occurrences;
    }

    /// Reserves the slots from `slot` on for its own occurrences.
    fn take_slots(&mut self, slot: &mut u32) {
        self.slot = *slot;
        if *slot != UNPLACED {
            *slot += self.occurrences;
        }
    }
}

/// Tallies by token, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Tallies(Vec<(u32, Tally)>);

impl Tallies {
    /// The index of `token`'s tally, which is added if it is missing.
    #[inline]
    fn number(&mut self, token: u32, numbers: &mut Numbers) -> u32 {
        let number = &mut numbers.0[token as usize];
        if *number == ABSENT {
            *number = self.0.len() as u32;
            self.0.push((token, Tally::default()));
        }
        *number
    }

    #[inline]
    fn get(&mut self, number: u32) -> &mut Tally {
        &mut self.0[number as usize].1
    }
}

/// The index of each token's tally; dense, so that an occurrence costs no hashing.
#[derive(Debug, Default)]
struct Numbers(Vec<u32>);

impl Numbers {
    fn make_room(&mut self, ids: usize) {
        if self.0.len() < ids {
            self.0.resize(ids.next_power_of_two(), ABSENT);
        }
    }

    fn forget(&mut self, tallies: &Tallies) {
        for &(token, _) in &tallies.0 {
            self.0[token as usize] = ABSENT;
        }
    }
}

/// The neighbours on one side of a merge.
#[derive(Debug, Default)]
pub(super) struct Side {
    tallies: Tallies,
    // Range of its occurrences in `Occurrences::places`.
    range: Range<usize>,
}

impl Side {
    fn clear(&mut self) {
        self.tallies.0.clear();
        self.range = 0..0;
    }

    #[inline]
    fn add(&mut self, token: u32, position: u32, weight: u64, occurrences: &mut Occurrences) {
        let number = self.tallies.number(token, &mut occurrences.numbers);
        self.tallies.get(number).add(Tally { weight, occurrences: 1, slot: 0 });
        occurrences.places.push((number, position));
    }

    /// Writes each position into its neighbour's range of `lists`, in order; calls `tick` with the number written.
    fn hand_out(
        &mut self,
        occurrences: &Occurrences,
        lists: &mut [u32],
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        for places in occurrences.places[self.range.clone()].chunks(METER_EVERY) {
            for &(number, position) in places {
                let slot = &mut self.tallies.get(number).slot;
                if *slot != UNPLACED {
                    lists[*slot as usize] = position;
                    *slot += 1;
                }
            }
            tick(places.len() as u64)?;
        }
        Ok(())
    }
}

/// The neighbours on one side of all merges of a batch, in one array: memory for the largest batch, not for the largest merge of
/// every number.
#[derive(Debug, Default)]
struct Occurrences {
    numbers: Numbers,
    // For each occurrence the index of its tally and the position of the new pair; for each merge ascending by position.
    places: Vec<(u32, u32)>,
}

impl Occurrences {
    /// Removes the last batch and makes room for ids below `ids`.
    fn start(&mut self, ids: usize) {
        self.places.clear();
        self.numbers.make_room(ids);
    }

    /// Begins the side of a merge.
    fn open(&self, side: &mut Side) {
        side.range = self.places.len()..self.places.len();
    }

    /// Ends the side of a merge.
    fn close(&mut self, side: &mut Side) {
        self.numbers.forget(&side.tallies);
        side.range.end = self.places.len();
    }
}

/// All neighbours of one merge in one part of the words.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// Tokens before the new token; a pair's position is the position of the neighbour.
    pub(super) left: Side,
    /// Tokens after the new token; a pair's position is the position of the new token.
    pub(super) right: Side,
    /// The new token followed by itself.
    self_pair: Tally,
    self_pair_places: Vec<u32>,
    /// How often the pair was merged, weighted by the words' counts.
    pub(super) performed: u64,
}

impl Neighbours {
    fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        self.self_pair = Tally::default();
        self.self_pair_places.clear();
        self.performed = 0;
    }

    /// Writes all needed positions into `lists`; calls `tick` with the number written, and stops if it fails.
    fn hand_out(
        &mut self,
        [left, right]: [&Occurrences; 2],
        lists: &mut [u32],
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.left.hand_out(left, lists, tick)?;
        self.right.hand_out(right, lists, tick)?;
        if self.self_pair.occurrences > 0 && self.self_pair.slot != UNPLACED {
            let slot = self.self_pair.slot as usize;
            lists[slot..slot + self.self_pair_places.len()].copy_from_slice(&self.self_pair_places);
        }
        Ok(())
    }
}

/// The neighbours of all merges of a batch in one part of the words.
#[derive(Debug, Default)]
pub(super) struct MergeDeltas {
    merges: Vec<Neighbours>,
    left: Occurrences,
    right: Occurrences,
}

impl MergeDeltas {
    /// Clears the last batch and makes room for `merges` merges of ids below `ids`.
    pub(super) fn start(&mut self, merges: usize, ids: usize) {
        if self.merges.len() < merges {
            self.merges.resize_with(merges, Neighbours::default);
        }
        self.merges[..merges].iter_mut().for_each(Neighbours::clear);
        self.left.start(ids);
        self.right.start(ids);
    }

    /// The neighbours of one merge.
    pub(super) fn merge(&mut self, number: usize) -> &mut Neighbours {
        &mut self.merges[number]
    }

    /// Starts to record the merge into `joined`.
    pub(super) fn note(&mut self, number: usize, joined: u32) -> Notes<'_> {
        let Self { merges, left, right } = self;
        let neighbours = &mut merges[number];
        left.open(&mut neighbours.left);
        right.open(&mut neighbours.right);
        Notes { neighbours, left, right, joined, waiting: None }
    }

    /// Writes all needed positions of the first `merges` merges into `lists`; calls `tick` with the number written, and stops
    /// if it fails.
    pub(super) fn hand_out(
        &mut self,
        merges: usize,
        lists: &mut [u32],
        mut tick: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let Self { merges: all_merges, left, right } = self;
        all_merges[..merges].iter_mut().try_for_each(|merge| merge.hand_out([left, right], lists, &mut tick))
    }
}

/// Records the neighbours of one merge while it is applied.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    neighbours: &'a mut Neighbours,
    left: &'a mut Occurrences,
    right: &'a mut Occurrences,
    joined: u32,
    // The right neighbour of the last occurrence is held back: the next merge may consume it.
    waiting: Option<(u32, u32, u64)>,
}

impl Notes<'_> {
    /// Records a merge at `position`, in a word of the count `weight`. Positions ascend. `base` is the position of the part's
    /// first cell.
    #[inline]
    pub(super) fn add(&mut self, position: u32, weight: u64, applied: Applied, base: usize) {
        let neighbours = &mut *self.neighbours;
        neighbours.performed += weight;
        match applied.left.map(|(token, start)| (token, (base + start) as u32)) {
            // Only this merge makes the new token, so the neighbour is its last occurrence.
            Some((token, start)) if token == self.joined => {
                self.waiting = None;
                neighbours.self_pair.add(Tally { weight, occurrences: 1, slot: 0 });
                neighbours.self_pair_places.push(start);
            }
            Some((token, start)) => neighbours.left.add(token, start, weight, self.left),
            None => {}
        }
        self.take_in_waiting();
        self.waiting = applied.right.map(|token| (token, position, weight));
    }

    /// Records the right neighbour of the last occurrence.
    #[inline]
    fn take_in_waiting(&mut self) {
        if let Some((token, position, weight)) = self.waiting.take() {
            self.neighbours.right.add(token, position, weight, self.right);
        }
    }

    /// Finishes the merge.
    pub(super) fn finish(mut self) {
        self.take_in_waiting();
        self.left.close(&mut self.neighbours.left);
        self.right.close(&mut self.neighbours.right);
    }
}

/// Sums of tallies over all parts of the words.
#[derive(Debug, Default)]
pub(super) struct Sums {
    numbers: Numbers,
    tallies: Tallies,
}

impl Sums {
    /// Makes room for ids below `ids`.
    pub(super) fn make_room(&mut self, ids: usize) {
        self.numbers.make_room(ids);
    }

    /// Visits every neighbour on one side of a merge once, with its tally summed over all parts.
    ///
    /// `visit` returns the slot of its first position; the positions of earlier parts come first.
    #[inline]
    pub(super) fn for_each(
        &mut self,
        parts: &mut [MergeDeltas],
        side: impl Fn(&mut MergeDeltas) -> &mut Side,
        mut visit: impl FnMut(u32, Tally) -> u32,
    ) {
        if let [part] = parts {
            for (token, tally) in &mut side(part).tallies.0 {
                tally.slot = visit(*token, *tally);
            }
            return;
        }
        for part in &mut *parts {
            for &(token, tally) in &side(part).tallies.0 {
                let number = self.tallies.number(token, &mut self.numbers);
                self.tallies.get(number).add(tally);
            }
        }
        for (token, sum) in &mut self.tallies.0 {
            sum.slot = visit(*token, *sum);
        }
        for part in parts {
            for (token, tally) in &mut side(part).tallies.0 {
                let number = self.tallies.number(*token, &mut self.numbers);
                tally.take_slots(&mut self.tallies.get(number).slot);
            }
        }
        self.numbers.forget(&self.tallies);
        self.tallies.0.clear();
    }
}

/// As [`Sums::for_each`], for the pair of merge `number`'s new token with itself.
pub(super) fn for_self_pair(parts: &mut [MergeDeltas], number: usize, visit: impl FnOnce(Tally) -> u32) {
    let mut sum = Tally::default();
    for part in &mut *parts {
        sum.add(part.merge(number).self_pair);
    }
    if sum.occurrences > 0 {
        let mut slot = visit(sum);
        for part in parts {
            part.merge(number).self_pair.take_slots(&mut slot);
        }
    }
}
