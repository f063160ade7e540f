//! From a pre-token to its tokens: the cache in front of every model.
//!
//! Pre-tokens of up to 15 bytes, nearly all, are keyed by their bytes in one 128-bit integer and
//! answered from a 32-byte entry; longer ones are hashed and compared. The cache is bounded in
//! bytes: when it is full it starts anew, which costs less than keeping track of age.

use std::ops::Range;

use super::inline_ids::{InlineIds, Packing};
use super::key::{SHORT, hash_key, hash_long, key};
use super::long_keys::LongKeys;
use super::lookup::{CONTEXT, CONTEXT_BIT, LONG, Lookup};
use super::{CachedTokens, ChunkTokens};
use crate::Result;
use crate::scan::spaces::{begins_non_ascii, is_continuation};
use crate::structures::huge_pages::{vec_copied, vec_filled};
use crate::structures::prefetch::prefetch;

/// Longer pre-tokens are not kept: they seldom come again, and an attacker could fill the cache with few.
const LONGEST: usize = 1024;

/// A key is looked for in this many neighbouring entries, so that crafted collisions stay cheap.
const PROBES: usize = 16;

const FIRST_CAPACITY: usize = 1 << 12;

/// With room for less, nothing is kept.
const LEAST_CAPACITY: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Entry {
    /// 0 when free.
    key: u128,
    value: InlineIds,
}

/// A bounded map from pre-tokens to tokens. One thread uses it at a time.
#[derive(Debug)]
pub struct ChunkCache {
    entries: Vec<Entry>,
    /// Entries to begin with.
    first_capacity: usize,
    used: usize,
    long: LongKeys<InlineIds>,
    /// Per record: number of ids with the top bit set if spans follow, ids, spans.
    arena: Vec<u32>,
    limits: CacheLimits,
    packing: Packing,
    /// Tokens of a pre-token that was not met before, or those of an entry, unpacked.
    miss_buffer: ChunkTokens,
}

/// What caches may hold.
#[derive(Clone, Copy, Debug)]
pub struct CacheLimits {
    /// Bytes that one takes at most, about; a few KiB or 0 turn it off.
    pub bytes: usize,
    /// All ids are below.
    pub id_bound: usize,
}

const HAS_SPANS: u32 = 1 << 31;

impl ChunkCache {
    /// An empty cache.
    pub fn new(mut limits: CacheLimits) -> Self {
        let most = limits.bytes / 4 / size_of::<Entry>();
        if most < LEAST_CAPACITY {
            limits.bytes = 0;
        }
        Self {
            entries: Vec::new(),
            first_capacity: FIRST_CAPACITY.min(1 << most.max(1).ilog2()),
            used: 0,
            long: LongKeys::default(),
            arena: Vec::new(),
            limits,
            packing: Packing::for_ids(limits.id_bound),
            miss_buffer: ChunkTokens::default(),
        }
    }

    /// An empty cache that will have room for so many words from the start, or for as many as go into a quarter of its
    /// bytes.
    pub fn with_room(limits: CacheLimits, words: usize) -> Self {
        let most = limits.bytes / 4 / size_of::<Entry>();
        let capacity = (3 * words).min(most).next_power_of_two();
        let empty = Self::new(limits);
        let first_capacity = if capacity > most { capacity / 2 } else { capacity }.max(empty.first_capacity);
        Self { first_capacity, ..empty }
    }

    /// Takes in a whole pre-token of 1 to [`SHORT`] bytes that is one token; false if there is no room for it or
    /// its id.
    pub fn preload(&mut self, word: &[u8], id: u32) -> bool {
        if self.entries.is_empty() && self.first_capacity * size_of::<Entry>() <= self.limits.bytes {
            self.entries = vec_filled(Entry::default(), self.first_capacity);
        }
        let Some(value) = self.packing.pack(&[id]).filter(|_| 2 * self.used < self.entries.len()) else {
            return false;
        };
        let key = key(word, 0, word.len());
        let place = self.place_for(key);
        self.used += usize::from(self.entries[place].key == 0);
        self.entries[place] = Entry { key, value };
        true
    }

