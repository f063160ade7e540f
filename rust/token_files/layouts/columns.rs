//! Rows as a column of lists: Arrow streams and Parquet files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, ListArray, RecordBatch, UInt8Array, UInt16Array, UInt32Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use serde_json::Value;

use super::added_batch::AddedBatch;
use super::loss_columns::LossBatch;
use super::{CompleteFile, PartKind, PartWriter};
use crate::corpus::sources::{AddedColumn, ValueKind};
use crate::token_files::layout::Layout;
use crate::token_files::loss::{LossForm, Messages};
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::{Row, RowColumn};
use crate::token_files::width::Width;
use crate::{Error, Result};

/// The column of ids.
pub(in crate::token_files) const IDS: &str = "input_ids";

/// Bytes of ids in a batch, unless a single row has more.
const BATCH: usize = 1 << 20;

/// Bytes of ids in a row group of Parquet.
const ROW_GROUP: usize = 1 << 24;

/// The integers of rows in one column.
struct ColumnBatch {
    column: RowColumn,
    values: Vec<i32>,
    /// Ends of rows among these.
    ends: Vec<i32>,
}

impl ColumnBatch {
    fn new(column: RowColumn) -> Self {
        Self { column, values: Vec::new(), ends: vec![0] }
    }

    fn push(&mut self, row: Row<'_>, length: usize) {
        self.column.push(row, length, &mut self.values);
        self.ends.push(self.values.len() as i32);
    }
}

/// Rows that wait for their batch.
struct Batch {
    schema: SchemaRef,
    width: Width,
    ids: Vec<u8>,
    /// Ends of rows, in tokens.
    ends: Vec<i32>,
    row_length: usize,
    loss: Option<LossBatch>,
    row_columns: Vec<ColumnBatch>,
    added: AddedBatch,
}

impl Batch {
    fn new(kind: PartKind<'_>) -> Self {
        let list = |name: &str, item: &DataType| {
            Field::new(name, DataType::List(Arc::new(Field::new("item", item.clone(), true))), true)
        };
        let ids = match kind.width {
            Width::U8 => DataType::UInt8,
            Width::U16 => DataType::UInt16,
            Width::I32 => DataType::Int32,
            Width::U32 => DataType::UInt32,
        };
        let mut fields = vec![list(IDS, &ids)];
        fields.extend(kind.loss.into_iter().flat_map(LossBatch::fields));
        fields.extend(kind.row_columns.iter().map(|column| list(column.name(), &DataType::Int32)));
        fields.extend(AddedBatch::fields(kind));
        Self {
            added: AddedBatch::new(kind),
            schema: Arc::new(Schema::new(fields)),
            width: kind.width,
            ids: Vec::new(),
            ends: vec![0],
            row_length: kind.row_length.unwrap_or(0),
            loss: kind.loss.map(LossBatch::new),
            row_columns: kind.row_columns.iter().copied().map(ColumnBatch::new).collect(),
        }
    }

    /// True if `row` would make the batch too long.
    fn is_full_before(&self, row: Row<'_>) -> bool {
        self.ends.len() > 1
            && (self.ids.len() + row.ids.len() > BATCH || self.added.is_full_before(row.added))
    }

    fn push(&mut self, row: Row<'_>) {
        self.ids.extend_from_slice(row.ids);
        self.ends.push((self.ids.len() / self.width.bytes()) as i32);
        for column in &mut self.row_columns {
            column.push(row, self.row_length);
        }
        if let Some(loss) = &mut self.loss {
            loss.push(row, self.width);
        }
        self.added.push(row.added);
    }

    /// The rows as columns; the batch is empty after that.
    fn take(&mut self) -> std::result::Result<RecordBatch, ArrowError> {
        let wide =
            |bytes: &[u8]| bytes.chunks_exact(4).map(|id| [id[0], id[1], id[2], id[3]]).collect::<Vec<_>>();
        let ids: ArrayRef = match self.width {
            Width::U8 => Arc::new(UInt8Array::from(self.ids.clone())),
            Width::U16 => Arc::new(UInt16Array::from_iter_values(
                self.ids.chunks_exact(2).map(|id| u16::from_le_bytes([id[0], id[1]])),
            )),
            Width::I32 => {
                Arc::new(Int32Array::from_iter_values(wide(&self.ids).into_iter().map(i32::from_le_bytes)))
            }
            Width::U32 => {
                Arc::new(UInt32Array::from_iter_values(wide(&self.ids).into_iter().map(u32::from_le_bytes)))
            }
        };
        let list = |values: ArrayRef, ends: &mut Vec<i32>| {
            let field = Arc::new(Field::new("item", values.data_type().clone(), true));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(ends, vec![0])));
            ListArray::try_new(field, offsets, values, None).map(|list| Arc::new(list) as ArrayRef)
        };
        let mut columns = vec![list(ids, &mut self.ends)?];
        if let Some(loss) = &mut self.loss {
            columns.extend(loss.take()?);
        }
        for column in &mut self.row_columns {
            let values = Arc::new(Int32Array::from(std::mem::take(&mut column.values)));
            columns.push(list(values, &mut column.ends)?);
        }
        columns.extend(self.added.take()?);
        self.ids.clear();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// The columns of token files with the options of a manifest.
