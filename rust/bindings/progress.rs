//! Progress of long work towards Python: one callback, and Ctrl-C.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::errors::{OrRaise, to_python};
use super::threads::{ATTACHED_BYTES, threads};
use crate::structures::parallel::{Parallelism, Progress, StageClock};
use crate::structures::resident_memory::resident_bytes;
use crate::{Error, Result};

/// Python is asked this often; Ctrl-C takes effect as fast.
const INTERVAL: Duration = Duration::from_millis(100);

/// Does long work without the interpreter, on so many threads, and looks for Ctrl-C meanwhile.
pub(super) fn watched<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(Parallelism<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    // Short work ends before it is time to look.
    let mut reporter = Reporter { last: Some(("", Instant::now())), ..Reporter::silent() };
    let result = py.detach(|| {
        let reporter = RefCell::new(&mut reporter);
        work(Parallelism { threads, interrupt: Some(&|| reporter.borrow_mut().check()) })
    });
    reporter.or_raise(py, result)
}

/// As [`watched`], for texts of a [size](super::texts::Texts::size) and the threads that the caller asked for. Little text stays on
/// this thread: letting other Python threads run, and asking the environment for the number of threads, would take longer.
pub(super) fn watched_texts<T: Send>(
    py: Python<'_>,
    size: usize,
    num_threads: Option<usize>,
    work: impl FnOnce(Parallelism<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    if size < ATTACHED_BYTES { work(1.into()).or_raise(py) } else { watched(py, threads(num_threads), work) }
}

/// Bytes of the process that lie in memory; None where the system does not tell.
#[pyfunction(name = "resident_bytes")]
pub(super) fn resident_bytes_of_process() -> Option<u64> {
    resident_bytes()
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressFormat {
    /// A line on a terminal's standard error.
    Terminal,
    /// Lines of JSON on standard error.
    Json,
    /// Nothing.
    Silent,
}

impl ProgressFormat {
    /// The names of formats.
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("indicatif", Self::Terminal), ("json", Self::Json), ("silent", Self::Silent)];

    /// A format by its name; any other name stands for the usual one, as in Hugging Face.
    pub(super) fn named(name: &str) -> Self {
        let found = Self::NAMES.into_iter().find(|&(known, _)| known == name);
        found.map_or(Self::Terminal, |(_, format)| format)
    }
}

/// Hands progress to a Python callable and keeps the exception that Python raised.
pub(super) struct Reporter {
    callback: Option<Py<PyAny>>,
    raised: Option<PyErr>,
    clock: StageClock,
    /// The stage last reported, and when.
    last: Option<(&'static str, Instant)>,
}

impl Reporter {
    /// Only looks for Ctrl-C.
    pub(super) fn silent() -> Self {
        Self { callback: None, raised: None, clock: StageClock::default(), last: None }
    }

    /// Calls `callback(stage, done, total, eta, rss)`.
    pub(super) fn to(callback: Py<PyAny>) -> Self {
        Self { callback: Some(callback), ..Self::silent() }
    }

    /// Shows progress on standard error in the way of `format`.
    pub(super) fn shown(py: Python<'_>, format: ProgressFormat) -> PyResult<Self> {
        let name = match format {
            ProgressFormat::Terminal => "terminal",
            ProgressFormat::Json => "json_lines",
            ProgressFormat::Silent => return Ok(Self::silent()),
        };
        let callback = py.import("lexmill._data.progress")?.getattr(name)?.call0()?;
        Ok(if callback.is_none() { Self::silent() } else { Self::to(callback.unbind()) })
    }

    /// Passes a report on, if the last one is long enough ago or this one begins or ends its stage.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if Python raised; [`Self::or_raise`] then gives the exception.
    pub(super) fn report(&mut self, progress: Progress) -> Result<()> {
        let is_last = progress.done == progress.total;
        let is_recent = |(stage, at): (&str, Instant)| stage == progress.stage && at.elapsed() < INTERVAL;
        if !is_last && self.last.is_some_and(is_recent) {
            return Ok(());
        }
        self.last = Some((progress.stage, Instant::now()));
        let clock = &mut self.clock;
        Python::attach(|py| {
            let result = py.check_signals().and_then(|()| match &self.callback {
                Some(callback) => {
                    let Progress { stage, done, total } = progress;
                    let eta = clock.time_left(progress).map(|left| left.as_secs_f64());
                    callback.call1(py, (stage, done, total, eta, resident_bytes())).map(drop)
                }
                None => Ok(()),
            });
            result.map_err(|error| {
                self.raised = Some(error);
                Error::Interrupted
            })
        })
    }

    /// Looks for Ctrl-C, if that is long enough ago.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub(super) fn check(&mut self) -> Result<()> {
        // A stage that never ends: this is no report.
        self.report(Progress { stage: "", done: 0, total: 1 })
    }

    /// The outcome of the work, with the exception that Python raised during it.
    pub(super) fn or_raise<T>(&mut self, py: Python<'_>, result: Result<T>) -> PyResult<T> {
        match (result, self.raised.take()) {
            (Err(Error::Interrupted), Some(raised)) => Err(raised),
            (result, _) => result.map_err(|error| to_python(py, &error)),
        }
    }
}
