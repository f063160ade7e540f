//! A function over blocks, on a few threads, with results in the order of the blocks.
//!
//! A mutex guards the source of blocks: one thread reads a block while the others process theirs.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::scoped::{Parallelism, scoped};
use super::source::{InOrder, Source};
use crate::Result;

/// Calls `work` with every block of `source` and the number of that block, on the threads of `parallelism`; returns the results in
/// the order of the blocks.
///
/// Each thread makes its state once with `start`, which is given the number of the thread, and hands it to `finish` at the end.
///
/// # Errors
/// The error of the first block, in order, that could not be read or processed; or the error of `parallelism.interrupt`.
pub fn ordered_map<B: Default, S, T: Send>(
    source: impl Source<B> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn(usize) -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut results = Vec::new();
    ordered_for_each(source, parallelism, start, finish, work, |result| {
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
/// The errors of [`ordered_map`] and of `take`.
pub fn ordered_for_each<B: Default, S, T: Send>(
    source: impl Source<B> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn(usize) -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    for_each(usize::MAX, source, parallelism, start, finish, work, take)
}

/// As [`ordered_for_each`], but no thread begins a block while `ahead` blocks, or a few more, are begun and not taken. So results take
/// bounded memory, however slow `take` or one of the blocks is. Blocks come in their order: `next` fills one, and returns false at
/// the end.
///
/// # Errors
/// As [`ordered_for_each`].
pub fn bounded_for_each<B: Default, S, T: Send>(
    ahead: usize,
    next: impl FnMut(&mut B) -> Result<bool> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn(usize) -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    // In another order, the block to be taken next could still lie in the share of a thread that waits for room.
    for_each(ahead, InOrder::new(next), parallelism, start, finish, work, take)
}

fn for_each<B: Default, S, T: Send>(
    ahead: usize,
    source: impl Source<B> + Send,
    parallelism: Parallelism<'_>,
    start: impl Fn(usize) -> S + Sync,
    finish: impl Fn(S) + Sync,
    work: impl Fn(usize, &mut B, &mut S) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let queue = Queue::new(ahead, source, parallelism.threads > 1);
    let work_on_next = |thread, block: &mut B, state: &mut S| {
        let Some((number, filled)) = queue.fill(thread, block) else { return false };
        queue.put(number, filled.and_then(|()| work(number, block, state)));
        true
    };
    let help = |thread| {
        let _ends = OnPanic(|| queue.has_panicked.store(true, Relaxed));
        let (mut block, mut state) = (B::default(), start(thread));
        while queue.wait_for_room() && work_on_next(thread, &mut block, &mut state) {}
        finish(state);
    };
    let lead = || {
        let _ends = OnPanic(|| queue.close(true));
        let (mut block, mut state) = (B::default(), start(0));
        let outcome = loop {
            let called_off = parallelism.check().and_then(|()| queue.take_finished(&mut take));
            if called_off.is_err() || queue.has_panicked.load(Relaxed) {
                break called_off;
            }
            if queue.is_full() {
                queue.wait_for_result();
            } else if !work_on_next(0, &mut block, &mut state) {
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
    /// False if there are no helpers. Then nobody waits, and a system call to wake them would cost as much as a short text.
    has_helpers: bool,
    /// The source of blocks, and the number below which blocks are wanted.
    source: Mutex<(N, usize)>,
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
    fn new(ahead: usize, source: N, has_helpers: bool) -> Self {
        let finished = Finished { results: BTreeMap::new(), begun: 0, taken: 0, is_closed: false };
        Self {
            ahead,
            has_helpers,
            source: Mutex::new((source, usize::MAX)),
            finished: Mutex::new(finished),
            has_room: Condvar::new(),
            has_result: Condvar::new(),
            has_panicked: AtomicBool::new(false),
        }
    }

    fn finished(&self) -> MutexGuard<'_, Finished<T>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills a block for a thread; `None` if none is left.
    fn fill<B>(&self, thread: usize, block: &mut B) -> Option<(usize, Result<()>)>
    where
        N: Source<B>,
    {
        let (source, below) = &mut *self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = source.fill(thread, *below, block)?;
        self.finished().begun += 1;
        Some(filled)
    }

    fn put(&self, number: usize, result: Result<T>) {
        if result.is_err() {
            // Only blocks before this one are still of interest: one of them may fail, too, and the first error counts.
            self.end_source_at(number);
        }
        self.finished().results.insert(number, result);
        if self.has_helpers {
            self.has_result.notify_one();
        }
    }

    fn end_source_at(&self, number: usize) {
        let (_, below) = &mut *self.source.lock().unwrap_or_else(PoisonError::into_inner);
        *below = number.min(*below);
    }

    fn take_finished(&self, take: &mut impl FnMut(T) -> Result<()>) -> Result<()> {
        loop {
            let mut finished = self.finished();
            let taken = finished.taken;
            let Some(result) = finished.results.remove(&taken) else { return Ok(()) };
            finished.taken += 1;
            drop(finished);
            if self.has_helpers {
                self.has_room.notify_one();
            }
            take(result?)?;
        }
    }

    /// True if so many blocks are begun and not taken that the thread that takes results must not begin a block.
    fn is_full(&self) -> bool {
        let finished = self.finished();
        finished.begun - finished.taken >= self.ahead
    }

    /// Waits for the result that is to be taken next, which another thread works on, but not for long.
    fn wait_for_result(&self) {
        let finished = self.finished();
        if !finished.results.contains_key(&finished.taken) {
            // The loop around this call looks again, however the wait has ended.
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
            self.end_source_at(0);
        }
        self.finished().is_closed = true;
        if self.has_helpers {
            self.has_room.notify_all();
        }
    }
}

/// Calls the function if the thread ends by a panic, so that no other thread waits for its results.
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
    use std::ops::Range;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::runs::Runs;
    use super::*;
    use crate::Error;

    /// Single items as blocks in order.
    fn items(count: usize) -> impl FnMut(&mut Range<usize>) -> Result<bool> + Send {
        let mut left = 0..count;
        move |block| Ok(left.next().map(|at| *block = at..at + 1).is_some())
    }

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let sizes = vec![40_000; 100];
        for threads in [1, 2, 7] {
            let work = |_, run: &mut Range<usize>, (): &mut ()| Ok(run.clone().collect::<Vec<_>>());
            let (runs, parallelism) = Runs::new(&sizes, threads.into());
            let results = ordered_map(runs, parallelism, |_| (), |()| (), work).expect("nothing fails");
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
            let (runs, parallelism) = Runs::new(&sizes, threads.into());
            let outcome = ordered_for_each(runs, parallelism, |_| (), |()| (), work, take);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert_eq!(expected, 21);
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }

    #[test]
    fn no_more_results_wait_than_the_bound_allows() {
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
            let outcome = bounded_for_each(4, items(300), threads.into(), |_| (), |()| (), work, take);
            assert!(outcome.is_ok());
            assert_eq!(taken.load(Ordering::Relaxed), 300);
        }
    }

    #[test]
    fn a_panic_on_any_thread_ends_the_work() {
        for threads in [1, 2, 7] {
            for panics_in_work in [false, true] {
                let work = |number, _: &mut Range<usize>, (): &mut ()| {
                    assert!(!panics_in_work || number < 20, "expected");
                    Ok(number)
                };
                let take = |number| {
                    assert!(panics_in_work || number < 20, "expected");
                    Ok(())
                };
                let run = || bounded_for_each(4, items(300), threads.into(), |_| (), |()| (), work, take);
                assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            }
        }
    }

    #[test]
    fn the_first_error_wins() {
        let sizes = vec![100_000; 50];
        let work = |_, run: &mut Range<usize>, (): &mut ()| {
            let id = run.start as u32;
            if id < 20 { Ok(()) } else { Err(Error::UnknownId { id, vocab_size: 0 }) }
        };
        for threads in [1, 2, 7] {
            let (runs, parallelism) = Runs::new(&sizes, threads.into());
            let error = ordered_map(runs, parallelism, |_| (), |()| (), work).expect_err("later runs fail");
            assert!(matches!(error, Error::UnknownId { id: 20, .. }));
        }
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
            let (runs, parallelism) = Runs::new(&sizes, parallelism);
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
            let outcome = ordered_map(runs, parallelism, |_| (), |()| (), work);
            assert!(matches!(outcome, Err(Error::Interrupted)));
            assert!(done.load(Ordering::Relaxed) < sizes.len());
        }
    }
}
