//! Double-array tries in the layout of darts-clone, which SentencePiece's lite runtime reads.
//!
//! The child of node `n` by byte `b` is at `n ^ offset(n) ^ b`. Nodes are placed depth first, and the children of a node at the first
//! free place of the last 16 blocks of 256 units. Values are distinct, so no two subtries are equal, and darts-clone's automaton is
//! a plain trie. Source: the darts-clone library.

/// Units of a block.
const BLOCK: usize = 256;

/// Units whose places may still be used: the last 16 blocks.
const OPEN: usize = 16 * BLOCK;

/// The bit of a unit that holds a value.
pub(crate) const LEAF: u32 = 1 << 31;
const HAS_LEAF: u32 = 1 << 8;

/// A unit whose place may still be used: a link of the ring of free units.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    previous: usize,
    next: usize,
    /// The unit has a node, or is closed.
    is_fixed: bool,
    /// The children of some node are relative to this unit.
    is_base: bool,
}

/// A node that is to be placed: the keys that begin with its text, and the length of that.
struct Node {
    keys: std::ops::Range<usize>,
    depth: usize,
    at: usize,
}

struct Builder {
    units: Vec<u32>,
    slots: Vec<Slot>,
    /// The first free unit; the number of units if there is none.
    free: usize,
}

/// The units of a trie over keys in ascending order, none empty or with a zero byte, with their distinct values below 2^31.
///
/// `keys` is not empty: in an empty trie, the labels of unused units would look like children of the root.
pub(crate) fn build(keys: &[(&[u8], u32)]) -> Vec<u32> {
    let mut builder = Builder { units: Vec::new(), slots: vec![Slot::default(); OPEN], free: 0 };
    builder.fix(0);
    builder.slots[0].is_base = true;
    builder.units[0] = 1 << 10;
    let mut nodes = vec![Node { keys: 0..keys.len(), depth: 0, at: 0 }];
    while let Some(node) = nodes.pop() {
        if !node.keys.is_empty() {
            builder.place(keys, node, &mut nodes);
        }
    }
    let blocks = builder.units.len() / BLOCK;
    for block in blocks.saturating_sub(OPEN / BLOCK)..blocks {
        builder.close(block);
    }
    builder.units
}

/// The offset of a node to its children.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}

/// The node of a text, if a key begins with it.
pub(crate) fn node(units: &[u32], text: &[u8]) -> Option<usize> {
    text.iter().try_fold(0, |node, &byte| {
        let child = node ^ offset(*units.get(node)?) ^ usize::from(byte);
        let unit = units.get(child)?;
        (unit & (LEAF | 0xFF) == u32::from(byte)).then_some(child)
    })
}

/// The unit with the value of a key.
pub(crate) fn leaf(units: &[u32], key: &[u8]) -> Option<usize> {
    let node = node(units, key)?;
    let unit = units[node];
    (unit & HAS_LEAF != 0).then_some(node ^ offset(unit))
}

impl Builder {
    fn slot(&mut self, unit: usize) -> &mut Slot {
        &mut self.slots[unit % OPEN]
    }

    /// Places the children of a node, and notes them in `nodes`, the first one last.
    fn place(&mut self, keys: &[(&[u8], u32)], node: Node, nodes: &mut Vec<Node>) {
        let label = |key: usize| keys[key].0.get(node.depth).copied().unwrap_or(0);
        let mut children: Vec<(u8, std::ops::Range<usize>)> = Vec::new();
        for key in node.keys {
            match children.last_mut() {
                Some((last, range)) if *last == label(key) => range.end = key + 1,
                _ => children.push((label(key), key..key + 1)),
            }
        }
        let base = self.find_base(node.at, &children);
        self.set_offset(node.at, node.at ^ base);
        for (label, range) in &children {
            let child = base ^ usize::from(*label);
            self.fix(child);
            if *label == 0 {
                self.units[node.at] |= HAS_LEAF;
                self.units[child] = keys[range.start].1 | LEAF;
            } else {
                self.set_label(child, *label);
            }
        }
        self.slot(base).is_base = true;
        let inner = children.into_iter().rev().filter(|(label, _)| *label > 0);
        nodes.extend(inner.map(|(label, keys)| Node {
            keys,
            depth: node.depth + 1,
            at: base ^ usize::from(label),
        }));
    }

