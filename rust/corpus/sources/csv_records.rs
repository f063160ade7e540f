//! Blocks of CSV records. A line feed within quotes ends no record, so one thread looks for the ends of all records.

use std::io::Read;
use std::path::Path;

use super::added::{AddedColumn, AddedValue, push_parsed};
use super::columns::{BLOCK, no_column};
use super::csv_scan::{Scan, Step};
use super::file_errors::{failed, named};
use super::record_block::{RecordBlock, Value};
use super::source::{CsvColumn, OnError, Skipped, Source};
use super::texts::decoded;
use crate::corpus::lines::read_more;
use crate::{Error, Result};

/// Byte order mark: bytes before the first record that belong to none.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The records of one file.
pub(super) struct CsvRecords {
    bytes: Records,
    /// The number of the column.
    column: usize,
    /// The numbers of columns that are kept beside it.
    added: Vec<(usize, AddedColumn)>,
    /// An added value.
    value: Vec<u8>,
}

/// The bytes of one file, cut into records.
struct Records {
    file: Box<dyn Read + Send>,
    scan: Scan,
    /// Bytes of the file. The bytes before `start` were handed out.
    held: Vec<u8>,
    start: usize,
    is_done: bool,
    /// Bytes of the file before `start`.
    offset: u64,
    /// The line at `start`, from 1 on.
    line: u64,
    /// Bytes of the longest record.
    limit: usize,
}

/// The next record of a file.
enum Next {
    /// So many bytes, which are held.
    Record(usize),
    /// A broken record.
    Broken(Broken),
    End,
}

/// Why a record is broken.
struct Broken {
    fault: Fault,
    /// The byte of the quotation mark, or where the record begins.
    at: usize,
    /// The byte whose line is the last one that is passed over.
    last: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Unclosed,
    TextAfter,
    TooLong { is_quoted: bool },
}

impl CsvRecords {
    /// Reads the names of the columns, if the column has a name.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Format`] if no column has the name or the names are a broken record.
    pub(super) fn new(
        file: Box<dyn Read + Send>,
        column: &CsvColumn,
        delimiter: u8,
        limit: usize,
        path: &Path,
        added: &[AddedColumn],
    ) -> Result<Self> {
        let mut bytes = Records::new(file, delimiter, limit, path)?;
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
                let names = bytes.names(path)?;
                let found = |name: &str| {
                    let found = names.iter().position(|found| found == name.as_bytes());
                    found.ok_or_else(|| {
                        no_column(name, names.iter().map(|name| String::from_utf8_lossy(name)), path)
                    })
                };
                for column in added {
                    numbers.push(found(&column.name)?);
                }
                found(name)?
            }
        };
        let added = numbers.into_iter().zip(added.iter().cloned()).collect();
        Ok(Self { bytes, column, added, value: Vec::new() })
    }

    /// Bytes of the file, decompressed, before the next record.
    pub(super) fn offset(&self) -> u64 {
        self.bytes.offset
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a record without the column or with a quotation mark that is not closed, and
    /// [`Error::RecordTooLong`], unless such records are left out.
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
            let len = match self.bytes.next(path)? {
                Next::End => break,
                Next::Record(len) => len,
                Next::Broken(broken) => {
                    is_filled = true;
                    let line = self.bytes.line_at(broken.at);
                    let offset = block.offset + self.offset() - begin;
                    if let (Fault::TooLong { .. }, OnError::Raise) = (broken.fault, source.on_error) {
                        return Err(self.bytes.too_long(path, line));
                    }
                    let message = self.bytes.message(broken.fault);
                    source.broken(path, (line, offset), &message, skipped)?;
                    self.bytes.pass_over_line(broken.last).map_err(|error| failed("read", path, error))?;
                    continue;
                }
            };
            is_filled = true;
            let (offset, line) = (self.offset() - begin, self.bytes.first_line(len));
            let (record, scan) = (&self.bytes.held[self.bytes.start..][..len], &self.bytes.scan);
            let mark = block.mark();
            if scan.push_to(self.column, record, &mut block.bytes) {
                block.values.push(Value { end: block.bytes.len(), offset, place: line });
                if !self.added.is_empty() {
                    let (value, added) = (&mut self.value, &mut block.added);
                    let outcome = push_values(scan, record, &self.added, source, value, added);
                    block.end_added(mark, outcome, source, skipped)?;
                }
            } else {
                let (count, number) = (scan.len(), self.column);
                let message = format!("the record has {count} values, but the text is in number {number}");
                source.broken(path, (line, block.offset + offset), &message, skipped)?;
            }
            self.bytes.take(len);
        }
        Ok(is_filled)
    }
}

impl Records {
    /// Reads enough bytes to recognise a byte order mark.
    fn new(file: Box<dyn Read + Send>, delimiter: u8, limit: usize, path: &Path) -> Result<Self> {
        let scan = Scan::new(delimiter);
        let mut records =
            Self { file, scan, held: Vec::new(), start: 0, is_done: false, offset: 0, line: 1, limit };
        while !records.is_done && records.held.len() < BYTE_ORDER_MARK.len() {
            records.read(path)?;
        }
        if records.held.starts_with(BYTE_ORDER_MARK) {
            records.take(BYTE_ORDER_MARK.len());
        }
        Ok(records)
    }

