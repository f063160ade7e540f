//! A double-array trie over byte strings: one load per byte, however many keys there are.
//!
//! A node with base `base` has its child by byte `b` at entry `base ^ b`, if that entry carries the label `b`. No two
//! nodes have the same base, so the label alone proves whose child the entry is. Source: Aoe 1989, "An efficient
//! digital search algorithm by using a double-array structure", with the exclusive or of Yata's darts-clone instead of
//! the sum.

/// The label of a free entry, and of the root.
const NO_LABEL: u32 = 256;

const LABEL_BITS: u32 = 9;

/// Entries per block. `base ^ byte` stays in the block of `base`.
const BLOCK: usize = 256;

/// Machine words of a bitmap with one bit per entry of a block.
const BLOCK_WORDS: usize = BLOCK / 64;

/// The builder tries at most this many blocks with free entries; older blocks are nearly full.
const OPEN_BLOCKS: usize = 16;

/// The builder gives up on a block after this many failures, so that building stays linear.
const FAILURES: u8 = 3;

const NO_VALUE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The base in the upper bits, the label in the lower 9; base 0 means no children.
    head: u32,
    value: u32,
}

/// Maps byte strings to values below 2^32 - 1. Memory: 8 bytes an entry, a little more than one entry per distinct
/// prefix.
#[derive(Clone, Debug)]
pub struct ByteTrie {
    entries: Vec<Entry>,
}

/// A node of the trie: a prefix of some key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

impl Node {
    /// The node's number, below [`ByteTrie::node_bound`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The node with this number.
    ///
    /// If no node has the number, steps from the result lead nowhere or to another node, as long as the number is below
    /// [`ByteTrie::node_bound`].
    #[inline]
    pub fn from_index(index: u32) -> Self {
        Self(index)
    }
}

impl ByteTrie {
    /// The node of the empty prefix.
    pub const ROOT: Node = Node(0);

    /// Builds a trie from distinct, non-empty keys in ascending order; `None` if it takes more than 2^23 entries.
    pub fn new(keys: &[(&[u8], u32)]) -> Option<Self> {
        debug_assert!(keys.windows(2).all(|pair| pair[0].0 < pair[1].0), "keys ascend");
        let mut builder = Builder::default();
        // Block 0 holds the root alone. A node without children has base 0, so a search for its children looks into
        // block 0 and finds none.
        builder.add_block();
        let mut open = Vec::new();
        if !keys.is_empty() {
            open.push((0, 0..keys.len(), 0));
        }
        let mut children = Vec::new();
        while let Some((node, mut range, depth)) = open.pop() {
            if keys[range.start].0.len() == depth {
                builder.entries[node].value = keys[range.start].1;
                range.start += 1;
            }
            children.clear();
            while !range.is_empty() {
                let label = keys[range.start].0[depth];
                // Most often all keys of the range have the same next byte.
                let is_same = |(key, _): &(&[u8], u32)| key[depth] == label;
                let is_last_same = is_same(&keys[range.end - 1]);
                let count =
                    if is_last_same { range.len() } else { keys[range.clone()].partition_point(is_same) };
                children.push((label, range.start..range.start + count));
                range.start += count;
            }
            if children.is_empty() {
                continue;
            }
            let base = builder.find_base(&children);
            if base >> (32 - LABEL_BITS) != 0 {
                return None;
            }
            builder.take_base(node, base);
            for (label, range) in children.drain(..) {
                let child = base ^ usize::from(label);
                builder.take(child, label);
                open.push((child, range, depth + 1));
            }
        }
        Some(Self { entries: builder.entries })
    }

    /// The child of `node` by `byte`.
    #[inline]
    pub fn step(&self, node: Node, byte: u8) -> Option<Node> {
        let child = self.entries[node.0 as usize].head >> LABEL_BITS ^ u32::from(byte);
        (self.entries[child as usize].head & ((1 << LABEL_BITS) - 1) == u32::from(byte))
            .then_some(Node(child))
    }

    /// The value of the key that ends at `node`.
    #[inline]
    pub fn value(&self, node: Node) -> Option<u32> {
        let value = self.entries[node.0 as usize].value;
        (value != NO_VALUE).then_some(value)
    }

    /// The value of the key that ends at `node`, else `none`, which is above all values. Compiles without a branch.
    #[inline]
    pub fn value_or(&self, node: Node, none: u32) -> u32 {
        self.entries[node.0 as usize].value.min(none)
    }

    /// The value and length of the longest key that is a prefix of `text`.
    #[inline]
    pub fn longest(&self, text: &[u8]) -> Option<(u32, usize)> {
        let (mut node, mut found) = (Self::ROOT, None);
        for (at, &byte) in text.iter().enumerate() {
            let Some(next) = self.step(node, byte) else { break };
            node = next;
            if let Some(value) = self.value(node) {
                found = Some((value, at + 1));
            }
        }
        found
    }

    /// Greater than the index of any node.
    pub fn node_bound(&self) -> usize {
        self.entries.len()
    }

    /// Memory of the trie in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }
}

impl Default for ByteTrie {
    /// The trie without keys.
    fn default() -> Self {
        let mut builder = Builder::default();
        builder.add_block();
        Self { entries: builder.entries }
    }
}

#[derive(Default)]
struct Builder {
    entries: Vec<Entry>,
    /// Free entries, as a bitmap per block.
    free: Vec<[u64; BLOCK_WORDS]>,
    /// Free bases, as a bitmap per block: entries that are no node's base.
    free_base: Vec<[u64; BLOCK_WORDS]>,
    /// Blocks that the builder still tries, oldest first, each with its number of failures.
    open: Vec<(usize, u8)>,
}

