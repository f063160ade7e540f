//! The texts of a block.

use std::borrow::Cow;
use std::path::Path;

use super::added::{AddedColumn, push_json_values};
use super::file_errors::{failed, named};
use super::json_field::{push_field, with_finite_numbers};
use super::line_ranges::RangeError;
use super::record_block::RecordBlock;
use super::source::{Format, OnError, Skipped, Source, too_long};
use crate::corpus::Utf8Errors;
use crate::corpus::lines::for_each_line;
use crate::{Error, Result};

impl Source {
    /// Calls `each` with every text of `block`, and with the place of its record in all files, decompressed, in bytes.
    ///
    /// # Errors
    /// [`Error::InvalidUtf8`] unless such bytes are to be replaced; [`Error::Format`] with the line or row of a broken record, unless
    /// such records are left out, which `skipped` reports; the errors of `each`.
    pub fn for_each_text(
        &self,
        block: &mut RecordBlock,
        skipped: &Skipped,
        mut each: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        self.for_each_row(block, skipped, &[], |text, place, _| each(text, place))
    }

    /// The same, and `each` also gets the values of the columns that the reader of `block` kept.
    ///
    /// # Errors
    /// The errors of [`Self::for_each_text`].
    pub fn for_each_row(
        &self,
        block: &mut RecordBlock,
        skipped: &Skipped,
        added: &[AddedColumn],
        each: impl FnMut(&str, u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let path = self.paths[block.file].as_path();
        self.load(block, path, skipped)?;
        let walk = Walk { block, source: self, skipped, path, added, each };
        match &self.format {
            Format::Lines => walk.lines(),
            Format::JsonLines { field } => walk.json(field),
            Format::Documents { .. } => walk.documents(),
            Format::Csv { .. }
            | Format::Parquet { .. }
            | Format::ArrowIpc { .. }
            | Format::ArrowStream { .. } => walk.values(),
        }
    }

    /// Reads the lines of the block, if that is left to the thread that works on them. A line that is too long is a broken record.
    fn load(&self, block: &mut RecordBlock, path: &Path, skipped: &Skipped) -> Result<()> {
        let Some(range) = &block.range else { return Ok(()) };
        let from = block.numbered_from;
        let place = |line| self.format.place_after(path, line, from);
        let start = match range.read(&mut block.bytes) {
            Ok(start) => start,
            Err(RangeError::Io(error)) => return Err(failed("read", path, error)),
            Err(RangeError::TooLong { line, limit, byte, start }) if self.on_error == OnError::Skip => {
                self.broken_at(|| Ok(place(line)), block.file_offset + byte, &too_long(limit), skipped)?;
                start
            }
            Err(RangeError::TooLong { line, limit, .. }) => {
                return Err(Error::RecordTooLong { place: place(line), limit });
            }
        };
        block.offset = block.file_offset + start;
        Ok(())
    }
}

/// The work on one block.
struct Walk<'a, F> {
    block: &'a RecordBlock,
    source: &'a Source,
    skipped: &'a Skipped,
    path: &'a Path,
    added: &'a [AddedColumn],
    each: F,
}

