//! Megatron-LM's pair: `.bin` holds the ids of all documents back to back, `.idx` says where each begins.
//!
//! The index has three arrays one after the other, whose places depend on the number of documents. Here a document is one sequence,
//! so all of them follow from the lengths, which go to a side file until the part is complete.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::{CompleteFile, PartWriter};
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::Row;
use crate::token_files::width::Width;
use crate::{Error, Result};

/// The beginning of an index.
const MAGIC: &[u8] = b"MMIDIDX\0\0";
const VERSION: u64 = 1;

/// Bytes before the lengths.
const HEADER: u64 = 34;

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
}

/// Writes an index. `lengths` opens the lengths of all documents, 32 bits each, and names their file.
///
/// # Errors
/// [`Error::Io`]; the errors of `lengths`.
pub(in crate::token_files) fn write_index(
    index: &mut PartFile,
    width: Width,
    documents: u64,
    mut lengths: impl FnMut() -> Result<(BufReader<File>, PathBuf)>,
) -> Result<()> {
    let mut for_each_length = |each: &mut dyn FnMut(i32) -> Result<()>| {
        let (mut lengths, path) = lengths()?;
        let mut length = [0; 4];
        for _ in 0..documents {
            let read = lengths.read_exact(&mut length);
            read.map_err(Error::io("read", &path))?;
            each(i32::from_le_bytes(length))?;
        }
        Ok(())
    };
    index.append(MAGIC)?;
    index.append(&VERSION.to_le_bytes())?;
    index.append(&[dtype_code(width)])?;
    index.append(&documents.to_le_bytes())?;
    index.append(&(documents + 1).to_le_bytes())?;
    for_each_length(&mut |length| index.append(&length.to_le_bytes()))?;
    let (mut offset, width) = (0, width.bytes() as i64);
    for_each_length(&mut |length| {
        index.append(&i64::to_le_bytes(offset))?;
        offset += i64::from(length) * width;
        Ok(())
    })?;
    (0..=documents).try_for_each(|document| index.append(&document.to_le_bytes()))
}

/// The number of a type in an index.
fn dtype_code(width: Width) -> u8 {
    match width {
        Width::U8 => 1,
        Width::U16 => 8,
        Width::I32 | Width::U32 => 4,
    }
}

/// Bytes of the index of so many documents.
pub(in crate::token_files) fn index_bytes(documents: u64) -> u64 {
    HEADER + documents * 20 + 8
}

/// The number of documents of an index of so many bytes.
pub(in crate::token_files) fn documents_of(index_bytes: u64) -> u64 {
    index_bytes.saturating_sub(HEADER + 8) / 20
}

/// The lengths of the documents of an index, from the byte on where they begin; none if it is not an index of `width` that
/// `documents` documents have.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::token_files) fn open_lengths(
    path: &Path,
    width: Width,
    documents: u64,
) -> Result<Option<BufReader<File>>> {
    let failed = Error::io("read", path);
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut index = BufReader::new(file);
    if size != index_bytes(documents) {
        return Ok(None);
    }
    let mut header = [0; HEADER as usize];
    index.read_exact(&mut header).map_err(failed)?;
    let expected = [MAGIC, &VERSION.to_le_bytes(), &[dtype_code(width)], &documents.to_le_bytes()].concat();
    Ok(header.starts_with(&expected).then_some(index))
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
        let lengths = &mut self.lengths;
        let lengths = || Ok((lengths.reread()?, lengths.path().to_owned()));
        write_index(&mut self.index, self.width, self.documents, lengths)?;
        Ok(vec![CompleteFile::without_header(self.ids), CompleteFile::without_header(self.index)])
    }
}
