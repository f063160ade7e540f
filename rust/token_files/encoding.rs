//! Blocks of records and their ids.

use std::sync::{Mutex, PoisonError};

use super::options::Options;
use super::width::Width;
use crate::corpus::inputs::{FileBlock, InputFile, Place};
use crate::corpus::sources::AddedColumn;
use crate::encoding::Encoding;
use crate::tokenizer::{EncodeInput, TextEncoder, Tokenizer};
use crate::{Error, Result};

/// Tokens of a document at most: readers count them in 32 bits.
const LONGEST: usize = i32::MAX as usize;

/// The documents of a block.
#[derive(Debug)]
pub(super) struct EncodedBlock {
    pub(super) file: usize,
    /// Ids in the width of the files.
    pub(super) ids: Vec<u8>,
    /// Of each document, where its record begins and where its ids end.
    pub(super) documents: Vec<(u64, usize)>,
    /// The byte of the file at which the block ends.
    pub(super) end: u64,
    /// Values of added columns and offsets, and the end of each document's values; empty if nothing is added.
    pub(super) added: Vec<u8>,
    pub(super) added_ends: Vec<usize>,
    /// Bytes of the file up to the end of the block, as it lies on the disk, as far as this run has read or passed over them.
    pub(super) read: u64,
    pub(super) passed_over: u64,
}

/// Buffers of blocks whose ids are written, for the ids of other blocks. Memory that one thread takes and another one frees goes back
/// to the system each time, and the system clears it again.
#[derive(Debug, Default)]
struct SpareBuffers(Mutex<Vec<Vec<u8>>>);

impl SpareBuffers {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// An encoder of blocks.
pub(super) struct BlockEncoder<'a> {
    tokenizer: &'a Tokenizer,
    options: &'a Options,
    files: &'a [InputFile],
    width: Width,
    begin: Place,
    columns: &'a [AddedColumn],
    /// Special tokens of an empty text.
    empty: usize,
    spare: SpareBuffers,
}

impl<'a> BlockEncoder<'a> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        options: &'a Options,
        files: &'a [InputFile],
        width: Width,
        begin: Place,
        columns: &'a [AddedColumn],
    ) -> Result<Self> {
        let mut ids = Vec::new();
        tokenizer.text_encoder(options.add_special_tokens)?.push("", &mut ids)?;
        let (empty, spare) = (ids.len(), SpareBuffers::default());
        Ok(Self { tokenizer, options, files, width, begin, columns, empty, spare })
    }

    /// Takes back the memory of a block whose ids are written.
    pub(super) fn reuse(&self, block: EncodedBlock) {
        self.spare.put(block.ids);
    }

    /// The text encoder and the scratch memory of a thread.
    pub(super) fn start(&self) -> Result<(TextEncoder<'a>, Vec<u32>)> {
        Ok((self.tokenizer.text_encoder(self.options.add_special_tokens)?, Vec::new()))
    }

    /// Encodes the records of a block, except the records before the place where this run begins.
    ///
    /// # Errors
    /// The errors of [`FileBlock::for_each_text`] and of the tokenizer; [`Error::TextTooLong`].
    pub(super) fn encode(
        &self,
        block: &mut FileBlock,
        encoder: &mut TextEncoder<'_>,
        scratch: &mut Vec<u32>,
    ) -> Result<EncodedBlock> {
        let file = block.file;
        let (mut ids, mut documents) = (self.spare.take(), Vec::new());
        let (mut added, mut added_ends) = (Vec::new(), Vec::new());
        let has_added = self.options.offsets || !self.columns.is_empty();
        block.for_each_row(self.files, self.columns, |text, byte, values| {
            if (Place { file, byte }) < self.begin {
                return Ok(());
            }
            scratch.clear();
            scratch.extend(self.options.begin_id);
            let start = scratch.len();
            let offsets = if self.options.offsets {
                let encoding =
                    self.tokenizer.encode(&EncodeInput::of_text(text), self.options.add_special_tokens)?;
                scratch.extend(encoding.ids());
                Some(encoding)
            } else {
                encoder.push(text, scratch)?;
                None
            };
            if scratch.len() - start > self.empty {
                scratch.extend(self.options.end_id);
                if scratch.len() > LONGEST {
                    return Err(Error::TextTooLong { bytes: text.len(), limit: LONGEST });
                }
                self.width.push(scratch, &mut ids);
            }
            if has_added {
                added.extend_from_slice(values);
                if let Some(encoding) = &offsets {
                    self.push_offsets(encoding, &mut added);
                }
                added_ends.push(added.len());
            }
            documents.push((byte, ids.len()));
            Ok(())
        })?;
        let (end, read, passed_over) = (block.records.end, block.records.read, block.records.passed_over());
        Ok(EncodedBlock { file, ids, documents, end, added, added_ends, read, passed_over })
    }

    /// Appends where each token begins and ends in its text, in characters. Tokens around a document have no characters.
    fn push_offsets(&self, encoding: &Encoding, bytes: &mut Vec<u8>) {
        let around = |id: Option<u32>| id.map(|_| (0, 0)).into_iter();
        let offsets =
            around(self.options.begin_id).chain(encoding.offsets()).chain(around(self.options.end_id));
        for (start, end) in offsets {
            bytes.extend_from_slice(&(start as i32).to_le_bytes());
            bytes.extend_from_slice(&(end as i32).to_le_bytes());
        }
    }
}
