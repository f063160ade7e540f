//! A bounded table of slots: open addressing with a probe limit, and second chance once the table may not grow.
//!
//! While the table may grow, a part of its slots at most are in use. At its largest size it fills up; then a new chunk takes the
//! place of one of the chunks nearest to its home: the first that was not read since it was last passed over. So a chunk that
//! is met once soon gives way, and a chunk that is read again and again stays.

use super::inline_ids::InlineIds;
use crate::structures::huge_pages::{vec_copied, vec_filled};
use crate::structures::prefetch::prefetch;

/// Probe limit: a lookup inspects at most this many neighbouring slots, which bounds the cost of crafted hash collisions.
pub(super) const PROBES: usize = 16;

/// A new chunk evicts one of so many neighbours: more would put chunks far from where they are looked for first.
const CANDIDATES: usize = 4;

/// Slots are found by 32 bits of hash.
const LAST_LEN: usize = 1 << 31;

/// Smaller tables grow 4x instead of 2x: early texts are mostly cache misses.
const QUICK_GROWTH: usize = 1 << 16;

/// The key of a slot. The default value stands for no key.
pub(super) trait SlotKey: Copy + Default + Eq {
    /// Aligns a slot, so that it lies in one cache line.
    type Aligned: Copy + std::fmt::Debug;

    /// The part of the slots that may be in use before the table grows, as a fraction.
    const LOAD: (usize, usize);

    /// A hash all of whose bits depend on all of the key.
    fn hash(self) -> u32;
}

/// A key and the ids of its chunk, which are stale without a key.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Slot<K: SlotKey, const N: usize> {
    aligned: [K::Aligned; 0],
    key: K,
    ids: InlineIds<N>,
}

impl<K: SlotKey, const N: usize> Slot<K, N> {
    fn empty() -> Self {
        Self { aligned: [], key: K::default(), ids: InlineIds::stale() }
    }

    fn is_empty(&self) -> bool {
        self.key == K::default()
    }
}

/// A table of slots of `N` items.
#[derive(Debug)]
pub(super) struct Slots<K: SlotKey, const N: usize> {
    /// A power of two, or none.
    entries: Vec<Slot<K, N>>,
    used: usize,
    /// The size to begin with.
    first_len: usize,
    /// The table grows up to this size.
    most: usize,
    /// The table has its largest size.
    is_last: bool,
    /// The caller has to tell which slots are read.
    pub(super) tracks_use: bool,
}

impl<K: SlotKey, const N: usize> Slots<K, N> {
    /// An empty table that takes at most `bytes` bytes and begins with `first_len` slots, if that many are allowed.
    pub(super) fn new(bytes: usize, first_len: usize) -> Self {
        let most = (bytes / size_of::<Slot<K, N>>()).min(LAST_LEN);
        let most = if most == 0 { 0 } else { 1 << most.ilog2() };
        let first_len = first_len.next_power_of_two().min(most);
        Self { entries: Vec::new(), used: 0, first_len, most, is_last: false, tracks_use: false }
    }

    /// A table with the same contents.
    pub(super) fn copy(&self) -> Self {
        Self { entries: vec_copied(&self.entries), ..*self }
    }

