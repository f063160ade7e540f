//! The cache: from the bytes of a chunk to its tokens.
//!
//! *Short* chunks, of up to 15 bytes, are keyed by their bytes in one 128-bit integer and answered from a slot of 32 bytes.
//! *Medium* chunks, of up to 31 bytes, have a key of two such integers and a slot of 64 bytes. *Long* chunks are hashed and
//! compared. A lookup has two halves: [`ChunkCache::prefetch`] asks memory for the slot, and [`ChunkCache::resolve`] reads the slot
//! some chunks later, or asks the caller for the tokens on a miss.

use std::ops::Range;

use super::chunk_tokens::{CachedTokens, ChunkTokens};
use super::first_sights::FirstSights;
use super::inline_ids::{InlineIds, MEDIUM_ITEMS, Packing, SHORT_ITEMS};
use super::key::{MEDIUM, MediumKey, SHORT, hash_key, hash_long, hash_medium, is_cut, key, medium_key};
use super::long_keys::LongKeys;
use super::lookup::{ChunkKind, KIND, LONG, Lookup, MEDIUM_TAG};
use super::slots::{SlotKey, Slots};
use crate::Result;
use crate::scan::spaces::{begins_non_ascii, is_continuation};

pub use limits::CacheLimits;

/// Longer chunks are not cached: they rarely repeat, and a few would let an attacker evict everything.
pub const LONGEST: usize = 1024;

const FIRST_CAPACITY: usize = 1 << 12;

/// One batch out of this many marks its chunks as read: a chunk that is read often is marked soon enough.
const BATCHES_MARKED: u32 = 4;

/// A table with room for fewer slots keeps nothing.
const LEAST_CAPACITY: usize = 16;

#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct HalfLine;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Line;

impl SlotKey for u128 {
    type Aligned = HalfLine;

    const LOAD: (usize, usize) = (1, 2);

    fn hash(self) -> u32 {
        hash_key(self) as u32
    }
}

impl SlotKey for MediumKey {
    type Aligned = Line;

    // Memory for a larger table costs more than an extra probe now and then.
    const LOAD: (usize, usize) = (2, 3);

    fn hash(self) -> u32 {
        let [low, high] = self;
        hash_medium([low, high & !KIND]) as u32
    }
}

/// A bounded map from chunks to tokens. One thread uses it at a time.
#[derive(Debug)]
pub struct ChunkCache {
    short: Slots<u128, SHORT_ITEMS>,
    medium: Slots<MediumKey, MEDIUM_ITEMS>,
    long: LongKeys<InlineIds<SHORT_ITEMS>>,
    /// Tokens that no slot has room for. A record is the number of ids, with the top bit set if spans follow, then ids, then
    /// spans.
    arena: Vec<u32>,
    first_sights: FirstSights,
    /// Number of batches; chunks are marked as read in every fourth one.
    batches: u32,
    limits: CacheLimits,
    packing: Packing,
    /// Tokens of the last miss, or of the last slot, unpacked.
    miss_buffer: ChunkTokens,
    /// A chunk was missed: the buffers that encoded it may have grown.
    has_missed: bool,
}

const HAS_SPANS: u32 = 1 << 31;

/// The key of the medium chunk of a lookup in `text`, with its kind.
#[inline]
fn own_medium_key(lookup: &Lookup, text: &[u8]) -> MediumKey {
    let [low, high] = medium_key(text, lookup.start as usize, lookup.end as usize);
    [low, high | lookup.key & KIND]
}

impl ChunkCache {
    /// An empty cache.
    pub fn new(limits: CacheLimits) -> Self {
        Self::with_room(limits, 0)
    }

