//! What one merge changes, summed by neighbouring token.

use super::cells::Applied;
use crate::Result;
use crate::structures::workers::METER_EVERY;

/// A neighbour whose places nobody wants.
pub(super) const UNPLACED: u32 = u32::MAX;

/// One neighbour's share of a merge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Sum of the words' counts.
    pub(super) weight: u64,
    /// Number of places.
    pub(super) occurrences: u32,
    /// Where its next place goes, or [`UNPLACED`].
    pub(super) slot: u32,
}

/// The neighbours on one side: dense by token, so that an occurrence costs no hashing.
#[derive(Debug, Default)]
pub(super) struct Side {
    tallies: Vec<Tally>,
    touched: Vec<u32>,
    // Tokens with the positions of the pairs they form now, ascending by position.
    places: Vec<(u32, u32)>,
}

impl Side {
    #[inline]
    fn add(&mut self, token: u32, position: u32, weight: u64) {
        let tally = &mut self.tallies[token as usize];
        if tally.occurrences == 0 {
            self.touched.push(token);
        }
        tally.occurrences += 1;
        tally.weight += weight;
        self.places.push((token, position));
    }

    fn tally(&mut self, token: u32) -> &mut Tally {
        &mut self.tallies[token as usize]
    }

    /// Writes each place into its neighbour's part of `lists`, in order; calls `tick` with the number written.
    fn hand_out(&mut self, lists: &mut [u32], tick: &mut impl FnMut(u64) -> Result<()>) -> Result<()> {
        for places in self.places.chunks(METER_EVERY) {
            for &(token, position) in places {
                let slot = &mut self.tallies[token as usize].slot;
                if *slot != UNPLACED {
                    lists[*slot as usize] = position;
                    *slot += 1;
                }
            }
            tick(places.len() as u64)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        for &token in &self.touched {
            self.tallies[token as usize] = Tally::default();
        }
        self.touched.clear();
        self.places.clear();
    }
}

/// All neighbours of one merge.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// Tokens before the new one; places are theirs.
    pub(super) left: Side,
    /// Tokens behind the new one; places are the new one's.
    pub(super) right: Side,
    /// The new token behind itself.
    twin: Tally,
    twin_places: Vec<u32>,
    // The last right neighbour waits: if it is part of the next occurrence, it was never one.
    waiting: Option<(u32, u32, u64)>,
}

impl Neighbours {
    /// Makes room for the tallies of ids below `ids` and forgets the last merge.
    pub(super) fn start(&mut self, ids: usize) {
        for side in [&mut self.left, &mut self.right] {
            side.clear();
            if side.tallies.len() < ids {
                side.tallies.resize(ids.next_power_of_two(), Tally::default());
            }
        }
        self.twin = Tally::default();
        self.twin_places.clear();
    }

    /// Notes a merge into `joined` at `position` of a word counted `weight` times; positions ascend, and the word's cells
    /// are counted from `base`.
    #[inline]
    pub(super) fn note(&mut self, position: u32, weight: u64, applied: Applied, base: usize, joined: u32) {
        let left = applied.left.map(|(token, start)| (token, (base + start) as u32));
        match left {
            // Only this merge makes the new token, so the one before must be the last occurrence.
            Some((token, start)) if token == joined => {
                self.waiting = None;
                self.twin.weight += weight;
                self.twin.occurrences += 1;
                self.twin_places.push(start);
            }
            Some((token, start)) => self.left.add(token, start, weight),
            None => {}
        }
        self.finish();
        self.waiting = applied.right.map(|token| (token, position, weight));
    }

    /// Takes in the last occurrence's right neighbour.
    #[inline]
    pub(super) fn finish(&mut self) {
        if let Some((token, position, weight)) = self.waiting.take() {
            self.right.add(token, position, weight);
        }
    }

    /// Writes all wanted places into `lists`; calls `tick` with the number written, and stops when that fails.
    pub(super) fn hand_out(
        &mut self,
        lists: &mut [u32],
        mut tick: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.left.hand_out(lists, &mut tick)?;
        self.right.hand_out(lists, &mut tick)?;
        if self.twin.occurrences > 0 && self.twin.slot != UNPLACED {
            let slot = self.twin.slot as usize;
            lists[slot..slot + self.twin_places.len()].copy_from_slice(&self.twin_places);
        }
        Ok(())
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.occurrences += other.occurrences;
    }

    /// Takes the part of a list from `slot` on that its own places need.
    fn take_slots(&mut self, slot: &mut u32) {
        self.slot = *slot;
        if *slot != UNPLACED {
            *slot += self.occurrences;
        }
    }
}

/// Visits every neighbour on one side once, with its sums over all parts of the words; `visit` returns where its places go,
/// those of earlier parts first.
#[inline]
pub(super) fn for_each(
    parts: &mut [Neighbours],
    side: impl Fn(&mut Neighbours) -> &mut Side,
    mut visit: impl FnMut(u32, Tally) -> u32,
) {
    for at in 0..parts.len() {
        let (before, rest) = parts.split_at_mut(at);
        for touched in 0..side(&mut rest[0]).touched.len() {
            let token = side(&mut rest[0]).touched[touched];
            if before.iter_mut().any(|part| side(part).tally(token).occurrences > 0) {
                continue;
            }
            let mut sum = Tally::default();
            for part in &mut *rest {
                sum.add(*side(part).tally(token));
            }
            let mut slot = visit(token, sum);
            for part in &mut *rest {
                side(part).tally(token).take_slots(&mut slot);
            }
        }
    }
}

/// As [`for_each`], for the new token behind itself.
pub(super) fn for_twin(parts: &mut [Neighbours], visit: impl FnOnce(Tally) -> u32) {
    let mut sum = Tally::default();
    for part in &*parts {
        sum.add(part.twin);
    }
    if sum.occurrences > 0 {
        let mut slot = visit(sum);
        for part in parts {
            part.twin.take_slots(&mut slot);
        }
    }
}