/// The bitmap of a block with the bit at each index `at` moved to `at ^ by`.
fn displaced(bits: &[u64; BLOCK_WORDS], by: u8) -> [u64; BLOCK_WORDS] {
    /// For each step 2^i: mask of the lower index of every pair of indices that differ in bit i alone.
    const LOWER: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        0x00FF_00FF_00FF_00FF,
        0x0000_FFFF_0000_FFFF,
        0x0000_0000_FFFF_FFFF,
    ];
    std::array::from_fn(|word| {
        let mut moved = bits[word ^ usize::from(by / 64)];
        for (step, lower) in LOWER.into_iter().enumerate() {
            let exchanged = (moved & lower) << (1 << step) | moved >> (1 << step) & lower;
            moved = if by >> step & 1 == 1 { exchanged } else { moved };
        }
        moved
    })
}

fn take(bits: &mut [[u64; BLOCK_WORDS]], at: usize) {
    bits[at / BLOCK][at % BLOCK / 64] &= !(1 << (at % 64));
}

impl Builder {
    /// Appends a block and returns its number.
    fn add_block(&mut self) -> usize {
        let block = self.free.len();
        self.entries.resize(self.entries.len() + BLOCK, Entry { head: NO_LABEL, value: NO_VALUE });
        let free = [if block == 0 { 0 } else { u64::MAX }; BLOCK_WORDS];
        self.free.push(free);
        self.free_base.push(free);
        if block > 0 {
            if self.open.len() == OPEN_BLOCKS {
                self.open.remove(0);
            }
            self.open.push((block, 0));
        }
        block
    }

    /// A free base with free entries for all children: in a block that is still tried, else in a new block.
    fn find_base(&mut self, children: &[(u8, std::ops::Range<usize>)]) -> usize {
        for at in 0..self.open.len() {
            let (block, failures) = self.open[at];
            if let Some(base) = self.find_base_in(block, children) {
                return base;
            }
            self.open[at].1 = failures.saturating_add(1);
        }
        self.open.retain(|&(_, failures)| failures < FAILURES);
        self.add_block() * BLOCK
    }

    /// The first such base in `block`. Tests all 256 bases in parallel, one bit each.
    fn find_base_in(&self, block: usize, children: &[(u8, std::ops::Range<usize>)]) -> Option<usize> {
        let mut bases = self.free_base[block];
        for &(label, _) in children {
            let mut left = 0;
            for (bases, places) in bases.iter_mut().zip(displaced(&self.free[block], label)) {
                *bases &= places;
                left |= *bases;
            }
            if left == 0 {
                return None;
            }
        }
        let (word, bits) = bases.into_iter().enumerate().find(|&(_, bits)| bits != 0)?;
        Some(block * BLOCK + word * 64 + bits.trailing_zeros() as usize)
    }

    fn take_base(&mut self, node: usize, base: usize) {
        take(&mut self.free_base, base);
        self.entries[node].head |= (base as u32) << LABEL_BITS;
    }

    fn take(&mut self, at: usize, label: u8) {
        take(&mut self.free, at);
        self.entries[at].head = u32::from(label);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn build(keys: &BTreeMap<Vec<u8>, u32>) -> ByteTrie {
        let keys: Vec<(&[u8], u32)> = keys.iter().map(|(key, &value)| (key.as_slice(), value)).collect();
        ByteTrie::new(&keys).expect("few entries")
    }

    fn naive_longest(keys: &BTreeMap<Vec<u8>, u32>, text: &[u8]) -> Option<(u32, usize)> {
        (1..=text.len()).rev().find_map(|len| keys.get(&text[..len]).map(|&value| (value, len)))
    }

    proptest! {
        #[test]
        fn displaced_matches_naive(bits: [u64; BLOCK_WORDS], by: u8) {
            let moved = displaced(&bits, by);
            let is_set = |bits: &[u64], at: usize| bits[at / 64] >> (at % 64) & 1 == 1;
            for at in 0..BLOCK {
                prop_assert_eq!(is_set(&bits, at), is_set(&moved, at ^ usize::from(by)));
            }
        }

        #[test]
        fn byte_trie_matches_naive(
            keys in prop::collection::btree_map(prop::collection::vec(0..5u8, 1..6), 0..1000u32, 1..200),
            texts in prop::collection::vec(prop::collection::vec(0..6u8, 0..12), 1..50),
        ) {
            let trie = build(&keys);
            for text in &texts {
                prop_assert_eq!(trie.longest(text), naive_longest(&keys, text));
            }
        }

        #[test]
        fn any_bytes_are_found_again(
            keys in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 1..8), 0..1000u32, 1..400),
        ) {
            let trie = build(&keys);
            for (key, &value) in &keys {
                prop_assert_eq!(trie.longest(key), Some((value, key.len())));
                let mut longer = key.clone();
                longer.push(key[0]);
                prop_assert_eq!(trie.longest(&longer), naive_longest(&keys, &longer));
            }
        }
    }

    #[test]
    fn all_short_strings_fit() {
        let keys: BTreeMap<Vec<u8>, u32> =
            (0..=u16::MAX).map(|key| (key.to_be_bytes().to_vec(), u32::from(key))).collect();
        let trie = build(&keys);
        assert!(keys.iter().all(|(key, &value)| trie.longest(key) == Some((value, 2))));
        assert!(trie.bytes() < 8 * 80_000, "{} bytes", trie.bytes());
    }
}
