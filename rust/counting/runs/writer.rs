//! Writes a run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::block::{BLOCK_BYTES, BlockBuilder, push_number};
use super::summary::{Summary, Sums};
use super::word::CountedWord;
use crate::{Error, Result};

/// The magic at the start and the end of a run; its last byte is the version.
pub(super) const MAGIC: [u8; 8] = *b"LEXRUN\0\x01";

/// The fastest level: higher ones save a tenth of the size for twice the time.
const LEVEL: i32 = 1;

/// Writes words, in ascending order, to a file.
pub(super) struct RunWriter<'a> {
    file: BufWriter<&'a File>,
    /// The path that messages name.
    path: &'a Path,
    block: BlockBuilder,
    compressor: zstd::bulk::Compressor<'static>,
    compressed: Vec<u8>,
    /// Per block: words, length, compressed length.
    index: Vec<u8>,
    blocks: u64,
    words: Sums,
    phrases: Sums,
}

impl<'a> RunWriter<'a> {
    /// Begins a run in an empty file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn new(file: &'a File, path: &'a Path) -> Result<Self> {
        let failed = Error::io("write", path);
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(failed)?;
        compressor.include_checksum(true).map_err(failed)?;
        let mut file = BufWriter::new(file);
        file.write_all(&MAGIC).map_err(failed)?;
        Ok(Self {
            file,
            path,
            block: BlockBuilder::default(),
            compressor,
            compressed: Vec::new(),
            index: Vec::new(),
            blocks: 0,
            words: Sums::default(),
            phrases: Sums::default(),
        })
    }

    /// Appends a word, which must be greater than the one before.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Unsupported`] if the sum of all counts exceeds 64 bits.
    pub(super) fn push(&mut self, word: CountedWord<'_>) -> Result<()> {
        debug_assert!(self.words.words == 0 || self.block.last() < word.word, "words ascend");
        let is_phrase = word.is_phrase();
        if is_phrase && self.phrases.words == 0 && self.block.words > 0 {
            // A block holds either.
            self.end_block()?;
        }
        self.block.push(word);
        let sums = if is_phrase { &mut self.phrases } else { &mut self.words };
        sums.words += 1;
        sums.word_bytes += (word.word.len() - usize::from(is_phrase)) as u64;
        sums.total = sums.total.checked_add(word.count).ok_or_else(too_many)?;
        if self.block.bytes.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        self.compress_and_write(None)?;
        push_number(&mut self.index, self.block.words);
        push_number(&mut self.index, self.block.bytes.len() as u64);
        push_number(&mut self.index, self.compressed.len() as u64);
        self.block.clear();
        self.blocks += 1;
        Ok(())
    }

    /// Writes a zstd frame of `bytes`, or of the block.
    fn compress_and_write(&mut self, bytes: Option<&[u8]>) -> Result<()> {
        let failed = Error::io("write", self.path);
        let bytes = bytes.unwrap_or(&self.block.bytes);
        self.compressed.resize(zstd::zstd_safe::compress_bound(bytes.len()), 0);
        let len = self.compressor.compress_to_buffer(bytes, &mut self.compressed[..]).map_err(failed)?;
        self.compressed.truncate(len);
        self.file.write_all(&self.compressed).map_err(failed)
    }

    /// Ends the run with a footer: `summary`, with the numbers of words of this run.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn finish(mut self, summary: &Summary) -> Result<Summary> {
        if self.block.words > 0 {
            self.end_block()?;
        }
        let Self { words: Sums { words, word_bytes, total }, phrases, .. } = self;
        let summary = Summary { words, word_bytes, total, phrases, ..summary.clone() };
        let failed = Error::io("write", self.path);
        let mut footer = Vec::new();
        push_number(&mut footer, self.blocks);
        footer.append(&mut self.index);
        serde_json::to_writer(&mut footer, &summary).map_err(|error| failed(error.into()))?;
        self.compress_and_write(Some(&footer))?;
        for len in [self.compressed.len(), footer.len()] {
            self.file.write_all(&(len as u64).to_le_bytes()).map_err(failed)?;
        }
        self.file.write_all(&MAGIC).map_err(failed)?;
        self.file.flush().map_err(failed)?;
        Ok(summary)
    }
}

/// The error of sums beyond 64 bits.
pub(super) fn too_many() -> Error {
    Error::Unsupported(format!("the sum of all counts exceeds the limit of {}", u64::MAX))
}
