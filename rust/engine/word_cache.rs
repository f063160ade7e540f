//! From a pre-token to its tokens: the cache in front of every model.
//!
//! Pre-tokens of up to 15 bytes, nearly all, are keyed by their bytes in one 128-bit integer and
//! answered from a 32-byte entry; longer ones are hashed and compared. The cache is bounded in
//! bytes: when it is full it starts anew, which costs less than keeping track of age.

use super::ahead::{Ahead, PART};
use super::key::{SHORT, hash_key, hash_long, key};
use super::long_words::LongWords;
use super::{Found, WordTokens};
use crate::Result;
use crate::structures::huge_pages::{vec_copied, vec_filled};
use crate::structures::prefetch::prefetch;

/// Ids that fit into an entry.
pub const INLINE: usize = 3;

/// Longer pre-tokens are not kept: they seldom come again, and an attacker could fill the cache with few.
const LONGEST: usize = 1024;

/// A key is looked for in this many neighbouring entries, so that crafted collisions stay cheap.
const PROBES: usize = 16;

const FIRST_CAPACITY: usize = 1 << 12;

/// Places are found by 32 bits of hash.
const LAST_CAPACITY: usize = 1 << 31;

/// Below this many entries the table grows fourfold: the first texts meet new pre-tokens all the time.
const QUICK_GROWTH: usize = 1 << 16;

/// Where an entry's tokens are.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// Number of ids here, or 4 plus the place in the arena.
    head: u32,
    ids: [u32; INLINE],
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Entry {
    /// 0 when free.
    key: u128,
    value: Value,
}

/// A bounded map from pre-tokens to tokens. One thread uses it at a time.
#[derive(Debug)]
pub struct WordCache {
    entries: Vec<Entry>,
    /// Entries to begin with.
    first_capacity: usize,
    used: usize,
    long: LongWords<Value>,
    /// Per record: number of ids with the top bit set if spans follow, ids, spans.
    arena: Vec<u32>,
    limit: usize,
    /// Tokens of a pre-token that is not kept.
    passing: WordTokens,
}

const HAS_SPANS: u32 = 1 << 31;

impl WordCache {
    /// An empty cache that will take at most about `limit` bytes; 0 turns it off.
    pub fn new(limit: usize) -> Self {
        Self {
            entries: Vec::new(),
            first_capacity: FIRST_CAPACITY,
            used: 0,
            long: LongWords::default(),
            arena: Vec::new(),
            limit,
            passing: WordTokens::default(),
        }
    }

    /// An empty cache that will have room for so many words from the start, or for as many as go into a quarter of `limit`.
    pub fn with_room(limit: usize, words: usize) -> Self {
        let most = limit / 4 / size_of::<Entry>();
        let capacity = (3 * words).min(most).next_power_of_two();
        let first_capacity = if capacity > most { capacity / 2 } else { capacity }.max(FIRST_CAPACITY);
        Self { first_capacity, ..Self::new(limit) }
    }

