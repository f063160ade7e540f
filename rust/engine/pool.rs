//! Caches and scratch memory that threads borrow for one call.

use std::sync::{Arc, Mutex};

use super::model_encoder::MissScratch;
use super::{CacheLimits, ChunkCache};

/// What one thread needs to encode.
#[derive(Debug)]
pub struct Worker {
    /// Pre-tokens met so far.
    pub cache: ChunkCache,
    /// Memory for those not met yet.
    pub scratch: MissScratch,
}

/// Workers that wait for the next call: one lock a call and thread, none per token.
#[derive(Debug)]
pub struct Pool {
    idle: Mutex<Vec<Worker>>,
    /// What new workers know from the start.
    known: Mutex<Option<Arc<ChunkCache>>>,
    limits: CacheLimits,
}

impl Pool {
    /// An empty pool; each worker's cache keeps to `limits`.
    pub fn new(limits: CacheLimits) -> Self {
        Self { idle: Mutex::default(), known: Mutex::default(), limits }
    }

    /// The most recently used idle worker, or a new one.
    ///
    /// Never waits: a lock that another thread holds, perhaps one that a fork left after, counts as empty.
    pub fn take(&self) -> Worker {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            let known = self.known.try_lock().ok().and_then(|known| known.clone());
            let cache = known.map_or_else(|| ChunkCache::new(self.limits), |known| known.copy());
            Worker { cache, scratch: MissScratch::default() }
        })
    }

    /// Gives workers that are yet to come a copy of the cache that `make` answers, which gets the limits of a cache;
    /// it is asked once, and only if fewer than `threads` workers are there.
    pub fn prepare(&self, threads: usize, make: impl FnOnce(CacheLimits) -> ChunkCache) {
        let has_workers = self.idle.try_lock().is_ok_and(|idle| idle.len() >= threads);
        if has_workers || self.known.try_lock().is_ok_and(|known| known.is_some()) {
            return;
        }
        // Rewritten while nothing is locked: a fork in the meantime leaves no lock after.
        let made = Arc::new(make(self.limits));
        if let Ok(mut known) = self.known.try_lock() {
            *known = Some(made);
        }
    }

    /// Gives a worker back.
    pub fn put(&self, worker: Worker) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(worker);
        }
    }

    /// Bytes that the caches of idle workers take, and what new ones are to know.
    pub fn cache_bytes(&self) -> usize {
        let known = self.known.try_lock().map_or(0, |known| known.as_ref().map_or(0, |known| known.bytes()));
        let idle = self.idle.lock();
        known + idle.map_or(0, |idle| idle.iter().map(|worker| worker.cache.bytes()).sum())
    }

    /// Drops all idle workers with their caches.
    pub fn clear(&self) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
        if let Ok(mut known) = self.known.try_lock() {
            *known = None;
        }
    }
}
