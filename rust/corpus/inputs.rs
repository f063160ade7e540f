//! The files of all sources in order, as work that may be resumed sees them.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::remote::{self, Status, is_same_version};
use super::sources::{AddedColumn, Format, RecordBlock, STDIN, Skipped, Source, SourceReader};
use crate::{Error, Result};

/// A file that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its path.
    pub path: String,
    /// How its texts are found.
    pub format: String,
    /// Its size in bytes; none if it can be read only once, such as a pipe.
    pub bytes: Option<u64>,
    /// Nanoseconds since 1970.
    pub modified: Option<u64>,
    /// The marks of the contents that a store gives, in the place of a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A record: its file by number, and the byte of the file, decompressed, that it begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The number of the file among all.
    pub file: usize,
    /// The byte at which a record begins; in a feed of conversations, the number of the record.
    pub byte: u64,
}

/// A message about the first input that can be read only once; none if all can be read again.
pub fn read_once(inputs: &[Input]) -> Option<String> {
    let once = inputs.iter().find(|input| input.bytes.is_none())?;
    Some(format!("{} can be read only once", once.path))
}

impl Input {
    /// How texts are found, without the handling of invalid bytes and broken records.
    fn format_alone(&self) -> &str {
        self.format.rsplitn(3, ", ").nth(2).unwrap_or(&self.format)
    }

    /// True if both are one file, read in one way, with the same size and time of change or version.
    fn is_unchanged(&self, now: &Self) -> bool {
        let Self { path, bytes, modified, version, .. } = self;
        (path, bytes, modified, self.format_alone())
            == (&now.path, &now.bytes, &now.modified, now.format_alone())
            && is_same_version(version.as_deref(), now.version.as_deref())
    }
}

/// The reason why work that has read the inputs `then` up to `read` cannot continue with `now`; none if it can.
///
/// Each input before `read` must have kept its path, format, size and time of change, and so must the input at `read` if its reading
/// has begun. Later inputs may change, be left out or be added, unless all were read. The handling of invalid bytes and of broken
/// records may change.
pub fn inputs_difference(then: &[Input], now: &[Input], read: Place) -> Option<String> {
    if let Some(once) = read_once(now) {
        return Some(once);
    }
    let bound = then.len().min(read.file + usize::from(read.byte > 0));
    let mut pairs = then.iter().zip(now).take(bound);
    if let Some((then, now)) = pairs.find(|(then, now)| !then.is_unchanged(now)) {
        let Input { path, bytes, .. } = then;
        let is_same_file = *path == now.path && then.format_alone() == now.format_alone();
        return Some(match (is_same_file, *bytes == now.bytes) {
            (true, true) => format!("the input {path} was modified"),
            (true, false) => {
                let size = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |size| size.to_string());
                format!("the input {path} had {} bytes but has {}", size(*bytes), size(now.bytes))
            }
            (false, _) => {
                format!("an input was {path} ({}) but is {} ({})", then.format, now.path, now.format)
            }
        });
    }
    let is_all_read = read.file >= then.len();
    let (then, now) = (then.len(), now.len());
    let is_other = if is_all_read { now != then } else { now < bound };
    is_other.then(|| format!("there were {then} inputs but are {now}"))
}

/// The inputs of work that continues at `read`: inputs that were read wholly as they were then, all others as they are now.
pub fn resumed_inputs(then: &[Input], now: &[Input], read: Place) -> Vec<Input> {
    let read = read.file.min(then.len()).min(now.len());
    [&then[..read], &now[read..]].concat()
}

/// Files of one format, and where their broken records are reported.
#[derive(Clone, Debug)]
pub struct InputSource {
    /// The files.
    pub source: Arc<Source>,
    /// The records that are left out.
    pub skipped: Arc<Skipped>,
}

