//! A function over the blocks of a source, on a few threads, with results in the order of the blocks.
//!
//! A mutex guards the source: one thread reads a block while the others process theirs.

use std::sync::{Mutex, PoisonError};

use super::scoped::{Parallelism, scoped};
use crate::Result;

/// Calls `work` with every block that `next` fills and the number of that block, on the threads of `parallelism`;
/// returns the results in the order of the blocks.
///
/// `next` returns false at the end of the source. Each thread makes its state once with `start` and hands it to
/// `finish` at the end.
///
/// # Errors
/// The error of the first block, in order, that could not be read or processed; or the error of
/// `parallelism.interrupt`.
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
    /// Reads the next block; false at the end of the source.
    next: N,
    taken: usize,
    is_done: bool,
}

impl<N> Shared<N> {
    /// Reads the next block and returns its number, `None` if the source has ended or the work has been stopped.
    ///
    /// The error carries the number of the block that could not be read.
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
