//! What groups of a few characters are, by their bytes.

use hashbrown::HashTable;

use super::key::{SHORT, hash_key, key};

/// Groups that are remembered; then it starts anew.
const LIMIT: usize = 1 << 16;

/// Memory of one thread: a number for each group.
#[derive(Debug, Default)]
pub struct GroupKinds(HashTable<(u128, u32)>);

impl GroupKinds {
    /// The number of a group of at least a byte, which `ask` is asked for the first time; None if it is too long to be
    /// remembered.
    #[inline]
    pub fn get(&mut self, group: &str, ask: impl FnOnce() -> u32) -> Option<u32> {
        if group.len() > SHORT {
            return None;
        }
        let key = key(group.as_bytes(), 0, group.len());
        if let Some(&(_, kind)) = self.0.find(hash_key(key), |known| known.0 == key) {
            return Some(kind);
        }
        if self.0.len() >= LIMIT {
            self.0.clear();
        }
        let kind = ask();
        self.0.insert_unique(hash_key(key), (key, kind), |known| hash_key(known.0));
        Some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_asked_for_once() {
        let mut kinds = GroupKinds::default();
        let mut asked = Vec::new();
        for group in ["a\u{301}", "a", "a\u{301}", "a\0", "a", "sixteen letters."] {
            let kind = kinds.get(group, || {
                asked.push(group);
                group.len() as u32
            });
            assert_eq!(kind, (group.len() <= SHORT).then_some(group.len() as u32));
        }
        assert_eq!(asked, ["a\u{301}", "a", "a\0"]);
    }

    #[test]
    fn memory_has_a_limit() {
        let mut kinds = GroupKinds::default();
        for number in 0..2 * LIMIT as u32 {
            assert_eq!(kinds.get(&number.to_string(), || number), Some(number));
        }
        assert!(kinds.0.len() <= LIMIT);
    }
}
