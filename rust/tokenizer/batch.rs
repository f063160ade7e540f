//! Work on many texts by a few threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;

/// Below this many bytes a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1 << 16;

/// Who works on a batch.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    /// Threads, the calling one included.
    pub threads: usize,
    /// Asked by the calling thread between two runs of texts; an error calls the work off.
    pub watch: Option<&'a dyn Fn() -> Result<()>>,
}

impl From<usize> for Crew<'_> {
    /// So many threads, which nobody stops.
    fn from(threads: usize) -> Self {
        Self { threads, watch: None }
    }
}

/// Cuts texts into runs of neighbours with about the same number of bytes.
fn runs(sizes: &[usize], target: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, size) in sizes.iter().enumerate() {
        bytes += size;
        if bytes >= target {
            runs.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    if start < sizes.len() {
        runs.push(start..sizes.len());
    }
    runs
}

/// Calls `work` for runs of items of the given sizes, on the threads of `crew`; results in order.
///
/// Each thread makes its own state once by `start` and gives it back by `finish`. Runs go to threads by one
/// atomic counter; small work stays on the calling thread.
///
/// # Errors
/// The error of the first run, in order of the items, that failed, or that was next when the crew was called off.
pub fn in_runs<S, T: Send>(
    sizes: &[usize],
    crew: Crew<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(Range<usize>, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Crew { threads, watch } = crew;
    let total: usize = sizes.iter().sum();
    let runs = runs(sizes, (total / (threads * 16)).clamp(SERIAL_BYTES, 1 << 20));
    let next = AtomicUsize::new(0);
    let take_runs = |watch: Option<&dyn Fn() -> Result<()>>| {
        let mut state = start();
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(index) else { break };
            let called_off = watch.map_or(Ok(()), |watch| watch());
            let result = called_off.and_then(|()| work(run.clone(), &mut state));
            let failed = result.is_err();
            results.push((index, result));
            if failed {
                // Whoever asks next finds nothing left; runs before this one are taken already.
                next.store(runs.len(), Ordering::Relaxed);
                break;
            }
        }
        finish(state);
        results
    };
    let mut results = if total < SERIAL_BYTES * 2 || threads < 2 || runs.len() < 2 {
        take_runs(watch)
    } else {
        std::thread::scope(|scope| {
            let helpers: Vec<_> =
                (1..threads.min(runs.len())).map(|_| scope.spawn(|| take_runs(None))).collect();
            let mut results = take_runs(watch);
            for helper in helpers {
                match helper.join() {
                    Ok(more) => results.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        })
    };
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let sizes = vec![40_000; 100];
        for threads in [1, 2, 7] {
            let work = |run: Range<usize>, (): &mut ()| Ok(run.collect::<Vec<_>>());
            let results = in_runs(&sizes, threads.into(), || (), |()| (), work).expect("nothing fails");
            assert_eq!(results.concat(), (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_wins() {
        let sizes = vec![100_000; 50];
        let work = |run: Range<usize>, (): &mut ()| {
            if run.contains(&20) { Err(Error::UnknownId { id: 20, vocab_size: 0 }) } else { Ok(()) }
        };
        let error = in_runs(&sizes, 4.into(), || (), |()| (), work).expect_err("run 20 fails");
        assert!(matches!(error, Error::UnknownId { id: 20, .. }));
    }

    #[test]
    fn who_watches_calls_every_thread_off() {
        let (sizes, done) = (vec![1 << 20; 1000], AtomicUsize::new(0));
        for threads in [1, 2, 7] {
            let watch = || if done.load(Ordering::Relaxed) < 20 { Ok(()) } else { Err(Error::Interrupted) };
            let crew = Crew { threads, watch: Some(&watch) };
            done.store(0, Ordering::Relaxed);
            let work = |_: Range<usize>, (): &mut ()| {
                done.fetch_add(1, Ordering::Relaxed);
                std::thread::yield_now();
                Ok(())
            };
            let outcome = in_runs(&sizes, crew, || (), |()| (), work);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert!(done.load(Ordering::Relaxed) < 1000);
        }
    }
}
