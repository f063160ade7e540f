//! The cache: from the bytes of a chunk to its tokens.
//!
//! Chunks of up to 15 bytes, nearly all, are keyed by their bytes in one 128-bit integer and answered from a 32-byte slot;
//! longer ones are hashed and compared. A lookup has two halves: [`ChunkCache::prefetch`] asks memory for the slot, and
//! [`ChunkCache::resolve`] reads the slot some chunks later, or asks the caller for the tokens on a miss. The cache is
//! bounded in bytes: a full cache is emptied, which costs less than keeping track of age.

use std::ops::Range;

use super::chunk_tokens::{CachedTokens, ChunkTokens};
use super::inline_ids::{InlineIds, Packing};
use super::key::{SHORT, hash_key, hash_long, key};
use super::long_keys::{LongKeys, PROBES};
use super::lookup::{CONTEXT, CONTEXT_BIT, LONG, Lookup};
use crate::Result;
use crate::scan::spaces::{begins_non_ascii, is_continuation};
use crate::structures::huge_pages::{vec_copied, vec_filled};
use crate::structures::prefetch::prefetch;

/// Longer chunks are not cached: they rarely repeat, and a few would let an attacker evict everything.
const LONGEST: usize = 1024;

const FIRST_CAPACITY: usize = 1 << 12;

/// A cache with room for fewer slots keeps nothing.
const LEAST_CAPACITY: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Slot {
    /// 0 when empty.
    key: u128,
    value: InlineIds,
}

/// A bounded map from chunks to tokens. One thread uses it at a time.
#[derive(Debug)]
pub struct ChunkCache {
    slots: Vec<Slot>,
    /// Entries to begin with.
    first_capacity: usize,
    used: usize,
    long: LongKeys<InlineIds>,
    /// Tokens that no slot has room for. A record is the number of ids, with the top bit set if spans follow, then ids, then
    /// spans.
    arena: Vec<u32>,
    limits: CacheLimits,
    packing: Packing,
    /// Tokens of the last miss, or those of the last slot, unpacked.
    miss_buffer: ChunkTokens,
}

/// Bounds of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheLimits {
    /// Bytes that the cache of one thread takes at most, about; a few KiB or 0 turn the cache off.
    pub bytes: usize,
    /// All ids are below this.
    pub id_bound: usize,
}

const HAS_SPANS: u32 = 1 << 31;

impl ChunkCache {
    /// An empty cache.
    pub fn new(limits: CacheLimits) -> Self {
        Self::with_room(limits, 0)
    }

    /// An empty cache whose first table has room for `chunks` chunks, or for as many as go into a quarter of the limit.
    pub fn with_room(mut limits: CacheLimits, chunks: usize) -> Self {
        let most = limits.bytes / 4 / size_of::<Slot>();
        if most < LEAST_CAPACITY {
            limits.bytes = 0;
        }
        Self {
            slots: Vec::new(),
            first_capacity: (3 * chunks)
                .max(FIRST_CAPACITY)
                .next_power_of_two()
                .min(1 << most.max(1).ilog2()),
            used: 0,
            long: LongKeys::default(),
            arena: Vec::new(),
            limits,
            packing: Packing::for_ids(limits.id_bound),
            miss_buffer: ChunkTokens::default(),
        }
    }

    /// Stores a chunk of 1 to [`SHORT`] bytes that is one token; false if there is no room for the chunk or the id.
    pub fn preload(&mut self, chunk: &[u8], id: u32) -> bool {
        if self.slots.is_empty() && self.first_capacity * size_of::<Slot>() <= self.limits.bytes {
            self.slots = vec_filled(Slot::default(), self.first_capacity);
        }
        let Some(value) = self.packing.pack(&[id]).filter(|_| 2 * self.used < self.slots.len()) else {
            return false;
        };
        self.put(Slot { key: key(chunk, 0, chunk.len()), value });
        true
    }

    /// A cache with the same contents.
    #[must_use]
    pub fn copy(&self) -> Self {
        let (slots, miss_buffer) = (vec_copied(&self.slots), ChunkTokens::default());
        Self { slots, long: self.long.clone(), arena: self.arena.clone(), miss_buffer, ..*self }
    }

