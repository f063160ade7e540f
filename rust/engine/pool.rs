//! Caches and scratch memory that threads borrow for one call.

use std::sync::Mutex;

use super::WordCache;
use super::word_encoder::MissScratch;

/// What one thread needs to encode.
#[derive(Debug)]
pub struct Worker {
    /// Pre-tokens met so far.
    pub cache: WordCache,
    /// Memory for those not met yet.
    pub scratch: MissScratch,
}

/// Workers that wait for the next call: one lock a call and thread, none per token.
#[derive(Debug)]
pub struct Pool {
    idle: Mutex<Vec<Worker>>,
    cache_limit: usize,
}

impl Pool {
    /// An empty pool; each worker's cache takes at most about `cache_limit` bytes.
    pub fn new(cache_limit: usize) -> Self {
        Self { idle: Mutex::default(), cache_limit }
    }

    /// The most recently used idle worker, or a new one.
    ///
    /// Never waits: a lock that another thread holds, perhaps one that a fork left behind, counts as empty.
    pub fn take(&self) -> Worker {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Worker {
            cache: WordCache::new(self.cache_limit),
            scratch: MissScratch::default(),
        })
    }

    /// Gives a worker back.
    pub fn put(&self, worker: Worker) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(worker);
        }
    }

    /// Bytes that the caches of idle workers take.
    pub fn cache_bytes(&self) -> usize {
        self.idle.lock().map_or(0, |idle| idle.iter().map(|worker| worker.cache.bytes()).sum())
    }

    /// Drops all idle workers with their caches.
    pub fn clear(&self) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
    }
}