    /// An empty cache whose first table has room for `chunks` chunks, or for as many as the limit allows.
    pub fn with_room(mut limits: CacheLimits, chunks: usize) -> Self {
        if limits.bytes / 8 / size_of::<MediumKey>() < LEAST_CAPACITY {
            limits.bytes = 0;
        }
        let packing = Packing::for_ids(limits.id_bound);
        Self {
            short: Slots::new(limits.bytes / limits::SHORT_SHARE, (3 * chunks).max(FIRST_CAPACITY)),
            medium: Slots::new(limits.bytes / limits::MEDIUM_SHARE, FIRST_CAPACITY),
            long: LongKeys::default(),
            arena: Vec::new(),
            first_sights: FirstSights::default(),
            batches: 0,
            limits,
            packing,
            miss_buffer: ChunkTokens::default(),
            has_missed: false,
        }
    }

    /// Stores a chunk of 1 to [`SHORT`] bytes that is one token; false if the chunk is longer, if the table would have to grow, or
    /// if there is no room for the id.
    pub fn preload(&mut self, chunk: &[u8], id: u32) -> bool {
        let lookup = self.prefetch(chunk, 0, chunk.len(), 0, ChunkKind::Chunk);
        let ids = self.packing.pack(&[id]).filter(|_| lookup.is_short() && self.limits.bytes > 0);
        ids.is_some_and(|ids| self.short.put_if_room(lookup.key, ids))
    }