    /// Forgets the bytes that were handed out, and reads more of the file.
    fn read(&mut self, path: &Path) -> Result<()> {
        self.held.drain(..self.start);
        self.start = 0;
        if self.held.capacity() > 8 * BLOCK && self.held.len() < BLOCK {
            self.held.shrink_to(2 * BLOCK);
        }
        self.is_done =
            read_more(&mut self.file, &mut self.held).map_err(|error| failed("read", path, error))? == 0;
        Ok(())
    }

    /// Finds the next record; a broken record stays until it is passed over.
    fn next(&mut self, path: &Path) -> Result<Next> {
        loop {
            let held = &self.held[self.start..];
            let broken = |fault, at, last| Ok(Next::Broken(Broken { fault, at, last }));
            let len = match self.scan.advance(held, self.is_done) {
                Step::End => return Ok(Next::End),
                Step::Unclosed { quote } => return broken(Fault::Unclosed, quote, quote),
                Step::TextAfter { quote } => return broken(Fault::TextAfter, quote, quote),
                Step::Record(len) if len <= self.limit => return Ok(Next::Record(len)),
                Step::Record(len) => return broken(Fault::TooLong { is_quoted: false }, 0, len - 1),
                Step::More => held.len(),
            };
            if len > self.limit {
                let quote = self.scan.open_quote();
                let at = quote.unwrap_or(0);
                return broken(Fault::TooLong { is_quoted: quote.is_some() }, at, quote.unwrap_or(len - 1));
            }
            self.read(path)?;
        }
    }

    /// Continues after `len` bytes that are held.
    fn take(&mut self, len: usize) {
        self.line = self.line_at(len);
        self.start += len;
        self.offset += len as u64;
        self.scan.restart();
    }

    /// The line of a byte that is held.
    fn line_at(&self, at: usize) -> u64 {
        self.line + memchr::memchr_iter(b'\n', &self.held[self.start..][..at]).count() as u64
    }

    /// The line of a record's first value: empty lines may come before it.
    fn first_line(&self, len: usize) -> u64 {
        let record = &self.held[self.start..][..len];
        let is_line_end = |byte: &&u8| matches!(byte, b'\n' | b'\r');
        self.line_at(record.iter().take_while(is_line_end).count())
    }

    /// Continues after the line of the byte `at`, which is held.
    fn pass_over_line(&mut self, mut at: usize) -> std::io::Result<()> {
        loop {
            if let Some(end) = memchr::memchr2(b'\n', b'\r', &self.held[self.start + at..]) {
                self.take(at + end + 1);
                return Ok(());
            }
            self.take(self.held.len() - self.start);
            (self.held, self.start, at) = (Vec::new(), 0, 0);
            if self.is_done || read_more(&mut self.file, &mut self.held)? == 0 {
                self.is_done = true;
                return Ok(());
            }
        }
    }

    /// The values of the first record.
    fn names(&mut self, path: &Path) -> Result<Vec<Vec<u8>>> {
        let len = match self.next(path)? {
            Next::End => return Ok(Vec::new()),
            Next::Record(len) => len,
            Next::Broken(Broken { fault, at, .. }) => {
                let line = self.line_at(at);
                return Err(match fault {
                    Fault::TooLong { .. } => self.too_long(path, line),
                    fault => Error::Format {
                        path: format!("{}, line {line}", named(path)),
                        message: self.message(fault),
                    },
                });
            }
        };
        let record = &self.held[self.start..][..len];
        let names = (0..self.scan.len()).map(|number| {
            let mut name = Vec::new();
            self.scan.push_to(number, record, &mut name);
            name
        });
        let names = names.collect();
        self.take(len);
        Ok(names)
    }

    fn too_long(&self, path: &Path, line: u64) -> Error {
        Error::RecordTooLong { place: format!("{}, line {line}", named(path)), limit: self.limit }
    }

    /// The error of a record.
    fn message(&self, fault: Fault) -> String {
        let limit = self.limit;
        match fault {
            Fault::Unclosed => "a quotation mark opens here that is never closed".to_owned(),
            Fault::TextAfter => {
                "text follows the quotation mark that closes the one here; one of them is missing, or one within the value is not doubled"
                    .to_owned()
            }
            Fault::TooLong { is_quoted: true } => {
                format!("a quotation mark opens here that is not closed within {limit} bytes, the most that a record may have")
            }
            Fault::TooLong { is_quoted: false } => format!("the record has more than {limit} bytes"),
        }
    }
}

/// Appends the added values of a record. One that the record is too short for is null.
fn push_values(
    scan: &Scan,
    record: &[u8],
    columns: &[(usize, AddedColumn)],
    source: &Source,
    value: &mut Vec<u8>,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    for (number, AddedColumn { name, kind, .. }) in columns {
        value.clear();
        if !scan.push_to(*number, record, value) {
            AddedValue::Null.push_to(bytes);
            continue;
        }
        let value = decoded(value, source.errors)
            .map_err(|at| format!("column `{name}` is not valid UTF-8 at its byte {at}"))?;
        push_parsed(&value, *kind, name, bytes)?;
    }
    Ok(())
}
