//! A flat hash map from pairs of ids to small values, for counting.

/// Key of a free slot; no pair of ids below 2^32 - 1 equals it.
const FREE: u64 = u64::MAX;

/// An odd constant near 2^64 divided by the golden ratio: multiplicative hashing after Knuth.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    key: u64,
    value: V,
}

/// A hash map with open addressing and linear probing, at most half full, whose keys are never removed.
///
/// An operation costs one multiplication and nearly always one cache line. The layout depends only on the keys and
/// their order of insertion, never on a random seed. Memory: `size_of::<(u64, V)>()` bytes a slot, two to four slots a
/// key.
#[derive(Clone, Debug)]
pub struct FlatMap<V> {
    slots: Vec<Slot<V>>,
    shift: u32,
    len: usize,
}

impl<V: Copy + Default> FlatMap<V> {
    /// An empty map that holds `capacity` keys without growing.
    pub fn with_capacity(capacity: usize) -> Self {
        let size = (capacity.max(8) * 2).next_power_of_two();
        let free = Slot { key: FREE, value: V::default() };
        Self { slots: vec![free; size], shift: 64 - size.trailing_zeros(), len: 0 }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no key at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Slot that holds `key`, else the free slot where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(MULTIPLIER) >> self.shift) as usize;
        loop {
            let found = self.slots[at & mask].key;
            if found == key || found == FREE {
                return at & mask;
            }
            at += 1;
        }
    }

    /// The value of `key`, if the map has that key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<V> {
        let slot = &self.slots[self.find(key)];
        (slot.key == key).then_some(slot.value)
    }

    /// The value of `key`; an absent key is inserted with the default value.
    ///
    /// `u64::MAX` is not a key.
    #[inline]
    pub fn entry(&mut self, key: u64) -> &mut V {
        debug_assert_ne!(key, FREE, "the marker of free slots is not a key");
        let mut at = self.find(key);
        if self.slots[at].key == FREE {
            if self.len * 2 >= self.slots.len() {
                self.grow();
                at = self.find(key);
            }
            self.len += 1;
            self.slots[at].key = key;
        }
        &mut self.slots[at].value
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self::with_capacity(self.slots.len());
        for (key, value) in self.iter() {
            let at = larger.find(key);
            larger.slots[at] = Slot { key, value };
        }
        larger.len = self.len;
        *self = larger;
    }

    /// Keys and values, in no meaningful order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        self.slots.iter().filter(|slot| slot.key != FREE).map(|slot| (slot.key, slot.value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::FlatMap;

    proptest! {
        #[test]
        fn flat_map_matches_btree_map(keys in prop::collection::vec(0u64..200, 0..400), wide in any::<bool>()) {
            let mut map = FlatMap::<u64>::with_capacity(0);
            let mut naive = BTreeMap::new();
            for key in keys {
                let key = if wide { key << 32 | key } else { key };
                *map.entry(key) += 1;
                *naive.entry(key).or_insert(0u64) += 1;
            }
            prop_assert_eq!(map.len(), naive.len());
            prop_assert_eq!(map.is_empty(), naive.is_empty());
            prop_assert_eq!(map.get(1 << 40), None);
            for (&key, &count) in &naive {
                prop_assert_eq!(map.get(key), Some(count));
            }
            prop_assert_eq!(map.iter().collect::<BTreeMap<_, _>>(), naive);
        }
    }
}
