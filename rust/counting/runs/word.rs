//! A counted word and the place of its first appearance.

/// The mark before the bytes of a phrase, which puts phrases after all words: no text has this byte.
pub(super) const PHRASE: u8 = 0xFF;

/// Where a word first appeared. An earlier place in the corpus is less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the source in the corpus.
    pub source: u32,
    /// The place in that source. It increases along the source, and it is the same however the source is counted.
    pub at: u64,
}

/// A distinct word with its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedWord<'a> {
    /// The word, in the spelling of its run.
    pub word: &'a [u8],
    /// How often it was seen.
    pub count: u64,
    /// Where it was seen first.
    pub first: Place,
}

impl CountedWord<'_> {
    /// True for a marked phrase.
    pub(super) fn is_phrase(&self) -> bool {
        self.word.first() == Some(&PHRASE)
    }
}
