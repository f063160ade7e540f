//! The merges of a training, which may be kept while it runs and replayed by another run.

use std::time::{Duration, Instant};

use crate::Result;

/// Merges in the order learnt; a merge that was learnt twice is listed twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeLog {
    /// The pairs of ids.
    pub merges: Vec<(u32, u32)>,
    /// For each merge, how often its pair occurred when it was chosen.
    pub counts: Vec<u64>,
}

impl MergeLog {
    /// Adds a merge.
    pub(super) fn push(&mut self, pair: (u32, u32), count: u64) {
        self.merges.push(pair);
        self.counts.push(count);
    }

    /// Number of merges.
    pub fn len(&self) -> usize {
        self.merges.len()
    }

    /// True if there are no merges.
    pub fn is_empty(&self) -> bool {
        self.merges.is_empty()
    }
}

/// Takes all merges so far.
pub type KeepMerges<'a> = dyn FnMut(&MergeLog) -> Result<()> + 'a;

/// Training that starts from merges of an earlier run, and hands over its own now and then.
pub struct Resumption<'a> {
    /// The merges that were done before, of the same words with the same options.
    pub done: MergeLog,
    /// The least time between two calls of `keep`.
    pub every: Duration,
    /// Takes all merges so far; called also when training ends, by an error as well.
    pub keep: Box<KeepMerges<'a>>,
}

/// Calls `keep` when it is time.
pub(super) struct Keeper<'a> {
    every: Duration,
    keep: Box<KeepMerges<'a>>,
    last: Instant,
}

impl<'a> Keeper<'a> {
    /// The keeper, and the merges to begin with.
    pub(super) fn of(resumption: Resumption<'a>) -> (Self, MergeLog) {
        let Resumption { done, every, keep } = resumption;
        (Self { every, keep, last: Instant::now() }, done)
    }

    /// Hands over the merges if the last time is long enough ago.
    pub(super) fn tick(&mut self, log: &MergeLog) -> Result<()> {
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        self.now(log)?;
        // The time of `keep` does not count, so merges that take long to keep are kept less often.
        self.last = Instant::now();
        Ok(())
    }

    /// Hands over the merges.
    pub(super) fn now(&mut self, log: &MergeLog) -> Result<()> {
        (self.keep)(log)
    }
}
