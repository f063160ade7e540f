//! Counts pre-tokens, or chunks, for training: keys as in the cache, with counts instead of tokens.
//!
//! Each thread fills its own [`WordCounter`]; [`WordCounter::join`] merges them. A pre-token of up to 15 bytes is a
//! 128-bit key in an open-addressing table, at most three quarters full. Longer ones lie in a list with a hash index.
//!
//! In bounded memory a counter whose tables are full writes its words as a sorted run and starts empty again (`spill`); `runs`
//! writes, reads and merges runs.

mod join;
#[cfg(feature = "sources")]
pub mod runs;
mod spill;

use std::sync::Arc;

use hashbrown::HashTable;

pub use spill::{Spill, TakeWord};

use crate::Error;
use crate::cache::key::{SHORT, hash_key, hash_long, key, key_bytes};
use crate::structures::huge_pages::{vec_mapped, vec_mapped_filled};
use crate::structures::prefetch::prefetch;

const FIRST_CAPACITY: usize = 1 << 12;

/// Slots that [`WordCounter::drain`] reads one after the other.
const RUN: usize = 64;

/// 2^64 divided by the golden ratio, made odd: its multiples, modulo a power of two, visit every run once, scattered.
const SCATTER: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;

/// Pre-tokens per batch: each prefetches its slot and waits here, so that its cache miss overlaps with the counting of
/// others.
const PREFETCH_BATCH: usize = 32;

/// A pre-token with its count and first position. 32 bytes a slot.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Entry {
    /// 0 if the slot is free. Of a longer pre-token than fits, its length in `long_text` above its start: no length in the top
    /// byte.
    key: u128,
    count: u64,
    first: u64,
}

/// A pre-token whose slot is being prefetched.
#[derive(Clone, Copy, Debug)]
struct Pending {
    key: u128,
    hash: u64,
    position: u64,
}

impl Entry {
    fn len(&self) -> usize {
        match key_bytes(self.key).1 {
            0 => (self.key >> 64) as usize,
            len => len,
        }
    }

    /// The pre-token, if it is longer than fits.
    fn long_word<'a>(&self, long_text: &'a [u8]) -> &'a [u8] {
        &long_text[self.key as u64 as usize..][..self.len()]
    }

    /// Calls `each` with the pre-token.
    fn with_word<T>(&self, long_text: &[u8], each: impl FnOnce(&[u8]) -> T) -> T {
        let (bytes, len) = key_bytes(self.key);
        each(if len > 0 { &bytes[..len] } else { self.long_word(long_text) })
    }

    fn add(&mut self, count: u64, position: u64) {
        self.count += count;
        self.first = self.first.min(position);
    }
}

/// Counts of distinct pre-tokens, each with the position where it was first seen.
///
/// One thread uses a counter at a time. The counters of several threads are joined at the end; the result does not
/// depend on which thread counted which pre-token.
#[derive(Debug, Default)]
pub struct WordCounter {
    entries: Vec<Entry>,
    used: usize,
    /// Used entries at which the table grows.
    most: usize,
    pending: Vec<Pending>,
    long: Vec<Entry>,
    long_hashes: Vec<u64>,
    long_text: Vec<u8>,
    // Indices into `long`, by hash.
    long_places: HashTable<usize>,
    /// Where words go if memory is bounded, the bytes that tables may take then, and the error of writing.
    spill: Option<Arc<dyn Spill>>,
    share: usize,
    failed: Option<Error>,
}

impl WordCounter {
    /// An empty counter with capacity for `words` short pre-tokens, which fill it up to three quarters.
    fn with_room(words: usize) -> Self {
        let capacity = (words + words / 3 + 1).next_power_of_two().max(FIRST_CAPACITY);
        let entries = vec_mapped_filled(Entry::default(), capacity);
        Self { entries, most: capacity / 4 * 3, ..Self::default() }
    }

    /// Counts `text[start..end]`, seen at `position` of the corpus.
    #[inline]
    pub fn add(&mut self, text: &[u8], start: usize, end: usize, position: u64) {
        if end - start > SHORT {
            let word = &text[start..end];
            return self.add_long(word, hash_long(word), 1, position);
        }
        let key = key(text, start, end);
        let hash = hash_key(key);
        prefetch(&self.entries, hash as usize & self.entries.len().wrapping_sub(1));
        self.pending.push(Pending { key, hash, position });
        if self.pending.len() >= PREFETCH_BATCH {
            self.count_pending();
        }
    }

    /// Adds the count of a word, first seen at `position` of the corpus.
    pub fn add_counted(&mut self, word: &[u8], count: u64, position: u64) {
        if word.len() > SHORT {
            self.add_long(word, hash_long(word), count, position);
        } else {
            let key = key(word, 0, word.len());
            self.add_short(hash_key(key), Entry { key, count, first: position });
        }
    }