impl<F: FnMut(&str, u64, &[u8]) -> Result<()>> Walk<'_, F> {
    fn lines(mut self) -> Result<()> {
        let RecordBlock { bytes, offset, file_offset, .. } = self.block;
        let invalid = |at| Error::InvalidUtf8 { origin: named(self.path), byte: offset - file_offset + at };
        for_each_line(bytes, self.source.errors, invalid, |line, at| (self.each)(line, offset + at, &[]))
    }

    fn json(mut self, field: &[String]) -> Result<()> {
        let (mut next, mut text, mut values) = (self.block.offset, String::new(), Vec::new());
        for (index, line) in (0..).zip(self.block.bytes.split_inclusive(|&byte| byte == b'\n')) {
            let offset = next;
            next += line.len() as u64;
            let line = if offset == self.block.file_offset {
                line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
            } else {
                line
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            // Bytes that are not UTF-8 and are not replaced are an error of the JSON.
            let replaced = match self.source.errors {
                Utf8Errors::Strict => None,
                Utf8Errors::Replace => Some(String::from_utf8_lossy(line)),
            };
            let line = replaced.as_ref().map_or(line, |line| line.as_bytes());
            let line = line.trim_ascii_end();
            let mut read = |json: &[u8]| {
                text.clear();
                values.clear();
                push_field(json, field, &mut text)?;
                push_json_values(json, line, self.added, &mut values)
            };
            let read = read(line)
                .or_else(|message| with_finite_numbers(line).map_or(Err(message), |json| read(&json)));
            match read {
                Ok(()) => (self.each)(&text, offset, &values)?,
                Err(message) => {
                    let place = || self.place_of_line(index);
                    self.source.broken_at(place, offset, &message, self.skipped)?;
                }
            }
        }
        Ok(())
    }

    /// The line with this number in the block, from 0 on, as messages name it.
    fn place_of_line(&self, index: u64) -> Result<String> {
        let RecordBlock { line, offset, file_offset, numbered_from, .. } = *self.block;
        let first = match &self.block.range {
            Some(range) => {
                range.line_at(offset - file_offset).map_err(|error| failed("read", self.path, error))?
            }
            None => line,
        };
        Ok(self.source.format.place_after(self.path, first + index, numbered_from))
    }

    fn documents(mut self) -> Result<()> {
        let RecordBlock { bytes, values, offset, file_offset, .. } = self.block;
        let mut start = 0;
        for value in values {
            let (document, offset) = (&bytes[start..value.end], offset + value.offset);
            start = value.end;
            let text = decoded(document, self.source.errors).map_err(|at| Error::InvalidUtf8 {
                origin: named(self.path),
                byte: offset - file_offset + at as u64,
            })?;
            (self.each)(&text, offset, &[])?;
        }
        Ok(())
    }

    fn values(mut self) -> Result<()> {
        let (mut start, mut added_start) = (0, 0);
        for (number, value) in self.block.values.iter().enumerate() {
            let (bytes, offset) = (&self.block.bytes[start..value.end], self.block.offset + value.offset);
            start = value.end;
            let added_end = self.block.added_ends.get(number).copied().unwrap_or(0);
            let added = &self.block.added[std::mem::replace(&mut added_start, added_end)..added_end];
            match decoded(bytes, self.source.errors) {
                Ok(text) => (self.each)(&text, offset, added)?,
                Err(at) => {
                    let message = format!("the value is not valid UTF-8 at its byte {at}");
                    self.source.broken(self.path, (value.place, offset), &message, self.skipped)?;
                }
            }
        }
        Ok(())
    }
}

impl Source {
    /// Reports a record in line or row `place` of its file that begins at `offset` of all files.
    pub(super) fn broken(
        &self,
        path: &Path,
        (place, offset): (u64, u64),
        message: &str,
        skipped: &Skipped,
    ) -> Result<()> {
        self.broken_at(|| Ok(self.format.place(path, place)), offset, message, skipped)
    }

    /// The same for a record whose place `name` tells, which is asked only where the message is shown.
    pub(super) fn broken_at(
        &self,
        name: impl FnOnce() -> Result<String>,
        offset: u64,
        message: &str,
        skipped: &Skipped,
    ) -> Result<()> {
        match self.on_error {
            OnError::Raise => Err(Error::Format { path: name()?, message: message.to_owned() }),
            OnError::Skip => skipped.add(offset, || Ok(format!("{}: {message}", name()?))),
        }
    }
}

/// The text of bytes, or the first byte that is not UTF-8 if such bytes are not to be replaced.
pub(super) fn decoded(bytes: &[u8], errors: Utf8Errors) -> std::result::Result<Cow<'_, str>, usize> {
    match (simdutf8::compat::from_utf8(bytes), errors) {
        (Ok(text), _) => Ok(Cow::Borrowed(text)),
        (Err(_), Utf8Errors::Replace) => Ok(String::from_utf8_lossy(bytes)),
        (Err(error), Utf8Errors::Strict) => Err(error.valid_up_to()),
    }
}
