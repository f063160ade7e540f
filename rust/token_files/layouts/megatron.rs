//! Megatron-LM's pair: `.bin` holds the ids of all documents back to back, `.idx` says where each begins.
//!
//! The index has three arrays one after the other, whose places depend on the number of documents. Here a document is one sequence,
//! so all of them follow from the lengths, which go to a side file until the part is complete.

use std::io::Read;
use std::path::PathBuf;

use super::{CompleteFile, PartWriter, Row};
use crate::token_files::options::Width;
use crate::token_files::part_file::PartFile;
use crate::{Error, Result};

/// What an index begins with.
const MAGIC: &[u8] = b"MMIDIDX\0\0";
const VERSION: u64 = 1;

pub(super) struct Megatron {
    ids: PartFile,
    index: PartFile,
    /// A 32-bit length for each document.
    lengths: PartFile,
    width: Width,
    documents: u64,
}

impl Megatron {
    pub(super) fn create(paths: &[PathBuf], width: Width) -> Result<Self> {
        let create = |at: usize| PartFile::create(paths[at].clone(), 0);
        Ok(Self { ids: create(0)?, index: create(1)?, lengths: create(2)?, width, documents: 0 })
    }

    /// Calls `each` with the length of every document.
    fn for_each_length(&mut self, mut each: impl FnMut(i32, &mut PartFile) -> Result<()>) -> Result<()> {
        let mut lengths = self.lengths.reread()?;
        let mut length = [0; 4];
        for _ in 0..self.documents {
            let read = lengths.read_exact(&mut length);
            read.map_err(|source| Error::Io {
                action: "read",
                path: self.lengths.path().to_owned(),
                source,
            })?;
            each(i32::from_le_bytes(length), &mut self.index)?;
        }
        Ok(())
    }
}

impl PartWriter for Megatron {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let tokens = row.ids.len() / self.width.bytes();
        let length = i32::try_from(tokens).map_err(|_| {
            Error::Unsupported(format!(
                "a document has {tokens} tokens but this format holds at most {}",
                i32::MAX
            ))
        })?;
        self.ids.append(row.ids)?;
        self.documents += 1;
        self.lengths.append(&length.to_le_bytes())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let code: u8 = if self.width == Width::U16 { 8 } else { 4 };
        self.index.append(MAGIC)?;
        self.index.append(&VERSION.to_le_bytes())?;
        self.index.append(&[code])?;
        self.index.append(&self.documents.to_le_bytes())?;
        self.index.append(&(self.documents + 1).to_le_bytes())?;
        self.for_each_length(|length, index| index.append(&length.to_le_bytes()))?;
        let (mut offset, width) = (0, self.width.bytes() as i64);
        self.for_each_length(|length, index| {
            index.append(&i64::to_le_bytes(offset))?;
            offset += i64::from(length) * width;
            Ok(())
        })?;
        (0..=self.documents).try_for_each(|document| self.index.append(&document.to_le_bytes()))?;
        Ok(vec![CompleteFile::without_header(self.ids), CompleteFile::without_header(self.index)])
    }
}
