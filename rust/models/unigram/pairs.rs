//! The places of any two characters of ASCII in a trie, so that a walk begins behind them without waiting for memory.

use crate::structures::byte_trie::{Branch, ByteTrie, Node};

/// Characters of ASCII.
const ASCII: usize = 128;

/// The node of a pair and its branch; the root, with a branch that leads nowhere, if no piece begins so.
type Pair = (Node, Branch);

/// Places of pairs: 128 KiB.
#[derive(Clone, Debug)]
pub(super) struct Pairs(Vec<Pair>);

impl Pairs {
    pub(super) fn new(trie: &ByteTrie) -> Self {
        let mut places = vec![(ByteTrie::ROOT, Branch::default()); ASCII * ASCII];
        for first in 0..ASCII {
            let Some(node) = trie.step(ByteTrie::ROOT, first as u8) else { continue };
            for second in 0..ASCII {
                if let Some(node) = trie.step(node, second as u8) {
                    places[first * ASCII + second] = (node, trie.branch(node));
                }
            }
        }
        Self(places)
    }

    /// The place of two bytes, if both are ASCII.
    #[inline]
    pub(super) fn get(&self, [first, second]: [u8; 2]) -> Option<Pair> {
        let is_ascii = (first | second) < ASCII as u8;
        is_ascii.then(|| self.0[usize::from(first) * ASCII + usize::from(second)])
    }

    /// Asks for what is looked at first when `text` is walked along.
    #[inline]
    pub(super) fn prefetch(&self, trie: &ByteTrie, text: &[u8]) {
        if let Some(&[first, second, third]) = text.first_chunk()
            && let Some((_, branch)) = self.get([first, second])
        {
            trie.prefetch(branch, third);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_match_naive() {
        let pieces = ["a", "ab", "abc", "b", "bé", "z~", "\0\0", "é"];
        let mut keys: Vec<(&[u8], u32)> = pieces.iter().map(|piece| piece.as_bytes()).zip(0..).collect();
        keys.sort_unstable();
        let trie = ByteTrie::new(&keys).expect("few pieces");
        let pairs = Pairs::new(&trie);
        for first in 0..=255 {
            for second in 0..=255 {
                let is_ascii = first < 128 && second < 128;
                let naive = trie.step(ByteTrie::ROOT, first).and_then(|node| trie.step(node, second));
                let naive = is_ascii.then(|| naive.unwrap_or(ByteTrie::ROOT));
                assert_eq!(pairs.get([first, second]).map(|(node, _)| node), naive, "{first} {second}");
                pairs.prefetch(&trie, &[first, second, b'c']);
            }
        }
        let branch_of = |pair: &[u8; 2]| pairs.get(*pair).map(|(_, branch)| branch).expect("ASCII");
        assert_eq!(trie.step_from(branch_of(b"xa"), b'a'), None);
        let branch = branch_of(b"ab");
        assert_eq!(trie.step_from(branch, b'c').and_then(|node| trie.value(node)), Some(2));
    }
}
