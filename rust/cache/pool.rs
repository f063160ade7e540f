//! Caches and scratch memory that threads borrow for one call.

use std::sync::{Arc, Mutex};

use super::table::{CacheLimits, ChunkCache};
use crate::structures::freed_memory;
use crate::structures::reused::{Bounds, Reused};

/// Bytes of each buffer that a worker may bring back: enough for the words of ordinary texts. A buffer that one long word needed
/// would else stay as long as the tokenizer does.
const LARGEST_BUFFER: usize = 1 << 20;

/// So many freed bytes are worth the time that the C library takes to give them back to the system.
const WORTH_GIVING_BACK: usize = 16 << 20;

/// The cache and the scratch memory that one thread encodes with.
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

impl<S: Default + Reused> Pool<S> {
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

    /// Gives a worker back, without buffers that are larger than usual; dropped with its cache if another thread holds the lock.
    pub fn put(&self, mut worker: Worker<S>) {
        if worker.cache.take_missed() && worker.scratch.bytes() + worker.cache.buffer_bytes() > LARGEST_BUFFER
        {
            self.trim(&mut worker);
        }
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(worker);
        }
    }

    #[cold]
    #[inline(never)]
    fn trim(&self, worker: &mut Worker<S>) {
        // Memos are caches too: they keep to the limit of these.
        let bounds = Bounds { buffer: LARGEST_BUFFER, memo: self.limits.bytes.max(LARGEST_BUFFER) };
        let before = buffer_bytes(worker);
        worker.scratch.trim(bounds);
        worker.cache.trim(bounds);
        if before - buffer_bytes(worker) >= WORTH_GIVING_BACK {
            freed_memory::give_back();
        }
    }

    /// Bytes of idle workers with their caches, and of the cache that new workers copy.
    pub fn bytes(&self) -> usize {
        let known =
            self.preloaded.try_lock().map_or(0, |known| known.as_ref().map_or(0, |known| known.bytes()));
        let idle = self.idle.lock();
        known
            + idle
                .map_or(0, |idle| idle.iter().map(|worker| worker.cache.bytes() + buffer_bytes(worker)).sum())
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

/// Bytes that a worker keeps beside the chunks in its cache.
fn buffer_bytes<S: Reused>(worker: &Worker<S>) -> usize {
    worker.scratch.bytes() + worker.cache.buffer_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::ChunkKind;

    /// A scratch with a name, and buffers.
    #[derive(Default)]
    struct Named {
        name: usize,
        buffers: [Vec<u8>; 2],
    }

    impl Reused for Named {
        fn bytes(&self) -> usize {
            self.buffers.iter().map(Reused::bytes).sum()
        }

        fn trim(&mut self, bounds: Bounds) {
            self.buffers.iter_mut().for_each(|buffer| buffer.trim(bounds));
        }
    }

    fn pool() -> Pool<Named> {
        Pool::new(CacheLimits { bytes: 1 << 20, id_bound: 1 << 16 })
    }

    fn named(name: usize) -> Named {
        Named { name, ..Named::default() }
    }

    #[test]
    fn a_thread_gets_its_own_worker_again_else_another_else_a_new_one() {
        let pool = pool();
        for thread in 0..3 {
            pool.put(Worker { scratch: named(10 + thread), ..pool.take_for(thread) });
        }
        let name = |thread| pool.take_for(thread).scratch.name;
        // Each of them was taken by one thread after the other: only the last is left.
        assert_eq!((name(1), name(1)), (12, 0));
        for worker in [0, 1, 2].map(|thread| Worker { scratch: named(20 + thread), ..pool.take_for(thread) })
        {
            pool.put(worker);
        }
        assert_eq!([1, 0, 7, 2].map(name), [21, 20, 22, 0]);
    }

    #[test]
    fn what_a_long_word_needed_does_not_stay() {
        let pool = pool();
        let sizes = [LARGEST_BUFFER, WORTH_GIVING_BACK + 1];
        let mut worker = pool.take();
        worker.scratch = Named { name: 1, buffers: sizes.map(Vec::with_capacity) };
        let lookup = worker.cache.prefetch(b"ab", 0, 2, 0, ChunkKind::Chunk);
        assert!(worker.cache.resolve(lookup, b"ab", |_, _| Ok(())).is_ok());
        let cache = worker.cache.bytes();
        pool.put(worker);
        assert_eq!(pool.bytes(), LARGEST_BUFFER + cache);
        let scratch = pool.take().scratch;
        assert_eq!((scratch.name, scratch.buffers.map(|buffer| buffer.capacity())), (1, [LARGEST_BUFFER, 0]));
    }
}