impl InputSource {
    /// Reads nothing yet.
    pub(super) fn open(&self) -> OpenRecords<'_> {
        let reader = SourceReader::new(Arc::clone(&self.source), Arc::clone(&self.skipped));
        OpenRecords { records: self, reader, block: RecordBlock::default() }
    }
}

/// Files that are being read front to back.
pub(super) struct OpenRecords<'a> {
    records: &'a InputSource,
    reader: SourceReader,
    block: RecordBlock,
}

impl OpenRecords<'_> {
    /// Calls `each` with the texts of the next block, perhaps none; false at the end.
    ///
    /// # Errors
    /// The errors of [`SourceReader::next`] and of [`Source::for_each_text`].
    pub(super) fn next(&mut self, mut each: impl FnMut(&str)) -> Result<bool> {
        let InputSource { source, skipped } = self.records;
        if !self.reader.next(&mut self.block)? {
            return Ok(false);
        }
        source.for_each_text(&mut self.block, skipped, |text, _| {
            each(text);
            Ok(())
        })?;
        Ok(true)
    }
}

/// One of the files of all sources.
#[derive(Debug)]
pub struct InputFile {
    /// The file alone.
    pub source: Arc<Source>,
    /// The records of the file that are left out.
    pub skipped: Arc<Skipped>,
    /// As a manifest shows it.
    pub input: Input,
}

impl InputFile {
    /// Compares the size and the time or version of the file with the ones when the work began.
    ///
    /// # Errors
    /// [`Error::Format`] if the file was modified; [`Error::Io`] if its store gives no answer.
    pub fn check_unchanged(&self) -> Result<()> {
        let path = &self.source.paths[0];
        let status = remote_status(path, true).transpose().map_err(Error::io("read", path))?;
        if self.input.is_unchanged(&input(path, &self.source, status)) {
            return Ok(());
        }
        let message = "the file was modified while it was read".to_owned();
        Err(Error::Format { path: path.display().to_string(), message })
    }

    /// Checks that the file is there, before work on all files begins.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn check(&self) -> Result<()> {
        let path = &self.source.paths[0];
        let is_stream = matches!(self.source.format, Format::ArrowStream { .. });
        if is_stream || path.as_os_str() == STDIN {
            return Ok(());
        }
        if let Some(status) = remote_status(path, false) {
            return status.map(drop).map_err(Error::io("open", path));
        }
        let is_there = path
            .metadata()
            .and_then(|data| if data.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { Ok(()) });
        is_there.map_err(Error::io("open", path))
    }
}

/// The files of sources, in order.
pub fn input_files(sources: &[InputSource]) -> Vec<InputFile> {
    let each = |InputSource { source, skipped }: &InputSource| {
        let Source { format, errors, on_error, .. } = &**source;
        let of_path = |(file, path): (usize, &PathBuf)| InputFile {
            // Not a clone of the source, which has the paths of all its files.
            source: Arc::new(Source {
                paths: vec![path.clone()],
                format: format.clone(),
                errors: *errors,
                on_error: *on_error,
            }),
            skipped: Arc::new(Skipped::of_file(skipped, file)),
            input: input(path, source, remote_status(path, false).and_then(io::Result::ok)),
        };
        source.paths.iter().enumerate().map(of_path).collect::<Vec<_>>()
    };
    sources.iter().flat_map(each).collect()
}

/// Size and version of a file of a store, as they are now or were when the file was listed; none of other files.
fn remote_status(path: &Path, is_now: bool) -> Option<io::Result<Status>> {
    remote::url_of(path).map(|url| remote::status(url, is_now))
}

fn input(path: &Path, source: &Source, status: Option<Status>) -> Input {
    let data = path.metadata().ok().filter(Metadata::is_file);
    let since_1970 = |data: &Metadata| data.modified().ok()?.duration_since(UNIX_EPOCH).ok();
    let modified = data.as_ref().and_then(since_1970).map(|time| time.as_nanos() as u64);
    let Source { format, errors, on_error, .. } = source;
    let (errors, on_error) = (errors.name(), on_error.name());
    let format = format!("{format}, errors=\"{errors}\", on_error=\"{on_error}\"");
    let (bytes, version) = match status {
        Some(Status { bytes, version }) => (Some(bytes), version),
        None => (data.map(|data| data.len()), None),
    };
    Input { path: path.display().to_string(), format, bytes, modified, version }
}