    /// Bytes that the cache takes now.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>() + self.long.bytes() + self.arena.len() * 4
    }

    /// Starts the lookup of the chunk `start..end`: asks memory for its slot and does not wait.
    ///
    /// `text` has less than 2 GiB, and the chunk is not empty. A chunk `in_context` has a slot of its own, apart from a whole
    /// chunk with the same bytes.
    #[inline]
    pub fn prefetch(&self, text: &[u8], start: usize, end: usize, word_id: u32, in_context: bool) -> Lookup {
        let context = if in_context { CONTEXT } else { 0 };
        if end - start <= SHORT {
            return self.prefetch_short(text, start, end, word_id, context);
        }
        let hash = hash_long(&text[start..end]);
        self.long.prefetch(hash);
        Lookup { key: context | u128::from(hash), hash: LONG, start: start as u32, end: end as u32, word_id }
    }

    /// Starts the lookups of chunks whose bounds count from `base`; returns how many, at most as many as `out` holds.
    ///
    /// Stops at a chunk of more than [`SHORT`] bytes. The first chunk has word id `word_id`, each next one `step` more. With
    /// `FRAGMENTS`, stops also at a chunk that begins beyond ASCII, and a fragment that continues a word is in context.
    // Not inlined: only as arguments of a function are these known not to overlap, and loads stay out of the loop.
    #[inline(never)]
    pub fn prefetch_many<const FRAGMENTS: bool>(
        &self,
        text: &[u8],
        base: usize,
        (starts, ends): (&[u32], &[u32]),
        (word_id, step): (u32, u32),
        out: &mut [Lookup],
    ) -> usize {
        let mut taken = 0;
        for ((lookup, &start), &end) in out.iter_mut().zip(starts).zip(ends) {
            let (len, start, end) = (end - start, base + start as usize, base + end as usize);
            if len > SHORT as u32 || FRAGMENTS && begins_non_ascii(text, start) {
                break;
            }
            let context =
                if FRAGMENTS { u128::from(is_continuation(text, base, start)) << CONTEXT_BIT } else { 0 };
            *lookup = self.prefetch_short(text, start, end, word_id.wrapping_add(taken * step), context);
            taken += 1;
        }
        taken as usize
    }

    #[inline]
    fn prefetch_short(&self, text: &[u8], start: usize, end: usize, word_id: u32, context: u128) -> Lookup {
        let key = key(text, start, end) | context;
        let hash = hash_key(key) as u32;
        prefetch(&self.slots, hash as usize & self.slots.len().wrapping_sub(1));
        Lookup { key, hash, start: start as u32, end: end as u32, word_id }
    }

    /// The ids of a chunk and their number, if the chunk is in its slot with all its ids; with `with_spans`, only if each token
    /// covers its own length.
    #[inline]
    pub fn get_inline(&self, lookup: Lookup, with_spans: bool) -> Option<(&InlineIds, usize)> {
        if lookup.is_long() {
            return None;
        }
        let Lookup { key, hash, .. } = lookup;
        let value = &self.find_short(key, hash)?.value;
        Some((value, value.count(with_spans)?))
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
    /// Those of `miss`; then the cache keeps nothing.
    #[inline]
    pub fn resolve(
        &mut self,
        lookup: Lookup,
        text: &[u8],
        miss: impl FnOnce(Range<usize>, &mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        let Lookup { key, hash, .. } = lookup;
        let range = lookup.start as usize..lookup.end as usize;
        let miss = |out: &mut _| miss(range.clone(), out);
        if lookup.is_long() {
            return self.resolve_long(key as u64, &text[range.clone()], lookup.in_context(), miss);
        }
        match self.find_short(key, hash) {
            Some(&Slot { value, .. }) => Ok(self.stored(value)),
            None => self.insert_short(key, miss),
        }
    }

    #[inline]
    fn find_short(&self, key: u128, hash: u32) -> Option<&Slot> {
        let home = hash as usize & self.slots.len().wrapping_sub(1);
        match self.slots.get(home) {
            Some(slot) if slot.key == key => Some(slot),
            Some(slot) if slot.key != 0 => self.find_neighbour(key, home),
            _ => None,
        }
    }

    #[inline(never)]
    fn find_neighbour(&self, key: u128, home: usize) -> Option<&Slot> {
        let mask = self.slots.len() - 1;
        let neighbours = (1..PROBES).map(|probe| &self.slots[(home + probe) & mask]);
        neighbours.take_while(|slot| slot.key != 0).find(|slot| slot.key == key)
    }

    #[inline]
    fn stored(&mut self, value: InlineIds) -> CachedTokens<'_> {
        if let Some(count) = value.count(true) {
            self.miss_buffer.clear();
            self.miss_buffer.ids.extend(self.packing.unpack(&value).iter().take(count));
            return self.miss_buffer.as_cached();
        }
        let record = value.arena_index();
        let head = self.arena[record];
        let (ids, end) = (record + 1, record + 1 + (head & !HAS_SPANS) as usize);
        let spans = (head & HAS_SPANS != 0).then(|| &self.arena[end..end + 2 * (end - ids)]);
        CachedTokens { ids: &self.arena[ids..end], spans }
    }

    #[cold]
    #[inline(never)]
    fn insert_short(
        &mut self,
        key: u128,
        miss: impl FnOnce(&mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        self.encode_miss(miss)?;
        if self.limits.bytes > 0 {
            self.make_room();
            let value = self.store_miss();
            self.put(Slot { key, value });
        }
        Ok(self.miss_buffer.as_cached())
    }

    #[inline(never)]
    fn resolve_long(
        &mut self,
        hash: u64,
        chunk: &[u8],
        in_context: bool,
        miss: impl FnOnce(&mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        if chunk.len() > LONGEST || self.limits.bytes == 0 {
            self.encode_miss(miss)?;
            return Ok(self.miss_buffer.as_cached());
        }
        if let Some(&value) = self.long.get(hash, chunk, in_context) {
            return Ok(self.stored(value));
        }
        self.encode_miss(miss)?;
        self.make_room();
        if !self.has_room_for(chunk) {
            self.reset();
        }
        if self.has_room_for(chunk) {
            let value = self.store_miss();
            self.long.insert(hash, chunk, in_context, value);
        }
        Ok(self.miss_buffer.as_cached())
    }

    fn encode_miss(&mut self, miss: impl FnOnce(&mut ChunkTokens) -> Result<()>) -> Result<()> {
        self.miss_buffer.clear();
        miss(&mut self.miss_buffer)
    }

    fn store_miss(&mut self) -> InlineIds {
        let ChunkTokens { ids, spans, is_regular } = &self.miss_buffer;
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

    /// Puts a slot where its key is; else into an empty slot of its probe window; else at its home, whose chunk is evicted.
    fn put(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let home = hash_key(slot.key) as usize & mask;
        let may_hold = |&at: &usize| self.slots[at].key == 0 || self.slots[at].key == slot.key;
        let at = (0..PROBES).map(|probe| (home + probe) & mask).find(may_hold).unwrap_or(home);
        self.used += usize::from(self.slots[at].key == 0);
        self.slots[at] = slot;
    }
}

mod limits;
#[cfg(test)]
mod tests;
