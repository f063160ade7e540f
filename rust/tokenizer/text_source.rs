//! Where the texts of a call come from: memory in UTF-8, or memory that a thread writes as UTF-8 just before it encodes a text.

use std::borrow::Cow;

use crate::Result;

/// The texts of a call.
pub trait TextSource: Sync {
    /// Number of texts.
    fn count(&self) -> usize;

    /// The most bytes that text `row` takes as UTF-8; exactly its bytes if the text is lent.
    fn most_bytes(&self, row: usize) -> usize;

    /// A guess at the bytes that text `row` takes as UTF-8.
    fn likely_bytes(&self, row: usize) -> usize;

    /// Text `row`, unless it has to be written first. A text of more than [`WHOLE`](crate::pipeline::WHOLE) bytes never has to:
    /// threads share it.
    fn lent(&self, row: usize) -> Option<&str>;

    /// Text `row`, which may be written to `buffer` in place of its old content.
    ///
    /// # Errors
    /// [`Error::LoneSurrogate`](crate::Error::LoneSurrogate).
    fn text<'a>(&'a self, row: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str>;

    /// All texts at once.
    ///
    /// # Errors
    /// The errors of [`Self::text`].
    fn all(&self) -> Result<Vec<Cow<'_, str>>> {
        let mut buffer = Vec::new();
        let text = |row| match self.lent(row) {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => Ok(Cow::Owned(self.text(row, &mut buffer)?.to_owned())),
        };
        (0..self.count()).map(text).collect()
    }
}

impl TextSource for [&str] {
    fn count(&self) -> usize {
        self.len()
    }

    fn most_bytes(&self, row: usize) -> usize {
        self[row].len()
    }

    fn likely_bytes(&self, row: usize) -> usize {
        self[row].len()
    }

    fn lent(&self, row: usize) -> Option<&str> {
        Some(self[row])
    }

    fn text<'a>(&'a self, row: usize, _: &'a mut Vec<u8>) -> Result<&'a str> {
        Ok(self[row])
    }
}
