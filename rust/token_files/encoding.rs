//! Blocks of records from all files in order, and their ids.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::manifest::{Input, Place};
use super::options::{Options, Width};
use crate::corpus::sources::{Format, RecordBlock, Skipped, Source, SourceReader};
use crate::tokenizer::{TextEncoder, Tokenizer};
use crate::{Error, Result};

/// Tokens of a document at most: readers count them in 32 bits.
const LONGEST: usize = i32::MAX as usize;

/// Files of one format, and where their broken records are reported.
#[derive(Clone, Debug)]
pub struct TokenSource {
    /// The files.
    pub source: Arc<Source>,
    /// The records that are left out.
    pub skipped: Arc<Skipped>,
}

/// One of the files of all sources.
#[derive(Debug)]
pub(super) struct InputFile {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
    /// As the manifest shows it.
    pub(super) input: Input,
}

/// The files of sources, in order.
pub(super) fn input_files(sources: &[TokenSource]) -> Vec<InputFile> {
    let each = |TokenSource { source, skipped }: &TokenSource| {
        let of_path = |path: &PathBuf| InputFile {
            source: Arc::new(Source { paths: vec![path.clone()], ..Source::clone(source) }),
            skipped: Arc::clone(skipped),
            input: input(path, source),
        };
        source.paths.iter().map(of_path).collect::<Vec<_>>()
    };
    sources.iter().flat_map(each).collect()
}

fn input(path: &Path, source: &Source) -> Input {
    let data = path.metadata().ok().filter(Metadata::is_file);
    let since_1970 = |data: &Metadata| data.modified().ok()?.duration_since(UNIX_EPOCH).ok();
    let modified = data.as_ref().and_then(since_1970).map(|time| time.as_nanos() as u64);
    let Source { format, errors, on_error, .. } = source;
    let format = match format {
        // The stream itself would be told by its address.
        Format::ArrowStream { column, .. } => format!("ArrowStream {{ column: {column:?} }}"),
        format => format!("{format:?}"),
    };
    let format = format!("{format}, {errors:?}, {on_error:?}");
    Input { path: path.display().to_string(), format, bytes: data.map(|data| data.len()), modified }
}

/// Some records of one file.
#[derive(Debug, Default)]
pub(super) struct FileBlock {
    file: usize,
    records: RecordBlock,
}

/// Reads the records of all files from one place on.
pub(super) struct FilesReader<'a> {
    files: &'a [InputFile],
    /// The file that is read, and its reader once it is open.
    file: usize,
    reader: Option<SourceReader>,
    begin: Place,
}

impl<'a> FilesReader<'a> {
    pub(super) fn new(files: &'a [InputFile], begin: Place) -> Self {
        Self { files, file: begin.file, reader: None, begin }
    }

    /// Replaces the contents of `block`; false at the end of the last file.
    ///
    /// # Errors
    /// Those of [`SourceReader::next`].
    pub(super) fn next(&mut self, block: &mut FileBlock) -> Result<bool> {
        loop {
            let Some(file) = self.files.get(self.file) else { return Ok(false) };
            let begin = if self.file == self.begin.file { self.begin.byte } else { 0 };
            let reader = self.reader.get_or_insert_with(|| {
                let reader = SourceReader::new(Arc::clone(&file.source), Arc::clone(&file.skipped));
                reader.starting_at(begin)
            });
            block.file = self.file;
            if !reader.next(&mut block.records)? {
                self.reader = None;
                self.file += 1;
            } else if block.records.end > begin || begin == 0 {
                return Ok(true);
            }
        }
    }
}

/// The documents of a block.
#[derive(Debug)]
pub(super) struct EncodedBlock {
    pub(super) file: usize,
    /// Ids in the width of the files.
    pub(super) ids: Vec<u8>,
    /// Of each document, where its record begins and where its ids end.
    pub(super) documents: Vec<(u64, usize)>,
    /// Bytes of the file up to the end of the block, as it lies on the disk, as far as this run has read or passed over them.
    pub(super) read: u64,
    pub(super) passed_over: u64,
}

/// What encodes blocks.
pub(super) struct BlockEncoder<'a> {
    tokenizer: &'a Tokenizer,
    options: &'a Options,
    files: &'a [InputFile],
    width: Width,
    begin: Place,
    /// Special tokens of an empty text.
    empty: usize,
}

impl<'a> BlockEncoder<'a> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        options: &'a Options,
        files: &'a [InputFile],
        width: Width,
        begin: Place,
    ) -> Result<Self> {
        let mut ids = Vec::new();
        tokenizer.text_encoder(options.add_special_tokens)?.push("", &mut ids)?;
        Ok(Self { tokenizer, options, files, width, begin, empty: ids.len() })
    }

    /// What a thread encodes with.
    pub(super) fn start(&self) -> Result<(TextEncoder<'a>, Vec<u32>)> {
        Ok((self.tokenizer.text_encoder(self.options.add_special_tokens)?, Vec::new()))
    }

    /// Encodes the records of a block, but for those before the place where this run begins.
    ///
    /// # Errors
    /// Those of [`Source::for_each_text`] and of the tokenizer; [`Error::TextTooLong`].
    pub(super) fn encode(
        &self,
        block: &FileBlock,
        encoder: &mut TextEncoder<'_>,
        scratch: &mut Vec<u32>,
    ) -> Result<EncodedBlock> {
        let FileBlock { file, records } = block;
        let (mut ids, mut documents) = (Vec::new(), Vec::new());
        let InputFile { source, skipped, .. } = &self.files[*file];
        source.for_each_text(records, skipped, |text, byte| {
            if (Place { file: *file, byte }) < self.begin {
                return Ok(());
            }
            scratch.clear();
            scratch.extend(self.options.begin_id);
            let start = scratch.len();
            encoder.push(text, scratch)?;
            if scratch.len() - start > self.empty {
                scratch.extend(self.options.end_id);
                if scratch.len() > LONGEST {
                    return Err(Error::TextTooLong { bytes: text.len(), limit: LONGEST });
                }
                self.width.push(scratch, &mut ids);
            }
            documents.push((byte, ids.len()));
            Ok(())
        })?;
        let (read, passed_over) = (records.read, records.passed_over());
        Ok(EncodedBlock { file: *file, ids, documents, read, passed_over })
    }
}
