//! MDS shards, which `MosaicML` streaming reads: records after a table of offsets, and an `index.json` for the shards of a folder.
//!
//! A record has the sizes of its values, except of values that always have one size, and then the values, in the order of the names of
//! columns. Each value is an array of one axis. The ids are the column `tokens`, which is the name that LLM Foundry asks for; it comes
//! last.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::offset_file::OffsetFile;
use super::{CompleteFile, PartKind, PartWriter, WrittenFile};
use crate::Result;
use crate::token_files::rows::{Row, RowColumn};

/// The version of shards and indexes.
const VERSION: u32 = 2;

/// A column of arrays.
struct Column {
    name: &'static str,
    /// The integers of a packed row; none for ids.
    of_row: Option<RowColumn>,
    dtype: &'static str,
    /// Bytes of an item.
    width: usize,
    /// Items of each array, if all arrays have as many.
    length: Option<usize>,
}

impl Column {
    fn of_row(column: RowColumn, row_length: Option<usize>) -> Self {
        let length = row_length.filter(|_| RowColumn::OF_TOKENS.contains(&column));
        Self { name: column.name(), of_row: Some(column), dtype: "int32", width: 4, length }
    }

    /// The columns of a shard, in the order of their names.
    fn all(kind: PartKind<'_>) -> Vec<Self> {
        let ids = Self {
            name: "tokens",
            of_row: None,
            dtype: kind.width.name(),
            width: kind.width.bytes(),
            length: kind.row_length,
        };
        let of_rows = kind.row_columns.iter().map(|&column| Self::of_row(column, kind.row_length));
        let mut columns: Vec<Self> = of_rows.chain([ids]).collect();
        columns.sort_by_key(|column| column.name);
        columns
    }

    fn encoding(&self) -> String {
        let length = self.length.map(|length| format!(":{length}")).unwrap_or_default();
        format!("ndarray:{}{length}", self.dtype)
    }

    /// Appends an array. Unless the column has a fixed length, a byte (number of axes, width of the length) and the length come first.
    fn push(&self, array: &[u8], values: &mut Vec<u8>) {
        if self.length.is_none() {
            let length = (array.len() / self.width) as u32;
            let exponent: u8 = match length {
                0..=0xFF => 0,
                0x100..=0xFFFF => 1,
                _ => 2,
            };
            values.push(1 << 2 | exponent);
            values.extend_from_slice(&length.to_le_bytes()[..1 << exponent]);
        }
        values.extend_from_slice(array);
    }
}

/// The description of the columns, in each shard and in each entry of the index.
fn config(columns: &[Column]) -> Value {
    json!({
        "column_encodings": columns.iter().map(Column::encoding).collect::<Vec<_>>(),
        "column_names": columns.iter().map(|column| column.name).collect::<Vec<_>>(),
        "column_sizes": columns.iter().map(|column| column.length.map(|length| length * column.width)).collect::<Vec<_>>(),
        "compression": null,
        "format": "mds",
        "hashes": [],
        "size_limit": null,
        "version": VERSION,
    })
}

/// The `index.json` of shards.
pub(in crate::token_files) fn index(kind: PartKind<'_>, shards: &[WrittenFile<'_>]) -> Value {
    let config = config(&Column::all(kind));
    let shards = shards.iter().map(|shard| {
        let mut entry = config.clone();
        entry["raw_data"] = json!({ "basename": shard.name, "bytes": shard.bytes, "hashes": {} });
        entry["samples"] = shard.rows.into();
        entry["zip_data"] = Value::Null;
        entry
    });
    json!({ "shards": shards.collect::<Vec<_>>(), "version": VERSION })
}

pub(super) struct Mds {
    file: OffsetFile,
    columns: Vec<Column>,
    row_length: usize,
    /// The array of a column, and the sizes and values of a record.
    array: Vec<u8>,
    sizes: Vec<u8>,
    values: Vec<u8>,
}

impl Mds {
    pub(super) fn create(paths: &[PathBuf], kind: PartKind<'_>) -> Result<Self> {
        let columns = Column::all(kind);
        let file = OffsetFile::create(paths, config(&columns).to_string())?;
        let (row_length, array) = (kind.row_length.unwrap_or(0), Vec::new());
        Ok(Self { file, columns, row_length, array, sizes: Vec::new(), values: Vec::new() })
    }
}

impl PartWriter for Mds {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let Self { file, columns, row_length, array, sizes, values } = self;
        sizes.clear();
        values.clear();
        for column in columns.iter() {
            let start = values.len();
            match column.of_row {
                None => column.push(row.ids, values),
                Some(of_row) => {
                    array.clear();
                    of_row.push_bytes(row, *row_length, array);
                    column.push(array, values);
                }
            }
            if column.length.is_none() {
                sizes.extend_from_slice(&((values.len() - start) as u32).to_le_bytes());
            }
        }
        file.push(&[sizes, values])
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        self.file.finish()
    }
}