///
/// # Errors
/// [`Error::InvalidOption`] for a column of an unknown type.
pub(in crate::token_files) fn schema_of(options: &Value) -> Result<SchemaRef> {
    let width = Width::named(options["dtype"].as_str().unwrap_or_default()).unwrap_or(Width::U32);
    let columns = options["columns"].as_object().into_iter().flatten();
    let added = columns
        .map(|(name, kind)| Ok(AddedColumn::new(name, ValueKind::named(kind.as_str().unwrap_or_default())?)));
    let (added, layout) = (added.collect::<Result<Vec<_>>>()?, Layout::Parquet);
    let row_length = options["pack"].as_u64().map(|length| length as usize);
    let offsets = options["offsets"] == true;
    let asked = options["pack_columns"].as_array().into_iter().flatten();
    let asked = asked.map(|name| RowColumn::named(name.as_str().unwrap_or_default()));
    let starts = row_length.map(|_| Ok(RowColumn::Starts));
    let row_columns = &starts.into_iter().chain(asked).collect::<Result<Vec<_>>>()?;
    let loss = Messages::form_of(options);
    Ok(Batch::new(PartKind { layout, width, row_length, row_columns, added: &added, offsets, loss }).schema)
}

fn arrow_failed(path: &Path) -> impl Fn(ArrowError) -> Error {
    move |error| match error {
        ArrowError::IoError(_, source) => Error::io("write", path)(source),
        error => Error::Custom(Box::new(error)),
    }
}

fn parquet_failed(path: &Path) -> impl Fn(ParquetError) -> Error {
    move |error| match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(source) => Error::io("write", path)(*source),
            Err(error) => Error::Custom(error),
        },
        error => Error::Custom(Box::new(error)),
    }
}

/// A file that takes record batches.
pub(super) trait BatchFile: Sized {
    /// Writes a batch with `bytes` bytes of ids.
    fn write(&mut self, batch: &RecordBatch, bytes: usize, path: &Path) -> Result<()>;

    /// Ends the file.
    fn into_file(self, path: &Path) -> Result<PartFile>;
}

/// Writes rows into record batches of a file.
pub(super) struct Columns<F> {
    batch: Batch,
    path: PathBuf,
    file: F,
}

impl<F: BatchFile> Columns<F> {
    fn create(
        paths: &[PathBuf],
        kind: PartKind<'_>,
        begin: impl FnOnce(PartFile, &SchemaRef, &Path) -> Result<F>,
    ) -> Result<Self> {
        let (path, batch) = (paths[0].clone(), Batch::new(kind));
        let file = begin(PartFile::create(path.clone(), 0)?, &batch.schema, &path)?;
        Ok(Self { batch, path, file })
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = self.batch.ids.len() + self.batch.added.bytes();
        let batch = self.batch.take().map_err(arrow_failed(&self.path))?;
        self.file.write(&batch, bytes, &self.path)
    }
}

impl<F: BatchFile> PartWriter for Columns<F> {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        if self.batch.is_full_before(row) {
            self.flush()?;
        }
        self.batch.push(row);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<CompleteFile>> {
        self.flush()?;
        Ok(vec![CompleteFile::without_header(self.file.into_file(&self.path)?)])
    }
}

impl Columns<StreamWriter<PartFile>> {
    /// An Arrow IPC stream, which `datasets` maps into memory.
    pub(super) fn arrow(paths: &[PathBuf], kind: PartKind<'_>) -> Result<Self> {
        Self::create(paths, kind, |file, schema, path| {
            StreamWriter::try_new(file, schema).map_err(arrow_failed(path))
        })
    }
}

impl BatchFile for StreamWriter<PartFile> {
    fn write(&mut self, batch: &RecordBatch, _bytes: usize, path: &Path) -> Result<()> {
        self.write(batch).map_err(arrow_failed(path))
    }

    fn into_file(self, path: &Path) -> Result<PartFile> {
        self.into_inner().map_err(arrow_failed(path))
    }
}

/// The writer of a Parquet file.
pub(super) struct RowGroups {
    writer: ArrowWriter<PartFile>,
    /// Bytes of ids in the row group.
    grouped: usize,
}

impl Columns<RowGroups> {
    /// A Parquet file.
    pub(super) fn parquet(paths: &[PathBuf], kind: PartKind<'_>) -> Result<Self> {
        Self::create(paths, kind, |file, schema, path| {
            let level = ZstdLevel::try_new(1).map_err(parquet_failed(path))?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(level))
                // Without a version some readers pass over statistics; with the real one, files would differ by it.
                .set_created_by("lexmill version 1".to_owned())
                // Documents hardly repeat ids often enough for a dictionary of 32-bit values to be worth its building.
                .set_dictionary_enabled(false);
            // Values such as languages repeat.
            let properties = kind.added.iter().fold(properties, |properties, column| {
                let path = ColumnPath::new(vec![column.name.clone()]);
                properties.set_column_dictionary_enabled(path, true)
            });
            // Masks are runs of 0 and of 1.
            let properties = if kind.loss == Some(LossForm::Mask) {
                let path = ["loss_mask", "list", "item"].map(str::to_owned).to_vec();
                properties.set_column_dictionary_enabled(ColumnPath::new(path), true)
            } else {
                properties
            };
            let properties = properties.build();
            let writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties));
            Ok(RowGroups { writer: writer.map_err(parquet_failed(path))?, grouped: 0 })
        })
    }
}

impl BatchFile for RowGroups {
    fn write(&mut self, batch: &RecordBatch, bytes: usize, path: &Path) -> Result<()> {
        self.writer.write(batch).map_err(parquet_failed(path))?;
        self.grouped += bytes;
        if self.grouped >= ROW_GROUP {
            self.grouped = 0;
            self.writer.flush().map_err(parquet_failed(path))?;
        }
        Ok(())
    }

    fn into_file(self, path: &Path) -> Result<PartFile> {
        self.writer.into_inner().map_err(parquet_failed(path))
    }
}
