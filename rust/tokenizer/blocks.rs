//! Text that is encoded while it is read: several threads take blocks of it from one source.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::Parallelism;
use super::batch::together;
use crate::Result;

/// What a source hands out at a time.
#[derive(Debug, Default)]
pub struct Block {
    /// Text of some rows, one after the other, perhaps with something between them.
    pub text: String,
    /// The rows, or parts of rows, in order.
    pub parts: Vec<Shard>,
}

/// A row of text, or a part of one that is encoded apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the row.
    pub row: usize,
    /// Where in the block's text.
    pub bytes: Range<usize>,
    /// Whether the row begins here.
    pub is_first: bool,
    /// Whether the row ends here.
    pub is_last: bool,
}

/// Where blocks come from. One thread at a time asks, and all of them wait for it.
pub trait BlockSource: Send {
    /// Bytes of text that will come, as far as that is known.
    fn bytes(&self) -> usize;

    /// Fills `block` with what comes next; false at the end.
    ///
    /// # Errors
    /// Those of reading.
    fn next(&mut self, block: &mut Block) -> Result<bool>;
}

/// Calls `work` for all blocks of `source` and their numbers, on the threads of `parallelism`; results in order.
///
/// Each thread makes its own state once by `start` and gives it back by `finish`.
///
/// # Errors
/// The error of the first block, in their order, that failed or could not be read, or that of the crew's watch.
pub(super) fn ordered_source_map<S, T: Send>(
    source: &mut dyn BlockSource,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &Block, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Parallelism { threads, interrupt } = parallelism;
    let shared = Mutex::new(Shared { source, taken: 0, is_done: false });
    let finished: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::new());
    let keep = |number, result: Result<T>| {
        let is_done = result.is_err();
        finished.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        if is_done {
            shared.lock().unwrap_or_else(PoisonError::into_inner).is_done = true;
        }
    };
    let work_on_next = |block: &mut Block, state: &mut S| {
        let taken = shared.lock().unwrap_or_else(PoisonError::into_inner).take(block);
        match taken {
            Ok(Some(number)) => keep(number, work(number, block, state)),
            Ok(None) => return false,
            Err((number, error)) => keep(number, Err(error)),
        }
        true
    };
    let help = || {
        let (mut block, mut state) = (Block::default(), start());
        while work_on_next(&mut block, &mut state) {}
        finish(state);
    };
    let lead = || {
        let (mut block, mut state) = (Block::default(), start());
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
    together(threads, help, lead)?;
    let mut finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    finished.sort_unstable_by_key(|&(number, _)| number);
    finished.into_iter().map(|(_, result)| result).collect()
}

struct Shared<'a> {
    source: &'a mut dyn BlockSource,
    taken: usize,
    is_done: bool,
}

impl Shared<'_> {
    /// The number of the block that is read, if one is left; with an error, that of the block which could not be.
    fn take(&mut self, block: &mut Block) -> std::result::Result<Option<usize>, (usize, crate::Error)> {
        if self.is_done {
            return Ok(None);
        }
        let number = self.taken;
        self.taken += 1;
        match self.source.next(block) {
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
