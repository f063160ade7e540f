//! Pre-tokens that are too long for a key, each with a value.

use hashbrown::HashTable;

#[derive(Clone, Copy, Debug)]
struct Entry<V> {
    hash: u64,
    is_part: bool,
    start: u32,
    len: u32,
    value: V,
}

/// A map from byte strings, by hash and comparison; parts of pre-tokens are told from whole ones.
#[derive(Clone, Debug, Default)]
pub(super) struct LongWords<V> {
    table: HashTable<Entry<V>>,
    text: Vec<u8>,
}

impl<V: Copy> LongWords<V> {
    /// Bytes that the map takes.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Entry<V>>() + self.text.len()
    }

    /// Whether there is room for a word of `len` bytes: places are numbers of 32 bits.
    pub(super) fn has_room(&self, len: usize) -> bool {
        u32::try_from(self.text.len() + len).is_ok()
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.text.clear();
    }

    /// The value of a word with this hash.
    pub(super) fn get(&self, hash: u64, word: &[u8], is_part: bool) -> Option<&V> {
        let text = |entry: &Entry<V>| entry.start as usize..(entry.start + entry.len) as usize;
        let is_word = |entry: &Entry<V>| {
            entry.hash == hash && entry.is_part == is_part && self.text[text(entry)] == *word
        };
        self.table.find(hash, is_word).map(|entry| &entry.value)
    }

    /// Adds a word that is not there yet and that there is room for.
    pub(super) fn insert(&mut self, hash: u64, word: &[u8], is_part: bool, value: V) {
        let (start, len) = (self.text.len() as u32, word.len() as u32);
        self.text.extend_from_slice(word);
        self.table.insert_unique(hash, Entry { hash, is_part, start, len, value }, |entry| entry.hash);
    }
}