    /// A cache that knows as much.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self {
            entries: vec_copied(&self.entries),
            first_capacity: self.first_capacity,
            used: self.used,
            long: self.long.clone(),
            arena: self.arena.clone(),
            limits: self.limits,
            packing: self.packing,
            miss_buffer: ChunkTokens::default(),
        }
    }

    /// Bytes that the cache takes now.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.long.bytes() + self.arena.len() * 4
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.limits);
    }

    /// [`Self::prefetch`] and [`Self::resolve`] in one, for tests.
    #[cfg(test)]
    pub(super) fn get_or_insert_with(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        miss: impl FnOnce(Range<usize>, &mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        self.resolve(self.prefetch(text, start, end, 0, false), text, miss)
    }

    /// Starts looking a pre-token up: what comes of it some spans later need not wait for memory.
    ///
    /// `text` has less than 4 GiB. With `in_context`, what is found and kept is apart from that of whole pre-tokens.
    #[inline]
    pub fn prefetch(&self, text: &[u8], start: usize, end: usize, word: u32, in_context: bool) -> Lookup {
        let context = if in_context { CONTEXT } else { 0 };
        if end - start <= SHORT {
            return self.prefetch_short(text, start, end, word, context);
        }
        let hash = hash_long(&text[start..end]);
        self.long.prefetch(hash);
        Lookup { key: context | u128::from(hash), hash: LONG, start: start as u32, end: end as u32, word }
    }

    /// [`Self::prefetch`] for pre-tokens whose bounds count from `base` on, the first of which is number `word` and each
    /// next one number `step` more, up to one of more than [`SHORT`] bytes or as many as `out` holds; returns how many.
    /// With `UNITS`, also up to one that begins beyond ASCII; and those after anything but a blank or a control character
    /// are parts, except the first one at `base`.
    // Not inlined: only as arguments of a function are these known not to overlap, and loads stay out of the loop.
    #[inline(never)]
    pub fn prefetch_many<const UNITS: bool>(
        &self,
        text: &[u8],
        base: usize,
        (starts, ends): (&[u32], &[u32]),
        (word, step): (u32, u32),
        out: &mut [Lookup],
    ) -> usize {
        let mut taken = 0;
        for ((place, &start), &end) in out.iter_mut().zip(starts).zip(ends) {
            let (len, start, end) = (end - start, base + start as usize, base + end as usize);
            if len > SHORT as u32 || UNITS && begins_non_ascii(text, start) {
                break;
            }
            let context =
                if UNITS { u128::from(is_continuation(text, base, start)) << CONTEXT_BIT } else { 0 };
            *place = self.prefetch_short(text, start, end, word.wrapping_add(taken * step), context);
            taken += 1;
        }
        taken as usize
    }

    #[inline]
    fn prefetch_short(&self, text: &[u8], start: usize, end: usize, word: u32, context: u128) -> Lookup {
        let key = key(text, start, end) | context;
        let hash = hash_key(key) as u32;
        prefetch(&self.entries, hash as usize & self.entries.len().wrapping_sub(1));
        Lookup { key, hash, start: start as u32, end: end as u32, word }
    }

    /// The ids of a pre-token that [`Self::prefetch`] was called for, if it is known and has few tokens, as most: the ids
    /// and how many. Each of them covers its own length, if `with_spans` is asked.
    #[inline]
    pub(super) fn get_inline(&self, lookup: Lookup, with_spans: bool) -> Option<(&InlineIds, usize)> {
        if lookup.is_long() {
            return None;
        }
        let Lookup { key, hash, .. } = lookup;
        let value = &self.find_short(key, hash)?.value;
        Some((value, value.count(with_spans)?))
    }

    /// How few ids lie in entries.
    #[inline]
    pub(super) fn packing(&self) -> Packing {
        self.packing
    }

    /// The tokens of a pre-token of the same `text` that [`Self::prefetch`] was called for, asking `miss`, by its place in the
    /// text, if they are not known.
    ///
    /// # Errors
    /// Those of `miss`; nothing is kept then.
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
            return self.get_long(key as u64, &text[range.clone()], lookup.in_context(), miss);
        }
        match self.find_short(key, hash) {
            Some(&Entry { value, .. }) => Ok(self.found(value)),
            None => self.insert_short(key, miss),
        }
    }

    #[inline]
    fn find_short(&self, key: u128, hash: u32) -> Option<&Entry> {
        let home = hash as usize & self.entries.len().wrapping_sub(1);
        match self.entries.get(home) {
            Some(entry) if entry.key == key => Some(entry),
            Some(entry) if entry.key != 0 => self.find_neighbour(key, home),
            _ => None,
        }
    }

    #[inline(never)]
    fn find_neighbour(&self, key: u128, home: usize) -> Option<&Entry> {
        for probe in 1..PROBES {
            let found = &self.entries[(home + probe) & (self.entries.len() - 1)];
            if found.key == key {
                return Some(found);
            }
            if found.key == 0 {
                return None;
            }
        }
        None
    }

    #[inline]
    fn found(&mut self, value: InlineIds) -> CachedTokens<'_> {
        if let Some(count) = value.count(true) {
            self.miss_buffer.clear();
            self.miss_buffer.ids.extend(self.packing.unpack(&value).iter().take(count));
            return self.miss_buffer.found();
        }
        let place = value.place();
        let head = self.arena[place];
        let (ids, end) = (place + 1, place + 1 + (head & !HAS_SPANS) as usize);
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
        self.ask(miss)?;
        if self.limits.bytes > 0 {
            self.make_room();
            let value = self.store_miss();
            let place = self.place_for(key);
            self.used += usize::from(self.entries[place].key == 0);
            self.entries[place] = Entry { key, value };
        }
        Ok(self.miss_buffer.found())
    }

    #[inline(never)]
    fn get_long(
        &mut self,
        hash: u64,
        word: &[u8],
        in_context: bool,
        miss: impl FnOnce(&mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        if word.len() > LONGEST || self.limits.bytes == 0 {
            self.ask(miss)?;
            return Ok(self.miss_buffer.found());
        }
        if let Some(&value) = self.long.get(hash, word, in_context) {
            return Ok(self.found(value));
        }
        self.ask(miss)?;
        self.make_room();
        if !self.has_room_for(word) {
            self.forget();
        }
        if self.has_room_for(word) {
            let value = self.store_miss();
            self.long.insert(hash, word, in_context, value);
        }
        Ok(self.miss_buffer.found())
    }

    fn ask(&mut self, miss: impl FnOnce(&mut ChunkTokens) -> Result<()>) -> Result<()> {
        self.miss_buffer.clear();
        miss(&mut self.miss_buffer)
    }

    fn store_miss(&mut self) -> InlineIds {
        let ChunkTokens { ids, spans, is_regular } = &self.miss_buffer;
        if *is_regular && let Some(few) = self.packing.pack(ids) {
            return few;
        }
        let place = self.arena.len() as u32;
        let flag = if *is_regular { 0 } else { HAS_SPANS };
        self.arena.push(ids.len() as u32 | flag);
        self.arena.extend_from_slice(ids);
        if !is_regular {
            self.arena.extend_from_slice(spans);
        }
        // No id at all, with spans, says that the pre-token is open.
        if *is_regular || ids.is_empty() {
            return InlineIds::in_arena(place);
        }
        self.packing.pack_with_spans(ids, place)
    }

    /// The entry of `key`, or a free one, or its home if all that may hold it are taken.
    fn place_for(&self, key: u128) -> usize {
        let mask = self.entries.len() - 1;
        let home = hash_key(key) as usize & mask;
        let may_hold = |&at: &usize| self.entries[at].key == 0 || self.entries[at].key == key;
        (0..PROBES).map(|probe| (home + probe) & mask).find(may_hold).unwrap_or(home)
    }
}

mod room;
#[cfg(test)]
mod tests;
