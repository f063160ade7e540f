//! Counting in bounded memory: a counter whose tables are full writes its words, in the order of their bytes, and goes on empty.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use super::{Entry, WordCounter};
use crate::Result;
use crate::cache::key::{SHORT, hash_key, hash_long, key, key_bytes};

/// Takes a word, its count and its first position.
pub type TakeWord<'a> = dyn FnMut(&[u8], u64, u64) -> Result<()> + 'a;

/// Where full counters write their words.
pub trait Spill: Debug + Send + Sync {
    /// Bytes that the tables of one counter may take.
    fn share(&self) -> usize;

    /// Says that positions from `position` on belong to `source`, up to where another source begins.
    fn begin_source(&self, position: u64, source: u32);

    /// A word as it is written, if words are normalized once they are counted; an empty one is left out.
    fn normalized<'a>(&self, word: &'a [u8]) -> Option<Cow<'a, [u8]>>;

    /// Writes the words that `each` hands on; they ascend and none comes twice.
    ///
    /// # Errors
    /// Those of writing.
    fn write(&self, each: &mut dyn FnMut(&mut TakeWord<'_>) -> Result<()>) -> Result<()>;
}

impl WordCounter {
    /// An empty counter that hands its words to `spill` where its tables would take more than its share.
    pub fn bounded(spill: Arc<dyn Spill>) -> Self {
        Self { spill: Some(spill), ..Self::default() }
    }

    /// The error of the last words that could not be written.
    ///
    /// # Errors
    /// Those of [`Spill::write`].
    pub fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes all words and empties the counter.
    ///
    /// # Errors
    /// Those of [`Spill::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.count_pending();
        self.spill();
        self.check()
    }

    /// Whether the table of short words may not be doubled: the larger one would take more than three fifths of the share.
    pub(super) fn table_is_largest(&self) -> bool {
        let larger = size_of_val(&self.entries[..]).saturating_mul(2);
        self.spill
            .as_ref()
            .is_some_and(|spill| !self.entries.is_empty() && larger / 3 > share_of(&**spill) / 5)
    }

    /// A table that may not grow fills up to three quarters.
    pub(super) fn spill_full_table(&mut self) {
        let dense = self.entries.len() / 4 * 3;
        if self.most < dense {
            self.most = dense;
        } else {
            self.spill();
        }
    }

    /// Whether the memory of long words could exceed what the table of short ones leaves of the share, if it grows for a word of
    /// `len` bytes.
    pub(super) fn long_is_full(&self, len: usize) -> bool {
        let Some(spill) = &self.spill else { return false };
        let is_room =
            self.long.len() < self.long.capacity() && self.long_text.len() + len <= self.long_text.capacity();
        if is_room || self.long.is_empty() {
            return false;
        }
        // The tables of places, which has a word and an eighth a place and is at most seven eighths full, hashes and entries.
        let places = self.long.capacity() * (size_of::<Entry>() + 3 * size_of::<u64>());
        // While it grows, the old memory is there beside the new.
        let grown = 3 * (places + self.long_text.capacity()).max(len);
        grown > share_of(&**spill) / 5 * 2
    }

    /// Writes all words and empties the tables; an error waits for [`Self::check`].
    pub(super) fn spill(&mut self) {
        let Some(spill) = self.spill.clone() else { return };
        let written = match self.normalized_words(&*spill) {
            Some(mut normalized) => normalized.write(&*spill),
            None => self.write(&*spill),
        };
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
        self.entries.fill(Entry::default());
        self.used = 0;
        self.long.clear();
        self.long_hashes.clear();
        self.long_text.clear();
        self.long_places.clear();
    }

    /// The words as they are written, if that is not as they are.
    fn normalized_words(&self, spill: &dyn Spill) -> Option<Self> {
        spill.normalized(b"")?;
        let mut normalized = Self::default();
        let short = self.entries.iter().filter(|entry| entry.key != 0);
        for entry in short.chain(&self.long) {
            let (bytes, len) = key_bytes(entry.key);
            let word = if len > 0 { &bytes[..len] } else { entry.long_word(&self.long_text) };
            let Some(word) = spill.normalized(word).filter(|word| !word.is_empty()) else { continue };
            if word.len() > SHORT {
                normalized.add_long(&word, hash_long(&word), entry.count, entry.first);
            } else {
                let key = key(&word, 0, word.len());
                normalized.add_short(hash_key(key), Entry { key, ..*entry });
            }
        }
        Some(normalized)
    }

    /// Writes all words in the order of their bytes; the table is not in order after that.
    fn write(&mut self, spill: &dyn Spill) -> Result<()> {
        let mut used = 0;
        for at in 0..self.entries.len() {
            if self.entries[at].key != 0 {
                self.entries.swap(used, at);
                used += 1;
            }
        }
        let short = &mut self.entries[..used];
        if short.is_empty() && self.long.is_empty() {
            return Ok(());
        }
        // The first byte of a word is the lowest of its key, and its length, which decides between words that differ by zeros at
        // their end, the highest.
        short.sort_unstable_by_key(|entry| entry.key.swap_bytes());
        let text = &self.long_text;
        self.long.sort_unstable_by(|one, other| one.long_word(text).cmp(other.long_word(text)));
        spill.write(&mut |take| {
            let mut long = self.long.iter().peekable();
            for entry in &*short {
                let (bytes, len) = key_bytes(entry.key);
                while let Some(longer) = long.next_if(|longer| *longer.long_word(text) < bytes[..len]) {
                    take(longer.long_word(text), longer.count, longer.first)?;
                }
                take(&bytes[..len], entry.count, entry.first)?;
            }
            long.try_for_each(|longer| take(longer.long_word(text), longer.count, longer.first))
        })
    }
}

/// Bytes for the tables that words are counted in: where words are normalized when they are written, the normalized ones take as
/// much again.
fn share_of(spill: &dyn Spill) -> usize {
    if spill.normalized(b"").is_some() { spill.share() / 2 } else { spill.share() }
}
