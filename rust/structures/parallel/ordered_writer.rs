//! One array of ids, filled by several threads.
//!
//! Threads produce runs of ids in any order. [`OrderedWriter`] copies a run to the array once all earlier runs have
//! their ranges, so the ids are in order without a second array of results. The lock covers only the assignment of
//! ranges; threads copy concurrently.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::structures::huge_pages::{PagesAhead, vec_streamed};

/// The array starts with capacity for so many ids at most. On Linux, capacity that nobody touches costs address space and no
/// memory. Elsewhere it may count as memory.
const MOST_ROOM: usize = if cfg!(target_os = "linux") { 1 << 34 } else { 1 << 27 };

/// A result keeps at most this many ids of unused capacity.
const ROOM_LEFT: usize = 1 << 12;

/// Ordered writer: accepts runs of ids in any order and copies each to the output once all earlier runs have their
/// ranges.
///
/// Runs should be small enough to be still in a core's cache when they are copied, as they are where runs come in order.
#[derive(Debug)]
pub struct OrderedWriter<'a, T> {
    state: Mutex<State<'a, T>>,
}

#[derive(Debug)]
struct State<'a, T> {
    /// The capacity after all ranges that have been assigned.
    free: &'a mut [MaybeUninit<T>],
    pages: PagesAhead,
    /// Ids that have been copied.
    written: usize,
    /// Number of the next run to get a range.
    next: usize,
    /// Runs that wait for earlier ones, by number.
    waiting: BTreeMap<usize, Vec<T>>,
    /// The first run that did not fit into the capacity, and all runs after it.
    late: Vec<Vec<T>>,
    /// Emptied vectors, handed out again.
    spare: Vec<Vec<T>>,
}

impl<T: Copy + Send> OrderedWriter<'_, T> {
    /// Accepts the ids of run `number`; leaves an empty vector in `ids`. If this was the last missing one, the calling thread
    /// copies it and all later runs that waited for it.
    pub fn put(&self, number: usize, ids: &mut Vec<T>) {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = lock();
        let empty = state.spare.pop().unwrap_or_default();
        state.waiting.insert(number, std::mem::replace(ids, empty));
        let placed = state.place();
        drop(state);
        for (place, mut ids) in placed {
            let written = place.write_copy_of_slice(&ids).len();
            ids.clear();
            let mut state = lock();
            state.written += written;
            state.spare.push(ids);
        }
    }
}

impl<'a, T> State<'a, T> {
    /// Assigns ranges of the output to all runs that have no missing run before them.
    fn place(&mut self) -> Vec<(&'a mut [MaybeUninit<T>], Vec<T>)> {
        let mut placed = Vec::new();
        while let Some(ids) = self.waiting.remove(&self.next) {
            self.next += 1;
            if ids.len() > self.free.len() || !self.late.is_empty() {
                self.late.push(ids);
                continue;
            }
            self.pages.prepare(self.free, ids.len());
            let (place, free) = std::mem::take(&mut self.free).split_at_mut(ids.len());
            self.free = free;
            placed.push((place, ids));
        }
        placed
    }
}

/// Runs `fill` and returns the ids of all runs that it put, in order of their numbers from 0 on, with the result of
/// `fill`.
///
/// `expected` is an estimate of the number of ids. Ids beyond it, or beyond the addresses that the system has, are appended after
/// `fill` has returned, which costs time but is correct. The numbers of all runs must cover 0.. without a gap and without repetition:
/// ids after a gap are lost.
///
/// # Errors
/// The errors of `fill`.
#[expect(unsafe_code, reason = "memory that several threads have written cannot safely be said to be filled")]
pub fn write_in_order<T: Copy + Send, R>(
    expected: usize,
    fill: impl FnOnce(&OrderedWriter<'_, T>) -> Result<R>,
) -> Result<(Vec<T>, R)> {
    let mut ids = vec_streamed(expected.min(MOST_ROOM));
    let free = ids.spare_capacity_mut();
    let (room, waiting) = (free.len(), BTreeMap::new());
    let pages = PagesAhead::new(free);
    let state = State { free, pages, written: 0, next: 0, waiting, late: Vec::new(), spare: Vec::new() };
    let writer = OrderedWriter { state: Mutex::new(state) };
    let result = fill(&writer)?;
    let State { free, written, late, .. } = writer.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if written == room - free.len() {
        // SAFETY: ranges are assigned from the front without gaps, and as many ids as these ranges hold have been
        // written.
        unsafe { ids.set_len(written) };
    }
    for late in late {
        ids.extend_from_slice(&late);
    }
    if ids.capacity() > ROOM_LEFT + ids.len() {
        ids.shrink_to_fit();
    }
    Ok((ids, result))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::structures::parallel::share;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn write_in_order_matches_naive(
            runs in prop::collection::vec(prop::collection::vec(0..9u16, 0..20), 0..40),
            expected in 0..300usize,
            threads in 1..5usize,
        ) {
            let numbered: Vec<_> = runs.iter().enumerate().collect();
            let (ids, ()) = write_in_order(expected, |writer| {
                // Thread `t` puts every `threads`-th run, the last one first.
                let put = |thread| {
                    for &(number, ids) in numbered.iter().rev().skip(thread).step_by(threads) {
                        let mut ids = ids.clone();
                        writer.put(number, &mut ids);
                        assert!(ids.is_empty(), "what is left is for the next run");
                    }
                };
                share((0..threads).collect(), put);
                Ok(())
            }).expect("nothing fails");
            prop_assert_eq!(ids, runs.concat());
        }
    }
}
