//! How a cache keeps to its limit: tables grow while that has room, and then it starts anew.

use super::super::long_keys::LongKeys;
use super::{ChunkCache, Entry};
use crate::structures::huge_pages::vec_filled;

/// OffsetMap are found by 32 bits of hash.
const LAST_CAPACITY: usize = 1 << 31;

/// Below this many entries the table grows fourfold: the first texts meet new pre-tokens all the time.
const QUICK_GROWTH: usize = 1 << 16;

/// Items of the arena, whose places are numbers of 32 bits; what one word takes has room after.
const LONGEST_ARENA: usize = u32::MAX as usize - (1 << 20);

impl ChunkCache {
    /// Whether a long word may be kept within the limit.
    pub(super) fn has_room_for(&self, word: &[u8]) -> bool {
        let others = self.bytes() - self.long.bytes();
        self.long.bytes_with(word.len()).is_some_and(|long| others + long <= self.limits.bytes)
    }

    /// Grows the table at half load, or starts anew when the limit is reached.
    pub(super) fn make_room(&mut self) {
        if self.bytes() >= self.limits.bytes || self.arena.len() > LONGEST_ARENA {
            self.forget();
        }
        if self.used * 2 >= self.entries.len() && !self.entries.is_empty() {
            let grown = self.grown();
            if grown > LAST_CAPACITY || self.bytes() + grown * size_of::<Entry>() > self.limits.bytes {
                self.forget();
            }
        }
        if self.entries.is_empty() {
            self.entries = vec_filled(Entry::default(), self.first_capacity);
        } else if self.used * 2 >= self.entries.len() {
            let grown = self.grown();
            let old = std::mem::replace(&mut self.entries, vec_filled(Entry::default(), grown));
            self.used = 0;
            for entry in old.into_iter().filter(|entry| entry.key != 0) {
                let place = self.place_for(entry.key);
                self.used += usize::from(self.entries[place].key == 0);
                self.entries[place] = entry;
            }
        }
    }

    fn grown(&self) -> usize {
        self.entries.len() * if self.entries.len() < QUICK_GROWTH { 4 } else { 2 }
    }

    /// Forgets all words; tables that would leave too little room for the next ones go too.
    pub(super) fn forget(&mut self) {
        let tables = self.entries.len() * size_of::<Entry>() + self.long.table_bytes();
        if tables > self.limits.bytes / 2 {
            (self.entries, self.long) = (Vec::new(), LongKeys::default());
        } else {
            self.entries.fill(Entry::default());
            self.long.clear();
        }
        self.used = 0;
        self.arena.clear();
    }
}
