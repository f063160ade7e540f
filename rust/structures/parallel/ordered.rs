//! A function over blocks, on a few threads, with results in the order of the blocks.
//!
//! A mutex guards the source of blocks: one thread reads a block while the others process theirs. Items in memory are grouped
//! into runs of about equal size, so a thread that finishes early takes more of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
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
/// Helpers may finish blocks as fast as `take` takes them: if that is slow, it should ask for an interrupt as well, or the caller
/// sets a bound by [`bounded_for_each`].
///
/// # Errors
/// Those of [`ordered_map`] and of `take`.
pub fn ordered_for_each<B: Default, S, T: Send>(
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    bounded_for_each(usize::MAX, next, parallelism, start, finish, work, take)
}

/// As [`ordered_for_each`], but no thread begins a block while `ahead` blocks, or a few more, are begun and not taken. So results take
/// bounded memory, however slow `take` or one of the blocks is.
///
/// # Errors
/// Those of [`ordered_for_each`].
pub fn bounded_for_each<B: Default, S, T: Send>(
    ahead: usize,
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn() -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let queue = Queue::new(ahead, next);
    let work_on_next = |block: &mut B, state: &mut S| {
        let result = match queue.read(block) {
            (_, Ok(false)) => return false,
            (number, Ok(true)) => (number, work(number, block, state)),
            (number, Err(error)) => (number, Err(error)),
        };
        queue.put(result.0, result.1);
        true
    };
    let help = || {
        let _ends = OnPanic(|| queue.has_panicked.store(true, Relaxed));
        let (mut block, mut state) = (B::default(), start());
        while queue.wait_for_room() && work_on_next(&mut block, &mut state) {}
        finish(state);
    };
    let lead = || {
        let _ends = OnPanic(|| queue.close(true));
        let (mut block, mut state) = (B::default(), start());
        let outcome = loop {
            let called_off = parallelism.check().and_then(|()| queue.take_finished(&mut take));
            if called_off.is_err() || queue.has_panicked.load(Relaxed) {
                break called_off;
            }
            if queue.is_full() {
                queue.wait_for_result();
            } else if !work_on_next(&mut block, &mut state) {
                break Ok(());
            }
        };
        queue.close(outcome.is_err());
        finish(state);
        outcome
    };
    scoped(parallelism.threads, help, lead)?;
    queue.take_finished(&mut take)
}

/// Blocks on their way from the source to the thread that takes results.
struct Queue<N, T> {
    ahead: usize,
    /// The number of the next block, and what fills it, unless the source has ended or the work is called off.
    source: Mutex<(usize, Option<N>)>,
    finished: Mutex<Finished<T>>,
    /// Told when a result is taken and when one is finished.
    has_room: Condvar,
    has_result: Condvar,
    has_panicked: AtomicBool,
}

struct Finished<T> {
    results: BTreeMap<usize, Result<T>>,
    /// Blocks begun, and results taken.
    begun: usize,
    taken: usize,
    /// Nobody takes results before all threads have ended.
    is_closed: bool,
}

/// How long the thread that takes results waits for one before it looks for an interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

impl<N, T> Queue<N, T> {
    fn new(ahead: usize, next: N) -> Self {
        let finished = Finished { results: BTreeMap::new(), begun: 0, taken: 0, is_closed: false };
        Self {
            ahead,
            source: Mutex::new((0, Some(next))),
            finished: Mutex::new(finished),
            has_room: Condvar::new(),
            has_result: Condvar::new(),
            has_panicked: AtomicBool::new(false),
        }
    }

    fn finished(&self) -> MutexGuard<'_, Finished<T>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills a block; answers its number.
    fn read<B>(&self, block: &mut B) -> (usize, Result<bool>)
    where
        N: FnMut(&mut B) -> Result<bool>,
    {
        let (number, next) = &mut *self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = next.as_mut().map_or(Ok(false), |next| next(block));
        if !matches!(filled, Ok(true)) {
            *next = None;
        }
        if !matches!(filled, Ok(false)) {
            *number += 1;
            self.finished().begun = *number;
        }
        (number.wrapping_sub(1), filled)
    }

