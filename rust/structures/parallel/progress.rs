//! How long-running work reports to its caller, and how the caller stops it.

use crate::Result;

/// One report: `done` of `total` steps of `stage` are finished. What a step is depends on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, such as `count words` or `merge pairs`.
    pub stage: &'static str,
    /// Steps finished.
    pub done: u64,
    /// Steps in total; 0 if the total is not known.
    pub total: u64,
}

/// Callback for progress. It runs on the calling thread, at least ten times a second and once at the end of each stage.
///
/// # Errors
/// An error (usually [`crate::Error::Interrupted`]) stops the work, whose results are dropped.
pub type OnProgress<'a> = dyn FnMut(Progress) -> Result<()> + 'a;
