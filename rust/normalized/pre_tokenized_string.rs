//! A text that users and their own stages cut into splits, each of which gets its tokens.

use std::ops::Range;

use super::NormalizedString;
use crate::Result;

/// A token of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringToken {
    /// Its number in the vocabulary.
    pub id: u32,
    /// Its text.
    pub value: String,
    /// Its start and end in bytes of the split's normalized text.
    pub span: (usize, usize),
}

/// A part of the text, with its tokens once it has been tokenized.
#[derive(Clone, Debug)]
pub struct StringSplit {
    /// The text.
    pub text: NormalizedString,
    /// The tokens.
    pub tokens: Option<Vec<StringToken>>,
}

/// A text cut into splits.
#[derive(Clone, Debug, Default)]
pub struct PreTokenizedString {
    original: String,
    splits: Vec<StringSplit>,
}

impl PreTokenizedString {
    /// A text in one split.
    pub fn new(text: NormalizedString) -> Self {
        Self { original: text.original().to_owned(), splits: vec![StringSplit { text, tokens: None }] }
    }

    /// The text before all changes.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The splits.
    pub fn splits(&self) -> &[StringSplit] {
        &self.splits
    }

    /// Replaces each split without tokens by the splits that `split` makes of its number and text. Splits without text are
    /// left out.
    ///
    /// # Errors
    /// The errors of `split`; then nothing has changed.
    pub fn split(
        &mut self,
        mut split: impl FnMut(usize, &NormalizedString) -> Result<Vec<NormalizedString>>,
    ) -> Result<()> {
        let mut splits = Vec::with_capacity(self.splits.len());
        for (number, old) in self.splits.iter().enumerate() {
            if old.tokens.is_some() {
                splits.push(old.clone());
                continue;
            }
            let made = split(number, &old.text)?.into_iter().filter(|text| !text.normalized().is_empty());
            splits.extend(made.map(|text| StringSplit { text, tokens: None }));
        }
        self.splits = splits;
        Ok(())
    }

    /// Changes each split without tokens.
    ///
    /// # Errors
    /// The errors of `change`; then the splits before the failed one are changed.
    pub fn normalize(&mut self, change: impl FnMut(&mut NormalizedString) -> Result<()>) -> Result<()> {
        let without_tokens = self.splits.iter_mut().filter(|split| split.tokens.is_none());
        without_tokens.map(|split| &mut split.text).try_for_each(change)
    }

    /// Gives each split without tokens the tokens that `tokenize` makes of its text.
    ///
    /// # Errors
    /// The errors of `tokenize`; then the splits before the failed one have their tokens.
    pub fn tokenize(&mut self, mut tokenize: impl FnMut(&str) -> Result<Vec<StringToken>>) -> Result<()> {
        for split in self.splits.iter_mut().filter(|split| split.tokens.is_none()) {
            split.tokens = Some(tokenize(split.text.normalized())?);
        }
        Ok(())
    }

    /// The bytes of each split: in the original text, or in the normalized texts one after the other.
    pub fn byte_ranges(&self, in_original: bool) -> Vec<Range<usize>> {
        let mut end = 0;
        let range = |split: &StringSplit| {
            let start = end;
            end += split.text.normalized().len();
            if in_original { split.text.original_range() } else { start..end }
        };
        self.splits.iter().map(range).collect()
    }
}

/// From bytes to characters of a text, also for ranges that it does not have.
///
/// Hugging Face converts ranges of normalized text by the original, and so does this.
#[derive(Clone, Debug)]
pub struct CharOffsets {
    /// First byte of each character.
    starts: Vec<usize>,
    len: usize,
}

impl CharOffsets {
    /// For ranges of `text`.
    pub fn new(text: &str) -> Self {
        Self { starts: text.char_indices().map(|(at, _)| at).collect(), len: text.len() }
    }

    /// The characters at `bytes`; a range that begins after the end of the text stays as it is.
    pub fn convert(&self, bytes: Range<usize>) -> Range<usize> {
        let Some(start) = self.char_at(bytes.start) else { return bytes };
        let after_last =
            || bytes.end.checked_sub(1).and_then(|last| self.char_at(last)).unwrap_or(start + 1) + 1;
        start..self.char_at(bytes.end).unwrap_or_else(after_last)
    }

    fn char_at(&self, byte: usize) -> Option<usize> {
        (byte < self.len).then(|| self.starts.partition_point(|&start| start <= byte) - 1)
    }
}