    /// Calls `each` with each word, its count and the position where it was first seen, in any order, and empties the counter.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8], u64, u64)) {
        self.count_pending();
        // In the order of their hashes, words would crowd one end of the next table, where a free slot is far. So runs of slots are visited in
        // scattered order.
        let runs = self.entries.len() / RUN;
        let run = |number: usize| &self.entries[(number.wrapping_mul(SCATTER) & (runs - 1)) * RUN..][..RUN];
        let short = (0..runs).flat_map(run).filter(|entry| entry.key != 0);
        for entry in short.chain(&self.long) {
            entry.with_word(&self.long_text, |word| each(word, entry.count, entry.first));
        }
        self.clear();
    }

    /// Forgets all words, but keeps the memory.
    fn clear(&mut self) {
        self.entries.fill(Entry::default());
        self.used = 0;
        self.long.clear();
        self.long_hashes.clear();
        self.long_text.clear();
        self.long_places.clear();
    }

    /// Distinct words, about.
    pub fn distinct(&self) -> usize {
        self.used + self.long.len()
    }

    /// Bytes of the words, about.
    pub fn bytes(&self) -> usize {
        self.distinct() * size_of::<Entry>() + self.long_text.len()
    }

    /// Counts the words that [`Self::add`] has deferred.
    fn count_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        for Pending { key, hash, position } in pending.drain(..) {
            self.add_short(hash, Entry { key, count: 1, first: position });
        }
        self.pending = pending;
    }

    #[inline]
    fn add_short(&mut self, hash: u64, entry: Entry) {
        if self.used >= self.most {
            self.make_room_for_short();
        }
        let place = self.place(entry.key, hash);
        if self.entries[place].key == 0 {
            self.entries[place] = entry;
            self.used += 1;
        } else {
            self.entries[place].add(entry.count, entry.first);
        }
    }

    #[inline]
    fn place(&self, key: u128, hash: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = hash as usize & mask;
        while self.entries[place].key != key && self.entries[place].key != 0 {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn make_room_for_short(&mut self) {
        if self.table_is_largest() {
            self.spill();
        }
        self.grow();
    }

    fn grow(&mut self) {
        let capacity = (self.entries.len() * 2).max(FIRST_CAPACITY);
        self.most = capacity / 4 * 3;
        let old = std::mem::replace(&mut self.entries, vec_mapped_filled(Entry::default(), capacity));
        for entry in old.into_iter().filter(|entry| entry.key != 0) {
            let place = self.place(entry.key, hash_key(entry.key));
            self.entries[place] = entry;
        }
    }

    fn add_long(&mut self, word: &[u8], hash: u64, count: u64, position: u64) {
        let (entries, hashes, text) = (&mut self.long, &mut self.long_hashes, &mut self.long_text);
        let is_word = |&at: &usize| hashes[at] == hash && entries[at].long_word(text) == word;
        if let Some(&at) = self.long_places.find(hash, is_word) {
            return entries[at].add(count, position);
        }
        if self.long_is_full(word.len()) {
            self.spill();
        }
        let (entries, hashes, text) = (&mut self.long, &mut self.long_hashes, &mut self.long_text);
        let key = (word.len() as u128) << 64 | text.len() as u128;
        make_room(text, word.len());
        text.extend_from_slice(word);
        let at = entries.len();
        self.long_places.insert_unique(hash, at, |&at| hashes[at]);
        make_room(hashes, 1);
        hashes.push(hash);
        make_room(entries, 1);
        entries.push(Entry { key, count, first: position });
    }
}

/// Makes room for `more` items in memory that returns to the system when it is dropped.
#[inline]
fn make_room<T: Copy>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        let mut larger = vec_mapped((items.len() + more).max(2 * items.len()));
        larger.extend_from_slice(items);
        *items = larger;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::KeyForm;

    fn naive(words: &[String]) -> Vec<(String, u64)> {
        let mut counts: Vec<(String, u64)> = Vec::new();
        for word in words {
            match counts.iter_mut().find(|(known, _)| known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word.clone(), 1)),
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn word_counter_matches_naive(
            words in prop::collection::vec("[ab]{1,20}|[a-z]{1,3}", 0..300),
            parts in 1..4usize,
            threads in 1..5usize,
        ) {
            let mut counters: Vec<WordCounter> = (0..parts).map(|_| WordCounter::default()).collect();
            for (position, word) in words.iter().enumerate() {
                counters[position * 7 % parts].add(word.as_bytes(), 0, word.len(), position as u64);
            }
            counters.reverse();
            let counts = WordCounter::join(counters, KeyForm::Text, threads, &mut |_| Ok(())).expect("nothing stops it");
            let counts: Vec<_> = counts.iter().map(|(word, count)| (word.to_owned(), count)).collect();
            prop_assert_eq!(counts, naive(&words));
        }
    }
}
