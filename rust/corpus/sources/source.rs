//! The files to read, their format, and the handling of broken records.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::arrow_stream::ArrowStream;
use super::file_errors::named;
use crate::Result;
use crate::corpus::Utf8Errors;

/// How many broken records a report shows.
const SHOWN: usize = 10;

/// Files of one format.
#[derive(Clone, Debug)]
pub struct Source {
    /// The files, in the order in which their texts come; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// How the files hold texts.
    pub format: Format,
    /// The handling of bytes that are not UTF-8.
    pub errors: Utf8Errors,
    /// The handling of a record that is no text.
    pub on_error: OnError,
}

/// How a file holds texts.
#[derive(Clone, Debug)]
pub enum Format {
    /// Each line with its line feed is a text.
    Lines,
    /// Each line is a JSON object, one field of which is the text.
    JsonLines {
        /// The keys that lead to the field, from the outermost object inward.
        field: Vec<String>,
    },
    /// Comma-separated values, one column of which holds the texts.
    Csv {
        /// The column.
        column: CsvColumn,
        /// The byte between two values.
        delimiter: u8,
    },
    /// Parquet, one column of which holds the texts.
    Parquet {
        /// The names that lead to the column, from the outermost struct inward, with dots between them.
        column: String,
    },
    /// Arrow's IPC files and streams, one column of which holds the texts.
    ArrowIpc {
        /// As for Parquet.
        column: String,
    },
    /// A stream of Arrow's in memory, which takes the place of the one path.
    ArrowStream {
        /// As for Parquet; of no account if the stream's arrays are texts themselves.
        column: String,
        /// The stream.
        stream: Arc<ArrowStream>,
    },
    /// Each file is a text, or several texts with separators between them.
    Documents {
        /// The separator, which is part of no text.
        separator: Option<String>,
    },
}

/// The format and its options, in words that differ where these do.
impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines => out.write_str("lines"),
            Self::JsonLines { field } => write!(out, "JSON lines, field {}", quoted(&field.join("."))),
            Self::Csv { column: CsvColumn::Name(name), delimiter } => {
                write!(
                    out,
                    "CSV, column {}, delimiter {}",
                    quoted(name),
                    quoted(&char::from(*delimiter).to_string())
                )
            }
            Self::Csv { column: CsvColumn::Number(number), delimiter } => {
                write!(out, "CSV, column {number}, delimiter {}", quoted(&char::from(*delimiter).to_string()))
            }
            Self::Parquet { column } => write!(out, "Parquet, column {}", quoted(column)),
            Self::ArrowIpc { column } => write!(out, "Arrow, column {}", quoted(column)),
            // The stream itself would be told by its address.
            Self::ArrowStream { column, .. } => write!(out, "an Arrow stream, column {}", quoted(column)),
            Self::Documents { separator: None } => out.write_str("documents, each a file"),
            Self::Documents { separator: Some(separator) } => {
                write!(out, "documents, separator {}", quoted(separator))
            }
        }
    }
}

/// A text in quotation marks, with escapes for the quotation marks in it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Format {
    /// A record of a file as messages name it: by its line, from 1 on, or by its row or document, from 0 on.
    pub(super) fn place(&self, path: &Path, number: u64) -> String {
        let kind = match self {
            Self::Lines | Self::JsonLines { .. } | Self::Csv { .. } => "line",
            Self::Parquet { .. } | Self::ArrowIpc { .. } | Self::ArrowStream { .. } => "row",
            Self::Documents { .. } => "document",
        };
        format!("{}, {kind} {number}", named(path))
    }

    /// The same, where records are numbered from byte `from` of the file on.
    pub(super) fn place_after(&self, path: &Path, number: u64, from: u64) -> String {
        let place = self.place(path, number);
        if from == 0 { place } else { format!("{place} after byte {from}") }
    }
}

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CsvColumn {
    /// By its name in the first record.
    Name(String),
    /// By its number from 0 on, in a file whose first record is a text like all others.
    Number(usize),
}

/// The handling of a record that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Stop with an error that names the file and the line.
    Raise,
    /// Leave the record out, and report it.
    Skip,
}

impl OnError {
    /// Its name in Python.
    pub(in crate::corpus) fn name(self) -> &'static str {
        match self {
            Self::Raise => "raise",
            Self::Skip => "skip",
        }
    }
}

/// The message about a line that is left out for its length.
pub(super) fn too_long(limit: usize) -> String {
    format!("the line has more than {limit} bytes")
}

/// The records that were left out; shared by all threads.
#[derive(Debug, Default)]
pub struct Skipped {
    /// Their number, and messages of the first ones.
    found: Mutex<(u64, Vec<Message>)>,
    of_file: Option<OfFile>,
}

/// Error of a record, with the number of its file and its byte there.
type Message = ((usize, u64), String);

/// The file to which all records of a [`Skipped`] belong, one of the files of a source.
#[derive(Debug)]
struct OfFile {
    /// Reports the records of all files.
    all: Arc<Skipped>,
    file: usize,
    /// Records before this byte are an earlier run's.
    begin: AtomicU64,
    /// Bytes at which records begin that [`Skipped::take_before`] has not taken.
    places: Mutex<Vec<u64>>,
}

impl Skipped {
    /// The records of file `file` of a source alone, which `all` reports, too.
    pub fn of_file(all: &Arc<Self>, file: usize) -> Self {
        let (all, begin, places) = (Arc::clone(all), AtomicU64::default(), Mutex::default());
        Self { of_file: Some(OfFile { all, file, begin, places }), ..Self::default() }
    }

    /// Passes over the records of a file that begin before `byte`.
    pub fn begin_at(&self, byte: u64) {
        if let Some(OfFile { begin, .. }) = &self.of_file {
            begin.store(byte, Ordering::Relaxed);
        }
    }

    /// The bytes, ascending, at which records of a file begin that lie before `end`; each is given once.
    pub fn take_before(&self, end: u64) -> Vec<u64> {
        let Some(OfFile { places, .. }) = &self.of_file else { return Vec::new() };
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken: Vec<u64> = places.extract_if(.., |&mut place| place < end).collect();
        taken.sort_unstable();
        taken
    }

    /// Counts records that an earlier run has left out, of which there are no messages.
    pub fn add_earlier(&self, records: u64) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).0 += records;
    }

    /// Adds the record at `offset` of all bytes of the source; `message` is called only if the report shows the record so far.
    ///
    /// # Errors
    /// The errors of `message`.
    pub(super) fn add(&self, offset: u64, message: impl FnOnce() -> Result<String>) -> Result<()> {
        let Some(OfFile { all, file, begin, places }) = &self.of_file else {
            return self.add_at((0, offset), message);
        };
        if offset < begin.load(Ordering::Relaxed) {
            return Ok(());
        }
        places.lock().unwrap_or_else(PoisonError::into_inner).push(offset);
        all.add_at((*file, offset), message)
    }

    fn add_at(&self, at: (usize, u64), message: impl FnOnce() -> Result<String>) -> Result<()> {
        let (count, first) = &mut *self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let place = first.partition_point(|&(known, _)| known < at);
        if place < SHOWN {
            first.insert(place, (at, message()?));
            first.truncate(SHOWN);
        }
        Ok(())
    }

    /// The number of records, and the messages of the first ten.
    pub fn report(&self) -> (u64, Vec<String>) {
        let (count, first) = &*self.found.lock().unwrap_or_else(PoisonError::into_inner);
        (*count, first.iter().map(|(_, message)| message.clone()).collect())
    }
}
