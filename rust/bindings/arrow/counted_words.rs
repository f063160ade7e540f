//! Word counts as a stream of Arrow batches.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::Result;
use crate::counting::runs::{RunReader, Spelling};

/// Rows of a batch; fewer where words are so long that they make [`BATCH_BYTES`] earlier.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_BYTES: usize = 1 << 22;

/// The capsule of a stream of the words of counts: columns `word`, `count`, `source` and `place`.
pub(in crate::bindings) fn counted_words_stream(
    py: Python<'_>,
    reader: RunReader,
    spelling: Spelling,
) -> PyResult<Bound<'_, PyCapsule>> {
    let field = |name, kind| Field::new(name, kind, false);
    let fields = vec![
        field("word", DataType::LargeUtf8),
        field("count", DataType::UInt64),
        field("source", DataType::UInt32),
        field("place", DataType::UInt64),
    ];
    let batches = Batches { reader, spelling, schema: Arc::new(Schema::new(fields)) };
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

struct Batches {
    reader: RunReader,
    spelling: Spelling,
    schema: SchemaRef,
}

impl Batches {
    /// `None` after the last word.
    fn next_batch(&mut self) -> Result<Option<Vec<arrow_array::ArrayRef>>> {
        let (mut words, mut counts) = (LargeStringBuilder::new(), UInt64Builder::new());
        let (mut sources, mut places) = (UInt32Builder::new(), UInt64Builder::new());
        let (mut rows, mut bytes, mut text) = (0, 0, String::new());
        while rows < BATCH_ROWS && bytes < BATCH_BYTES && self.reader.advance()? {
            let word = self.reader.word();
            text.clear();
            self.spelling.push(word.word, &mut text);
            words.append_value(&text);
            counts.append_value(word.count);
            sources.append_value(word.first.source);
            places.append_value(word.first.at);
            (rows, bytes) = (rows + 1, bytes + text.len());
        }
        if rows == 0 {
            return Ok(None);
        }
        Ok(Some(vec![
            Arc::new(words.finish()),
            Arc::new(counts.finish()),
            Arc::new(sources.finish()),
            Arc::new(places.finish()),
        ]))
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(columns) => columns.map(|columns| RecordBatch::try_new(Arc::clone(&self.schema), columns)),
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
