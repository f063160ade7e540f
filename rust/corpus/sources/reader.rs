//! The files of a source in blocks of whole records.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::added::AddedColumn;
use super::arrow_column::ArrowColumn;
use super::compression;
use super::csv_records::CsvRecords;
use super::documents::Documents;
use super::file_errors::failed;
use super::line_ranges::LineRanges;
use super::parquet_column::ParquetColumn;
use super::record_block::RecordBlock;
use super::source::{Format, OnError, Skipped, Source, too_long};
use super::{arrow_ipc, arrow_stream};
use crate::corpus::file_size::file_size;
use crate::corpus::lines::{LineBlocks, Unread};
use crate::pipeline::LONGEST_TEXT;
use crate::{Error, Result};

/// Reads one block after the other, file by file.
pub struct SourceReader {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
    /// The next file.
    next: usize,
    file: Option<OpenFile>,
    /// Decompressed bytes of the files before.
    offset: u64,
    /// Bytes of the longest record.
    limit: usize,
    /// Decompressed bytes of the next file that are passed over where that is possible without reading them.
    skip: u64,
    /// Columns that are kept beside the texts.
    added: Arc<[AddedColumn]>,
}

/// A file that is being read.
struct OpenFile {
    blocks: Blocks,
    /// Bytes of the file that were passed over.
    skipped: u64,
    /// Bytes read from the disk, and how many of them blocks have reported.
    read: Arc<AtomicU64>,
    reported: u64,
    /// The line after the last block.
    line: u64,
    /// Bytes of the longest record.
    limit: usize,
}

enum Blocks {
    Ranges(LineRanges),
    Lines(LineBlocks<Box<dyn Read + Send>>),
    Csv(Box<CsvRecords>),
    Parquet(Box<ParquetColumn>),
    Arrow(Box<ArrowColumn>),
    /// In a box, since its searcher asks for more alignment than an object of Python's has.
    Documents(Box<Documents>),
}

impl SourceReader {
    /// Opens no file yet. Broken records that are left out are reported to `skipped`.
    pub fn new(source: Arc<Source>, skipped: Arc<Skipped>) -> Self {
        Self {
            source,
            skipped,
            next: 0,
            file: None,
            offset: 0,
            limit: LONGEST_TEXT,
            skip: 0,
            added: Arc::default(),
        }
    }

    /// Begins with the record at byte `place` of the first file, decompressed, or with the first record of the file if the format or
    /// the compression needs the bytes before. Lines are then numbered from that record on.
    #[must_use]
    pub fn starting_at(self, place: u64) -> Self {
        Self { skip: place, ..self }
    }

    /// Keeps the values of these columns too.
    #[must_use]
    pub fn keeping(self, added: Arc<[AddedColumn]>) -> Self {
        Self { added, ..self }
    }

    /// The same with another limit of bytes for a record.
    #[cfg(test)]
    pub(super) fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Bytes of all files as they are stored; `None` if one of them does not tell, as standard input, or there are none.
    pub fn bytes(&self) -> Option<u64> {
        if let Format::ArrowStream { .. } = self.source.format {
            return None;
        }
        self.source.paths.iter().map(|path| file_size(path)).sum()
    }

    /// True if the file is one of Arrow's, and records remain of a batch that has been read.
    pub(super) fn is_within_batch(&self) -> bool {
        matches!(&self.file, Some(OpenFile { blocks: Blocks::Arrow(column), .. }) if column.is_within_batch())
    }

