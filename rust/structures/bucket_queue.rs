//! A priority queue for keys that only fall: a radix heap turned upside down.

/// A queue that yields items by descending key, all items of one key at a time.
///
/// The queue stores items without their keys. An item lies in the bucket of the highest bit in which its key differs
/// from the current level, which is the key of the last group. Keys may fall while their items wait: the queue asks for
/// an item's key whenever it moves the item, so lowering a key costs nothing. An item moves at most 64 times, in
/// practice two or three times. Memory: 4 bytes an item. Source: Ahuja, Mehlhorn, Orlin, Tarjan 1990, "Faster
/// algorithms for the shortest path problem".
#[derive(Debug)]
pub struct BucketQueue {
    level: u64,
    buckets: Vec<Vec<u32>>,
    // Buffer for the items of the bucket that is being distributed, so that other buckets can grow meanwhile.
    moving: Vec<(u32, u64)>,
}

impl BucketQueue {
    /// An empty queue, which accepts any key below `u64::MAX`.
    pub fn new() -> Self {
        Self { level: u64::MAX, buckets: vec![Vec::new(); 64], moving: Vec::new() }
    }

    /// The key of the last group; `u64::MAX` before the first group.
    pub fn level(&self) -> u64 {
        self.level
    }

    /// Adds an item whose key is below [`Self::level`].
    #[inline]
    pub fn push(&mut self, item: u32, key: u64) {
        debug_assert!(key < self.level, "keys must fall");
        self.buckets[(key ^ self.level).ilog2() as usize].push(item);
    }

    /// Appends all items with the highest key to `group` and returns that key; `None` if the queue is empty.
    ///
    /// `key` returns the current key of an item, which is at most the key it was pushed with. Items whose key is 0 are
    /// dropped.
    pub fn pop_group(&mut self, key: impl Fn(u32) -> u64, group: &mut Vec<u32>) -> Option<u64> {
        let mut bit = 0;
        while bit < self.buckets.len() {
            if self.buckets[bit].is_empty() {
                bit += 1;
                continue;
            }
            let mut bucket = std::mem::take(&mut self.buckets[bit]);
            let mut highest = 0;
            for item in bucket.drain(..) {
                let key = key(item);
                if key == 0 {
                    continue;
                }
                // A key that has fallen below this bucket's range belongs to a later bucket.
                if (key ^ self.level).ilog2() as usize == bit {
                    highest = highest.max(key);
                    self.moving.push((item, key));
                } else {
                    self.push(item, key);
                }
            }
            self.buckets[bit] = bucket;
            if highest > 0 {
                self.level = highest;
                let mut moving = std::mem::take(&mut self.moving);
                for (item, key) in moving.drain(..) {
                    if key == highest {
                        group.push(item);
                    } else {
                        self.push(item, key);
                    }
                }
                self.moving = moving;
                return Some(highest);
            }
        }
        None
    }
}

impl Default for BucketQueue {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::BucketQueue;

    /// The naive version: looks at all waiting items before every group.
    fn groups_naive(mut keys: Vec<u64>, falls: &[(usize, u64)]) -> Vec<(u64, Vec<u32>)> {
        let mut waiting: Vec<u32> = (0..keys.len() as u32).collect();
        let mut groups = Vec::new();
        for step in 0.. {
            waiting.retain(|&item| keys[item as usize] > 0);
            let Some(highest) = waiting.iter().map(|&item| keys[item as usize]).max() else {
                break;
            };
            let group: Vec<u32> =
                waiting.iter().copied().filter(|&item| keys[item as usize] == highest).collect();
            waiting.retain(|item| !group.contains(item));
            groups.push((highest, group));
            lower(&mut keys, falls, step);
        }
        groups
    }

    fn lower(keys: &mut [u64], falls: &[(usize, u64)], step: usize) {
        if let Some(&(item, by)) = falls.get(step) {
            let item = item % keys.len();
            keys[item] = keys[item].saturating_sub(by);
        }
    }

    proptest! {
        #[test]
        fn groups_match_naive(
            keys in prop::collection::vec(prop_oneof![0u64..9, 0u64..5000, any::<u64>().prop_map(|key| key >> 1)], 1..40),
            falls in prop::collection::vec((any::<usize>(), 0u64..4000), 0..40),
        ) {
            let expected = groups_naive(keys.clone(), &falls);
            let mut keys = keys;
            let mut queue = BucketQueue::new();
            for (item, &key) in keys.iter().enumerate() {
                queue.push(item as u32, key);
            }
            let mut groups = Vec::new();
            let mut group = Vec::new();
            while let Some(level) = queue.pop_group(|item| keys[item as usize], &mut group) {
                group.sort_unstable();
                groups.push((level, std::mem::take(&mut group)));
                lower(&mut keys, &falls, groups.len() - 1);
            }
            prop_assert_eq!(groups, expected);
        }
    }
}
