//! Values of added columns, and the offsets of tokens, as columns of record batches.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, Int32Array, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};

use super::PartKind;
use crate::corpus::sources::{AddedColumn, AddedValue, AddedValues, ValueKind};

/// The columns of where tokens begin and end.
const OFFSETS: [&str; 2] = ["offsets_start", "offsets_end"];

/// Bytes of values in a batch, unless a single row has more. A column of strings counts them by 31 bits.
const BATCH: usize = 1 << 24;

/// The values of one column.
enum Values {
    Text(StringBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Bool(BooleanBuilder),
}

impl Values {
    fn new(column: &AddedColumn) -> Self {
        match column.kind {
            ValueKind::Text => Self::Text(StringBuilder::new()),
            ValueKind::Int64 => Self::Int64(Int64Builder::new()),
            ValueKind::Float64 => Self::Float64(Float64Builder::new()),
            ValueKind::Bool => Self::Bool(BooleanBuilder::new()),
        }
    }

    /// Adds a value; one of another type is null.
    fn push(&mut self, value: AddedValue<'_>) {
        match (self, value) {
            (Self::Text(builder), AddedValue::Text(value)) => builder.append_value(value),
            (Self::Text(builder), _) => builder.append_null(),
            (Self::Int64(builder), AddedValue::Int64(value)) => builder.append_value(value),
            (Self::Int64(builder), _) => builder.append_null(),
            (Self::Float64(builder), AddedValue::Float64(value)) => builder.append_value(value),
            (Self::Float64(builder), _) => builder.append_null(),
            (Self::Bool(builder), AddedValue::Bool(value)) => builder.append_value(value),
            (Self::Bool(builder), _) => builder.append_null(),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::Bool(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Values of rows that wait for their batch.
pub(super) struct AddedBatch {
    columns: Vec<Values>,
    /// Where tokens begin and end, and the ends of rows among these.
    offsets: Option<([Vec<i32>; 2], Vec<i32>)>,
    bytes: usize,
}

impl AddedBatch {
    pub(super) fn new(kind: PartKind<'_>) -> Self {
        let offsets = kind.offsets.then(|| ([Vec::new(), Vec::new()], vec![0]));
        Self { columns: kind.added.iter().map(Values::new).collect(), offsets, bytes: 0 }
    }

    /// The columns of a schema.
    pub(super) fn fields(kind: PartKind<'_>) -> Vec<Field> {
        let values = kind.added.iter().map(|column| {
            let kind = match column.kind {
                ValueKind::Text => DataType::Utf8,
                ValueKind::Int64 => DataType::Int64,
                ValueKind::Float64 => DataType::Float64,
                ValueKind::Bool => DataType::Boolean,
            };
            Field::new(&column.name, kind, true)
        });
        let item = Arc::new(Field::new("item", DataType::Int32, true));
        let offsets = OFFSETS.iter().map(|name| Field::new(*name, DataType::List(Arc::clone(&item)), true));
        values.chain(offsets.filter(|_| kind.offsets)).collect()
    }

    /// Bytes of values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if the values of a row would make the batch too long.
    pub(super) fn is_full_before(&self, added: &[u8]) -> bool {
        self.bytes + added.len() > BATCH
    }

    /// Adds the values of a row.
    pub(super) fn push(&mut self, added: &[u8]) {
        self.bytes += added.len();
        let mut values = AddedValues::new(added);
        for column in &mut self.columns {
            column.push(values.next_value());
        }
        let Some(([starts, ends], rows)) = &mut self.offsets else { return };
        for pair in values.rest().as_chunks::<8>().0 {
            let (start, end) = pair.split_at(4);
            starts.extend(start.first_chunk().map(|start| i32::from_le_bytes(*start)));
            ends.extend(end.first_chunk().map(|end| i32::from_le_bytes(*end)));
        }
        rows.push(starts.len() as i32);
    }

    /// The values as columns; the batch is empty after that.
    ///
    /// # Errors
    /// [`ArrowError`].
    pub(super) fn take(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        self.bytes = 0;
        let mut columns: Vec<ArrayRef> = self.columns.iter_mut().map(Values::take).collect();
        if let Some((offsets, rows)) = &mut self.offsets {
            let rows = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(rows, vec![0])));
            for values in offsets {
                let item = Arc::new(Field::new("item", DataType::Int32, true));
                let values = Arc::new(Int32Array::from(std::mem::take(values)));
                columns.push(Arc::new(ListArray::try_new(item, rows.clone(), values, None)?));
            }
        }
        Ok(columns)
    }
}
