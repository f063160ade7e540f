//! One leader on the calling thread and helpers on scoped threads.

use std::thread::Builder;

use crate::Result;

/// The threads that work on a batch, and how they are stopped.
#[derive(Clone, Copy)]
pub struct Parallelism<'a> {
    /// Number of threads, including the calling one.
    pub threads: usize,
    /// Called by the calling thread between two runs of texts; an error stops the work.
    pub interrupt: Option<&'a dyn Fn() -> Result<()>>,
}

impl From<usize> for Parallelism<'_> {
    /// That many threads, without an interrupt.
    fn from(threads: usize) -> Self {
        Self { threads, interrupt: None }
    }
}

impl Parallelism<'_> {
    /// The same with `threads` threads at most.
    #[must_use]
    pub fn at_most(self, threads: usize) -> Self {
        Self { threads: self.threads.min(threads), ..self }
    }

    /// Asks for an interrupt.
    ///
    /// # Errors
    /// The error of `interrupt`.
    pub fn check(self) -> Result<()> {
        self.interrupt.map_or(Ok(()), |interrupt| interrupt())
    }
}

/// Runs `lead` on the calling thread and `help` on `threads - 1` scoped threads, which are numbered from 1; returns when all have
/// finished.
///
/// The system may refuse threads; then fewer help.
pub fn scoped<R>(threads: usize, help: impl Fn(usize) + Sync, lead: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        let help = &help;
        let start = |number| Builder::new().spawn_scoped(scope, move || help(number)).ok();
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
