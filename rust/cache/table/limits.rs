//! How a cache keeps to its limit: tables grow while the limit has room, then the cache is emptied.

use super::super::long_keys::LongKeys;
use super::{ChunkCache, Slot};
use crate::structures::huge_pages::vec_filled;

/// Slots are found by 32 bits of hash.
const LAST_CAPACITY: usize = 1 << 31;

/// Small tables grow 4x instead of 2x: early texts are mostly cache misses.
const QUICK_GROWTH: usize = 1 << 16;

/// Most items of the arena: an index has 32 bits, and the record of one chunk needs room after the last index.
const LONGEST_ARENA: usize = u32::MAX as usize - (1 << 20);

impl ChunkCache {
    /// Whether the limit has room for a long chunk.
    pub(super) fn has_room_for(&self, chunk: &[u8]) -> bool {
        let others = self.bytes() - self.long.bytes();
        self.long.bytes_with(chunk.len()).is_some_and(|long| others + long <= self.limits.bytes)
    }

    /// Grows the table at half load; empties the cache at the limit.
    pub(super) fn make_room(&mut self) {
        if self.bytes() >= self.limits.bytes || self.arena.len() > LONGEST_ARENA {
            self.reset();
        }
        let factor = if self.slots.len() < QUICK_GROWTH { 4 } else { 2 };
        let mut capacity = (factor * self.slots.len()).max(self.first_capacity);
        if 2 * self.used >= self.slots.len()
            && (capacity > LAST_CAPACITY || self.bytes() + capacity * size_of::<Slot>() > self.limits.bytes)
        {
            self.reset();
            capacity = self.first_capacity;
        }
        if 2 * self.used >= self.slots.len() {
            let old = std::mem::replace(&mut self.slots, vec_filled(Slot::default(), capacity));
            self.used = 0;
            old.into_iter().filter(|slot| slot.key != 0).for_each(|slot| self.put(slot));
        }
    }

    /// Removes all chunks, and the tables too if these alone take more than half of the limit.
    pub(super) fn reset(&mut self) {
        let tables = self.slots.len() * size_of::<Slot>() + self.long.table_bytes();
        if tables > self.limits.bytes / 2 {
            (self.slots, self.long) = (Vec::new(), LongKeys::default());
        } else {
            self.slots.fill(Slot::default());
            self.long.clear();
        }
        self.used = 0;
        self.arena.clear();
    }
}
