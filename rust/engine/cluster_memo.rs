//! What groups of a few characters are, by their bytes.

use super::key::{SHORT, hash_key, key};

/// Groups that are remembered; a power of two. Another one takes the place of one with the same hash.
const ROOM: usize = 1 << 14;

/// Memory of one thread: a number for each group, half a mebibyte once it is asked.
#[derive(Debug, Default)]
pub struct ClusterMemo(Vec<(u128, u32)>);

impl ClusterMemo {
    /// The number of a group of at least a byte, which `ask` is asked for if it is not remembered; None if the group is too
    /// long for that.
    #[inline]
    pub fn get(&mut self, cluster: &str, ask: impl FnOnce() -> u32) -> Option<u32> {
        if cluster.len() > SHORT {
            return None;
        }
        if self.0.is_empty() {
            self.0 = vec![(0, 0); ROOM];
        }
        let key = key(cluster.as_bytes(), 0, cluster.len());
        let known = &mut self.0[hash_key(key) as usize % ROOM];
        if known.0 != key {
            *known = (key, ask());
        }
        Some(known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_asked_for_once() {
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
            for number in 0..4 * ROOM as u32 {
                assert_eq!(kinds.get(&number.to_string(), || number), Some(number));
            }
        }
    }
}
