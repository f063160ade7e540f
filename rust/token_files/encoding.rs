//! Blocks of records and their ids.

use std::sync::{Mutex, PoisonError};

use super::options::{Options, Width};
use crate::corpus::inputs::{FileBlock, InputFile, Place};
use crate::tokenizer::{TextEncoder, Tokenizer};
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
    /// Bytes of the file up to the end of the block, as it lies on the disk, as far as this run has read or passed over them.
    pub(super) read: u64,
    pub(super) passed_over: u64,
}

/// Memory of ids that are written, for those of other blocks: memory that one thread takes and another one frees goes back to the
/// system each time, which clears it again.
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

/// What encodes blocks.
pub(super) struct BlockEncoder<'a> {
    tokenizer: &'a Tokenizer,
    options: &'a Options,
    files: &'a [InputFile],
    width: Width,
    begin: Place,
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
    ) -> Result<Self> {
        let mut ids = Vec::new();
        tokenizer.text_encoder(options.add_special_tokens)?.push("", &mut ids)?;
        Ok(Self { tokenizer, options, files, width, begin, empty: ids.len(), spare: SpareBuffers::default() })
    }

    /// Takes back the memory of a block whose ids are written.
    pub(super) fn reuse(&self, block: EncodedBlock) {
        self.spare.put(block.ids);
    }

    /// What a thread encodes with.
    pub(super) fn start(&self) -> Result<(TextEncoder<'a>, Vec<u32>)> {
        Ok((self.tokenizer.text_encoder(self.options.add_special_tokens)?, Vec::new()))
    }

    /// Encodes the records of a block, but for those before the place where this run begins.
    ///
    /// # Errors
    /// Those of [`FileBlock::for_each_text`] and of the tokenizer; [`Error::TextTooLong`].
    pub(super) fn encode(
        &self,
        block: &mut FileBlock,
        encoder: &mut TextEncoder<'_>,
        scratch: &mut Vec<u32>,
    ) -> Result<EncodedBlock> {
        let file = block.file;
        let (mut ids, mut documents) = (self.spare.take(), Vec::new());
        block.for_each_text(self.files, |text, byte| {
            if (Place { file, byte }) < self.begin {
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
        let (read, passed_over) = (block.records.read, block.records.passed_over());
        Ok(EncodedBlock { file, ids, documents, read, passed_over })
    }
}
