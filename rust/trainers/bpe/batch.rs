//! The pairs that are merged together, and the pairs that are never merged.

use std::collections::HashSet;

use super::apply_merges::Replacement;
use super::pairs::Pair;

/// Pairs that are merged together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) indices: Vec<u32>,
    pub(super) pairs: Vec<Pair>,
    pub(super) replacements: Vec<Replacement>,
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn clear(&mut self) {
        self.indices.clear();
        self.pairs.clear();
        self.replacements.clear();
    }
}

/// The tokens of pairs that were refused under the present threshold, by their sides in the pairs.
///
/// A refused pair leaves the queue with its count. A merge of a pair beside it may make a pair that is as frequent, and so more frequent than
/// pairs that wait.
#[derive(Debug, Default)]
pub(super) struct Refused {
    lefts: HashSet<u32>,
    rights: HashSet<u32>,
}

impl Refused {
    pub(super) fn insert(&mut self, pair: Pair) {
        self.lefts.insert(pair.left);
        self.rights.insert(pair.right);
    }

    /// True if a refused pair ends where `pair` begins, or begins where it ends.
    pub(super) fn touch(&self, pair: Pair) -> bool {
        self.rights.contains(&pair.left) || self.lefts.contains(&pair.right)
    }
}
