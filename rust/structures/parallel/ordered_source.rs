//! Blocks that are read by one thread at a time and worked on by all.
//!
//! Work goes on while the next block is read, and results come in the order of the blocks.

use std::sync::{Mutex, PoisonError};

use super::scoped::{Parallelism, scoped};
use crate::Result;

/// Calls `work` for all blocks that `next` fills, with their numbers, on the threads of `parallelism`; results in order.
///
/// Each thread makes its own state once by `start` and gives it back by `finish`.
///
/// # Errors
/// The error of the first block, in their order, that failed or could not be read, or that of the crew's watch.
pub fn ordered_source_map<B: Default, S, T: Send>(
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &B, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Parallelism { threads, interrupt } = parallelism;
    let shared = Mutex::new(Shared { next, taken: 0, is_done: false });
    let finished: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::new());
    let keep = |number, result: Result<T>| {
        let is_done = result.is_err();
        finished.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        if is_done {
            shared.lock().unwrap_or_else(PoisonError::into_inner).is_done = true;
        }
    };
    let work_on_next = |block: &mut B, state: &mut S| {
        let taken = shared.lock().unwrap_or_else(PoisonError::into_inner).take(block);
        match taken {
            Ok(Some(number)) => keep(number, work(number, block, state)),
            Ok(None) => return false,
            Err((number, error)) => keep(number, Err(error)),
        }
        true
    };
    let help = || {
        let (mut block, mut state) = (B::default(), start());
        while work_on_next(&mut block, &mut state) {}
        finish(state);
    };
    let lead = || {
        let (mut block, mut state) = (B::default(), start());
        let outcome = loop {
            let called_off = interrupt.map_or(Ok(()), |interrupt| interrupt());
            if called_off.is_err() {
                shared.lock().unwrap_or_else(PoisonError::into_inner).is_done = true;
                break called_off;
            }
            if !work_on_next(&mut block, &mut state) {
                break Ok(());
            }
        };
        finish(state);
        outcome
    };
    scoped(threads, help, lead)?;
    let mut finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    finished.sort_unstable_by_key(|&(number, _)| number);
    finished.into_iter().map(|(_, result)| result).collect()
}

struct Shared<N> {
    /// Fills a block; false at the end.
    next: N,
    taken: usize,
    is_done: bool,
}

impl<N> Shared<N> {
    /// The number of the block that is read, if one is left; with an error, that of the block which could not be.
    fn take<B>(&mut self, block: &mut B) -> std::result::Result<Option<usize>, (usize, crate::Error)>
    where
        N: FnMut(&mut B) -> Result<bool>,
    {
        if self.is_done {
            return Ok(None);
        }
        let number = self.taken;
        self.taken += 1;
        match (self.next)(block) {
            Ok(true) => Ok(Some(number)),
            Ok(false) => {
                self.is_done = true;
                Ok(None)
            }
            Err(error) => {
                self.is_done = true;
                Err((number, error))
            }
        }
    }
}
