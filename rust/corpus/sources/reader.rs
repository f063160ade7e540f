//! The files of a source in blocks of whole records.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compression::{self, STDIN};
use super::csv_records::CsvRecords;
use super::source::{Format, Skipped, Source};
use crate::corpus::lines::LineBlocks;
use crate::{Error, Result};

/// Records that one thread turns into texts.
#[derive(Debug, Default)]
pub struct RecordBlock {
    /// Whole lines, or the values of a CSV column one after the other.
    pub(super) bytes: Vec<u8>,
    /// Of CSV, the values in `bytes`; empty where lines are the records.
    pub(super) values: Vec<CsvValue>,
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
    /// Bytes of the file as it lies on the disk that were read for this block.
    pub read: u64,
}

/// A value of a CSV column.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsvValue {
    /// Where it ends in the bytes of the block.
    pub(super) end: usize,
    /// Where its record begins, in bytes from the beginning of the block.
    pub(super) offset: u64,
    /// The line of its record, from 1 on.
    pub(super) line: u64,
}

/// Reads one block after the other, file by file.
pub struct SourceReader {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
    /// The next file.
    next: usize,
    file: Option<OpenFile>,
    /// Decompressed bytes of the files before.
    offset: u64,
}

/// A file that is being read.
struct OpenFile {
    blocks: Blocks,
    /// Bytes read from the disk, and how many of them blocks have reported.
    read: Arc<AtomicU64>,
    reported: u64,
    /// The line after the last block.
    line: u64,
}

enum Blocks {
    Lines(LineBlocks<Box<dyn Read + Send>>),
    Csv(CsvRecords),
}

impl SourceReader {
    /// Opens no file yet. Broken records that nobody wants are reported to `skipped`.
    pub fn new(source: Arc<Source>, skipped: Arc<Skipped>) -> Self {
        Self { source, skipped, next: 0, file: None, offset: 0 }
    }

    /// Bytes of all files on the disk; `None` if one of them does not tell, as standard input.
    pub fn bytes(&self) -> Option<u64> {
        let len = |path: &PathBuf| path.metadata().ok().filter(Metadata::is_file).map(|data| data.len());
        self.source.paths.iter().map(len).sum()
    }

    /// Replaces the contents of `block` by the next records, perhaps none; false at the end of the last file.
    ///
    /// # Errors
    /// [`Error::Io`] with the file, also for one that is cut off or damaged; [`Error::Format`] for a CSV file without the column.
    pub fn next(&mut self, block: &mut RecordBlock) -> Result<bool> {
        loop {
            let file = match &mut self.file {
                Some(file) => file,
                none => {
                    let Some(path) = self.source.paths.get(self.next) else { return Ok(false) };
                    self.next += 1;
                    none.insert(OpenFile::open(path, &self.source.format)?)
                }
            };
            block.file = self.next - 1;
            block.file_offset = self.offset;
            // Bytes at the end of a file that hold no record, such as a checksum, have been read all the same.
            if file.next(block, &self.source, &self.skipped)? || block.read > 0 {
                return Ok(true);
            }
            self.offset += file.end();
            self.file = None;
        }
    }
}

impl OpenFile {
    fn open(path: &Path, format: &Format) -> Result<Self> {
        let read = Arc::new(AtomicU64::new(0));
        let bytes = compression::open(path, &read).map_err(|source| failed("open", path, source))?;
        let blocks = match format {
            Format::Lines | Format::JsonLines { .. } => Blocks::Lines(LineBlocks::new(bytes)),
            Format::Csv { column, delimiter } => {
                Blocks::Csv(CsvRecords::new(bytes, column, *delimiter, path)?)
            }
        };
        Ok(Self { blocks, read, reported: 0, line: 1 })
    }

    /// Bytes of the file, decompressed, up to the end of the last block.
    fn end(&self) -> u64 {
        match &self.blocks {
            Blocks::Lines(lines) => lines.offset(),
            Blocks::Csv(records) => records.offset(),
        }
    }

    fn next(&mut self, block: &mut RecordBlock, source: &Source, skipped: &Skipped) -> Result<bool> {
        let path = &source.paths[block.file];
        block.values.clear();
        block.line = self.line;
        let is_filled = match &mut self.blocks {
            Blocks::Lines(lines) => {
                block.offset = block.file_offset + lines.offset();
                let is_filled = lines.next(&mut block.bytes).map_err(|error| failed("read", path, error))?;
                self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
                is_filled
            }
            Blocks::Csv(records) => {
                block.offset = block.file_offset + records.offset();
                records.next(block, source, skipped)?
            }
        };
        block.end = block.file_offset + self.end();
        let read = self.read.load(Ordering::Relaxed);
        block.read = read - std::mem::replace(&mut self.reported, read);
        Ok(is_filled)
    }
}

/// The error of a file.
pub(super) fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { action, path: named(path).into(), source }
}

/// A path as messages name it.
pub(super) fn named(path: &Path) -> String {
    if path.as_os_str() == STDIN { "standard input".to_owned() } else { path.display().to_string() }
}

/// A line of a file as messages name it.
pub(super) fn place(path: &Path, line: u64) -> String {
    format!("{}, line {line}", named(path))
}
