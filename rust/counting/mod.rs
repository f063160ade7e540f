//! Counts pre-tokens for training: keys as in the cache, with counts instead of tokens.
//!
//! Each thread fills its own [`WordCounter`]; [`WordCounter::join`] merges them. A pre-token of up to 15 bytes is a
//! 128-bit key in an open-addressing table, at most half full. Longer ones lie in a list with a hash index.

mod join;

use hashbrown::HashTable;

use crate::cache::key::{SHORT, hash_key, hash_long, key};
use crate::structures::huge_pages::{vec_mapped, vec_mapped_filled};
use crate::structures::prefetch::prefetch;

const FIRST_CAPACITY: usize = 1 << 12;

/// Pre-tokens per batch: each prefetches its slot and waits here, so that its cache miss overlaps with the counting of
/// others.
const PREFETCH_BATCH: usize = 32;

/// A pre-token of up to 15 bytes with its count and first position. 32 bytes a slot.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Entry {
    /// 0 if the slot is free.
    key: u128,
    count: u64,
    first: u64,
}

/// A pre-token whose slot is being prefetched.
#[derive(Clone, Copy, Debug)]
struct Pending {
    key: u128,
    hash: usize,
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct LongEntry {
    hash: u64,
    start: u64,
    len: u64,
    count: u64,
    first: u64,
}

impl LongEntry {
    fn text<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        &all[self.start as usize..(self.start + self.len) as usize]
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
    pending: Vec<Pending>,
    long: Vec<LongEntry>,
    long_text: Vec<u8>,
    // Indices into `long`, by hash.
    long_places: HashTable<usize>,
}

impl WordCounter {
    /// An empty counter.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty counter with capacity for `words` short pre-tokens.
    fn with_room(words: usize) -> Self {
        let capacity = (2 * words + 1).next_power_of_two();
        Self { entries: vec_mapped_filled(Entry::default(), capacity.max(FIRST_CAPACITY)), ..Self::default() }
    }

    /// Counts `text[start..end]`, seen at `position` of the corpus.
    #[inline]
    pub fn add(&mut self, text: &[u8], start: usize, end: usize, position: u64) {
        if end - start > SHORT {
            let word = &text[start..end];
            return self.add_long(word, hash_long(word), 1, position);
        }
        let key = key(text, start, end);
        let hash = hash_key(key) as usize;
        prefetch(&self.entries, hash & self.entries.len().wrapping_sub(1));
        self.pending.push(Pending { key, hash, position });
        if self.pending.len() >= PREFETCH_BATCH {
            self.count_pending();
        }
    }

    /// Counts the pre-tokens that [`Self::add`] has deferred.
    fn count_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        for Pending { key, hash, position } in pending.drain(..) {
            self.add_short(key, hash, 1, position);
        }
        self.pending = pending;
    }

    #[inline]
    fn add_short(&mut self, key: u128, hash: usize, count: u64, position: u64) {
        if self.used * 2 >= self.entries.len() {
            self.grow();
        }
        let place = self.place(key, hash);
        let entry = &mut self.entries[place];
        if entry.key == 0 {
            *entry = Entry { key, count, first: position };
            self.used += 1;
        } else {
            entry.count += count;
            entry.first = entry.first.min(position);
        }
    }

    #[inline]
    fn place(&self, key: u128, hash: usize) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = hash & mask;
        while self.entries[place].key != key && self.entries[place].key != 0 {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.entries.len() * 2).max(FIRST_CAPACITY);
        let old = std::mem::replace(&mut self.entries, vec_mapped_filled(Entry::default(), capacity));
        for entry in old.into_iter().filter(|entry| entry.key != 0) {
            let place = self.place(entry.key, hash_key(entry.key) as usize);
            self.entries[place] = entry;
        }
    }

    fn add_long(&mut self, word: &[u8], hash: u64, count: u64, position: u64) {
        let (entries, text) = (&mut self.long, &mut self.long_text);
        let is_word = |&at: &usize| {
            let entry = &entries[at];
            entry.hash == hash && entry.text(text) == word
        };
        if let Some(&at) = self.long_places.find(hash, is_word) {
            let entry = &mut entries[at];
            entry.count += count;
            entry.first = entry.first.min(position);
            return;
        }
        let (start, len) = (text.len() as u64, word.len() as u64);
        make_room(text, word.len());
        text.extend_from_slice(word);
        let at = entries.len();
        self.long_places.insert_unique(hash, at, |&at| entries[at].hash);
        make_room(entries, 1);
        entries.push(LongEntry { hash, start, len, count, first: position });
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
            let mut counters: Vec<WordCounter> = (0..parts).map(|_| WordCounter::new()).collect();
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