    /// Replaces the contents of `block` by the next records, perhaps none; false at the end of the last file.
    ///
    /// # Errors
    /// [`Error::Io`] with the file, also for one that is cut off or damaged; [`Error::Format`] for a file without the column;
    /// [`Error::RecordTooLong`]; the errors of the columns.
    pub fn next(&mut self, block: &mut RecordBlock) -> Result<bool> {
        loop {
            let file = match &mut self.file {
                Some(file) => file,
                none => {
                    let Some(path) = self.source.paths.get(self.next) else { return Ok(false) };
                    self.next += 1;
                    let skip = std::mem::take(&mut self.skip);
                    none.insert(OpenFile::open(path, &self.source.format, self.limit, skip, &self.added)?)
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
    /// Opens a file, after its first `skip` bytes if the format and the compression allow that.
    fn open(path: &Path, format: &Format, limit: usize, skip: u64, added: &[AddedColumn]) -> Result<Self> {
        let read = Arc::new(AtomicU64::new(0));
        let text = || compression::open_text(path, &read);
        let mut skipped = 0;
        let blocks = match format {
            Format::Lines | Format::JsonLines { .. } => {
                if let Some(ranges) = LineRanges::open(path, skip, limit)? {
                    skipped = skip;
                    Blocks::Ranges(ranges)
                } else {
                    let (file, from) = compression::open_text_after(path, skip, &read)?;
                    skipped = from;
                    Blocks::Lines(LineBlocks::new(file, from, limit))
                }
            }
            Format::Csv { column, delimiter } => {
                Blocks::Csv(Box::new(CsvRecords::new(text()?, column, *delimiter, limit, path, added)?))
            }
            Format::Parquet { column } => {
                Blocks::Parquet(Box::new(ParquetColumn::open(path, column, added)?))
            }
            Format::ArrowIpc { column } => {
                let bytes = compression::open(path, &read).map_err(|error| failed("open", path, error))?;
                Blocks::Arrow(Box::new(arrow_ipc::open(bytes, column, path, added, &read)?))
            }
            Format::ArrowStream { column, stream } => {
                Blocks::Arrow(Box::new(ArrowColumn::of_stream(stream, column, path, added)?))
            }
            Format::Documents { separator } => {
                Blocks::Documents(Box::new(Documents::new(text()?, separator.as_deref(), limit)))
            }
        };
        Ok(Self { blocks, skipped, read, reported: 0, line: 1, limit })
    }

    /// Bytes of the file, decompressed, up to the end of the last block.
    fn end(&self) -> u64 {
        match &self.blocks {
            Blocks::Ranges(ranges) => ranges.offset(),
            Blocks::Lines(lines) => lines.offset(),
            Blocks::Csv(records) => records.offset(),
            Blocks::Parquet(column) => column.offset(),
            Blocks::Arrow(column) => column.offset(),
            Blocks::Documents(documents) => documents.offset(),
        }
    }

    fn next(&mut self, block: &mut RecordBlock, source: &Source, skipped: &Skipped) -> Result<bool> {
        let path = &source.paths[block.file];
        block.values.clear();
        block.added.clear();
        block.added_ends.clear();
        block.line = self.line;
        block.numbered_from = self.skipped;
        block.offset = block.file_offset + self.end();
        let unread = |number| {
            let (limit, skipped) = (self.limit, self.skipped);
            move |unread| match unread {
                Unread::Io(error) => failed("read", path, error),
                Unread::TooLong => {
                    let place = source.format.place_after(path, number, skipped);
                    Error::RecordTooLong { place, limit }
                }
            }
        };
        block.range = None;
        let is_filled = match &mut self.blocks {
            Blocks::Ranges(ranges) => {
                block.range = ranges.next();
                self.read.store(ranges.offset().saturating_sub(self.skipped), Ordering::Relaxed);
                block.range.is_some()
            }
            Blocks::Lines(lines) => {
                let (number, offset) = (self.line, block.offset);
                match lines.next(&mut block.bytes) {
                    Ok(is_filled) => {
                        self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
                        is_filled
                    }
                    Err(Unread::TooLong) if source.on_error == OnError::Skip => {
                        lines.pass_over(&mut block.bytes).map_err(|error| failed("read", path, error))?;
                        self.line += 1;
                        let place = || Ok(source.format.place_after(path, number, self.skipped));
                        source.broken_at(place, offset, &too_long(self.limit), skipped)?;
                        true
                    }
                    Err(error) => return Err(unread(number)(error)),
                }
            }
            Blocks::Csv(records) => records.next(block, source, skipped)?,
            Blocks::Arrow(column) => column.next(block, source, skipped, |error| match source.format {
                Format::ArrowStream { .. } => arrow_stream::failed(path, &error),
                _ => failed("read", path, error),
            })?,
            Blocks::Documents(documents) => {
                let is_filled = documents.next(block);
                is_filled.map_err(unread(documents.count))?
            }
            Blocks::Parquet(column) => {
                let is_filled = column.next(block, source, skipped)?;
                self.read.store(column.read(), Ordering::Relaxed);
                is_filled
            }
        };
        block.end = block.file_offset + self.end();
        let read = self.read.load(Ordering::Relaxed);
        block.read = read - std::mem::replace(&mut self.reported, read);
        Ok(is_filled)
    }
}