    /// A cache with the same contents.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self {
            short: self.short.copy(),
            medium: self.medium.copy(),
            long: self.long.clone(),
            arena: self.arena.clone(),
            first_sights: FirstSights::default(),
            miss_buffer: ChunkTokens::default(),
            ..*self
        }
    }

    /// Starts the lookup of the chunk `start..end`: asks memory for its slot and does not wait.
    ///
    /// `text` has less than 2 GiB, and the chunk is not empty. Chunks of each kind have slots
    /// of their own.
    #[inline]
    pub fn prefetch(&self, text: &[u8], start: usize, end: usize, word_id: u32, kind: ChunkKind) -> Lookup {
        let kind = kind.bits();
        let len = end - start;
        if len <= SHORT {
            return self.prefetch_short(text, start, end, word_id, kind);
        }
        if len <= MEDIUM {
            return self.prefetch_medium(text, start, end, word_id, kind);
        }
        let hash = hash_long(&text[start..end]);
        self.long.prefetch(hash);
        let key = kind | u128::from(hash);
        Lookup { key, hash: LONG, start: start as u32, end: end as u32, word_id }
    }

    /// Starts the lookups of chunks whose bounds count from `base`; returns how many, at most as many as `out` holds.
    ///
    /// Stops at a chunk that is better cut ([`is_cut`]). The chunks are of `kind`. The first one has word id `word_id`, each next one
    /// `step` more. With `FRAGMENTS`, stops also at a chunk of more than [`SHORT`] bytes or one that begins beyond ASCII, and a
    /// fragment that continues a word is in context.
    // Not inlined: only as arguments of a function are these known not to overlap, and loads stay out of the loop.
    #[inline(never)]
    pub fn prefetch_many<const FRAGMENTS: bool>(
        &self,
        text: &[u8],
        base: usize,
        (starts, ends): (&[u32], &[u32]),
        (word_id, step): (u32, u32),
        kind: ChunkKind,
        out: &mut [Lookup],
    ) -> usize {
        let (mut taken, kind) = (0, kind.bits());
        for ((lookup, &start), &end) in out.iter_mut().zip(starts).zip(ends) {
            let (len, start, end) = ((end - start) as usize, base + start as usize, base + end as usize);
            let word_id = word_id.wrapping_add(taken * step);
            if len > SHORT {
                if FRAGMENTS || is_cut(text, start..end) {
                    break;
                }
                *lookup = self.prefetch_medium(text, start, end, word_id, kind);
            } else {
                if FRAGMENTS && begins_non_ascii(text, start) {
                    break;
                }
                let in_context = FRAGMENTS && is_continuation(text, base, start);
                let kind = if in_context { ChunkKind::Fragment.bits() } else { kind };
                *lookup = self.prefetch_short(text, start, end, word_id, kind);
            }
            taken += 1;
        }
        taken as usize
    }

    #[inline]
    fn prefetch_short(&self, text: &[u8], start: usize, end: usize, word_id: u32, kind: u128) -> Lookup {
        let key = key(text, start, end) | kind;
        let hash = key.hash();
        self.short.prefetch(hash);
        Lookup { key, hash, start: start as u32, end: end as u32, word_id }
    }

    #[inline(never)]
    fn prefetch_medium(&self, text: &[u8], start: usize, end: usize, word_id: u32, kind: u128) -> Lookup {
        let hash = hash_medium(medium_key(text, start, end));
        self.medium.prefetch(hash as u32);
        let key = kind | u128::from(hash);
        Lookup { key, hash: MEDIUM_TAG, start: start as u32, end: end as u32, word_id }
    }

    /// The slot of a short chunk; its ids may be in the arena, or stale.
    #[inline]
    pub fn get_short(&self, lookup: &Lookup) -> Option<&InlineIds<SHORT_ITEMS>> {
        if lookup.is_short() { self.short.get(lookup.key, lookup.hash) } else { None }
    }

    /// The slot of a medium chunk of `text`, as [`Self::get_short`].
    #[inline]
    pub fn get_medium(&self, lookup: &Lookup, text: &[u8]) -> Option<&InlineIds<MEDIUM_ITEMS>> {
        if lookup.is_medium() {
            self.medium.get(own_medium_key(lookup, text), lookup.key as u32)
        } else {
            None
        }
    }

    /// The ids of a slot that has them in the arena, or has more ids than usual; none if the ids are stale, or if the chunk is
    /// context-dependent.
    #[inline]
    pub fn unusual_ids<'a, const N: usize>(
        &'a self,
        slot: &InlineIds<N>,
        unpacked: &'a mut [u32; N],
    ) -> Option<&'a [u32]> {
        if let Some(count) = slot.dense_count() {
            *unpacked = self.packing.unpack(slot);
            return Some(&unpacked[..count]);
        }
        let record = slot.arena_index()? as usize;
        let count = (self.arena[record] & !HAS_SPANS) as usize;
        Some(&self.arena[record + 1..][..count]).filter(|ids| !ids.is_empty())
    }

    /// Marks chunks of `text` as read, so that they are not evicted: once a table has its largest size, and in one batch out of
    /// four.
    // Batches of all texts count together, since a short text has one or two.
    #[inline]
    pub fn note_batch(&mut self, lookups: &[Lookup], text: &[u8]) {
        if self.short.tracks_use || self.medium.tracks_use {
            self.batches = self.batches.wrapping_add(1);
            if self.batches.is_multiple_of(BATCHES_MARKED) {
                self.mark_used(lookups, text);
            }
        }
    }

    #[inline(never)]
    fn mark_used(&mut self, lookups: &[Lookup], text: &[u8]) {
        for lookup in lookups {
            if lookup.is_short() {
                self.short.mark_used(lookup.key, lookup.hash);
            } else if lookup.is_medium() {
                self.medium.mark_used(own_medium_key(lookup, text), lookup.key as u32);
            }
        }
    }

    /// How ids lie in slots.
    #[inline]
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The tokens of a chunk of the same `text` whose lookup is in flight; on a miss, `miss` encodes the chunk at its place in
    /// the text, and the cache keeps the tokens.
    ///
    /// # Errors
    /// The errors of `miss`; then the cache keeps nothing.
    #[inline]
    pub fn resolve(
        &mut self,
        lookup: Lookup,
        text: &[u8],
        miss: impl FnOnce(Range<usize>, &mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        if lookup.is_short() {
            if let Some(&ids) = self.get_short(&lookup).filter(|ids| !ids.is_stale()) {
                return Ok(self.stored(ids));
            }
        } else if lookup.is_medium() {
            if let Some(&ids) = self.get_medium(&lookup, text).filter(|ids| !ids.is_stale()) {
                return Ok(self.stored(ids));
            }
        } else {
            let chunk = &text[lookup.start as usize..lookup.end as usize];
            if let Some(&ids) = self.long.get(lookup.key as u64, chunk, lookup.kind()) {
                return Ok(self.stored(ids));
            }
        }
        self.insert(lookup, text, miss)
    }

    /// True if the tokens of a chunk of `text` are known.
    pub fn contains(&self, lookup: &Lookup, text: &[u8]) -> bool {
        if lookup.is_short() {
            return self.get_short(lookup).is_some_and(|ids| !ids.is_stale());
        }
        if lookup.is_medium() {
            return self.get_medium(lookup, text).is_some_and(|ids| !ids.is_stale());
        }
        let chunk = &text[lookup.start as usize..lookup.end as usize];
        self.long.get(lookup.key as u64, chunk, lookup.kind()).is_some()
    }

    #[inline]
    fn stored<const N: usize>(&mut self, ids: InlineIds<N>) -> CachedTokens<'_> {
        if let Some(count) = ids.count(true).or_else(|| ids.dense_count()) {
            self.miss_buffer.clear();
            self.miss_buffer.ids.extend(self.packing.unpack(&ids).iter().take(count));
            return self.miss_buffer.as_cached();
        }
        self.record(ids.arena_index().unwrap_or_default() as usize)
    }

    #[cold]
    #[inline(never)]
    fn insert(
        &mut self,
        lookup: Lookup,
        text: &[u8],
        miss: impl FnOnce(Range<usize>, &mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        let range = lookup.start as usize..lookup.end as usize;
        self.has_missed = true;
        self.miss_buffer.clear();
        miss(range.clone(), &mut self.miss_buffer)?;
        self.keep_miss(lookup, text);
        Ok(self.miss_buffer.as_cached())
    }

    /// Keeps `tokens` as the tokens of a chunk of `text` that was missed.
    pub fn keep(&mut self, lookup: Lookup, text: &[u8], tokens: CachedTokens<'_>) {
        self.has_missed = true;
        self.miss_buffer.clear();
        self.miss_buffer.ids.extend_from_slice(tokens.ids);
        self.miss_buffer.spans.extend_from_slice(tokens.spans.unwrap_or_default());
        self.miss_buffer.is_regular = tokens.spans.is_none();
        self.keep_miss(lookup, text);
    }

    fn keep_miss(&mut self, lookup: Lookup, text: &[u8]) {
        let chunk = &text[lookup.start as usize..lookup.end as usize];
        if self.limits.bytes == 0 || !self.make_room(&lookup, chunk) {
            return;
        }
        if lookup.is_short() {
            let ids = self.store_miss();
            self.short.put(lookup.key, ids);
        } else if lookup.is_medium() {
            let ids = self.store_miss();
            self.medium.put(own_medium_key(&lookup, text), ids);
        } else {
            let ids = self.store_miss();
            self.long.insert(lookup.key as u64, chunk, lookup.kind(), ids);
        }
    }

    fn store_miss<const N: usize>(&mut self) -> InlineIds<N> {
        let ChunkTokens { ids, spans, is_regular, .. } = &self.miss_buffer;
        if *is_regular && let Some(inline) = self.packing.pack(ids) {
            return inline;
        }
        let record = self.arena.len() as u32;
        let flag = if *is_regular { 0 } else { HAS_SPANS };
        self.arena.push(ids.len() as u32 | flag);
        self.arena.extend_from_slice(ids);
        if !is_regular {
            self.arena.extend_from_slice(spans);
        }
        // A record with spans and no id marks a context-dependent chunk.
        if *is_regular || ids.is_empty() {
            return InlineIds::in_arena(record);
        }
        self.packing.pack_with_spans(ids, record)
    }
}

mod limits;
mod reading;
#[cfg(test)]
mod tests;