    /// Bytes that the table takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.entries[..])
    }

    /// Bytes that the table takes once a chunk has been put into it, or, without `more`, takes now.
    pub(super) fn bytes_with_one_more(&self, more: bool) -> usize {
        let grows = more && !self.has_room() && !self.is_last;
        size_of::<Slot<K, N>>() * if grows { self.grown() } else { self.entries.len() }
    }

    fn grown(&self) -> usize {
        let factor = if self.entries.len() < QUICK_GROWTH { 4 } else { 2 };
        (factor * self.entries.len()).max(self.first_len).min(self.most)
    }

    /// The ids of all chunks.
    pub(super) fn all_ids(&mut self) -> impl Iterator<Item = &mut InlineIds<N>> {
        self.entries.iter_mut().filter(|slot| !slot.is_empty()).map(|slot| &mut slot.ids)
    }

    fn has_room(&self) -> bool {
        K::LOAD.1 * self.used < K::LOAD.0 * self.entries.len()
    }

    /// Puts a chunk into the table if the table, once there is one, need not grow for it.
    pub(super) fn put_if_room(&mut self, key: K, ids: InlineIds<N>) -> bool {
        if self.entries.is_empty() {
            self.grow();
        }
        let has_room = self.has_room();
        if has_room {
            self.place(key, ids);
        }
        has_room
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & self.entries.len().wrapping_sub(1)
    }

    /// Asks memory for the home slot of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        prefetch(&self.entries, self.home(hash));
    }

    /// The ids of a key with this hash. The default key finds none, or stale ones.
    #[inline]
    pub(super) fn get(&self, key: K, hash: u32) -> Option<&InlineIds<N>> {
        let slot = self.entries.get(self.home(hash))?;
        let slot = if slot.key == key { slot } else { &self.entries[self.find(key, hash)?] };
        Some(&slot.ids)
    }

    /// Notes that the slot of a key is read.
    pub(super) fn mark_used(&mut self, key: K, hash: u32) {
        if let Some(at) = self.find(key, hash) {
            self.entries[at].ids.set_used();
        }
    }

    /// The slots where a key with this hash may be, in the order in which they are asked and filled.
    fn window(&self, hash: u32) -> impl Iterator<Item = usize> + Clone + use<K, N> {
        let (home, mask) = (self.home(hash), self.entries.len().wrapping_sub(1));
        (0..PROBES.min(self.entries.len())).map(move |probe| (home + probe) & mask)
    }

    #[inline(never)]
    fn find(&self, key: K, hash: u32) -> Option<usize> {
        let found =
            self.window(hash).find(|&at| self.entries[at].key == key || self.entries[at].is_empty())?;
        (!self.entries[found].is_empty()).then_some(found)
    }

    /// Puts a chunk into the table, which grows first if it is as full as [`SlotKey::LOAD`] allows and may grow.
    pub(super) fn put(&mut self, key: K, ids: InlineIds<N>) {
        if !self.has_room() && !self.is_last {
            self.grow();
        }
        if !self.entries.is_empty() {
            self.place(key, ids);
        }
    }

    fn grow(&mut self) {
        let len = self.grown();
        let old = std::mem::replace(&mut self.entries, vec_filled(Slot::empty(), len));
        self.used = 0;
        old.into_iter().filter(|slot| !slot.is_empty()).for_each(|slot| self.place(slot.key, slot.ids));
        self.is_last = len == self.most;
        self.tracks_use |= self.is_last;
    }

    /// Puts a chunk where its key is; else into the first empty slot of its window; else in place of a chunk close to its home.
    fn place(&mut self, key: K, ids: InlineIds<N>) {
        let (home, window) = (self.home(key.hash()), self.window(key.hash()));
        let free = window.clone().find(|&at| self.entries[at].is_empty() || self.entries[at].key == key);
        let at = free.unwrap_or_else(|| {
            window.take(CANDIDATES).find(|&at| !self.entries[at].ids.take_used()).unwrap_or(home)
        });
        let slot = &mut self.entries[at];
        self.used += usize::from(slot.is_empty());
        (slot.key, slot.ids) = (key, ids);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::cache::inline_ids::{Packing, SHORT_ITEMS};

    fn pack(id: u32) -> InlineIds<SHORT_ITEMS> {
        Packing::Wide.pack(&[id]).expect("one id has room")
    }

    proptest! {
        #[test]
        fn slots_match_naive(
            asked in prop::collection::vec(1..3000u128, 1..4000),
            bytes in prop_oneof![Just(0usize), 512..8192usize, Just(1 << 20)],
            // Few values of the low bits make many collisions.
            shift in prop_oneof![Just(0u32), Just(100)],
        ) {
            let mut slots = Slots::<u128, SHORT_ITEMS>::new(bytes, 16);
            let (mut naive, mut lost) = (HashMap::new(), 0);
            for (value, &key) in (0..).zip(&asked) {
                let key = key << shift;
                slots.mark_used(key, key.hash());
                if let Some(ids) = slots.get(key, key.hash()) {
                    prop_assert_eq!(Packing::Wide.unpack(ids)[0], naive[&key]);
                } else {
                    lost += usize::from(naive.contains_key(&key));
                    slots.put(key, pack(value));
                    naive.insert(key, value);
                }
                prop_assert!(slots.bytes() <= bytes);
            }
            // A window that is full evicts even where the table is not.
            prop_assert!(bytes < 1 << 20 || lost <= asked.len() / 100, "{lost} lost");
        }
    }

    #[test]
    fn what_is_read_again_outlives_what_is_met_once() {
        let mut slots = Slots::<u128, SHORT_ITEMS>::new(1 << 15, 16);
        let mut lost = 0;
        for round in 0..2000u128 {
            for key in 1..=100 {
                slots.mark_used(key, key.hash());
                if slots.get(key, key.hash()).is_none() {
                    lost += 1;
                    slots.put(key, pack(1));
                }
            }
            for key in 0..100 {
                let key = 1000 + 100 * round + key;
                assert!(slots.get(key, key.hash()).is_none());
                slots.put(key, pack(2));
            }
        }
        assert!(lost < 2000, "{lost} lost of 200,000");
    }
}
