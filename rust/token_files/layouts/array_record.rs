//! `ArrayRecord` files, which Grain reads: a chunk for each row, a footer with the positions of all chunks, and the position of the footer.
//!
//! A record has the ids of a row and nothing else. Source: the schema and the writer of `array_record`.

use std::path::PathBuf;

use super::riegeli::Chunks;
use super::{CompleteFile, PartWriter};
use crate::Result;
use crate::formats::protobuf::MessageWriter;
use crate::token_files::rows::Row;

/// The version of the format.
const VERSION: u64 = 1;

/// The number that identifies the format.
pub(in crate::token_files) const MAGIC: u64 = 0x7193_0e70_4fda_e05e;

/// Copies of the position of the footer.
const COPIES: usize = 3;

/// The options of a writer of `array_record` that would write such a file; Grain asks for the size of groups.
const OPTIONS: &str = "group_size:1,transpose:false,pad_to_block_boundary:false,uncompressed";

pub(super) struct ArrayRecord {
    chunks: Chunks,
    /// The entries of the footer end to end, and their sizes.
    entries: Vec<u8>,
    sizes: MessageWriter,
    rows: u64,
}

impl ArrayRecord {
    pub(super) fn create(paths: &[PathBuf]) -> Result<Self> {
        let chunks = Chunks::create(paths[0].clone())?;
        Ok(Self { chunks, entries: Vec::new(), sizes: MessageWriter::default(), rows: 0 })
    }
}

/// A size on the wire.
fn varint(size: usize) -> MessageWriter {
    let mut wire = MessageWriter::default();
    wire.varint(size as u64);
    wire
}

impl PartWriter for ArrayRecord {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let mut entry = MessageWriter::default();
        entry.number(1, self.chunks.position()).number(2, row.ids.len() as u64).number(3, 1);
        self.entries.extend_from_slice(entry.finish());
        self.sizes.varint(entry.finish().len() as u64);
        self.rows += 1;
        self.chunks.push_records(1, varint(row.ids.len()).finish(), &[row.ids])
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let (mut counts, mut metadata, mut postscript) =
            (MessageWriter::default(), MessageWriter::default(), MessageWriter::default());
        counts.number(1, VERSION).number(2, self.rows).number(3, self.rows).bytes(4, OPTIONS.as_bytes());
        let metadata = metadata.bytes(1, counts.finish()).finish();
        let sizes = [varint(metadata.len()).finish(), self.sizes.finish()].concat();
        let postscript = postscript.number(1, self.chunks.position()).number(2, MAGIC).finish();
        self.chunks.push_records(self.rows + 1, &sizes, &[metadata, &self.entries])?;
        self.chunks.fill_block()?;
        let sizes = varint(postscript.len()).finish().repeat(COPIES);
        self.chunks.push_records(COPIES as u64, &sizes, &[postscript; COPIES])?;
        self.chunks.fill_block()?;
        Ok(vec![CompleteFile::without_header(self.chunks.into_file())])
    }
}
