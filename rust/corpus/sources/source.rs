//! What is read, and what becomes of records that are broken.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::arrow_stream::ArrowStream;
use super::reader::named;
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
    /// What to do with bytes that are not UTF-8.
    pub errors: Utf8Errors,
    /// What to do with a record that is no text.
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
        /// What stands between two values.
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
    /// Each file is a text, or what stands between separators.
    Documents {
        /// What ends a text and is not part of it.
        separator: Option<String>,
    },
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

/// What to do with a record that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Stop with an error that names the file and the line.
    Raise,
    /// Leave the record out, and report it.
    Skip,
}

/// The records that were left out; shared by all threads.
#[derive(Debug, Default)]
pub struct Skipped {
    found: Mutex<(u64, Vec<(u64, String)>)>,
}

impl Skipped {
    /// Adds the record at `offset` of all bytes of the source; `message` is asked for if the report shows it so far.
    ///
    /// # Errors
    /// Those of `message`.
    pub(super) fn add(&self, offset: u64, message: impl FnOnce() -> Result<String>) -> Result<()> {
        let (count, first) = &mut *self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let place = first.partition_point(|&(known, _)| known < offset);
        if place < SHOWN {
            first.insert(place, (offset, message()?));
            first.truncate(SHOWN);
        }
        Ok(())
    }

    /// How many there were, and what was wrong with the first ten.
    pub fn report(&self) -> (u64, Vec<String>) {
        let (count, first) = &*self.found.lock().unwrap_or_else(PoisonError::into_inner);
        (*count, first.iter().map(|(_, message)| message.clone()).collect())
    }
}
