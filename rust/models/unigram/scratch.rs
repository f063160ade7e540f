//! The memory of one thread that segments text.

use super::Edge;
use super::fragment_memo::FragmentMemo;
use super::path_nodes::Node;
use crate::structures::reused::reused;

/// Buffers that one thread reuses from pre-token to pre-token.
#[derive(Debug)]
pub struct Scratch {
    pub(super) nodes: Vec<Node>,
    /// The chosen path, from right to left.
    pub(super) path: Vec<Edge>,
    pub(super) random: fastrand::Rng,
    pub(super) fragments: FragmentMemo,
    /// The path of a fragment, from right to left, on its way to the memo.
    pub(super) edges: Vec<(Edge, f64)>,
    /// The next text continues a pre-token: other text stands before it.
    pub(super) is_continuation: bool,
    /// The tokens of the last continuation may depend on the text before it.
    pub(super) depends: bool,
}

reused!(Scratch: nodes, path, fragments, edges);

impl Default for Scratch {
    fn default() -> Self {
        let random = fastrand::Rng::with_seed(0);
        let (nodes, path, fragments, edges) = (Vec::new(), Vec::new(), FragmentMemo::default(), Vec::new());
        Self { nodes, path, random, fragments, edges, is_continuation: false, depends: false }
    }
}

impl Scratch {
    /// Seeds the sampler.
    pub fn seed(&mut self, seed: u64) {
        self.random.seed(seed);
    }

    /// Marks the next texts as continuations of a pre-token if `is_continuation`: other text stands before them.
    pub fn set_in_context(&mut self, is_continuation: bool) {
        self.is_continuation = is_continuation;
        self.depends = false;
    }

    /// True if the fragment encoded last may have other tokens after other text.
    pub fn is_context_dependent(&self) -> bool {
        self.depends
    }
}
