//! Break classes of grapheme clusters of several characters, by their bytes.

use crate::cache::key::{SHORT, hash_key, key};
use crate::structures::reused::{Bounds, Reused};

/// Size of the direct-mapped memo, a power of two. A colliding cluster overwrites the older entry.
const CAPACITY: usize = 1 << 14;

/// A number for each cluster that one thread has met; half a mebibyte from the first cluster on.
#[derive(Debug, Default)]
pub struct ClusterMemo(Vec<(u128, u32)>);

impl Reused for ClusterMemo {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn trim(&mut self, bounds: Bounds) {
        if self.bytes() > bounds.memo {
            *self = Self::default();
        }
    }
}

impl ClusterMemo {
    /// The number of a cluster of at least a byte; `classify` is called for a cluster that the memo does not hold. None if the
    /// cluster is longer than a key.
    #[inline]
    pub fn get(&mut self, cluster: &str, classify: impl FnOnce() -> u32) -> Option<u32> {
        if cluster.len() > SHORT {
            return None;
        }
        if self.0.is_empty() {
            self.0 = vec![(0, 0); CAPACITY];
        }
        let key = key(cluster.as_bytes(), 0, cluster.len());
        let entry = &mut self.0[hash_key(key) as usize % CAPACITY];
        if entry.0 != key {
            *entry = (key, classify());
        }
        Some(entry.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_classified_once() {
        let mut kinds = ClusterMemo::default();
        let mut asked = Vec::new();
        for cluster in ["a\u{301}", "a", "a\u{301}", "a\0", "a", "sixteen letters."] {
            let kind = kinds.get(cluster, || {
                asked.push(cluster);
                cluster.len() as u32
            });
            assert_eq!(kind, (cluster.len() <= SHORT).then_some(cluster.len() as u32));
        }
        assert_eq!(asked, ["a\u{301}", "a", "a\0"]);
    }

    #[test]
    fn each_has_its_own_number_however_many_there_are() {
        let mut kinds = ClusterMemo::default();
        for _ in 0..2 {
            for number in 0..4 * CAPACITY as u32 {
                assert_eq!(kinds.get(&number.to_string(), || number), Some(number));
            }
        }
    }
}
