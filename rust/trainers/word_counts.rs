//! Distinct words of a corpus with their counts: in memory, or from a source that trainers read several times.

use std::ops::Range;

use crate::Result;
use crate::structures::huge_pages::vec_mapped;

/// Takes a word with its count; false if no more words are wanted.
pub type EachWord<'a> = dyn FnMut(&str, u64) -> Result<bool> + 'a;

/// Distinct words with their counts, in an order that the source decides. They can be read several times, and in parts by several threads.
pub trait WordSource: Sync {
    /// Ranges that together hold all words, in order: about `parts` of them at most, with about the same number of bytes each.
    fn parts(&self, parts: usize) -> Vec<Range<usize>>;

    /// Bytes of all words.
    fn byte_len(&self) -> usize;

    /// Reads the words of one of [`Self::parts`] in order.
    ///
    /// # Errors
    /// The errors of reading and of `each`.
    fn read(&self, part: Range<usize>, each: &mut EachWord<'_>) -> Result<()>;
}

/// Reads all words in order.
///
/// # Errors
/// The errors of [`WordSource::read`].
pub fn read_all(words: &dyn WordSource, mut each: impl FnMut(&str, u64)) -> Result<()> {
    words.parts(1).into_iter().try_for_each(|part| {
        words.read(part, &mut |word, count| {
            each(word, count);
            Ok(true)
        })
    })
}

impl WordSource for WordCounts {
    fn parts(&self, parts: usize) -> Vec<Range<usize>> {
        let share = self.byte_len() / parts.max(1) + 1;
        let mut ranges = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for index in 0..self.len() {
            bytes += self.word(index).len();
            if bytes >= share {
                ranges.push(start..index + 1);
                (start, bytes) = (index + 1, 0);
            }
        }
        ranges.push(start..self.len());
        ranges
    }

    fn byte_len(&self) -> usize {
        self.text.len()
    }

    fn read(&self, part: Range<usize>, each: &mut EachWord<'_>) -> Result<()> {
        for index in part {
            if !each(self.word(index), self.count(index))? {
                break;
            }
        }
        Ok(())
    }
}

/// Distinct words (pre-tokens, as the model will get them) with 64-bit counts.
///
/// Words keep their order of first appearance in the corpus, because the textbook breaks ties by it. Memory: the words'
/// bytes in one arena, and 16 bytes a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    text: String,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl WordCounts {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty table with room for `words` words of `bytes` bytes in all.
    pub fn with_room(words: usize, bytes: usize) -> Self {
        // An empty vector is valid UTF-8.
        let text = String::from_utf8(vec_mapped(bytes)).unwrap_or_default();
        Self { text, ends: vec_mapped(words), counts: vec_mapped(words) }
    }

    /// Appends a word, which must not be in the table yet.
    pub fn push(&mut self, word: &str, count: u64) {
        self.push_with(count, |text| text.push_str(word));
    }

    /// As [`Self::push`], for a word that `write` appends to the arena.
    pub fn push_with(&mut self, count: u64, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
        self.counts.push(count);
    }

    /// Appends all words of `others`, none of which may be in this table.
    #[must_use]
    pub fn followed_by(mut self, others: Self) -> Self {
        let len = self.text.len();
        self.text.reserve_exact(others.text.len());
        self.text.push_str(&others.text);
        self.ends.extend(others.ends.iter().map(|end| len + end));
        self.counts.extend(others.counts);
        self
    }

    /// Number of distinct words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True if there are no words.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The words with their counts, in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> + '_ {
        (0..self.len()).map(|index| (self.word(index), self.counts[index]))
    }

    /// The word at `index`, in order of first appearance.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    pub fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The count of the word at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    pub fn count(&self, index: usize) -> u64 {
        self.counts[index]
    }

    /// Bytes of all distinct words.
    pub fn byte_len(&self) -> usize {
        self.text.len()
    }
}

impl<T: AsRef<str>> FromIterator<(T, u64)> for WordCounts {
    fn from_iter<I: IntoIterator<Item = (T, u64)>>(words: I) -> Self {
        let mut counts = Self::new();
        for (word, count) in words {
            counts.push(word.as_ref(), count);
        }
        counts
    }
}