    /// Takes in a whole pre-token of 1 to [`SHORT`] bytes that is one token; false if there is no room for it.
    pub fn add_known(&mut self, word: &[u8], id: u32) -> bool {
        if self.entries.is_empty() && self.first_capacity * size_of::<Entry>() <= self.limit {
            self.entries = vec_filled(Entry::default(), self.first_capacity);
        }
        if 2 * self.used >= self.entries.len() {
            return false;
        }
        let key = key(word, 0, word.len());
        let place = self.find_short(key, hash_key(key) as u32).unwrap_or_else(|| self.place_for(key));
        self.used += usize::from(self.entries[place].key == 0);
        self.entries[place] = Entry { key, value: Value { head: 1, ids: [id, 0, 0] } };
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
            limit: self.limit,
            passing: WordTokens::default(),
        }
    }

    /// Bytes that the cache takes now.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.long.bytes() + self.arena.len() * 4
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// [`Self::look_ahead`] and [`Self::get_ahead`] in one, for tests.
    #[cfg(test)]
    pub(super) fn get_or_insert_with(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        miss: impl FnOnce(&[u8], &mut WordTokens) -> Result<()>,
    ) -> Result<Found<'_>> {
        self.get_ahead(self.look_ahead(text, start, end, 0, false), text, miss)
    }

    /// Starts looking a pre-token up: what comes of it some spans later need not wait for memory.
    ///
    /// `text` has less than 4 GiB. With `is_part`, what is found and kept is apart from that of whole pre-tokens.
    #[inline]
    pub fn look_ahead(&self, text: &[u8], start: usize, end: usize, word: u32, is_part: bool) -> Ahead {
        let part = if is_part { PART } else { 0 };
        if end - start <= SHORT {
            return self.look_ahead_short(text, start, end, word, part);
        }
        Ahead { key: part, hash: 0, start: start as u32, end: end as u32, word }
    }

    /// [`Self::look_ahead`] for pre-tokens whose bounds count from `base` on, the first of which is number `word` and each
    /// next one number `step` more, up to one of more than [`SHORT`] bytes or as many as `out` holds; returns how many.
    // Not inlined: only as arguments of a function are these known not to overlap, and loads stay out of the loop.
    #[inline(never)]
    pub fn look_ahead_many(
        &self,
        text: &[u8],
        base: usize,
        (starts, ends): (&[u32], &[u32]),
        (word, step): (u32, u32),
        out: &mut [Ahead],
    ) -> usize {
        let mut taken = 0;
        for ((place, &start), &end) in out.iter_mut().zip(starts).zip(ends) {
            if end - start > SHORT as u32 {
                break;
            }
            let (start, end) = (base + start as usize, base + end as usize);
            *place = self.look_ahead_short(text, start, end, word.wrapping_add(taken * step), 0);
            taken += 1;
        }
        taken as usize
    }

    #[inline]
    fn look_ahead_short(&self, text: &[u8], start: usize, end: usize, word: u32, part: u128) -> Ahead {
        let key = key(text, start, end) | part;
        let hash = hash_key(key) as u32;
        prefetch(&self.entries, hash as usize & self.entries.len().wrapping_sub(1));
        Ahead { key, hash, start: start as u32, end: end as u32, word }
    }

    /// The ids of a pre-token that [`Self::look_ahead`] was called for, if it is known and has few tokens, as most.
    ///
    /// That many of the first ids count; each of them covers its own length.
    #[inline]
    pub fn get_few(&self, ahead: Ahead) -> Option<(&[u32; INLINE], usize)> {
        if ahead.is_long() {
            return None;
        }
        let Ahead { key, hash, .. } = ahead;
        let Value { head, ids } = &self.entries[self.find_short(key, hash)?].value;
        let count = *head as usize;
        (count <= INLINE).then_some((ids, count))
    }

    /// The tokens of a pre-token of the same `text` that [`Self::look_ahead`] was called for, asking `miss` if they are not
    /// known.
    ///
    /// # Errors
    /// Those of `miss`; nothing is kept then.
    #[inline]
    pub fn get_ahead(
        &mut self,
        ahead: Ahead,
        text: &[u8],
        miss: impl FnOnce(&[u8], &mut WordTokens) -> Result<()>,
    ) -> Result<Found<'_>> {
        let Ahead { key, hash, .. } = ahead;
        let (start, end) = (ahead.start as usize, ahead.end as usize);
        if ahead.is_long() {
            return self.get_long(&text[start..end], ahead.is_part(), miss);
        }
        match self.find_short(key, hash) {
            Some(place) => Ok(self.found(&self.entries[place].value)),
            None => self.insert_short(key, &text[start..end], miss),
        }
    }

    #[inline]
    fn find_short(&self, key: u128, hash: u32) -> Option<usize> {
        let mask = self.entries.len().wrapping_sub(1);
        let home = hash as usize & mask;
        match self.entries.get(home) {
            Some(entry) if entry.key == key => Some(home),
            Some(entry) if entry.key != 0 => self.find_neighbour(key, home, mask),
            _ => None,
        }
    }

    #[inline(never)]
    fn find_neighbour(&self, key: u128, home: usize, mask: usize) -> Option<usize> {
        for probe in 1..PROBES {
            let place = (home + probe) & mask;
            let found = self.entries[place].key;
            if found == key {
                return Some(place);
            }
            if found == 0 {
                return None;
            }
        }
        None
    }

    #[inline]
    fn found<'a>(&'a self, value: &'a Value) -> Found<'a> {
        let count = value.head as usize;
        if count <= INLINE {
            return Found { ids: &value.ids[..count], spans: None };
        }
        let place = count - INLINE - 1;
        let head = self.arena[place];
        let (ids, end) = (place + 1, place + 1 + (head & !HAS_SPANS) as usize);
        let spans = (head & HAS_SPANS != 0).then(|| &self.arena[end..end + 2 * (end - ids)]);
        Found { ids: &self.arena[ids..end], spans }
    }

    #[cold]
    #[inline(never)]
    fn insert_short(
        &mut self,
        key: u128,
        word: &[u8],
        miss: impl FnOnce(&[u8], &mut WordTokens) -> Result<()>,
    ) -> Result<Found<'_>> {
        self.ask(word, miss)?;
        if self.limit == 0 {
            return Ok(self.passing.found());
        }
        self.make_room();
        let value = self.store_passing();
        let place = self.place_for(key);
        self.used += usize::from(self.entries[place].key == 0);
        self.entries[place] = Entry { key, value };
        Ok(self.found(&self.entries[place].value))
    }

    #[inline(never)]
    fn get_long(
        &mut self,
        word: &[u8],
        is_part: bool,
        miss: impl FnOnce(&[u8], &mut WordTokens) -> Result<()>,
    ) -> Result<Found<'_>> {
        if word.len() > LONGEST || self.limit == 0 {
            self.ask(word, miss)?;
            return Ok(self.passing.found());
        }
        let hash = hash_long(word);
        if self.long.get(hash, word, is_part).is_none() {
            self.ask(word, miss)?;
            self.make_room();
            if !self.long.has_room(word.len()) {
                self.forget();
            }
            let value = self.store_passing();
            self.long.insert(hash, word, is_part, value);
        }
        let value = self.long.get(hash, word, is_part);
        Ok(value.map_or_else(|| self.passing.found(), |value| self.found(value)))
    }

    fn ask(&mut self, word: &[u8], miss: impl FnOnce(&[u8], &mut WordTokens) -> Result<()>) -> Result<()> {
        self.passing.clear();
        miss(word, &mut self.passing)
    }

    fn store_passing(&mut self) -> Value {
        let WordTokens { ids, spans, is_regular } = &self.passing;
        let mut value = Value::default();
        if *is_regular && ids.len() <= INLINE {
            value.head = ids.len() as u32;
            value.ids[..ids.len()].copy_from_slice(ids);
        } else {
            value.head = (self.arena.len() + INLINE + 1) as u32;
            let flag = if *is_regular { 0 } else { HAS_SPANS };
            self.arena.push(ids.len() as u32 | flag);
            self.arena.extend_from_slice(ids);
            if !is_regular {
                self.arena.extend_from_slice(spans);
            }
        }
        value
    }

    /// Grows the table at half load, or starts anew when the limit is reached.
    fn make_room(&mut self) {
        if self.bytes() >= self.limit {
            self.forget();
        }
        if self.entries.is_empty() {
            self.entries = vec_filled(Entry::default(), self.first_capacity);
        } else if self.used * 2 >= self.entries.len() {
            let grown = self.entries.len() * if self.entries.len() < QUICK_GROWTH { 4 } else { 2 };
            if grown > LAST_CAPACITY || self.bytes() + grown * size_of::<Entry>() > self.limit {
                self.forget();
                return;
            }
            let old = std::mem::replace(&mut self.entries, vec_filled(Entry::default(), grown));
            self.used = 0;
            for entry in old.into_iter().filter(|entry| entry.key != 0) {
                let place = self.place_for(entry.key);
                self.used += usize::from(self.entries[place].key == 0);
                self.entries[place] = entry;
            }
        }
    }

    fn forget(&mut self) {
        self.entries.fill(Entry::default());
        self.used = 0;
        self.long.clear();
        self.arena.clear();
    }

    /// A free entry for `key`, or its home if all that may hold it are taken.
    fn place_for(&self, key: u128) -> usize {
        let mask = self.entries.len() - 1;
        let home = hash_key(key) as usize & mask;
        (0..PROBES).map(|probe| (home + probe) & mask).find(|&at| self.entries[at].key == 0).unwrap_or(home)
    }
}

#[cfg(test)]
mod tests;
