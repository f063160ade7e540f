//! A memo of the best paths of fragments.

use hashbrown::HashTable;

use super::Edge;
use super::path_nodes::Margin;
use crate::structures::reused::{Bounds, Reused};

/// Size limit of the memo of one thread, in bytes; a memo beyond it is emptied.
const LIMIT: usize = 16 << 20;

/// An entry of the memo: a fragment, its best path and the margin of the search. Texts and edges are ranges of the arenas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    hash: u64,
    text: (u32, u32),
    pub(super) edges: (u32, u32),
    pub(super) margin: Margin,
}

/// Memo of the best paths of fragments; each thread has its own.
#[derive(Debug, Default)]
pub(super) struct FragmentMemo {
    table: HashTable<Fragment>,
    text: Vec<u8>,
    /// Arena of the paths: edges from left to right, each with the score that it adds.
    pub(super) edges: Vec<(Edge, f64)>,
}

impl Reused for FragmentMemo {
    fn bytes(&self) -> usize {
        self.text.bytes() + self.edges.bytes() + self.table.capacity() * size_of::<Fragment>()
    }

    fn trim(&mut self, bounds: Bounds) {
        if self.bytes() > bounds.memo {
            *self = Self::default();
        }
    }
}

impl FragmentMemo {
    pub(super) fn get(&self, hash: u64, text: &[u8]) -> Option<Fragment> {
        let is_same = |fragment: &Fragment| {
            fragment.hash == hash && self.text[fragment.text.0 as usize..fragment.text.1 as usize] == *text
        };
        self.table.find(hash, is_same).copied()
    }

    pub(super) fn insert(
        &mut self,
        hash: u64,
        text: &[u8],
        margin: Margin,
        path: impl Iterator<Item = (Edge, f64)>,
    ) -> Fragment {
        let size = self.text.len()
            + self.edges.len() * size_of::<(Edge, f64)>()
            + self.table.capacity() * size_of::<Fragment>();
        if size > LIMIT {
            *self = Self::default();
        }
        let (text_start, edges_start) = (self.text.len() as u32, self.edges.len() as u32);
        self.text.extend_from_slice(text);
        self.edges.extend(path);
        let (text, edges) = ((text_start, self.text.len() as u32), (edges_start, self.edges.len() as u32));
        let fragment = Fragment { hash, text, edges, margin };
        self.table.insert_unique(hash, fragment, |fragment| fragment.hash);
        fragment
    }
}