/// Some records of one file.
#[derive(Debug, Default)]
pub struct FileBlock {
    /// The number of the file.
    pub file: usize,
    /// The records.
    pub records: RecordBlock,
}

impl FileBlock {
    /// Calls `each` with every text, and with the place of its record in its file, decompressed, in bytes.
    ///
    /// # Errors
    /// The errors of [`Source::for_each_text`]; [`Error::Format`] for a file that was modified while it was read.
    pub fn for_each_text(
        &mut self,
        files: &[InputFile],
        mut each: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        self.for_each_row(files, &[], |text, byte, _| each(text, byte))
    }

    /// The same, and `each` also gets the values of the columns that the reader of the block kept.
    ///
    /// # Errors
    /// The errors of [`Self::for_each_text`].
    pub fn for_each_row(
        &mut self,
        files: &[InputFile],
        added: &[AddedColumn],
        each: impl FnMut(&str, u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let file = &files[self.file];
        let outcome = file.source.for_each_row(&mut self.records, &file.skipped, added, each);
        match outcome {
            Ok(()) if self.records.ends_file() => file.check_unchanged(),
            // A file that could not be read may have been cut off meanwhile.
            Err(Error::Io { .. }) => file.check_unchanged().and(outcome),
            outcome => outcome,
        }
    }
}

/// Reads the records of all files from one place on.
pub struct FilesReader<'a> {
    files: &'a [InputFile],
    /// The file that is read, and its reader once it is open.
    file: usize,
    reader: Option<SourceReader>,
    begin: Place,
    /// Bytes of blocks that were passed over, which the next block reports.
    passed: u64,
    /// Columns that are kept beside the texts.
    added: Arc<[AddedColumn]>,
}

impl<'a> FilesReader<'a> {
    /// Begins with the first record at `begin` or after, or with one before in the same block.
    pub fn new(files: &'a [InputFile], begin: Place) -> Self {
        if let Some(file) = files.get(begin.file) {
            file.skipped.begin_at(begin.byte);
        }
        Self { files, file: begin.file, reader: None, begin, passed: 0, added: Arc::default() }
    }

    /// Keeps the values of these columns too.
    #[must_use]
    pub fn keeping(self, added: Arc<[AddedColumn]>) -> Self {
        Self { added, ..self }
    }

    /// Replaces the contents of `block`; false at the end of the last file.
    ///
    /// # Errors
    /// The errors of [`SourceReader::next`]; [`Error::Format`] for a file that was modified since the list of files was made.
    pub fn next(&mut self, block: &mut FileBlock) -> Result<bool> {
        loop {
            let Some(file) = self.files.get(self.file) else { return Ok(false) };
            let begin = if self.file == self.begin.file { self.begin.byte } else { 0 };
            let reader = self.reader.get_or_insert_with(|| {
                let reader = SourceReader::new(Arc::clone(&file.source), Arc::clone(&file.skipped));
                reader.starting_at(begin).keeping(Arc::clone(&self.added))
            });
            block.file = self.file;
            if !reader.next(&mut block.records)? {
                file.check_unchanged()?;
                self.reader = None;
                self.file += 1;
                // The bytes belong to this file: a block without records reports them before the next file begins.
                if self.passed > 0 {
                    block.records.read = std::mem::take(&mut self.passed);
                    return Ok(true);
                }
            } else if block.records.end > begin || begin == 0 {
                block.records.read += std::mem::take(&mut self.passed);
                return Ok(true);
            } else {
                self.passed += block.records.read;
            }
        }
    }
}
