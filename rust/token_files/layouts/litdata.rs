//! Chunks of litdata: records after a table of offsets, and an `index.json` for the chunks of a folder.
//!
//! Each record has the ids of a tensor and nothing else, so a chunk has all ids end to end, as litdata's `TokensLoader` reads them.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::offset_file::OffsetFile;
use super::{CompleteFile, PartWriter, WrittenFile};
use crate::Result;
use crate::token_files::rows::Row;

/// Tensors of one axis without a header, of `torch.int32`, which is number 16 in litdata's list of types.
const DATA_FORMAT: &str = "no_header_tensor:16";

/// The structure of a record: a single tensor.
const DATA_SPEC: &str = r#"[1, {"type": null, "context": null, "children_spec": []}]"#;

/// The `index.json` of chunks. litdata keeps copies of chunks under the text of `updated_at`, so this text tells a corpus from others.
pub(in crate::token_files) fn index(chunks: &[WrittenFile<'_>], fingerprint: &str) -> Value {
    let chunks = chunks.iter().map(|chunk| {
        json!({
            "chunk_bytes": chunk.bytes,
            "chunk_size": chunk.rows,
            "dim": chunk.tokens,
            "filename": chunk.name,
        })
    });
    json!({
        "chunks": chunks.collect::<Vec<_>>(),
        "config": {
            "chunk_bytes": null,
            "chunk_size": null,
            "compression": null,
            "data_format": [DATA_FORMAT],
            "data_spec": DATA_SPEC,
            "encryption": null,
            "item_loader": "TokensLoader",
        },
        "updated_at": fingerprint,
    })
}

pub(super) struct Litdata(OffsetFile);

impl Litdata {
    pub(super) fn create(paths: &[PathBuf]) -> Result<Self> {
        OffsetFile::create(paths, String::new()).map(Self)
    }
}

impl PartWriter for Litdata {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.0.push(&[row.ids])
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        self.0.finish()
    }
}
