//! How long-running work reports to its caller, and how the caller stops it.

use crate::Result;

/// One report: `done` of `total` units of `stage` are finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, such as `count words` or `merge pairs`.
    pub stage: &'static str,
    /// Units finished.
    pub done: u64,
    /// Units in all; 0 when unknown.
    pub total: u64,
}

/// Called on the calling thread, at least ten times a second and once at the end of each stage.
///
/// # Errors
/// Returning an error (usually [`crate::Error::Interrupted`]) stops the work; nothing is kept.
pub type OnProgress<'a> = dyn FnMut(Progress) -> Result<()> + 'a;