    fn put(&self, number: usize, result: Result<T>) {
        if result.is_err() {
            // All blocks before this one have been handed out, so the first error in their order is still found.
            self.end_source();
        }
        self.finished().results.insert(number, result);
        self.has_result.notify_one();
    }

    fn end_source(&self) {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).1 = None;
    }

    fn take_finished(&self, take: &mut impl FnMut(T) -> Result<()>) -> Result<()> {
        loop {
            let mut finished = self.finished();
            let taken = finished.taken;
            let Some(result) = finished.results.remove(&taken) else { return Ok(()) };
            finished.taken += 1;
            drop(finished);
            self.has_room.notify_one();
            take(result?)?;
        }
    }

    /// Whether so many results wait that the thread that takes them must not begin a block.
    fn is_full(&self) -> bool {
        let finished = self.finished();
        finished.begun - finished.taken >= self.ahead
    }

    /// Waits for the result that is to be taken next, which another thread works on, but not for long.
    fn wait_for_result(&self) {
        let finished = self.finished();
        if !finished.results.contains_key(&finished.taken) {
            // The loop around this call looks again, whatever has ended the wait.
            drop(self.has_result.wait_timeout(finished, PATIENCE));
        }
    }

    /// Waits until another block may be begun; false if a thread has panicked, so that nobody takes results.
    fn wait_for_room(&self) -> bool {
        let mut finished = self.finished();
        while finished.begun - finished.taken >= self.ahead && !finished.is_closed {
            finished = self.has_room.wait(finished).unwrap_or_else(PoisonError::into_inner);
        }
        !self.has_panicked.load(Relaxed)
    }

    /// Lets all threads come to their end.
    fn close(&self, is_called_off: bool) {
        if is_called_off || self.has_panicked.load(Relaxed) {
            self.end_source();
        }
        self.finished().is_closed = true;
        self.has_room.notify_all();
    }
}

/// What is done if the thread ends by a panic: nobody should wait for what it does not bring about.
struct OnPanic<F: Fn()>(F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let sizes = vec![40_000; 100];
        for threads in [1, 2, 7] {
            let work = |_, run: &mut Range<usize>, (): &mut ()| Ok(run.clone().collect::<Vec<_>>());
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
            let work = |_, run: &mut Range<usize>, (): &mut ()| {
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
    fn no_more_results_wait_than_the_bound_allows() {
        let sizes = vec![1 << 20; 300];
        for threads in [1, 2, 7] {
            let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |_, run: &mut Range<usize>, (): &mut ()| {
                let waiting = begun.fetch_add(1, Ordering::Relaxed) + 1 - taken.load(Ordering::Relaxed);
                // Each thread may have looked for room before another one took it.
                assert!(waiting <= 4 + 2 * threads, "{waiting} for {threads} threads");
                Ok(run.start)
            };
            let take = |start| {
                assert_eq!(start, taken.fetch_add(1, Ordering::Relaxed));
                std::thread::sleep(Duration::from_micros(100));
                Ok(())
            };
            let (next, parallelism) = runs(&sizes, threads.into());
            let outcome = bounded_for_each(4, next, parallelism, || (), |()| (), work, take);
            assert!(outcome.is_ok());
            assert_eq!(taken.load(Ordering::Relaxed), 300);
        }
    }

    #[test]
    fn a_panic_on_any_thread_ends_the_work() {
        for threads in [1, 2, 7] {
            for panics_in_work in [false, true] {
                let (next, parallelism) = runs(&[1 << 20; 300], Parallelism::from(threads));
                let work = |number, _: &mut Range<usize>, (): &mut ()| {
                    assert!(!panics_in_work || number < 20, "expected");
                    Ok(number)
                };
                let take = |number| {
                    assert!(panics_in_work || number < 20, "expected");
                    Ok(())
                };
                let run = || bounded_for_each(4, next, parallelism, || (), |()| (), work, take);
                assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            }
        }
    }

    #[test]
    fn the_first_error_wins() {
        let sizes = vec![100_000; 50];
        let work = |_, run: &mut Range<usize>, (): &mut ()| {
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
            let work = |_, run: &mut Range<usize>, (): &mut ()| {
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
