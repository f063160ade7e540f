//! Caches and scratch memory that threads borrow for one call.

use std::sync::{Arc, Mutex};

use super::table::{CacheLimits, ChunkCache};

/// What one thread needs to encode.
#[derive(Debug)]
pub struct Worker<S> {
    /// Chunks met so far.
    pub cache: ChunkCache,
    /// Memory that misses reuse.
    pub scratch: S,
    /// The thread that took it last, by its number in that call.
    thread: usize,
}

/// Workers that wait for the next call: one lock a call and thread, none per token.
#[derive(Debug)]
pub struct Pool<S> {
    idle: Mutex<Vec<Worker<S>>>,
    /// Copied for each new worker.
    preloaded: Mutex<Option<Arc<ChunkCache>>>,
    limits: CacheLimits,
}

impl<S: Default> Pool<S> {
    /// An empty pool; each worker's cache keeps to `limits`.
    pub fn new(limits: CacheLimits) -> Self {
        Self { idle: Mutex::default(), preloaded: Mutex::default(), limits }
    }

    /// As [`Self::take_for`] with number 0, which any thread may do.
    pub fn take(&self) -> Worker<S> {
        self.take_for(0)
    }

    /// The idle worker that a thread of number `thread` took last, so that a thread finds the chunks of its last texts; or another
    /// idle one, or a new one.
    ///
    /// Never waits: a lock that another thread holds, perhaps one that a fork left locked, counts as empty.
    pub fn take_for(&self, thread: usize) -> Worker<S> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| {
            let own = idle.iter().rposition(|worker| worker.thread == thread);
            own.map(|own| idle.remove(own)).or_else(|| idle.pop())
        });
        let new = || {
            let known = self.preloaded.try_lock().ok().and_then(|known| known.clone());
            let cache = known.map_or_else(|| ChunkCache::new(self.limits), |known| known.copy());
            Worker { cache, scratch: S::default(), thread }
        };
        idle.map_or_else(new, |worker| Worker { thread, ..worker })
    }

    /// Gives each new worker a copy of the cache that `make` makes within the limits it is given. `make` is called once, and only
    /// if fewer than `threads` workers are idle.
    pub fn prepare(&self, threads: usize, make: impl FnOnce(CacheLimits) -> ChunkCache) {
        let has_workers = self.idle.try_lock().is_ok_and(|idle| idle.len() >= threads);
        if has_workers || self.preloaded.try_lock().is_ok_and(|known| known.is_some()) {
            return;
        }
        // Made while nothing is locked: a fork in the meantime leaves no lock taken.
        let made = Arc::new(make(self.limits));
        if let Ok(mut known) = self.preloaded.try_lock() {
            *known = Some(made);
        }
    }

    /// Gives a worker back; dropped with its cache if another thread holds the lock.
    pub fn put(&self, worker: Worker<S>) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(worker);
        }
    }

    /// Bytes that the caches of idle workers take, and what new ones are to know.
    pub fn cache_bytes(&self) -> usize {
        let known =
            self.preloaded.try_lock().map_or(0, |known| known.as_ref().map_or(0, |known| known.bytes()));
        let idle = self.idle.lock();
        known + idle.map_or(0, |idle| idle.iter().map(|worker| worker.cache.bytes()).sum())
    }

    /// Drops all idle workers with their caches.
    pub fn clear(&self) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
        if let Ok(mut known) = self.preloaded.try_lock() {
            *known = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_its_own_worker_again_else_another_else_a_new_one() {
        let pool = Pool::<usize>::new(CacheLimits { bytes: 1 << 20, id_bound: 1 << 16 });
        for thread in 0..3 {
            pool.put(Worker { scratch: 10 + thread, ..pool.take_for(thread) });
        }
        // Each of them was taken by one thread after the other: only the last is left.
        assert_eq!((pool.take_for(1).scratch, pool.take_for(1).scratch), (12, 0));
        for worker in [0, 1, 2].map(|thread| Worker { scratch: 20 + thread, ..pool.take_for(thread) }) {
            pool.put(worker);
        }
        assert_eq!([1, 0, 7, 2].map(|thread| pool.take_for(thread).scratch), [21, 20, 22, 0]);
    }
}
