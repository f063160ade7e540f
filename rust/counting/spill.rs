//! Counting in bounded memory: a counter whose tables are full writes its words, in the order of their bytes, and starts empty again.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Entry, WordCounter};
use crate::Result;
use crate::cache::key::key_bytes;

/// While memory doubles, the old and the new are both there: three times the old size.
const DOUBLING: usize = 3;

/// Bytes of the hash table of long words for each word, while it doubles: 9 bytes a place, in a table that is seven eighths full at most.
const BYTES_OF_PLACES: usize = 31;

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

    /// Merges written words, if there are many. The counter that has written them is empty.
    ///
    /// # Errors
    /// The errors of reading and writing.
    fn merge_waiting(&self) -> Result<()>;
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

    /// True if the table of short words may not double. The old table, the new one and the long words would exceed the share; up to half of
    /// the memory of long words is free, so it counts twice.
    pub(super) fn table_is_largest(&self) -> bool {
        let doubling = DOUBLING * size_of_val(&self.entries[..]) + 2 * self.long_bytes();
        self.spill.is_some() && doubling > self.share && !self.entries.is_empty()
    }

    /// True if all tables, with one more long word of `len` bytes, would exceed the share.
    pub(super) fn long_is_full(&self, len: usize) -> bool {
        if self.spill.is_none() || self.distinct() == 0 {
            return false;
        }
        let has_room =
            self.long.len() < self.long.capacity() && self.long_text.len() + len <= self.long_text.capacity();
        let growth = if has_room { 1 } else { DOUBLING };
        growth * (self.long_bytes() + len) + size_of_val(&self.entries[..]) > self.share
    }

    /// Bytes of long words, without free capacity: pages that nobody touched take no memory.
    fn long_bytes(&self) -> usize {
        let of_word = size_of::<Entry>() + size_of::<u64>() + BYTES_OF_PLACES;
        self.long.len() * of_word + self.long_text.len()
    }

    /// Writes all words and frees the tables, since the next words may divide the memory differently. An error waits for
    /// [`Self::check`].
    pub(super) fn spill(&mut self) {
        let Some(spill) = self.spill.clone() else { return };
        let written = self.write(&*spill);
        let (pending, failed) = (std::mem::take(&mut self.pending), self.failed.take());
        *self = Self { pending, failed, ..Self::bounded(Arc::clone(&spill), self.share) };
        // Merging takes the memory that the tables had.
        if let Err(error) = written.and_then(|()| spill.merge_waiting()) {
            self.failed.get_or_insert(error);
        }
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

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// The number of words of each run.
    #[derive(Debug, Default)]
    struct RunSizes(Mutex<Vec<usize>>);

    impl Spill for RunSizes {
        fn begin_source(&self, _: u64, _: u32) {}

        fn write(&self, each: &mut dyn FnMut(&mut TakeWord<'_>) -> Result<()>) -> Result<()> {
            let mut words = 0;
            each(&mut |_, _, _| {
                words += 1;
                Ok(())
            })?;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(words);
            Ok(())
        }

        fn merge_waiting(&self) -> Result<()> {
            Ok(())
        }
    }

    /// Bytes of all tables, free capacity included.
    fn memory(counter: &WordCounter) -> usize {
        let WordCounter { entries, long, long_hashes, long_text, long_places, .. } = counter;
        let long = long.capacity() * size_of::<Entry>() + long_hashes.capacity() * size_of::<u64>();
        size_of_val(&entries[..]) + long + long_text.capacity() + long_places.allocation_size()
    }

    #[test]
    fn tables_fill_their_share_and_no_more() {
        const SHARE: usize = 1 << 20;
        for (short, long) in [(1, 0), (0, 1), (1, 1), (30, 1), (1, 30)] {
            let sizes = Arc::new(RunSizes::default());
            let (mut counter, mut most) = (WordCounter::bounded(Arc::clone(&sizes) as _, SHARE), 0);
            for number in 0..100_000u64 {
                let is_short = number % (short + long) < short;
                let word = if is_short { format!("{number}") } else { format!("{number:040}") };
                counter.add_counted(word.as_bytes(), 1, number);
                most = most.max(memory(&counter));
            }
            counter.flush().expect("nothing is written");
            let sizes = sizes.0.lock().unwrap_or_else(PoisonError::into_inner);
            assert!((SHARE / 3..=SHARE).contains(&most), "{short} to {long}: {most} bytes");
            // A short word takes 32 bytes, a long one 111, and a third of the share or more is in use.
            let least = SHARE / 3 / 111;
            assert!(
                sizes.len() > 2 && sizes[..sizes.len() - 1].iter().all(|&words| words > least),
                "{sizes:?}"
            );
        }
    }
}
