//! Blocks of CSV records. A line feed within quotes ends no record, so the reader parses all records itself.

use std::io::{self, Read};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::reader::{CsvValue, RecordBlock, failed, named};
use super::source::{CsvColumn, Skipped, Source};
use crate::{Error, Result};

/// Bytes of values in a block, as a rule.
const BLOCK: usize = 1 << 18;

/// The records of one file.
pub(super) struct CsvRecords {
    reader: Reader<Box<dyn Read + Send>>,
    /// The number of the column.
    column: usize,
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
        path: &Path,
    ) -> Result<Self> {
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(matches!(column, CsvColumn::Name(_)))
            .flexible(true)
            .from_reader(bytes);
        let column = match column {
            CsvColumn::Number(number) => *number,
            CsvColumn::Name(name) => {
                let names = reader.byte_headers().map_err(|error| csv_error(error, path))?;
                names
                    .iter()
                    .position(|found| found == name.as_bytes())
                    .ok_or_else(|| no_column(name, names, path))?
            }
        };
        Ok(Self { reader, column, record: ByteRecord::new() })
    }

    /// Bytes of the file, decompressed, before the next record.
    pub(super) fn offset(&self) -> u64 {
        self.reader.position().byte()
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Format`] for a record without the column, unless such records are left out.
    pub(super) fn next(
        &mut self,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
    ) -> Result<bool> {
        let (path, begin) = (&source.paths[block.file], self.offset());
        block.bytes.clear();
        let mut is_filled = false;
        while block.bytes.len() < BLOCK {
            let position = self.reader.position().clone();
            if !self.reader.read_byte_record(&mut self.record).map_err(|error| csv_error(error, path))? {
                break;
            }
            is_filled = true;
            let (offset, line) = (position.byte() - begin, position.line());
            let Some(value) = self.record.get(self.column) else {
                let (count, number) = (self.record.len(), self.column);
                let message = format!("the record has {count} values, but the text is in number {number}");
                source.broken(path, (line, block.offset + offset), message, skipped)?;
                continue;
            };
            block.bytes.extend_from_slice(value);
            block.values.push(CsvValue { end: block.bytes.len(), offset, line });
        }
        Ok(is_filled)
    }
}

fn no_column(name: &str, names: &ByteRecord, path: &Path) -> Error {
    let names: Vec<_> = names.iter().map(String::from_utf8_lossy).collect();
    let message = format!("there is no column `{name}`, only {}", names.join(", "));
    Error::Format { path: named(path), message }
}

fn csv_error(error: csv::Error, path: &Path) -> Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => failed("read", path, error),
        _ => failed("read", path, io::Error::new(io::ErrorKind::InvalidData, message)),
    }
}
