//! Blocks of CSV records. A line feed within quotes ends no record, so the reader parses all records itself.

use std::io::{self, Read};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::added::{AddedColumn, AddedValue, push_parsed};
use super::columns::{BLOCK, no_column};
use super::reader::{RecordBlock, Value, failed, named};
use super::source::{CsvColumn, Skipped, Source};
use super::texts::decoded;
use crate::{Error, Result};

/// Bytes that are read at a time, perhaps before the record that they belong to.
const BUFFER: usize = 1 << 16;

/// The records of one file.
pub(super) struct CsvRecords {
    reader: Reader<Limited>,
    /// The number of the column.
    column: usize,
    /// The numbers of columns that are kept beside it.
    added: Vec<(usize, AddedColumn)>,
    record: ByteRecord,
}

impl CsvRecords {
    /// Reads the names of the columns, if the column has a name.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Format`] if no column has the name.
    pub(super) fn new(
        bytes: Box<dyn Read + Send>,
        column: &CsvColumn,
        delimiter: u8,
        limit: usize,
        path: &Path,
        added: &[AddedColumn],
    ) -> Result<Self> {
        let bytes = Limited { file: bytes, limit, left: limit.saturating_add(BUFFER) };
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(matches!(column, CsvColumn::Name(_)))
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(bytes);
        let mut numbers = Vec::new();
        let column = match column {
            CsvColumn::Number(number) => {
                for AddedColumn { name, .. } in added {
                    numbers.push(name.parse().map_err(|_| Error::Format {
                        path: named(path),
                        message: format!(
                            "column `{name}` is no number, but the file has no names of columns"
                        ),
                    })?);
                }
                *number
            }
            CsvColumn::Name(name) => {
                let place = || format!("{}, line 1", named(path));
                let names = reader.byte_headers().map_err(|error| csv_error(error, place(), limit, path))?;
                check_size(names, limit, place)?;
                let found = |name: &str| {
                    let found = names.iter().position(|found| found == name.as_bytes());
                    found.ok_or_else(|| no_column(name, names.iter().map(String::from_utf8_lossy), path))
                };
                for column in added {
                    numbers.push(found(&column.name)?);
                }
                found(name)?
            }
        };
        let added = numbers.into_iter().zip(added.iter().cloned()).collect();
        Ok(Self { reader, column, added, record: ByteRecord::new() })
    }

    /// Bytes of the file, decompressed, before the next record.
    pub(super) fn offset(&self) -> u64 {
        self.reader.position().byte()
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Format`] for a record without the column, unless such records are left out;
    /// [`Error::RecordTooLong`].
    pub(super) fn next(
        &mut self,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
    ) -> Result<bool> {
        let (path, begin) = (&source.paths[block.file], self.offset());
        block.bytes.clear();
        let mut is_filled = false;
        while block.bytes.len() + block.added.len() < BLOCK {
            let position = self.reader.position().clone();
            let limit = self.reader.get_ref().limit;
            self.reader.get_mut().left = limit.saturating_add(BUFFER);
            let read = self.reader.read_byte_record(&mut self.record);
            let place = || source.format.place(path, position.line());
            if !read.map_err(|error| csv_error(error, place(), limit, path))? {
                break;
            }
            check_size(&self.record, limit, place)?;
            is_filled = true;
            let (offset, line) = (position.byte() - begin, position.line());
            let Some(value) = self.record.get(self.column) else {
                let (count, number) = (self.record.len(), self.column);
                let message = format!("the record has {count} values, but the text is in number {number}");
                source.broken(path, (line, block.offset + offset), &message, skipped)?;
                continue;
            };
            let mark = block.mark();
            block.bytes.extend_from_slice(value);
            block.values.push(Value { end: block.bytes.len(), offset, place: line });
            if !self.added.is_empty() {
                let outcome = push_values(&self.record, &self.added, source, &mut block.added);
                block.end_added(mark, outcome, source, skipped)?;
            }
        }
        Ok(is_filled)
    }
}

/// Appends the added values of a record. One that the record is too short for is null.
fn push_values(
    record: &ByteRecord,
    columns: &[(usize, AddedColumn)],
    source: &Source,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    for (number, AddedColumn { name, kind, .. }) in columns {
        let Some(value) = record.get(*number) else {
            AddedValue::Null.push_to(bytes);
            continue;
        };
        let value = decoded(value, source.errors)
            .map_err(|at| format!("column `{name}` is not valid UTF-8 at its byte {at}"))?;
        push_parsed(&value, *kind, name, bytes)?;
    }
    Ok(())
}

/// Refuses a record of more than `limit` bytes.
fn check_size(record: &ByteRecord, limit: usize, place: impl FnOnce() -> String) -> Result<()> {
    if record.as_slice().len() > limit {
        return Err(Error::RecordTooLong { place: place(), limit });
    }
    Ok(())
}

/// The bytes of a file, of which only so many may be read for one record: a record that is too long must not fill the memory.
struct Limited {
    file: Box<dyn Read + Send>,
    /// Bytes of the longest record.
    limit: usize,
    /// Bytes that may be read until the record ends.
    left: usize,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(read);
        Ok(read)
    }
}

fn csv_error(error: csv::Error, place: String, limit: usize, path: &Path) -> Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Error::RecordTooLong { place, limit }
        }
        csv::ErrorKind::Io(error) => failed("read", path, error),
        _ => failed("read", path, io::Error::new(io::ErrorKind::InvalidData, message)),
    }
}
