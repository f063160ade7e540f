//! Applying a batch of merges at all their places, on one thread or several.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

use super::cells::merge_at;
use super::neighbours::MergeDeltas;
use super::word_index::WordIndex;
use crate::Result;
use crate::structures::prefetch::prefetch;

/// How many places are previewed together.
const BATCH: usize = 64;

/// How many places tell where words are to be cut.
const SAMPLES: usize = 256;

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
    word_index: &'a WordIndex,
}

/// Some whole words, and the ascending places of each merge in them.
pub(super) type Task<'a> = (Part<'a>, Vec<&'a [u32]>);

impl<'a> Part<'a> {
    /// All words.
    pub(super) fn new(cells: &'a mut [u32], word_index: &'a WordIndex) -> Self {
        Self { cells, start: 0, word_index }
    }

    /// Cuts the words into at most `wanted` parts with about as many of the places each; every list of places ascends.
    pub(super) fn split(self, mut lists: Vec<&'a [u32]>, wanted: usize) -> Vec<Task<'a>> {
        let (mut rest, mut tasks) = (self, Vec::with_capacity(wanted));
        let samples = if wanted > 1 { samples(&lists) } else { Vec::new() };
        for number in 1..wanted {
            let Some(&middle) = samples.get(samples.len() * number / wanted) else { break };
            // Where one word spans all, there is nothing to share out.
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

    /// Applies one merge after the other, each where its pair still is among its places, and notes what surrounds it there.
    /// Calls `tick` with the number of places seen, and stops when that fails.
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
                // What the next preview reads comes from memory while these are merged.
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

    /// Asks for the memory of some places.
    #[inline]
    fn ask_for(&self, places: &[u32]) {
        for &position in places {
            prefetch(self.cells, position as usize - self.start);
            self.word_index.ask_for(position as usize);
        }
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
            *weight = self.word_index.weight_at(*position as usize, self.cells, self.start);
        }
        len
    }
}

/// Some of all places, evenly taken and ascending.
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

/// Applies merges to all `tasks`, each on a thread of its own with its own ledger.
///
/// What is done to a word depends on no other word, and the parts' neighbours come one after the other, so the result is
/// that of one thread.
pub(super) fn apply(
    tasks: Vec<Task<'_>>,
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
                // What the system refuses a thread for is done here.
                None => apply_waiting(at)?,
            }
        }
        Ok(())
    })
}
