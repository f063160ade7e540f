//! A text that is changed step by step and keeps its original.
//!
//! Pipelines work with [`Normalized`]: it borrows, and it may go without its alignment. Users and their own stages work with
//! [`NormalizedString`]: it owns the original text, can be sliced, and every byte of it is aligned. The code of [`Normalized`]
//! makes all its changes but a few.

use std::ops::Range;

use super::{ByteRange, Normalized, PreTokenized, Rewrite};
use crate::Result;

/// A text with the original text that it stands for, aligned byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NormalizedString {
    original: String,
    normalized: String,
    /// For each byte of `normalized`, the bytes of `original` that its character stands for.
    alignments: Vec<ByteRange>,
    /// Bytes before `original` in the text that it was sliced from.
    shift: usize,
}

impl NormalizedString {
    /// A text that nothing has changed, which begins `shift` bytes after the start of the whole text.
    pub fn new(original: &str, shift: usize) -> Self {
        let mut alignments = Vec::with_capacity(original.len());
        for (at, c) in original.char_indices() {
            let end = at + c.len_utf8();
            alignments.extend(std::iter::repeat_n((at as u32, end as u32), c.len_utf8()));
        }
        Self { original: original.to_owned(), normalized: original.to_owned(), alignments, shift }
    }

    /// The text before all changes.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The text after all changes.
    pub fn normalized(&self) -> &str {
        &self.normalized
    }

    /// The bytes of the whole text that [`Self::original`] is.
    pub fn original_range(&self) -> Range<usize> {
        self.shift..self.shift + self.original.len()
    }

    /// The bytes of the original that bytes `range` of the normalized text stand for. An empty range stands for itself, as in
    /// Hugging Face.
    fn source(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return range;
        }
        self.alignments[range.start].0 as usize..self.alignments[range.end - 1].1 as usize
    }

    /// Replaces the normalized text by the result of `change`.
    ///
    /// # Errors
    /// The errors of `change`; then nothing has changed.
    pub fn change(
        &mut self,
        change: impl for<'t> FnOnce(Normalized<'t>) -> Result<Normalized<'t>>,
    ) -> Result<()> {
        let made = self.realigned(&change(self.as_normalized())?);
        (self.normalized, self.alignments) = made;
        Ok(())
    }

    /// The parts of the text that `cut` makes of it; `cut` may change the text as well.
    ///
    /// # Errors
    /// The errors of `cut`.
    pub fn cut(&self, cut: impl FnOnce(&mut PreTokenized<'_>) -> Result<()>) -> Result<Vec<Self>> {
        let mut pre_tokens = PreTokenized::new(self.as_normalized());
        cut(&mut pre_tokens)?;
        let (normalized, alignments) = self.realigned(&pre_tokens.text);
        let whole = Self { original: self.original.clone(), normalized, alignments, shift: self.shift };
        Ok(pre_tokens.spans.into_iter().map(|span| whole.slice(span)).collect())
    }

    /// A changed text with the bytes of this original for each of its own.
    fn realigned(&self, made: &Normalized<'_>) -> (String, Vec<ByteRange>) {
        let shift = self.shift as u32;
        let mut alignments = Vec::with_capacity(made.text().len());
        for (at, c) in made.text().char_indices() {
            let (start, end) = made.original(at..at + c.len_utf8());
            alignments.extend(std::iter::repeat_n((start - shift, end - shift), c.len_utf8()));
        }
        (made.text().to_owned(), alignments)
    }

    /// As [`Self::change`], by a rewrite of the text.
    pub fn rewrite(&mut self, write: impl FnOnce(&str, &mut Rewrite<'_>)) {
        let result = self.change(|text| {
            let mut rewrite = text.rewrite();
            write(text.text(), &mut rewrite);
            Ok(rewrite.finish())
        });
        debug_assert!(result.is_ok(), "nothing in it fails");
    }

    /// Takes all of the normalized text away.
    pub fn clear(&mut self) {
        self.rewrite(|_, _| {});
    }

    /// Puts `text` before the first character, which it stands for; no change to an empty text.
    pub fn prepend(&mut self, text: &str) {
        self.rewrite(|old, rewrite| {
            if let Some(first) = old.chars().next() {
                rewrite.push_all(text.chars(), 0..first.len_utf8());
            }
            rewrite.copy(0..old.len());
        });
    }

    /// Appends `text`, which stands for the last character.
    pub fn append(&mut self, text: &str) {
        self.rewrite(|old, rewrite| {
            rewrite.copy(0..old.len());
            rewrite.push_after(text, old.len());
        });
    }

    /// Puts each character in upper case.
    pub fn uppercase(&mut self) {
        self.rewrite(|old, rewrite| {
            for (at, c) in old.char_indices() {
                rewrite.push_all(c.to_uppercase(), at..at + c.len_utf8());
            }
        });
    }

    /// Puts `made`, one character for each, in the place of the characters, or takes those away for which it has none.
    pub fn replace_chars(&mut self, made: &[Option<char>]) {
        self.rewrite(|old, rewrite| {
            for ((at, c), made) in old.char_indices().zip(made) {
                if let Some(made) = *made {
                    rewrite.push(made, at..at + c.len_utf8());
                }
            }
        });
    }

    /// The part of the text at bytes `range` of the normalized text, with its part of the original. The range must lie
    /// on character boundaries.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let source = self.source(range.clone());
        let start = source.start as u32;
        let moved = |&(from, to): &ByteRange| (from.saturating_sub(start), to.saturating_sub(start));
        Self {
            original: self.original.get(source.clone()).unwrap_or_default().to_owned(),
            normalized: self.normalized[range.clone()].to_owned(),
            alignments: self.alignments[range].iter().map(moved).collect(),
            shift: self.shift + source.start,
        }
    }

    /// The bytes of the normalized text that are its characters `chars`, or none if these begin after the end.
    ///
    /// A range that ends before it begins goes on to the end of the text, as in Hugging Face.
    pub fn bytes_of_chars(&self, chars: Range<usize>) -> Option<Range<usize>> {
        if chars == (0..0) {
            return Some(chars);
        }
        let mut starts = self.normalized.char_indices().map(|(at, _)| at).skip(chars.start);
        let start = starts.next()?;
        let end = match chars.end.checked_sub(chars.start) {
            Some(0) => start,
            Some(count) => starts.nth(count - 1).unwrap_or(self.normalized.len()),
            None => self.normalized.len(),
        };
        Some(start..end)
    }

    /// The bytes of the whole text that bytes `range` of the normalized text stand for; none if it has no such bytes.
    pub fn original_bytes(&self, range: Range<usize>) -> Option<Range<usize>> {
        if range.start > range.end || range.end > self.normalized.len() {
            return None;
        }
        let source = self.source(range);
        Some(self.shift + source.start..self.shift + source.end)
    }

    /// The characters of the normalized text, and the bytes of the original that each stands for.
    pub fn chars(&self) -> impl Iterator<Item = (char, Range<usize>)> + '_ {
        self.normalized.char_indices().map(|(at, c)| {
            let (start, end) = self.alignments[at];
            (c, start as usize..end as usize)
        })
    }

    /// The text as pipelines see it, aligned to the whole text.
    pub fn as_normalized(&self) -> Normalized<'_> {
        let shift = self.shift as u32;
        let aligned = |(at, c): (usize, char)| {
            let (start, end) = self.alignments[at];
            (c.len_utf8() as u32, (shift + start, shift + end))
        };
        let chars = self.normalized.char_indices().map(aligned);
        Normalized::aligned(&self.normalized, shift, chars)
    }
}
