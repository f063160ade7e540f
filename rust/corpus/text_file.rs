//! A file as text, read a part at a time.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::utf8_errors::Utf8Errors;
use crate::{Error, Result};

/// Bytes that are read and decoded at a time, at most.
const BLOCK: usize = 1 << 20;

/// A file that is being read.
pub(super) struct TextFile {
    file: Box<dyn Read + Send>,
    path: PathBuf,
    errors: Utf8Errors,
    /// Bytes that were read and not decoded yet.
    pending: Vec<u8>,
    /// Where in the file the pending bytes begin.
    offset: u64,
}

impl TextFile {
    /// Opens a file, plain or, with the feature `sources`, compressed.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::NotText`] for a file of another format.
    pub(super) fn open(path: &Path, errors: Utf8Errors) -> Result<Self> {
        let file = open(path)?;
        Ok(Self { file, path: path.to_owned(), errors, pending: Vec::new(), offset: 0 })
    }

    /// Appends about `wanted` bytes of text; false once the file is at its end.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InvalidUtf8`] unless such bytes are to be replaced.
    pub(super) fn read(&mut self, text: &mut String, wanted: usize) -> Result<bool> {
        let mut done = 0;
        while done < wanted {
            let block = (wanted - done).min(BLOCK);
            let mut file = Read::by_ref(&mut self.file).take(block as u64);
            let is_end = file.read_to_end(&mut self.pending).map_err(Error::io("read", &self.path))? < block;
            self.decode(text, is_end)?;
            if is_end {
                return Ok(false);
            }
            done += block;
        }
        Ok(true)
    }

    /// Moves the pending bytes to the text, except the beginning of a character whose other bytes may still come.
    fn decode(&mut self, text: &mut String, is_end: bool) -> Result<()> {
        let pending = self.pending.as_slice();
        let mut at = 0;
        // Most blocks end within a character.
        if let Ok(valid) = simdutf8::basic::from_utf8(&pending[..whole_chars(pending)]) {
            text.push_str(valid);
            at = valid.len();
        }
        for chunk in pending[at..].utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            text.push_str(valid);
            at += valid.len();
            let is_cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if invalid.is_empty() || (is_cut && !is_end && at + invalid.len() == pending.len()) {
                continue;
            }
            if self.errors == Utf8Errors::Strict {
                let origin = self.path.display().to_string();
                return Err(Error::InvalidUtf8 { origin, byte: self.offset + at as u64 });
            }
            text.push(char::REPLACEMENT_CHARACTER);
            at += invalid.len();
        }
        self.pending.drain(..at);
        self.offset += at as u64;
        Ok(())
    }
}

#[cfg(feature = "sources")]
fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    super::sources::open_text(path, &std::sync::Arc::default())
}

#[cfg(not(feature = "sources"))]
fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    match std::fs::File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(source) => Err(Error::io("open", path)(source)),
    }
}

/// Bytes of `text` without an incomplete character at its end.
fn whole_chars(text: &[u8]) -> usize {
    let is_lead = |&byte: &u8| byte >= 0xC0;
    let last = text.iter().rev().take(3).position(is_lead).map_or(text.len(), |at| text.len() - at - 1);
    let width = match text.get(last) {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        _ => 2,
    };
    if last + width > text.len() { last } else { text.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_characters_are_told_from_beginnings() {
        let text = "a日é𠀀".as_bytes();
        let lens: Vec<usize> = (0..=text.len()).map(|end| whole_chars(&text[..end])).collect();
        assert_eq!(lens, [0, 1, 1, 1, 4, 4, 6, 6, 6, 6, 10]);
        assert_eq!(whole_chars(&[0x80; 5]), 5);
    }

    fn decoded(parts: &[&[u8]], errors: Utf8Errors) -> Result<String> {
        let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
        let mut file = TextFile::open(Path::new(null), errors)?;
        let mut text = String::new();
        for part in parts {
            file.pending.extend_from_slice(part);
            file.decode(&mut text, false)?;
        }
        file.decode(&mut text, true)?;
        Ok(text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn decode_matches_naive(
            bytes in prop::collection::vec(prop::sample::select(b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88\xff".to_vec()), 0..40),
            size in 1..9usize,
        ) {
            let parts: Vec<&[u8]> = bytes.chunks(size).collect();
            let replaced = decoded(&parts, Utf8Errors::Replace).expect("all bytes are replaced");
            prop_assert_eq!(replaced, String::from_utf8_lossy(&bytes));
            match (std::str::from_utf8(&bytes), decoded(&parts, Utf8Errors::Strict)) {
                (Ok(text), Ok(found)) => prop_assert_eq!(text, found),
                (Err(error), Err(Error::InvalidUtf8 { byte, .. })) => {
                    prop_assert_eq!(error.valid_up_to() as u64, byte);
                }
                (naive, found) => prop_assert!(false, "{naive:?} but {found:?}"),
            }
        }
    }
}
