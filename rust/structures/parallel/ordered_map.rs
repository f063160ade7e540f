//! A function over many items of known sizes, on a few threads, with results in order.
//!
//! Neighbouring items are grouped into runs of about equal size. Threads take runs from one atomic counter, so a thread
//! that finishes early takes more of them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::scoped::{Parallelism, scoped};
use crate::Result;

/// Below this many bytes a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1 << 16;

/// Groups neighbouring items into runs of about `target` bytes.
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

/// Calls `work` for runs of items of the given sizes in bytes, on the threads of `parallelism`; returns the results in order.
///
/// Each thread makes its state once with `start` and hands it to `finish` at the end. Input below 128 KiB stays on the
/// calling thread.
///
/// # Errors
/// The error of the first run, in order of the items, that failed; or the error of `parallelism.interrupt`.
pub fn ordered_map<S, T: Send>(
    sizes: &[usize],
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(Range<usize>, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut results = Vec::new();
    ordered_for_each(sizes, parallelism, start, finish, work, |result| {
        results.push(result);
        Ok(())
    })?;
    Ok(results)
}

/// As [`ordered_map`], but passes each result to `take` as soon as all earlier results have been taken. `take` runs on
/// the calling thread, which takes finished results before it works on the next run.
///
/// # Errors
/// Those of [`ordered_map`] and of `take`.
pub fn ordered_for_each<S, T: Send>(
    sizes: &[usize],
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(Range<usize>, &mut S) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let Parallelism { threads, interrupt } = parallelism;
    let threads = threads.max(1);
    let total: usize = sizes.iter().sum();
    let runs = runs(sizes, (total / (threads * 16)).clamp(SERIAL_BYTES, 1 << 20));
    let next = AtomicUsize::new(0);
    let finished: Vec<Mutex<Option<Result<T>>>> = runs.iter().map(|_| Mutex::new(None)).collect();
    let work_on_next = |state: &mut S| {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(run) = runs.get(index) else { return false };
        let result = work(run.clone(), state);
        if result.is_err() {
            // Threads that ask for another run find none. All runs before this one have been handed out already, so the
            // first error in order of the items is still found.
            next.store(runs.len(), Ordering::Relaxed);
        }
        *finished[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        true
    };
    let help = || {
        let mut state = start();
        while work_on_next(&mut state) {}
        finish(state);
    };
    let look = || interrupt.map_or(Ok(()), |interrupt| interrupt());
    let mut taken = finished.iter();
    let mut take_finished = || {
        while let Some(first) = taken.as_slice().first() {
            let Some(result) = first.lock().unwrap_or_else(PoisonError::into_inner).take() else { break };
            taken.next();
            take(result?)?;
            // Helpers may finish runs as fast as this loop takes them, so it has to ask for an interrupt as well.
            look()?;
        }
        Ok(())
    };
    let lead = || {
        let mut state = start();
        let outcome = loop {
            let called_off = look().and_then(|()| take_finished());
            if called_off.is_err() {
                next.store(runs.len(), Ordering::Relaxed);
                break called_off;
            }
            if !work_on_next(&mut state) {
                break Ok(());
            }
        };
        finish(state);
        outcome
    };
    let threads = if total < SERIAL_BYTES * 2 { 1 } else { threads.min(runs.len()) };
    scoped(threads, help, lead)?;
    take_finished()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let sizes = vec![40_000; 100];
        for threads in [1, 2, 7] {
            let work = |run: Range<usize>, (): &mut ()| Ok(run.collect::<Vec<_>>());
            let results = ordered_map(&sizes, threads.into(), || (), |()| (), work).expect("nothing fails");
            assert_eq!(results.concat(), (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_takes_results_may_call_the_work_off() {
        let (sizes, done) = (vec![1 << 20; 20_000], AtomicUsize::new(0));
        let (is_off, leader) = (AtomicBool::new(false), std::thread::current().id());
        for threads in [1, 2, 7] {
            done.store(0, Ordering::Relaxed);
            is_off.store(false, Ordering::Relaxed);
            let work = |run: Range<usize>, (): &mut ()| {
                done.fetch_add(1, Ordering::Relaxed);
                // Helpers wait here, so that on a busy machine, too, the leader takes results before the last run.
                while run.start > 500
                    && std::thread::current().id() != leader
                    && !is_off.load(Ordering::Relaxed)
                {
                    std::thread::yield_now();
                }
                Ok(run.start)
            };
            let mut expected = 0;
            let take = |start| {
                assert_eq!(start, expected);
                expected += 1;
                is_off.store(start >= 20, Ordering::Relaxed);
                if start < 20 { Ok(()) } else { Err(Error::Interrupted) }
            };
            let outcome = ordered_for_each(&sizes, threads.into(), || (), |()| (), work, take);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert_eq!(expected, 21);
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }

    #[test]
    fn the_first_error_wins() {
        let sizes = vec![100_000; 50];
        let work = |run: Range<usize>, (): &mut ()| {
            if run.contains(&20) { Err(Error::UnknownId { id: 20, vocab_size: 0 }) } else { Ok(()) }
        };
        let error = ordered_map(&sizes, 4.into(), || (), |()| (), work).expect_err("run 20 fails");
        assert!(matches!(error, Error::UnknownId { id: 20, .. }));
    }

    #[test]
    fn who_watches_calls_every_thread_off() {
        let (sizes, done) = (vec![1 << 20; 20_000], AtomicUsize::new(0));
        let (is_off, leader) = (AtomicBool::new(false), std::thread::current().id());
        for threads in [1, 2, 7] {
            let interrupt = || {
                is_off.store(done.load(Ordering::Relaxed) >= 20, Ordering::Relaxed);
                if is_off.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
            };
            let parallelism = Parallelism { threads, interrupt: Some(&interrupt) };
            done.store(0, Ordering::Relaxed);
            is_off.store(false, Ordering::Relaxed);
            let work = |run: Range<usize>, (): &mut ()| {
                done.fetch_add(1, Ordering::Relaxed);
                // Helpers wait here, so that on a busy machine, too, the leader asks for an interrupt before the last
                // run.
                while run.start > 500
                    && std::thread::current().id() != leader
                    && !is_off.load(Ordering::Relaxed)
                {
                    std::thread::yield_now();
                }
                Ok(())
            };
            let outcome = ordered_map(&sizes, parallelism, || (), |()| (), work);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }
}
