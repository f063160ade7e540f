//! Applying one merge at all its places, on one thread or several.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

use super::cells::merge_at;
use super::headers::HeaderIndex;
use super::neighbours::Neighbours;
use crate::Result;

/// How many places are previewed together.
const BATCH: usize = 64;

/// What to replace by what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) joined: u32,
}

/// Some whole words that one thread may change.
#[derive(Debug)]
pub(super) struct Part<'a> {
    cells: &'a mut [u32],
    // Where they lie among all words.
    start: usize,
    headers: &'a HeaderIndex,
}

impl<'a> Part<'a> {
    /// All words.
    pub(super) fn new(cells: &'a mut [u32], headers: &'a HeaderIndex) -> Self {
        Self { cells, start: 0, headers }
    }

    /// Cuts the words into at most `wanted` parts with about as many of the ascending `places` each.
    pub(super) fn split(self, places: &'a [u32], wanted: usize) -> Vec<(Self, &'a [u32])> {
        let (mut rest, mut places, mut parts) = (self, places, Vec::with_capacity(wanted));
        for remaining in (2..=wanted).rev() {
            let Some(&middle) = places.get(places.len() / remaining) else { break };
            // Where one word spans all, there is nothing to share out.
            let Some(cut) = rest.headers.word_start(middle as usize).filter(|&cut| cut > rest.start) else {
                continue;
            };
            let (near, far) = rest.cells.split_at_mut(cut - rest.start);
            let (before, after) = places.split_at(places.partition_point(|&place| (place as usize) < cut));
            parts.push((Self { cells: near, ..rest }, before));
            (rest, places) = (Self { cells: far, start: cut, ..rest }, after);
        }
        parts.push((rest, places));
        parts
    }

    /// Replaces the pair where it still is among `places` and notes what surrounds it there; returns how often it was
    /// replaced, by the words' counts. Calls `tick` with the number of places seen, and stops when that fails.
    pub(super) fn apply(
        &mut self,
        replacement: Replacement,
        places: &[u32],
        neighbours: &mut Neighbours,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let Replacement { left, right, joined } = replacement;
        let (mut live, mut performed) = ([(0, 0); BATCH], 0);
        for places in places.chunks(BATCH) {
            let len = self.preview(places, left, &mut live);
            for &(position, weight) in &live[..len] {
                if let Some(applied) =
                    merge_at(self.cells, position as usize - self.start, left, right, joined)
                {
                    neighbours.note(position, weight, applied, self.start, joined);
                    performed += weight;
                }
            }
            tick(places.len() as u64)?;
        }
        neighbours.finish();
        Ok(performed)
    }

    /// Finds the places that still hold `left`, with the counts of their words, and returns how many there are.
    ///
    /// Nothing here waits for what was found at the place before, so the memory accesses of a whole batch overlap, and
    /// merging right after finds its cells in the cache.
    #[inline]
    fn preview(&self, places: &[u32], left: u32, live: &mut [(u32, u64); BATCH]) -> usize {
        let mut len = 0;
        for &position in places {
            live[len % BATCH].0 = position;
            len += usize::from(self.cells[position as usize - self.start] == left);
        }
        for (position, weight) in &mut live[..len] {
            *weight = self.headers.weight_at(*position as usize);
        }
        len
    }
}

/// Applies one merge to all `parts`, each on a thread of its own with its own `neighbours`; returns how often it was
/// applied, by the words' counts.
///
/// What is done to a word depends on no other word, and the parts' neighbours come one after the other, so the result is
/// that of one thread.
pub(super) fn apply(
    parts: Vec<(Part<'_>, &[u32])>,
    replacement: Replacement,
    neighbours: &mut [Neighbours],
    tick: &mut impl FnMut(u64) -> Result<()>,
) -> Result<u64> {
    let mut work = parts.into_iter().zip(neighbours);
    let Some(((mut own, places), own_neighbours)) = work.next() else { return Ok(0) };
    let waiting: Vec<_> = work.map(|part| Mutex::new(Some(part))).collect();
    let apply_waiting = |at: usize| {
        let part = waiting[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        part.map_or(Ok(0), |((mut part, places), neighbours)| {
            part.apply(replacement, places, neighbours, &mut |_| Ok(()))
        })
    };
    let apply_waiting = &apply_waiting;
    std::thread::scope(|scope| {
        let start = |at| Builder::new().spawn_scoped(scope, move || apply_waiting(at)).ok();
        let helpers: Vec<_> = (0..waiting.len()).map(start).collect();
        let mut performed = own.apply(replacement, places, own_neighbours, tick)?;
        for (at, helper) in helpers.into_iter().enumerate() {
            performed += match helper.map(ScopedJoinHandle::join) {
                Some(Ok(part)) => part?,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                // What the system refuses a thread for is done here.
                None => apply_waiting(at)?,
            };
        }
        Ok(performed)
    })
}
