//! Values of a Parquet file, row by row beside its texts.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::array_values::{ArrayPath, ArrayValues};
use super::schema::path_of;
use super::value::AddedColumn;
use crate::Result;
use crate::corpus::sources::decoders::{decoded, parquet_error};
use crate::corpus::sources::file_errors::failed;
use crate::corpus::sources::seekable::SeekableFile;

/// Rows that are decoded at a time.
const ROWS: usize = 1024;

/// The added columns of one file.
pub(in crate::corpus::sources) struct ParquetValues {
    batches: ParquetRecordBatchReader,
    paths: Vec<ArrayPath>,
    batch: Option<ArrayValues>,
    /// The next row of the batch, and its rows.
    next: usize,
    rows: usize,
}

/// The schema of a file.
///
/// # Errors
/// [`Error::Io`](crate::Error) for a file that is not Parquet.
pub(in crate::corpus::sources) fn schema(path: &Path) -> Result<SchemaRef> {
    builder(path).map(|builder| Arc::clone(builder.schema()))
}

fn builder(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<SeekableFile>> {
    let file = SeekableFile::open_from_end(path).map_err(|error| failed("open", path, error))?;
    decoded(|| ParquetRecordBatchReaderBuilder::try_new(file), parquet_error)
        .map_err(|error| failed("read", path, error))
}

impl ParquetValues {
    /// The columns of a file.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error) for a file that is not Parquet, [`Error::Format`](crate::Error) if a column is absent or of another type.
    pub(in crate::corpus::sources) fn open(path: &Path, columns: &[AddedColumn]) -> Result<Self> {
        let builder = builder(path)?;
        let fields = builder.schema().fields().clone();
        columns.iter().try_for_each(|column| path_of(&fields, column, path).map(drop))?;
        let names = columns.iter().map(|column| column.name.as_str());
        let mask = ProjectionMask::columns(builder.parquet_schema(), names);
        let batches = decoded(|| builder.with_projection(mask).with_batch_size(ROWS).build(), parquet_error)
            .map_err(|error| failed("read", path, error))?;
        // Columns that are not read are not counted.
        let fields = arrow_array::RecordBatchReader::schema(&batches).fields().clone();
        let paths = columns.iter().map(|column| path_of(&fields, column, path)).collect::<Result<_>>()?;
        Ok(Self { batches, paths, batch: None, next: 0, rows: 0 })
    }

    /// Appends the values of the next row to `bytes`; answers a message if one of them does not fit its column.
    ///
    /// # Errors
    /// [`ParquetError`] for a damaged file.
    pub(in crate::corpus::sources) fn push(
        &mut self,
        bytes: &mut Vec<u8>,
    ) -> std::result::Result<std::result::Result<(), String>, ParquetError> {
        while self.next == self.rows {
            let lacking = || ParquetError::General("a column has fewer rows than the texts".to_owned());
            let batch = self.batches.next().ok_or_else(lacking)??;
            (self.next, self.rows) = (0, batch.num_rows());
            let batch: ArrayRef = Arc::new(StructArray::from(batch));
            self.batch = Some(ArrayValues::new(&batch, &self.paths, false)?);
        }
        self.next += 1;
        Ok(self.batch.as_ref().map_or(Ok(()), |batch| batch.push(self.next - 1, bytes)))
    }
}
