//! A function over blocks, on a few threads, with results in the order of the blocks.
//!
//! A mutex guards the source of blocks: one thread reads a block while the others process theirs. Items in memory are grouped
//! into runs of about equal size, so a thread that finishes early takes more of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::scoped::{Parallelism, scoped};
use crate::Result;

/// Below this many bytes a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1 << 16;

/// Neighbouring items of the given sizes in bytes as a source of runs, with as many threads as may find one to work on. Input
/// below 128 KiB is one run.
pub fn runs<'a>(
    sizes: &[usize],
    parallelism: Parallelism<'a>,
) -> (impl FnMut(&mut Range<usize>) -> Result<bool> + Send + use<>, Parallelism<'a>) {
    let total: usize = sizes.iter().sum();
    let share = (total / (parallelism.threads.max(1) * 16)).clamp(SERIAL_BYTES, 1 << 20);
    let target = if total < SERIAL_BYTES * 2 { total } else { share };
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, size) in sizes.iter().enumerate() {
        bytes += size;
        if bytes >= target || at + 1 == sizes.len() {
            runs.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    let parallelism = parallelism.at_most(runs.len());
    let mut runs = runs.into_iter();
    (move |run: &mut Range<usize>| Ok(runs.next().map(|next| *run = next).is_some()), parallelism)
}

/// Calls `work` with every block that `next` fills and the number of that block, on the threads of `parallelism`; returns the
/// results in the order of the blocks.
///
/// `next` returns false at the end of the source. Each thread makes its state once with `start` and hands it to `finish` at the
/// end.
///
/// # Errors
/// The error of the first block, in order, that could not be read or processed; or the error of `parallelism.interrupt`.
pub fn ordered_map<B: Default, S, T: Send>(
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &B, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut results = Vec::new();
    ordered_for_each(next, parallelism, start, finish, work, |result| {
        results.push(result);
        Ok(())
    })?;
    Ok(results)
}

/// As [`ordered_map`], but passes each result to `take` as soon as all earlier results have been taken. `take` runs on
/// the calling thread, which takes finished results before it works on the next block.
///
/// Helpers may finish blocks as fast as `take` takes them: if that is slow, it should ask for an interrupt as well.
///
/// # Errors
/// Those of [`ordered_map`] and of `take`.
pub fn ordered_for_each<B: Default, S, T: Send>(
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &B, &mut S) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    // The number of the next block, and what fills it, unless the source has ended or the work is called off.
    let source = Mutex::new((0, Some(next)));
    let lock_source = || source.lock().unwrap_or_else(PoisonError::into_inner);
    let finished = Mutex::new(BTreeMap::new());
    let lock_finished = || finished.lock().unwrap_or_else(PoisonError::into_inner);
    let read = |block: &mut B| {
        let (number, next) = &mut *lock_source();
        let filled = next.as_mut().map_or(Ok(false), |next| next(block));
        if !matches!(filled, Ok(true)) {
            *next = None;
        }
        *number += 1;
        (*number - 1, filled)
    };
    let work_on_next = |block: &mut B, state: &mut S| {
        let result = match read(block) {
            (_, Ok(false)) => return false,
            (number, Ok(true)) => (number, work(number, block, state)),
            (number, Err(error)) => (number, Err(error)),
        };
        if result.1.is_err() {
            // All blocks before this one have been handed out, so the first error in their order is still found.
            lock_source().1 = None;
        }
        lock_finished().insert(result.0, result.1);
        true
    };
    let help = || {
        let (mut block, mut state) = (B::default(), start());
        while work_on_next(&mut block, &mut state) {}
        finish(state);
    };
    let mut taken = 0;
    let mut take_finished = || {
        loop {
            let Some(result) = lock_finished().remove(&taken) else { return Ok(()) };
            taken += 1;
            take(result?)?;
        }
    };
    let lead = || {
        let (mut block, mut state) = (B::default(), start());
        let outcome = loop {
            let called_off = parallelism.check().and_then(|()| take_finished());
            if called_off.is_err() {
                lock_source().1 = None;
                break called_off;
            }
            if !work_on_next(&mut block, &mut state) {
                break Ok(());
            }
        };
        finish(state);
        outcome
    };
    scoped(parallelism.threads, help, lead)?;
    take_finished()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let sizes = vec![40_000; 100];
        for threads in [1, 2, 7] {
            let work = |_, run: &Range<usize>, (): &mut ()| Ok(run.clone().collect::<Vec<_>>());
            let (next, parallelism) = runs(&sizes, threads.into());
            let results = ordered_map(next, parallelism, || (), |()| (), work).expect("nothing fails");
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
            let work = |_, run: &Range<usize>, (): &mut ()| {
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
            let (next, parallelism) = runs(&sizes, threads.into());
            let outcome = ordered_for_each(next, parallelism, || (), |()| (), work, take);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert_eq!(expected, 21);
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }

    #[test]
    fn the_first_error_wins() {
        let sizes = vec![100_000; 50];
        let work = |_, run: &Range<usize>, (): &mut ()| {
            if run.contains(&20) { Err(Error::UnknownId { id: 20, vocab_size: 0 }) } else { Ok(()) }
        };
        let (next, parallelism) = runs(&sizes, 4.into());
        let error = ordered_map(next, parallelism, || (), |()| (), work).expect_err("run 20 fails");
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
            let (next, parallelism) = runs(&sizes, Parallelism { threads, interrupt: Some(&interrupt) });
            done.store(0, Ordering::Relaxed);
            is_off.store(false, Ordering::Relaxed);
            let work = |_, run: &Range<usize>, (): &mut ()| {
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
            let outcome = ordered_map(next, parallelism, || (), |()| (), work);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }
}
