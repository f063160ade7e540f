//! Items in memory as a source of blocks: runs of neighbouring items of about equal size.
//!
//! Neighbouring texts share words: many corpora are sorted by language or by topic. So each thread takes neighbouring runs, and
//! meets new words that no other thread meets. The items are divided into windows, and a window into one share for each thread; a
//! thread whose share is done helps with another one of the same window. The results of a window wait for its first share. So as
//! long as runs take about equally long, the results of one window wait, or fewer; nothing bounds how many wait for a run that takes
//! much longer. A thread takes the same shares of the same items in every call, unless it helps.

use std::ops::Range;

use super::scoped::Parallelism;
use super::source::Source;
use crate::Result;

/// Below this many bytes a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1 << 16;

/// The most bytes that a run is aimed at. A run ends with the item that reaches the aim.
const RUN_BYTES: usize = 1 << 20;

/// Bytes that a window is aimed at; each thread has one run of it at least.
const WINDOW_BYTES: usize = 16 << 20;

/// Runs of neighbouring items; each block is a range of items.
#[derive(Debug)]
pub struct Runs {
    /// The items of each run.
    items: Vec<Range<usize>>,
    /// The runs that are left of each thread's share of the window.
    shares: Vec<Range<usize>>,
    /// The number of the first run after the window.
    window_end: usize,
    /// The most runs in a share.
    per_share: usize,
}

impl Runs {
    /// Runs of items of the given sizes in bytes, with as many threads as may find one to work on. Input below 128 KiB is one run.
    pub fn new<'a>(sizes: &[usize], parallelism: Parallelism<'a>) -> (Self, Parallelism<'a>) {
        let total: usize = sizes.iter().sum();
        let size = (total / (parallelism.threads.max(1) * 16)).clamp(SERIAL_BYTES, RUN_BYTES);
        let target = if total < SERIAL_BYTES * 2 { total } else { size };
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
        let threads = parallelism.threads.max(1);
        let per_share = (WINDOW_BYTES / target.max(1) / threads).max(1);
        (Self { items: runs, shares: vec![0..0; threads], window_end: 0, per_share }, parallelism)
    }

    /// Divides the next window among the threads.
    fn begin_window(&mut self) {
        let (start, threads) = (self.window_end, self.shares.len());
        let runs = (self.items.len() - start).min(self.per_share * threads);
        for (thread, share) in self.shares.iter_mut().enumerate() {
            *share = start + runs * thread / threads..start + runs * (thread + 1) / threads;
        }
        self.window_end += runs;
    }

    /// The last run of the longest rest of a share: its owner goes on with neighbours.
    fn take_from_longest(&mut self) -> Option<usize> {
        self.shares.iter_mut().max_by_key(ExactSizeIterator::len)?.next_back()
    }

    /// The number of the next run for a thread, below number `below`.
    fn next(&mut self, thread: usize, below: usize) -> Option<usize> {
        loop {
            let own = self.shares.get_mut(thread).and_then(Iterator::next);
            match own.or_else(|| self.take_from_longest()) {
                Some(number) if number < below => return Some(number),
                Some(_) => {}
                None if self.window_end < self.items.len().min(below) => self.begin_window(),
                None => return None,
            }
        }
    }
}

impl Source<Range<usize>> for Runs {
    fn fill(&mut self, thread: usize, below: usize, block: &mut Range<usize>) -> Option<(usize, Result<()>)> {
        let number = self.next(thread, below)?;
        *block = self.items[number].clone();
        Some((number, Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_item_is_in_one_run(
            sizes in prop::collection::vec(0..3 * RUN_BYTES, 0..200),
            threads in 1..6usize,
            turns in prop::collection::vec(0..8usize, 1..50),
        ) {
            let (mut runs, parallelism) = Runs::new(&sizes, threads.into());
            prop_assert!(parallelism.threads <= threads);
            let mut found = Vec::new();
            for thread in turns.iter().cycle() {
                let mut run = 0..0;
                let Some((number, filled)) = runs.fill(*thread, usize::MAX, &mut run) else { break };
                prop_assert!(filled.is_ok());
                found.push((number, run));
            }
            found.sort_by_key(|&(number, _)| number);
            prop_assert!(found.iter().enumerate().all(|(at, &(number, _))| at == number));
            let items: Vec<usize> = found.into_iter().flat_map(|(_, run)| run).collect();
            prop_assert_eq!(items, (0..sizes.len()).collect::<Vec<_>>());
        }

        #[test]
        fn runs_before_a_failed_one_are_still_handed_out(
            count in 1..100usize,
            threads in 1..6usize,
            turns in prop::collection::vec((0..8usize, any::<prop::sample::Index>()), 1..50),
            fails_after in 0..100usize,
        ) {
            let (mut runs, _) = Runs::new(&vec![RUN_BYTES; count], threads.into());
            let (mut below, mut found) = (usize::MAX, Vec::new());
            for (turn, (thread, failed)) in turns.iter().cycle().enumerate() {
                if turn >= fails_after {
                    below = below.min(failed.index(count));
                }
                let Some((number, _)) = runs.fill(*thread, below, &mut (0..0)) else { break };
                prop_assert!(number < below);
                found.push(number);
            }
            prop_assert!((0..8).all(|thread| runs.fill(thread, below, &mut (0..0)).is_none()));
            found.sort_unstable();
            found.truncate(below.min(count));
            prop_assert_eq!(found, (0..below.min(count)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_thread_takes_neighbours() {
        let (mut runs, _) = Runs::new(&[RUN_BYTES; 40], 2.into());
        let mut take = |thread| runs.fill(thread, usize::MAX, &mut (0..0)).map(|(number, _)| number);
        let taken: Vec<_> = (0..20).map(|_| [take(0), take(1)]).collect();
        let expected = (0..8)
            .chain(16..24)
            .chain(32..36)
            .map(|own| [Some(own), Some(own + if own < 32 { 8 } else { 4 })]);
        assert_eq!(taken, expected.collect::<Vec<_>>());
        assert_eq!([take(0), take(1)], [None, None]);
    }
}
