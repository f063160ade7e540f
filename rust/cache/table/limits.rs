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
        if self.used * 2 >= self.slots.len() && !self.slots.is_empty() {
            let grown = self.grown();
            if grown > LAST_CAPACITY || self.bytes() + grown * size_of::<Slot>() > self.limits.bytes {
                self.reset();
            }
        }
        if self.slots.is_empty() {
            self.slots = vec_filled(Slot::default(), self.first_capacity);
        } else if self.used * 2 >= self.slots.len() {
            let grown = self.grown();
            let old = std::mem::replace(&mut self.slots, vec_filled(Slot::default(), grown));
            self.used = 0;
            for slot in old.into_iter().filter(|slot| slot.key != 0) {
                let home = self.slot_for(slot.key);
                self.used += usize::from(self.slots[home].key == 0);
                self.slots[home] = slot;
            }
        }
    }

    fn grown(&self) -> usize {
        self.slots.len() * if self.slots.len() < QUICK_GROWTH { 4 } else { 2 }
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
