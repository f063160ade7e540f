//! Counting in bounded memory: a counter whose tables are full writes its words, in the order of their bytes, and starts empty again.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Entry, WordCounter};
use crate::Result;
use crate::cache::key::key_bytes;

/// Takes a word, its count and its first position.
pub type TakeWord<'a> = dyn FnMut(&[u8], u64, u64) -> Result<()> + 'a;

/// Where full counters write their words.
pub trait Spill: Debug + Send + Sync {
    /// Says that positions from `position` on belong to `source`, up to where another source begins.
    fn begin_source(&self, position: u64, source: u32);

    /// Writes the words that `each` hands on; they ascend and none comes twice.
    ///
    /// # Errors
    /// The errors of writing.
    fn write(&self, each: &mut dyn FnMut(&mut TakeWord<'_>) -> Result<()>) -> Result<()>;
}

impl WordCounter {
    /// An empty counter that hands its words to `spill` where its tables would take more than `share` bytes.
    pub fn bounded(spill: Arc<dyn Spill>, share: usize) -> Self {
        Self { spill: Some(spill), share, ..Self::default() }
    }

    /// The error of the last words that could not be written.
    ///
    /// # Errors
    /// The errors of [`Spill::write`].
    pub fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes all words and empties the counter.
    ///
    /// # Errors
    /// The errors of [`Spill::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.count_pending();
        self.spill();
        self.check()
    }

    /// True if the table of short words may not double, as the larger one would take more than three fifths of the share.
    pub(super) fn table_is_largest(&self) -> bool {
        let larger = size_of_val(&self.entries[..]).saturating_mul(2);
        self.spill.is_some() && !self.entries.is_empty() && larger / 3 > self.share / 5
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

    /// True if the memory of long words, should it grow for a word of `len` bytes, could exceed two fifths of the share, the part
    /// that the table of short words leaves.
    pub(super) fn long_is_full(&self, len: usize) -> bool {
        if self.spill.is_none() {
            return false;
        }
        let is_room =
            self.long.len() < self.long.capacity() && self.long_text.len() + len <= self.long_text.capacity();
        if is_room || self.long.is_empty() {
            return false;
        }
        // Entries, hashes and the table of places. That table takes a word and an eighth a place and is at most seven eighths full.
        let places = self.long.capacity() * (size_of::<Entry>() + 3 * size_of::<u64>());
        // While memory grows, the old memory is there beside the new.
        let grown = 3 * (places + self.long_text.capacity()).max(len);
        grown > self.share / 5 * 2
    }

    /// Writes all words and empties the tables; an error waits for [`Self::check`].
    pub(super) fn spill(&mut self) {
        let Some(spill) = self.spill.clone() else { return };
        if let Err(error) = self.write(&*spill) {
            self.failed.get_or_insert(error);
        }
        self.clear();
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
