//! A block of records: lines of a file as they are, or values of a column.

use super::line_ranges::LineRange;
#[cfg(doc)]
use super::source::Format;
use super::source::{Skipped, Source};
#[cfg(doc)]
use crate::Error;
use crate::Result;

/// Records that one thread turns into texts.
#[derive(Debug, Default)]
pub struct RecordBlock {
    /// Whole lines, or the values of a column one after the other.
    pub(super) bytes: Vec<u8>,
    /// The lines of the block, where the thread that works on them reads them into `bytes`.
    pub(super) range: Option<LineRange>,
    /// Of a column, the values in `bytes`; empty where lines are the records.
    pub(super) values: Vec<Value>,
    /// Of a column, the values of added columns, and where the values of each record end; empty where lines are the records.
    pub(super) added: Vec<u8>,
    pub(super) added_ends: Vec<usize>,
    /// The file, by its number.
    pub(super) file: usize,
    /// Bytes of all files, decompressed, before the block.
    pub(super) offset: u64,
    /// Bytes of all files, decompressed, up to the end of the block.
    pub end: u64,
    /// Bytes of all files, decompressed, before the block's file.
    pub(super) file_offset: u64,
    /// Number of the block's first line in its file, from 1 on.
    pub(super) line: u64,
    /// Byte of the file from which on lines are numbered.
    pub(super) numbered_from: u64,
    /// Bytes of the file as it lies on the disk that were read for this block.
    pub read: u64,
}

impl RecordBlock {
    /// Bytes of the block's file that were passed over, see [`SourceReader::starting_at`](super::SourceReader::starting_at).
    pub fn passed_over(&self) -> u64 {
        self.numbered_from
    }

    /// True for the last range of a file: once its texts have been read, the file has been read to its end.
    pub fn ends_file(&self) -> bool {
        self.range.as_ref().is_some_and(LineRange::is_last)
    }

    /// How much the block holds: values, their bytes, and the bytes of added columns.
    pub(super) fn mark(&self) -> (usize, usize, usize) {
        (self.values.len(), self.bytes.len(), self.added.len())
    }

    /// Ends the added values of a record, unless its text was left out since `mark`. A record with a value that cannot be kept is
    /// broken.
    ///
    /// # Errors
    /// [`Error::Format`] for a broken record, unless such records are left out.
    pub(super) fn end_added(
        &mut self,
        (values, bytes, added): (usize, usize, usize),
        outcome: std::result::Result<(), String>,
        source: &Source,
        skipped: &Skipped,
    ) -> Result<()> {
        let Some(&Value { offset, place, .. }) = self.values.get(values) else {
            self.added.truncate(added);
            return Ok(());
        };
        let Err(message) = outcome else {
            self.added_ends.push(self.added.len());
            return Ok(());
        };
        self.values.truncate(values);
        self.bytes.truncate(bytes);
        self.added.truncate(added);
        source.broken(&source.paths[self.file], (place, self.offset + offset), &message, skipped)
    }
}

/// A value of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Where it ends in the bytes of the block.
    pub(super) end: usize,
    /// Where its record begins, in bytes from the beginning of the block.
    pub(super) offset: u64,
    /// The line or row of its record, as [`Format::place`] counts.
    pub(super) place: u64,
}
