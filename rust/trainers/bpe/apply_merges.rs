//! Applying a batch of merges at all their occurrences, on one thread or several.
//!
//! The words are cut at word starts into parts with about the same number of occurrences. Each thread changes its own part
//! and records the changes of pair counts in its own [`MergeDeltas`].

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

use super::cells::{Cell, merge_at};
use super::neighbours::MergeDeltas;
use super::word_index::WordIndex;
use crate::Result;
use crate::structures::prefetch::prefetch;

/// Positions in one batch of [`Part::preview`].
const BATCH: usize = 64;

/// Positions that are sampled to find where to cut.
const SAMPLES: usize = 256;

/// A merge to apply: `left` and `right` become `joined`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) joined: u32,
}

/// A range of whole words that one thread may change.
#[derive(Debug)]
pub(super) struct Part<'a, C> {
    cells: &'a mut [C],
    // Position of the first cell in the arena.
    start: usize,
    word_index: &'a WordIndex,
}

/// A part of the words, and for each merge the positions in it, ascending.
pub(super) type Task<'a, C> = (Part<'a, C>, Vec<&'a [u32]>);

impl<'a, C: Cell> Part<'a, C> {
    /// The whole arena.
    pub(super) fn new(cells: &'a mut [C], word_index: &'a WordIndex) -> Self {
        Self { cells, start: 0, word_index }
    }

    /// Cuts the words into at most `wanted` parts with about the same number of positions; each list of positions ascends.
    pub(super) fn split(self, mut lists: Vec<&'a [u32]>, wanted: usize) -> Vec<Task<'a, C>> {
        let (mut rest, mut tasks) = (self, Vec::with_capacity(wanted));
        let samples = if wanted > 1 { samples(&lists) } else { Vec::new() };
        for number in 1..wanted {
            let Some(&middle) = samples.get(samples.len() * number / wanted) else { break };
            // Inside one long word there is nowhere to cut.
            let Some(cut) = rest.word_index.word_start(middle as usize).filter(|&cut| cut > rest.start)
            else {
                continue;
            };
            let (near, far) = rest.cells.split_at_mut(cut - rest.start);
            let (before, after) = lists
                .iter()
                .map(|places| places.split_at(places.partition_point(|&place| (place as usize) < cut)))
                .unzip();
            tasks.push((Self { cells: near, ..rest }, before));
            (rest, lists) = (Self { cells: far, start: cut, ..rest }, after);
        }
        tasks.push((rest, lists));
        tasks
    }

    /// Applies the merges in order, each wherever its pair is still found at its positions; records the neighbours.
    ///
    /// Calls `tick` with the number of positions read, and stops if it fails.
    fn apply(
        &mut self,
        replacements: &[Replacement],
        lists: &[&[u32]],
        deltas: &mut MergeDeltas,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut live = [(0, 0); BATCH];
        let mut ahead = lists.iter().flat_map(|places| places.chunks(BATCH));
        self.ask_for(ahead.next().unwrap_or_default());
        for (number, (replacement, places)) in replacements.iter().zip(lists).enumerate() {
            let Replacement { left, right, joined } = *replacement;
            let mut notes = deltas.note(number, joined);
            for places in places.chunks(BATCH) {
                let len = self.preview(places, left, &mut live);
                // Prefetch for the next preview overlaps with the merges of this one.
                self.ask_for(ahead.next().unwrap_or_default());
                for &(position, weight) in &live[..len] {
                    if let Some(applied) =
                        merge_at(self.cells, position as usize - self.start, left, right, joined)
                    {
                        notes.add(position, weight, applied, self.start);
                    }
                }
                tick(places.len() as u64)?;
            }
            notes.finish();
        }
        Ok(())
    }

    /// Prefetches the cells and the index entries of some positions.
    #[inline]
    fn ask_for(&self, places: &[u32]) {
        for &position in places {
            prefetch(self.cells, position as usize - self.start);
            self.word_index.ask_for(position as usize);
        }
    }

    /// Finds the positions that still hold `left`, with the counts of their words; returns how many there are.
    ///
    /// No read depends on the one before it, so the cache misses of a whole batch overlap, and the merges that follow find
    /// their cells in the cache.
    #[inline]
    fn preview(&self, places: &[u32], left: u32, live: &mut [(u32, u64); BATCH]) -> usize {
        let mut len = 0;
        for &position in places {
            live[len % BATCH].0 = position;
            len += usize::from(self.cells[position as usize - self.start].wide() == left);
        }
        for (position, weight) in &mut live[..len] {
            *weight = self.word_index.weight_at(*position as usize, self.cells, self.start);
        }
        len
    }
}

/// An even sample of all positions, ascending.
fn samples(lists: &[&[u32]]) -> Vec<u32> {
    let total: usize = lists.iter().map(|places| places.len()).sum();
    let every = total / SAMPLES + 1;
    let mut samples = Vec::with_capacity(SAMPLES + lists.len());
    for places in lists {
        samples.extend(places.iter().skip(every / 2).step_by(every));
    }
    samples.sort_unstable();
    samples
}

/// Applies the merges to all `tasks`, each on its own thread with its own deltas.
///
/// Words do not affect each other, and deltas are combined in the order of the tasks, so one thread would give the same result.
pub(super) fn apply<C: Cell>(
    tasks: Vec<Task<'_, C>>,
    replacements: &[Replacement],
    all_deltas: &mut [MergeDeltas],
    tick: &mut impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let mut work = tasks.into_iter().zip(all_deltas);
    let Some(((mut own, places), own_deltas)) = work.next() else { return Ok(()) };
    let waiting: Vec<_> = work.map(|task| Mutex::new(Some(task))).collect();
    let apply_waiting = |at: usize| {
        let task = waiting[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        task.map_or(Ok(()), |((mut part, places), deltas)| {
            part.apply(replacements, &places, deltas, &mut |_| Ok(()))
        })
    };
    let apply_waiting = &apply_waiting;
    std::thread::scope(|scope| {
        let start = |at| Builder::new().spawn_scoped(scope, move || apply_waiting(at)).ok();
        let helpers: Vec<_> = (0..waiting.len()).map(start).collect();
        own.apply(replacements, &places, own_deltas, tick)?;
        for (at, helper) in helpers.into_iter().enumerate() {
            match helper.map(ScopedJoinHandle::join) {
                Some(Ok(part)) => part?,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                // The system refused a thread: the calling thread does its task.
                None => apply_waiting(at)?,
            }
        }
        Ok(())
    })
}
