//! Blocks of the values of one column of Arrow record batches, from a file or from another library.

use std::io;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayReader, ArrayRef};
use arrow_schema::{ArrowError, DataType};

use super::added::array_values::{ArrayPath, ArrayValues};
use super::added::{AddedColumn, path_of};
use super::arrow_stream::ArrowStream;
use super::column_paths::{check_texts, column_path};
use super::columns::{BLOCK, Rows, no_column};
use super::decoders::{arrow_error, decoded};
use super::record_block::RecordBlock;
use super::source::{Skipped, Source};
use crate::{Error, Result};

/// Record batches as arrays of structs, or the arrays of a single column.
pub(super) type Batches = Box<dyn Iterator<Item = std::result::Result<ArrayRef, ArrowError>> + Send>;

/// One column of a file or stream.
pub(super) struct ArrowColumn {
    batches: Batches,
    /// Where the column is: its number among the fields of the outermost struct, then of the next one inward.
    path: Vec<usize>,
    /// True if offsets and keys within arrays are still to be checked.
    is_foreign: bool,
    batch: Option<Texts>,
    rows: Rows,
    /// Columns that are kept beside it, and their arrays in the batch.
    added: Vec<ArrayPath>,
    values: Option<ArrayValues>,
}

impl ArrowColumn {
    /// The column at `path` of batches that have been checked as they were decoded.
    pub(super) fn of_decoded(batches: Batches, path: Vec<usize>, added: Vec<ArrayPath>) -> Self {
        let (rows, values) = (Rows::default(), None);
        Self { batches, path, is_foreign: false, batch: None, rows, added, values }
    }

    /// The column `name` of a stream's batches, or all of its arrays if they are no structs.
    ///
    /// # Errors
    /// [`Error::Format`] for an error of the producer, and if a column is absent or holds no texts; [`Error::Unsupported`]
    /// if the stream was read before.
    pub(super) fn of_stream(
        stream: &ArrowStream,
        name: &str,
        path: &Path,
        added: &[AddedColumn],
    ) -> Result<Self> {
        let reader = stream.take(path)?;
        let (numbers, added) = match reader.field().data_type() {
            DataType::Struct(fields) => {
                let added = added.iter().map(|column| path_of(fields, column, path));
                (column_path(fields, name, path)?, added.collect::<Result<_>>()?)
            }
            found => {
                check_texts(found, name, path)?;
                if let Some(column) = added.first() {
                    return Err(no_column(&column.name, ["the texts"].into_iter(), path));
                }
                (Vec::new(), Vec::new())
            }
        };
        Ok(Self { is_foreign: true, ..Self::of_decoded(Box::new(reader), numbers, added) })
    }

    /// True if rows of a batch remain.
    pub(super) fn is_within_batch(&self) -> bool {
        self.batch.as_ref().is_some_and(|texts| texts.next < texts.len)
    }

    /// Bytes of values before the next row.
    pub(super) fn offset(&self) -> u64 {
        self.rows.offset
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// The error that `failed` makes of an error of the batches; the errors of [`Rows::push`] and of [`RecordBlock::end_added`].
    pub(super) fn next(
        &mut self,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<bool> {
        block.bytes.clear();
        let first = self.rows.count;
        while block.bytes.len() + block.added.len() < BLOCK {
            let Some(texts) = &mut self.batch else {
                self.batch = decoded(|| self.next_batch(), arrow_error).map_err(&failed)?;
                if self.batch.is_none() {
                    break;
                }
                continue;
            };
            if texts.next == texts.len {
                self.batch = None;
                continue;
            }
            let mark = block.mark();
            self.rows.push(texts.value(texts.next), block, source, skipped)?;
            if let Some(values) = &self.values {
                let outcome = values.push(texts.next, &mut block.added);
                block.end_added(mark, outcome, source, skipped)?;
            }
            texts.next += 1;
        }
        Ok(self.rows.count > first)
    }

    fn next_batch(&mut self) -> std::result::Result<Option<Texts>, ArrowError> {
        let Some(batch) = self.batches.next() else { return Ok(None) };
        let batch = batch?;
        if !self.added.is_empty() {
            self.values = Some(ArrayValues::new(&batch, &self.added, self.is_foreign)?);
        }
        Texts::new(batch, &self.path, self.is_foreign).map(Some)
    }
}

/// The texts of one batch.
struct Texts {
    /// Arrays whose nulls make a text null: the structs around it, and the keys of a dictionary.
    outer: Vec<ArrayRef>,
    /// Of a dictionary, the row of `values` that each row refers to.
    keys: Option<Vec<usize>>,
    values: ArrayRef,
    next: usize,
    len: usize,
}

impl Texts {
    fn new(batch: ArrayRef, path: &[usize], is_foreign: bool) -> std::result::Result<Self, ArrowError> {
        let (mut outer, mut values) = (Vec::new(), batch);
        for &number in path {
            let inner = values.as_struct_opt().and_then(|fields| fields.columns().get(number).cloned());
            let lacking = || ArrowError::SchemaError("a batch has other columns than the schema".to_owned());
            outer.push(std::mem::replace(&mut values, inner.ok_or_else(lacking)?));
        }
        if is_foreign {
            values.to_data().validate_full()?;
        }
        let len = values.len();
        let dictionary = values.as_any_dictionary_opt();
        let Some(dictionary) = dictionary else {
            return Ok(Self { outer, keys: None, values, next: 0, len });
        };
        // Without values all keys are null.
        let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        let inner = dictionary.values().clone();
        outer.push(std::mem::replace(&mut values, inner));
        Ok(Self { outer, keys: Some(keys), values, next: 0, len })
    }

    /// The text of a row, unless it is null.
    fn value(&self, row: usize) -> Option<&[u8]> {
        if self.outer.iter().any(|array| array.is_null(row)) {
            return None;
        }
        let row = match &self.keys {
            Some(keys) => *keys.get(row)?,
            None => row,
        };
        let values = &self.values;
        if values.is_null(row) {
            return None;
        }
        match values.data_type() {
            DataType::Utf8 => Some(values.as_string::<i32>().value(row).as_bytes()),
            DataType::LargeUtf8 => Some(values.as_string::<i64>().value(row).as_bytes()),
            DataType::Utf8View => Some(values.as_string_view().value(row).as_bytes()),
            DataType::Binary => Some(values.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Some(values.as_binary::<i64>().value(row)),
            DataType::BinaryView => Some(values.as_binary_view().value(row)),
            _ => None,
        }
    }
}
