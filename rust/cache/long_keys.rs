//! The table of chunks that are too long for a 128-bit key: found by hash, then compared byte by byte.

use super::lookup::ChunkKind;
use super::slots::PROBES;
use crate::structures::huge_pages::vec_filled;
use crate::structures::prefetch::prefetch;

const FIRST_CAPACITY: usize = 1 << 10;

/// Small tables grow 4x instead of 2x: early texts are mostly cache misses.
const QUICK_GROWTH: usize = 1 << 14;

/// In a length: the first bit of the kind of the chunk.
const KIND_BIT: u32 = 29;

#[derive(Clone, Copy, Debug, Default)]
struct Slot<V> {
    hash: u64,
    start: u32,
    /// With the kind; 0 when the slot is empty.
    len: u32,
    value: V,
}

/// A map from byte strings of less than 1 GiB and kinds to values. A full probe window evicts the chunk of the home slot.
#[derive(Clone, Debug, Default)]
pub(super) struct LongKeys<V> {
    /// A power of two, or none.
    slots: Vec<Slot<V>>,
    used: usize,
    text: Vec<u8>,
}

impl<V: Copy + Default> LongKeys<V> {
    /// Bytes that the map takes.
    pub(super) fn bytes(&self) -> usize {
        self.table_bytes() + self.text.len()
    }

    fn table_bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot<V>>()
    }

    /// Bytes that the map will take with one more chunk of `len` bytes, or takes now if `len` is 0; none if the chunk would end
    /// beyond 32 bits.
    pub(super) fn bytes_with(&self, len: usize) -> Option<usize> {
        let text = u32::try_from(self.text.len() + len).ok()? as usize;
        let capacity = if len > 0 && self.is_full() { self.grown() } else { self.slots.len() };
        Some(capacity * size_of::<Slot<V>>() + text)
    }

    fn is_full(&self) -> bool {
        2 * self.used >= self.slots.len()
    }

    fn grown(&self) -> usize {
        let factor = if self.slots.len() < QUICK_GROWTH { 4 } else { 2 };
        (factor * self.slots.len()).max(FIRST_CAPACITY)
    }

    /// Asks memory for the home slot of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, hash as usize & self.slots.len().wrapping_sub(1));
    }

    /// The value of a chunk with this hash.
    #[inline]
    pub(super) fn get(&self, hash: u64, chunk: &[u8], kind: ChunkKind) -> Option<&V> {
        let len = tagged_len(chunk, kind);
        let mask = self.slots.len().wrapping_sub(1);
        for probe in 0..PROBES {
            let slot = self.slots.get((hash as usize).wrapping_add(probe) & mask)?;
            if slot.len == 0 {
                return None;
            }
            let start = slot.start as usize;
            if slot.hash == hash && slot.len == len && self.text[start..start + chunk.len()] == *chunk {
                return Some(&slot.value);
            }
        }
        None
    }

    /// Adds a chunk of at least one byte that is not there yet; the caller has checked that there is room.
    pub(super) fn insert(&mut self, hash: u64, chunk: &[u8], kind: ChunkKind, value: V) {
        if self.is_full() {
            self.grow();
        }
        let (start, len) = (self.text.len() as u32, tagged_len(chunk, kind));
        self.text.extend_from_slice(chunk);
        self.place(Slot { hash, start, len, value });
    }

    fn grow(&mut self) {
        let grown = vec_filled(Slot::default(), self.grown());
        let old = std::mem::replace(&mut self.slots, grown);
        self.used = 0;
        for slot in old.into_iter().filter(|slot| slot.len > 0) {
            self.place(slot);
        }
    }

    /// Puts a slot at the first empty place of its probe window, or at its home, whose chunk is evicted.
    fn place(&mut self, slot: Slot<V>) {
        let mask = self.slots.len() - 1;
        let home = slot.hash as usize & mask;
        let free = (0..PROBES).map(|probe| (home + probe) & mask).find(|&at| self.slots[at].len == 0);
        self.used += usize::from(free.is_some());
        self.slots[free.unwrap_or(home)] = slot;
    }
}

fn tagged_len(chunk: &[u8], kind: ChunkKind) -> u32 {
    chunk.len() as u32 | (kind as u32) << KIND_BIT
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn long_words_matches_naive(
            words in prop::collection::vec(("[ab]{1,12}", any::<bool>(), any::<u32>()), 0..4000),
            // Fewer bits of hash make more collisions.
            bits in 8..64u32,
        ) {
            let (mut long, mut naive, mut lost) = (LongKeys::default(), HashMap::new(), 0);
            for (word, in_context, value) in &words {
                let hash = super::super::key::hash_long(word.as_bytes()) >> (64 - bits);
                long.prefetch(hash);
                let found = long.get(hash, word.as_bytes(), ChunkKind::in_context(*in_context)).copied();
                let known = naive.get(&(word, *in_context)).copied();
                // A value that is found never belongs to another word, however many words collide.
                prop_assert!(found.is_none() || found == known);
                lost += usize::from(found != known);
                if found.is_none() {
                    long.insert(hash, word.as_bytes(), ChunkKind::in_context(*in_context), *value);
                    naive.insert((word, *in_context), *value);
                }
            }
            prop_assert!(bits < 24 || lost <= words.len() / 100, "{lost} lost");
        }
    }
}
