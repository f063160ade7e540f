//! A leader on the calling thread and helpers beside it.

use std::thread::Builder;

use crate::Result;

/// Who works on a batch.
#[derive(Clone, Copy)]
pub struct Parallelism<'a> {
    /// Threads, the calling one included.
    pub threads: usize,
    /// Asked by the calling thread between two runs of texts; an error calls the work off.
    pub interrupt: Option<&'a dyn Fn() -> Result<()>>,
}

impl From<usize> for Parallelism<'_> {
    /// So many threads, which nobody stops.
    fn from(threads: usize) -> Self {
        Self { threads, interrupt: None }
    }
}

/// Calls `lead` on the calling thread and, beside it, `help` on others, so that `threads` work in all.
///
/// Where the system refuses threads, there are fewer.
pub fn scoped<R>(threads: usize, help: impl Fn() + Sync, lead: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &help).ok();
        let helpers: Vec<_> = (1..threads).map_while(start).collect();
        let outcome = lead();
        for helper in helpers {
            if let Err(panic) = helper.join() {
                std::panic::resume_unwind(panic);
            }
        }
        outcome
    })
}
