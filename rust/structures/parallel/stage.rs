//! Threads that share one stage of training while the calling thread reports its progress.
//!
//! [`run_parts`] spreads a stage over threads: workers count finished steps in a [`Meter`], and the calling thread
//! passes the sum to the caller every 20 ms. [`Pacer`] does the same for a stage that runs on the calling thread
//! itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::Result;

/// One report: `done` of `total` steps of `stage` are finished. The meaning of a step depends on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The name of the work, such as `count words` or `merge pairs`.
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

/// Time between two reports.
const BEAT: Duration = Duration::from_millis(20);

/// Stages with fewer steps run on the calling thread: starting a thread costs more.
const TOO_SMALL: u64 = 1 << 15;

/// Steps after which a [`Pacer`] reads the clock: some 0.1 ms.
const LOOK_EVERY: u64 = 1 << 13;

/// Steps between two calls of [`Meter::add`].
pub const METER_EVERY: usize = 1 << 16;

/// Counts finished steps and tells workers when to stop; shared by all threads of one stage.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Meter {
    /// Counts `steps` as finished; false if the result is no longer wanted.
    pub fn add(&self, steps: usize) -> bool {
        self.done.fetch_add(steps as u64, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `work` on every part, each on its own thread, and returns the results in the order of the parts.
///
/// `work` calls [`Meter::add`] every [`METER_EVERY`] steps. Once `add` returns false, `work` may return anything. A
/// stage of fewer than 2^15 steps runs on the calling thread.
///
/// # Errors
/// The errors of `on_progress`.
pub fn run_parts<P: Send, R: Send>(
    stage: &'static str,
    total: u64,
    parts: Vec<P>,
    on_progress: &mut OnProgress<'_>,
    work: impl Fn(P, &Meter) -> R + Sync,
) -> Result<Vec<R>> {
    let meter = Meter::default();
    let results = if total < TOO_SMALL {
        parts.into_iter().map(|part| work(part, &meter)).collect()
    } else {
        run_on_threads(stage, total, parts, on_progress, &meter, &work)?
    };
    on_progress(Progress { stage, done: total, total })?;
    Ok(results)
}

fn run_on_threads<P: Send, R: Send>(
    stage: &'static str,
    total: u64,
    parts: Vec<P>,
    on_progress: &mut OnProgress<'_>,
    meter: &Meter,
    work: &(impl Fn(P, &Meter) -> R + Sync),
) -> Result<Vec<R>> {
    let mut results: Vec<Option<R>> = parts.iter().map(|_| None).collect();
    let places: Vec<Mutex<Option<P>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let mut outcome = Ok(());
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (index, place) in places.iter().enumerate() {
            let sender = sender.clone();
            let work_here = move || {
                if let Some(part) = place.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    // The receiver outlives every thread of this scope, so sending cannot fail.
                    drop(sender.send((index, work(part, meter))));
                }
            };
            // Where the system refuses a thread, the calling thread does its part.
            if Builder::new().spawn_scoped(scope, work_here.clone()).is_err() {
                work_here();
            }
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(BEAT) {
                Ok((index, result)) => results[index] = Some(result),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if outcome.is_ok() => {
                    outcome =
                        on_progress(Progress { stage, done: meter.done.load(Ordering::Relaxed), total });
                    meter.stop.store(outcome.is_err(), Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    });
    outcome?;
    // The scope has passed on the panic of any thread, so here every result is present.
    Ok(results.into_iter().flatten().collect())
}

/// Reports the progress of a stage on the calling thread, without reading the clock at every step.
#[derive(Debug)]
pub struct Pacer {
    stage: &'static str,
    total: u64,
    steps: u64,
    last: Instant,
}

impl Pacer {
    /// Starts the clock of `stage`.
    pub fn new(stage: &'static str, total: u64) -> Self {
        Self { stage, total, steps: 0, last: Instant::now() }
    }

    /// Counts `steps` and, if a report is due, reports that `done` steps are finished.
    ///
    /// # Errors
    /// The errors of `on_progress`.
    #[inline]
    pub fn tick(&mut self, steps: u64, done: u64, on_progress: &mut OnProgress<'_>) -> Result<()> {
        self.steps += steps;
        if self.steps < LOOK_EVERY { Ok(()) } else { self.look(done, on_progress) }
    }

    #[cold]
    fn look(&mut self, done: u64, on_progress: &mut OnProgress<'_>) -> Result<()> {
        self.steps = 0;
        if self.last.elapsed() < BEAT {
            return Ok(());
        }
        self.last = Instant::now();
        on_progress(Progress { stage: self.stage, done, total: self.total })
    }

    /// Reports the end of the stage.
    ///
    /// # Errors
    /// The errors of `on_progress`.
    pub fn finish(&self, done: u64, on_progress: &mut OnProgress<'_>) -> Result<()> {
        on_progress(Progress { stage: self.stage, done, total: self.total })
    }
}

#[cfg(test)]
mod tests {
    use super::{METER_EVERY, Pacer, run_parts};
    use crate::Error;

    #[test]
    fn results_keep_the_order_of_the_parts() {
        for total in [1, 1 << 20] {
            let squares =
                run_parts("square", total, vec![3u64, 1, 2], &mut |_| Ok(()), |part, _| part * part);
            assert_eq!(squares.expect("nobody stops it"), [9, 1, 4]);
        }
    }

    #[test]
    fn an_error_stops_every_thread() {
        let forever =
            run_parts("wait", 1 << 20, vec![(), ()], &mut |_| Err(Error::Interrupted), |(), meter| {
                while meter.add(METER_EVERY) {
                    std::thread::yield_now();
                }
            });
        assert!(matches!(forever, Err(Error::Interrupted)));
    }

    #[test]
    fn a_pacer_reports_in_time_and_passes_errors_on() {
        let mut pacer = Pacer::new("step", 10);
        std::thread::sleep(super::BEAT);
        assert!(pacer.tick(1, 1, &mut |_| Err(Error::Interrupted)).is_ok());
        assert!(pacer.tick(super::LOOK_EVERY, 2, &mut |_| Err(Error::Interrupted)).is_err());
        let mut seen = None;
        assert!(
            pacer
                .finish(10, &mut |progress| {
                    seen = Some(progress.done);
                    Ok(())
                })
                .is_ok()
        );
        assert_eq!(seen, Some(10));
    }
}
