//! A few jobs, each on its own thread.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Calls `work` on every part and returns the results in the order of the parts. The last part runs on the calling
/// thread, every other part on its own scoped thread.
///
/// Where the system refuses a thread, the calling thread does that part as well.
pub fn share<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let places: Vec<Mutex<Option<P>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let work_at = &|place: &Mutex<Option<P>>| {
        let part = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        part.map(&work)
    };
    let Some((last, others)) = places.split_last() else { return Vec::new() };
    std::thread::scope(|scope| {
        let start = |place| Builder::new().spawn_scoped(scope, move || work_at(place)).ok();
        let threads: Vec<_> = others.iter().map(start).collect();
        let of_last = work_at(last);
        let results = others.iter().zip(threads).map(|(place, thread)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => work_at(place),
        });
        results.chain(std::iter::once(of_last)).flatten().collect()
    })
}

/// Runs `first` on the calling thread and `second` on a scoped thread, and returns both results. With fewer than two
/// `threads`, or where the system refuses one, `second` runs on the calling thread after `first`.
pub fn both<A, B: Send>(threads: usize, first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = if threads > 1 { Builder::new().spawn_scoped(scope, &second).ok() } else { None };
        let of_first = first();
        let of_second = match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => second(),
        };
        (of_first, of_second)
    })
}

/// Below this many items the calling thread sorts alone: starting a second thread costs more.
const WORTH_SHARING: usize = 1 << 14;

/// Sorts items, no two of which are equal: each thread sorts one run, then one merge joins the runs.
pub fn sort_in_runs<T: Send>(
    items: &mut [T],
    threads: usize,
    compare: impl Fn(&T, &T) -> Ordering + Copy + Sync,
) {
    if threads < 2 || items.len() < WORTH_SHARING {
        return items.sort_unstable_by(compare);
    }
    let run = items.len().div_ceil(threads);
    share(items.chunks_mut(run).collect(), |run| run.sort_unstable_by(compare));
    // The standard library's stable sort detects sorted runs and merges them.
    items.sort_by(compare);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sort_in_runs_matches_naive(
            items in prop::collection::hash_set(any::<u32>(), 0..40),
            times in prop_oneof![Just(1u64), Just(1000)],
            threads in 1..5usize,
        ) {
            let mut items: Vec<u64> =
                items.into_iter().flat_map(|item| (0..times).map(move |more| u64::from(item) << 32 | more)).collect();
            let mut naive = items.clone();
            naive.sort_by(|left, right| right.cmp(left));
            sort_in_runs(&mut items, threads, |left, right| right.cmp(left));
            prop_assert_eq!(items, naive);
        }
    }

    #[test]
    fn both_results_are_there() {
        for threads in [0, 1, 2] {
            assert_eq!(both(threads, || 1, || "two"), (1, "two"));
        }
    }

    #[test]
    fn share_matches_naive() {
        for count in [0, 1, 2, 9] {
            let naive: Vec<usize> = (0..count).map(|part| part * part).collect();
            assert_eq!(share((0..count).collect(), |part| part * part), naive);
        }
    }
}
