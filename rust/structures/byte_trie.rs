//! A double-array trie over byte strings: one load a byte, whatever the number of keys.
//!
//! The child of a node by byte `b` lies at `base ^ b`; it is that node's child if it carries the label `b`, since no
//! two nodes have the same base. Source: Aoe 1989, with the exclusive or of Yata's darts-clone in place of the sum.

/// The label of a unit that nobody uses, and of the root.
const NO_LABEL: u32 = 256;

const LABEL_BITS: u32 = 9;

/// Units are placed in blocks, so that `base ^ byte` stays in the block of `base`.
const BLOCK: usize = 256;

/// Words with a bit for each unit of a block.
const BLOCK_WORDS: usize = BLOCK / 64;

/// Blocks with free units that are tried; older ones are nearly full.
const OPEN_BLOCKS: usize = 16;

/// A block in which no place was found this many times is not tried again, so that building stays linear.
const FAILURES: u8 = 3;

const NO_VALUE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Unit {
    /// The base, then the label; a base of 0 means no children.
    head: u32,
    value: u32,
}

/// Maps byte strings to values below 2^32 - 1. 8 bytes a unit, a little more than one unit a distinct prefix.
#[derive(Clone, Debug)]
pub struct ByteTrie {
    units: Vec<Unit>,
}

/// A place in the trie: a prefix of some key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

impl Node {
    /// A number below [`ByteTrie::node_bound`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The node with this number.
    ///
    /// Of a number that no node has nothing is known but that it leads nowhere or to another node, if it is below the bound.
    #[inline]
    pub fn from_index(index: u32) -> Self {
        Self(index)
    }
}

impl ByteTrie {
    /// The node of the empty prefix.
    pub const ROOT: Node = Node(0);

    /// Builds a trie from keys in ascending order, none empty and none twice; `None` beyond 2^23 units.
    pub fn new(keys: &[(&[u8], u32)]) -> Option<Self> {
        debug_assert!(keys.windows(2).all(|pair| pair[0].0 < pair[1].0), "keys ascend");
        let mut builder = Builder::default();
        // Block 0 holds the root alone: the children of a node without any are looked for there and not found.
        builder.add_block();
        let mut open = Vec::new();
        if !keys.is_empty() {
            open.push((0, 0..keys.len(), 0));
        }
        let mut children = Vec::new();
        while let Some((node, mut range, depth)) = open.pop() {
            if keys[range.start].0.len() == depth {
                builder.units[node].value = keys[range.start].1;
                range.start += 1;
            }
            children.clear();
            while !range.is_empty() {
                let label = keys[range.start].0[depth];
                // Most often all go on alike.
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
        Some(Self { units: builder.units })
    }

    /// The node that `byte` leads to.
    #[inline]
    pub fn step(&self, node: Node, byte: u8) -> Option<Node> {
        let child = self.units[node.0 as usize].head >> LABEL_BITS ^ u32::from(byte);
        (self.units[child as usize].head & ((1 << LABEL_BITS) - 1) == u32::from(byte)).then_some(Node(child))
    }

    /// The value of the key that ends at `node`.
    #[inline]
    pub fn value(&self, node: Node) -> Option<u32> {
        let value = self.units[node.0 as usize].value;
        (value != NO_VALUE).then_some(value)
    }

    /// The value of the key that ends at `node`, or `none`, which is above all values, without a branch.
    #[inline]
    pub fn value_or(&self, node: Node, none: u32) -> u32 {
        self.units[node.0 as usize].value.min(none)
    }

    /// The value and length of the longest key that `text` begins with.
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

    /// More than any node's index.
    pub fn node_bound(&self) -> usize {
        self.units.len()
    }

    /// Bytes that the trie takes.
    pub fn bytes(&self) -> usize {
        self.units.len() * size_of::<Unit>()
    }
}

impl Default for ByteTrie {
    /// The trie without a key.
    fn default() -> Self {
        let mut builder = Builder::default();
        builder.add_block();
        Self { units: builder.units }
    }
}

#[derive(Default)]
struct Builder {
    units: Vec<Unit>,
    /// By block, a bit a unit.
    free: Vec<[u64; BLOCK_WORDS]>,
    /// By block, a bit a unit: no node has it for its base.
    free_base: Vec<[u64; BLOCK_WORDS]>,
    /// Blocks that are tried, oldest first, and how often in vain.
    open: Vec<(usize, u8)>,
}

/// The bits of a block, each moved from its place `at` to `at ^ by`.
fn displaced(bits: &[u64; BLOCK_WORDS], by: u8) -> [u64; BLOCK_WORDS] {
    /// Where the lower ones of two places that change places are, by their distance.
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
        self.units.resize(self.units.len() + BLOCK, Unit { head: NO_LABEL, value: NO_VALUE });
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

    /// A base at which all children have a free unit: in an open block, else in a new one.
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

    /// The first such base of a block. All of them are tried at once, a bit each.
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
        self.units[node].head |= (base as u32) << LABEL_BITS;
    }

    fn take(&mut self, at: usize, label: u8) {
        take(&mut self.free, at);
        self.units[at].head = u32::from(label);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn build(keys: &BTreeMap<Vec<u8>, u32>) -> ByteTrie {
        let keys: Vec<(&[u8], u32)> = keys.iter().map(|(key, &value)| (key.as_slice(), value)).collect();
        ByteTrie::new(&keys).expect("few units")
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
