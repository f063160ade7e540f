//! Versions of shared values, and results that are kept while the values they were computed from stay unchanged.
//!
//! A shared value has a [`Version`], which advances with each change. A computation records in [`Seen`] the versions of
//! the values that it reads. [`Kept`] returns the result as long as all of these versions are the latest. So a change
//! of one value drops the results computed from it, and no others. A result computed from values that changed meanwhile
//! is never kept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Number of changes of one shared value.
///
/// A lock guards the value: [`Version::advance`] needs the write lock, [`Seen::note`] the read lock. Then a noted
/// version is the version of the value that was read. Reading the latest version needs no lock.
#[derive(Debug, Default)]
pub struct Version(Arc<AtomicU64>);

impl Version {
    /// Counts a change of the value.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// The values that were read, each with its version at that time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen(Vec<SeenVersion>);

#[derive(Clone, Debug)]
struct SeenVersion {
    latest: Arc<AtomicU64>,
    seen: u64,
}

impl PartialEq for SeenVersion {
    /// The same value at the same version; another value may have changed as often.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.latest, &other.latest) && self.seen == other.seen
    }
}

impl Seen {
    /// Records that the value with this version is read.
    pub fn note(&mut self, version: &Version) {
        let latest = Arc::clone(&version.0);
        self.0.push(SeenVersion { seen: latest.load(Ordering::Acquire), latest });
    }

    /// As [`Self::note`], for all values in `other`.
    pub fn note_all(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// True if none of the values has changed since it was read; then all of them were as read at one moment.
    pub fn is_current(&self) -> bool {
        self.0.iter().all(|version| version.latest.load(Ordering::Acquire) == version.seen)
    }
}

/// A result, and the values that were read to compute it.
#[derive(Debug)]
pub struct Kept<T>(RwLock<Option<(Arc<T>, Seen)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Kept<T> {
    /// The result, if no value that it was computed from has changed.
    pub fn current(&self) -> Option<Arc<T>> {
        self.find(Seen::is_current)
    }

    /// The result, if it was computed from exactly the values in `seen`.
    pub fn computed_from(&self, seen: &Seen) -> Option<Arc<T>> {
        self.find(|kept| kept == seen)
    }

    fn find(&self, is_wanted: impl FnOnce(&Seen) -> bool) -> Option<Arc<T>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(_, seen)| is_wanted(seen)).map(|(result, _)| Arc::clone(result))
    }

    /// Puts `result` in place of one that was computed from the same values, unless these have changed.
    pub fn replace(&self, result: T, seen: &Seen) -> Arc<T> {
        self.put(result, seen, false)
    }

    /// Keeps `result` if the values in `seen`, from which it was computed, are still current; returns the result to use
    /// for `seen`.
    ///
    /// If another thread has kept a result for the same values, that one stays, so that all threads use one result.
    pub fn keep(&self, result: T, seen: &Seen) -> Arc<T> {
        self.put(result, seen, true)
    }

    fn put(&self, result: T, seen: &Seen, first_stays: bool) -> Arc<T> {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((first, _)) = kept.as_ref().filter(|(_, kept)| first_stays && kept == seen) {
            return Arc::clone(first);
        }
        let result = Arc::new(result);
        let replaced =
            if seen.is_current() { kept.replace((Arc::clone(&result), seen.clone())) } else { None };
        // Frees a large old result after the lock, so that other threads need not wait.
        drop(kept);
        drop(replaced);
        result
    }

    /// Drops a result that is no longer current.
    pub fn drop_stale(&self) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let stale = kept.take_if(|(_, seen)| !seen.is_current());
        drop(kept);
        drop(stale);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    /// A number under a lock, as users of this module have it.
    #[derive(Default)]
    struct Shared {
        version: Version,
        value: RwLock<usize>,
    }

    impl Shared {
        fn set(&self, value: usize) {
            let mut current = self.value.write().expect("no thread panics");
            *current = value;
            self.version.advance();
        }

        fn get(&self, seen: &mut Seen) -> usize {
            let value = self.value.read().expect("no thread panics");
            seen.note(&self.version);
            *value
        }
    }

    /// The kept result, else twice the value; `meanwhile` runs between reading and keeping.
    fn twice(kept: &Kept<usize>, shared: &Shared, meanwhile: impl FnOnce()) -> usize {
        kept.current().map_or_else(
            || {
                let mut seen = Seen::default();
                let value = shared.get(&mut seen);
                meanwhile();
                *kept.keep(2 * value, &seen)
            },
            |result| *result,
        )
    }

    #[test]
    fn a_result_is_kept_until_its_value_changes() {
        let (kept, shared, other) = (Kept::default(), Shared::default(), Shared::default());
        let computed = AtomicUsize::new(0);
        let count = || {
            computed.fetch_add(1, Ordering::Relaxed);
        };
        shared.set(4);
        assert_eq!([twice(&kept, &shared, count), twice(&kept, &shared, count)], [8, 8]);
        other.set(7);
        assert_eq!((twice(&kept, &shared, count), computed.load(Ordering::Relaxed)), (8, 1));
        shared.set(5);
        assert!(kept.current().is_none());
        assert_eq!((twice(&kept, &shared, count), computed.load(Ordering::Relaxed)), (10, 2));
    }

    #[test]
    fn a_result_of_what_changed_meanwhile_is_not_kept() {
        let (kept, shared, barrier) = (Kept::default(), Shared::default(), Barrier::new(2));
        shared.set(1);
        let wait = || {
            barrier.wait();
            barrier.wait();
        };
        thread::scope(|scope| {
            let slow = scope.spawn(|| twice(&kept, &shared, wait));
            // The other thread has read 1 and computes.
            barrier.wait();
            shared.set(2);
            assert_eq!(twice(&kept, &shared, || ()), 4);
            barrier.wait();
            assert_eq!(slow.join().expect("no thread panics"), 2);
        });
        // The result of the slow thread has not replaced the later one.
        assert_eq!(kept.current().as_deref(), Some(&4));
    }

    #[test]
    fn the_first_result_for_the_same_values_is_that_of_all_threads() {
        let (kept, shared) = (Kept::default(), Shared::default());
        let mut seen = Seen::default();
        shared.get(&mut seen);
        let first = kept.keep(1, &seen);
        assert!(Arc::ptr_eq(&first, &kept.keep(1, &seen)));
        assert!(kept.computed_from(&seen).is_some_and(|result| Arc::ptr_eq(&first, &result)));
        shared.set(3);
        let mut later = Seen::default();
        shared.get(&mut later);
        assert!(kept.computed_from(&later).is_none());
    }

    #[test]
    fn a_stale_result_is_freed() {
        let (kept, shared) = (Kept::default(), Shared::default());
        let mut seen = Seen::default();
        shared.get(&mut seen);
        let result = kept.keep(1, &seen);
        kept.drop_stale();
        assert_eq!(Arc::strong_count(&result), 2);
        shared.set(3);
        kept.drop_stale();
        assert_eq!(Arc::strong_count(&result), 1);
    }
}
