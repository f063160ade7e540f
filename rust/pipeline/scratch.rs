//! The memory of one thread: its cache, and buffers that it reuses from miss to miss.

use std::ops::Range;

use super::cluster_memo::ClusterMemo;
use super::cut_memo::CutMemo;
use super::rewrite_memo::RewriteMemo;
use crate::cache::{self, ChunkTokens, Lookup};
use crate::models::{Scratch, Tokens};
use crate::normalizers::PieceMemo;
use crate::structures::reused::reused;

/// A cache with the memory that its misses reuse; one thread uses it at a time.
pub type Worker = cache::Worker<MissScratch>;

/// Idle workers of one pipeline.
pub(super) type Pool = cache::Pool<MissScratch>;

/// Memory that one thread reuses from miss to miss.
#[derive(Debug, Default)]
pub struct MissScratch {
    pub(super) model: Scratch,
    pub(super) tokens: Tokens,
    /// Mapped bytes.
    pub mapped: String,
    /// A normalized chunk, its pre-tokens, and their lookups.
    pub normalized: String,
    pub spans: Vec<Range<usize>>,
    pub lookups: Vec<Lookup>,
    /// Ids of the fragments of a chunk.
    pub fragment_ids: Vec<u32>,
    /// Tokens of a chunk that has several pre-tokens.
    pub chunk_tokens: ChunkTokens,
    /// Tokens of a part of a pre-token that is encoded in two steps.
    pub part: ChunkTokens,
    /// Cuts between chunks that late merges may cross.
    pub cuts: CutMemo,
    /// Rewritten clusters, and the last rewritten chunk, which the model encodes.
    pub rewrite_memo: RewriteMemo,
    /// Break classes of grapheme clusters.
    pub cluster_memo: ClusterMemo,
    /// Rewrites of pieces by a compiled normalizer.
    pub piece_memo: PieceMemo,
}

reused!(MissScratch: model, tokens, mapped, normalized, spans, lookups, fragment_ids, chunk_tokens, part, cuts, rewrite_memo, cluster_memo, piece_memo);

impl MissScratch {
    /// Seeds the random choices that follow.
    pub fn seed(&mut self, seed: u64) {
        self.model.seed(seed);
    }

    /// True if the fragment encoded last may have other tokens after another beginning of its word.
    pub fn is_context_dependent(&self) -> bool {
        self.model.is_context_dependent()
    }
}