    /// The first free unit from which the children of the node at `at` fit.
    fn find_base(&self, at: usize, children: &[(u8, std::ops::Range<usize>)]) -> usize {
        let beyond = self.units.len() | (at & 0xFF);
        if self.free >= self.units.len() {
            return beyond;
        }
        let slot = |unit: usize| self.slots[unit % OPEN];
        let mut unit = self.free;
        loop {
            let base = unit ^ usize::from(children[0].0);
            let distance = at ^ base;
            // An offset has 21 bits, or 29 of which the last 8 are zero.
            let is_encodable = distance.trailing_zeros() >= 8 || distance & (0xFF << 21) == 0;
            let is_free =
                |(label, _): &(u8, std::ops::Range<usize>)| !slot(base ^ usize::from(*label)).is_fixed;
            if !slot(base).is_base && is_encodable && children[1..].iter().all(is_free) {
                return base;
            }
            unit = slot(unit).next;
            if unit == self.free {
                return beyond;
            }
        }
    }

    fn set_label(&mut self, unit: usize, label: u8) {
        self.units[unit] = self.units[unit] & !0xFF | u32::from(label);
    }

    fn set_offset(&mut self, unit: usize, offset: usize) {
        let kept = self.units[unit] & (LEAF | HAS_LEAF | 0xFF);
        let offset = offset as u32;
        self.units[unit] = kept | if offset < 1 << 21 { offset << 10 } else { offset << 2 | 1 << 9 };
    }

    /// Takes a unit out of the ring of free ones, after adding a block if it is beyond the end.
    fn fix(&mut self, unit: usize) {
        if unit >= self.units.len() {
            self.add_block();
        }
        let Slot { previous, next, .. } = *self.slot(unit);
        if unit == self.free {
            self.free = if next == unit { self.units.len() } else { next };
        }
        self.slot(previous).next = next;
        self.slot(next).previous = previous;
        self.slot(unit).is_fixed = true;
    }

    fn add_block(&mut self) {
        let start = self.units.len();
        let end = start + BLOCK;
        if end > OPEN {
            self.close(start / BLOCK - OPEN / BLOCK);
        }
        self.units.resize(end, 0);
        for unit in start..end {
            let (previous, next) = (unit.wrapping_sub(1), unit + 1);
            *self.slot(unit) = Slot { previous, next, is_fixed: false, is_base: false };
        }
        // The block goes to the end of the ring; if the ring is empty, `free` is the first unit of the block.
        let last = if self.free == start { end - 1 } else { self.slot(self.free).previous };
        let free = self.free;
        self.slot(start).previous = last;
        self.slot(end - 1).next = free;
        self.slot(last).next = start;
        self.slot(free).previous = end - 1;
    }

    /// Gives the free units of a block a label with which no node has children there.
    fn close(&mut self, block: usize) {
        let units = block * BLOCK..(block + 1) * BLOCK;
        let unused = units.clone().find(|&unit| !self.slot(unit).is_base).unwrap_or(0);
        for unit in units {
            if !self.slot(unit).is_fixed {
                self.fix(unit);
                self.set_label(unit, (unit ^ unused) as u8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lookup_matches_naive(
            keys in prop::collection::btree_set("[a-c]{1,6}|[\\x01-\\x7f日本é]{1,3}", 1..400),
            other in "[a-c]{1,6}",
        ) {
            let numbered: Vec<(&[u8], u32)> = keys.iter().map(String::as_bytes).zip(5..).collect();
            let units = build(&numbered);
            for (key, value) in numbered {
                let at = leaf(&units, key).expect("every key has a value");
                prop_assert_eq!(units[at], value | LEAF);
            }
            prop_assert_eq!(leaf(&units, other.as_bytes()).is_some(), keys.contains(&other));
            let is_beginning = |text: &str| keys.iter().any(|key| key.starts_with(text));
            prop_assert_eq!(node(&units, other.as_bytes()).is_some(), is_beginning(&other));
        }
    }

    #[test]
    fn more_nodes_than_the_open_blocks_have_are_found() {
        let keys: BTreeSet<String> = (0..20_000).map(|number| format!("{:x}", number * 7919)).collect();
        let numbered: Vec<(&[u8], u32)> = keys.iter().map(String::as_bytes).zip(0..).collect();
        let units = build(&numbered);
        assert_eq!(units.len() % BLOCK, 0);
        for (key, value) in numbered {
            assert_eq!(leaf(&units, key).map(|at| units[at]), Some(value | LEAF));
        }
    }
}
