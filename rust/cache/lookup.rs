//! A chunk whose slot is being fetched from memory.

use std::ops::Range;

/// The kind of a chunk. Two chunks of one kind have the same tokens if they have the same bytes; two of different kinds may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// A chunk as a plan cuts it from a text, or the first part of one.
    #[default]
    Chunk,
    /// A pre-token, where chunks may have several of them or are rewritten first.
    PreToken,
    /// A part of a pre-token that stands in context.
    Fragment,
    /// A whole chunk of original text, for plans whose `Chunk` is a part of a chunk or is normalized text.
    Whole,
    /// A part of a pre-token, encoded by early merges alone.
    Early,
    /// A chunk of which each pre-token is encoded by early merges alone.
    EarlyChunk,
}

impl ChunkKind {
    /// A fragment in context, or any other chunk.
    #[inline]
    pub fn in_context(in_context: bool) -> Self {
        if in_context { Self::Fragment } else { Self::Chunk }
    }

    /// A fragment in context, or a whole pre-token beside chunks that may have several.
    #[inline]
    pub fn of_pre_token(in_context: bool) -> Self {
        if in_context { Self::Fragment } else { Self::PreToken }
    }

    /// The bits of a key that tell its kind.
    #[inline]
    pub(super) fn bits(self) -> u128 {
        (self as u128) << KIND_BIT
    }
}

/// The bits of a key that tell its kind.
pub(super) const KIND: u128 = 7 << KIND_BIT;

/// Number of the first of these bits.
const KIND_BIT: u32 = 125;

/// A run of tokens whose ids the caller holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRun {
    /// Indices of the ids.
    pub ids: Range<usize>,
    /// The bytes of the run in its text.
    pub bytes: Range<usize>,
    /// Characters that unknown tokens of the run stand for.
    pub unknown: u32,
}

impl ResolvedRun {
    /// The key of a lookup: the bytes and the unknown characters.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.unknown) << 64 | (self.bytes.end as u128) << 32 | self.bytes.start as u128
    }
}

/// In place of a hash: the chunk is longer than a key.
pub(super) const LONG: u32 = 0;

/// In place of a hash: there is nothing to look up, since the caller has the ids.
const RESOLVED: u32 = 1;

/// In place of a hash: the chunk has a medium key, which its bytes give again.
pub(super) const MEDIUM_TAG: u32 = 2;

/// In place of a hash: the chunk is not looked up.
const UNCACHED: u32 = 3;

/// A lookup in flight: made by [`ChunkCache::prefetch`](super::ChunkCache::prefetch), answered some chunks later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// The key of a short chunk; the hash of any other, with no length in the top byte.
    pub(super) key: u128,
    /// Low bits of the hash of the key of a short chunk; [`LONG`], [`RESOLVED`], [`MEDIUM_TAG`] or [`UNCACHED`] for
    /// any other.
    pub(super) hash: u32,
    /// First byte of the chunk in its text; if resolved, index of the first id.
    pub start: u32,
    /// End of the chunk in its text, or of the ids.
    pub end: u32,
    /// Word id of the chunk.
    pub word_id: u32,
}

impl Lookup {
    /// A lookup that is answered already: the caller holds the ids of the run.
    pub fn resolved(run: &ResolvedRun, word_id: u32) -> Self {
        let (start, end) = (run.ids.start as u32, run.ids.end as u32);
        Self { key: run.key(), hash: RESOLVED, start, end, word_id }
    }

    /// A chunk that the cache is not asked for.
    pub fn uncached(chunk: Range<usize>, word_id: u32) -> Self {
        Self { key: 0, hash: UNCACHED, start: chunk.start as u32, end: chunk.end as u32, word_id }
    }

    /// True if the cache is not asked for the chunk.
    #[inline]
    pub fn is_uncached(&self) -> bool {
        !self.is_short() && self.hash == UNCACHED
    }

    /// Appends `run` to a resolved lookup whose ids end where the run's begin; false, and no change, for any other lookup.
    #[inline]
    pub fn extend_resolved(&mut self, run: &ResolvedRun) -> bool {
        let last = self.resolved_run().filter(|last| last.ids.end == run.ids.start);
        let Some(ResolvedRun { bytes, unknown, .. }) = last else { return false };
        let joined =
            ResolvedRun { ids: 0..0, bytes: bytes.start..run.bytes.end, unknown: unknown + run.unknown };
        (self.key, self.end) = (joined.key(), run.ids.end as u32);
        true
    }

    /// The bytes of the chunk in its text, unless the lookup is resolved.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The run, if the lookup is resolved.
    #[inline]
    pub fn resolved_run(self) -> Option<ResolvedRun> {
        let [start, end, unknown] = [self.key, self.key >> 32, self.key >> 64].map(|part| part as u32);
        let bytes = start as usize..end as usize;
        self.is_resolved().then(|| ResolvedRun { ids: self.range(), bytes, unknown })
    }

    /// True if the caller holds the ids.
    #[inline]
    pub fn is_resolved(&self) -> bool {
        !self.is_short() && self.hash == RESOLVED
    }

    /// True if the chunk has a short key.
    #[inline]
    pub fn is_short(&self) -> bool {
        (self.key & !KIND) >> 120 != 0
    }

    /// The bytes and the kind of a chunk with a short key; no two such chunks have the same.
    #[inline]
    pub fn short_key(&self) -> u128 {
        self.key
    }

    /// Low bits of the hash of the key of a short chunk.
    #[inline]
    pub fn short_hash(&self) -> u32 {
        self.hash
    }

    /// True if the chunk has a medium key.
    #[inline]
    pub fn is_medium(&self) -> bool {
        !self.is_short() && self.hash == MEDIUM_TAG
    }

    /// The kind of the chunk.
    #[inline]
    pub fn kind(self) -> ChunkKind {
        match self.key >> KIND_BIT {
            0 => ChunkKind::Chunk,
            1 => ChunkKind::PreToken,
            2 => ChunkKind::Fragment,
            3 => ChunkKind::Whole,
            4 => ChunkKind::Early,
            _ => ChunkKind::EarlyChunk,
        }
    }

    /// True if the chunk stands in context.
    pub fn in_context(self) -> bool {
        self.kind() == ChunkKind::Fragment
    }
}
