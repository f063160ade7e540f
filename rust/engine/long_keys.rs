//! Pre-tokens that are too long for a key, each with a value.

use crate::structures::huge_pages::vec_filled;
use crate::structures::prefetch::prefetch;

/// A word is looked for in this many neighbouring entries, so that crafted collisions stay cheap.
const PROBES: usize = 16;

const FIRST_CAPACITY: usize = 1 << 10;

/// Below this many entries the table grows fourfold: the first texts meet new words all the time.
const QUICK_GROWTH: usize = 1 << 14;

/// In a length: the word is a part of a pre-token.
const CONTEXT: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Default)]
struct Entry<V> {
    hash: u64,
    start: u32,
    /// With [`CONTEXT`]; 0 when the entry is free.
    len: u32,
    value: V,
}

/// A map from byte strings, by hash and comparison; parts of pre-tokens are told from whole ones.
///
/// Rarely a word takes the place of another one, which is then not found any more.
#[derive(Clone, Debug, Default)]
pub(super) struct LongKeys<V> {
    /// A power of two, or none.
    entries: Vec<Entry<V>>,
    used: usize,
    text: Vec<u8>,
}

impl<V: Copy + Default> LongKeys<V> {
    /// Bytes that the map takes.
    pub(super) fn bytes(&self) -> usize {
        self.table_bytes() + self.text.len()
    }

    /// Bytes that the map takes without its words.
    pub(super) fn table_bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry<V>>()
    }

    /// Bytes that the map will take with a word of `len` bytes more; nothing if there is no room for its place, a number of
    /// 32 bits.
    pub(super) fn bytes_with(&self, len: usize) -> Option<usize> {
        let text = u32::try_from(self.text.len() + len).ok()? as usize;
        let capacity = if self.is_full() { self.grown() } else { self.entries.len() };
        Some(capacity * size_of::<Entry<V>>() + text)
    }

    fn is_full(&self) -> bool {
        2 * self.used >= self.entries.len()
    }

    fn grown(&self) -> usize {
        let factor = if self.entries.len() < QUICK_GROWTH { 4 } else { 2 };
        (factor * self.entries.len()).max(FIRST_CAPACITY)
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(Entry::default());
        self.used = 0;
        self.text.clear();
    }

    /// Fetches the entry of a word with this hash from memory.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.entries, hash as usize & self.entries.len().wrapping_sub(1));
    }

    /// The value of a word with this hash.
    #[inline]
    pub(super) fn get(&self, hash: u64, word: &[u8], in_context: bool) -> Option<&V> {
        let len = tagged_len(word, in_context);
        let mask = self.entries.len().wrapping_sub(1);
        for probe in 0..PROBES {
            let entry = self.entries.get((hash as usize).wrapping_add(probe) & mask)?;
            if entry.len == 0 {
                return None;
            }
            let start = entry.start as usize;
            if entry.hash == hash && entry.len == len && self.text[start..start + word.len()] == *word {
                return Some(&entry.value);
            }
        }
        None
    }

    /// Adds a word of at least one byte that is not there yet and that there is room for.
    pub(super) fn insert(&mut self, hash: u64, word: &[u8], in_context: bool, value: V) {
        if self.is_full() {
            self.grow();
        }
        let (start, len) = (self.text.len() as u32, tagged_len(word, in_context));
        self.text.extend_from_slice(word);
        self.place(Entry { hash, start, len, value });
    }

    fn grow(&mut self) {
        let grown = vec_filled(Entry::default(), self.grown());
        let old = std::mem::replace(&mut self.entries, grown);
        self.used = 0;
        for entry in old.into_iter().filter(|entry| entry.len > 0) {
            self.place(entry);
        }
    }

    /// Puts an entry into the first free place, or into its first one if all that may hold it are taken.
    fn place(&mut self, entry: Entry<V>) {
        let mask = self.entries.len() - 1;
        let home = entry.hash as usize & mask;
        let free = (0..PROBES).map(|probe| (home + probe) & mask).find(|&at| self.entries[at].len == 0);
        self.used += usize::from(free.is_some());
        self.entries[free.unwrap_or(home)] = entry;
    }
}

fn tagged_len(word: &[u8], in_context: bool) -> u32 {
    word.len() as u32 | if in_context { CONTEXT } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn long_words_matches_naive(
            words in prop::collection::vec(("[ab]{1,12}", any::<bool>(), any::<u32>()), 0..4000),
            // Fewer bits of hash make more collisions.
            bits in 8..64u32,
        ) {
            let (mut long, mut naive, mut lost) = (LongKeys::default(), HashMap::new(), 0);
            for (word, in_context, value) in &words {
                let hash = super::super::key::hash_long(word.as_bytes()) >> (64 - bits);
                long.prefetch(hash);
                let found = long.get(hash, word.as_bytes(), *in_context).copied();
                let known = naive.get(&(word, *in_context)).copied();
                // What is found is never another word's, however many collide.
                prop_assert!(found.is_none() || found == known);
                lost += usize::from(found != known);
                if found.is_none() {
                    long.insert(hash, word.as_bytes(), *in_context, *value);
                    naive.insert((word, *in_context), *value);
                }
            }
            prop_assert!(bits < 24 || lost <= words.len() / 100, "{lost} lost");
        }
    }
}
