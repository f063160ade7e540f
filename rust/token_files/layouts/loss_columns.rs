//! Loss masks as columns of record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, ListArray, UInt8Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};

use crate::token_files::loss::{LossForm, labels, ranges};
use crate::token_files::rows::Row;
use crate::token_files::width::Width;

/// Loss masks of rows that wait for their batch.
pub(super) struct LossBatch {
    form: LossForm,
    mask: Vec<u8>,
    /// Labels; or the starts and the ends of ranges.
    integers: [Vec<i32>; 2],
    /// Ends of rows among the values.
    ends: Vec<i32>,
}

impl LossBatch {
    pub(super) fn new(form: LossForm) -> Self {
        Self { form, mask: Vec::new(), integers: [Vec::new(), Vec::new()], ends: vec![0] }
    }

    /// The columns of a schema.
    pub(super) fn fields(form: LossForm) -> impl Iterator<Item = Field> {
        let kind = if form == LossForm::Mask { DataType::UInt8 } else { DataType::Int32 };
        let item = Arc::new(Field::new("item", kind, true));
        form.columns().iter().map(move |name| Field::new(*name, DataType::List(Arc::clone(&item)), true))
    }

    /// Adds a row, whose ids have `width`.
    pub(super) fn push(&mut self, row: Row<'_>, width: Width) {
        let [integers, range_ends] = &mut self.integers;
        match self.form {
            LossForm::Mask => self.mask.extend_from_slice(row.mask),
            LossForm::Labels => integers.extend(labels(row.ids, row.mask, width)),
            LossForm::Ranges => ranges(row.mask).for_each(|(start, end)| {
                integers.push(start);
                range_ends.push(end);
            }),
        }
        self.ends.push(self.mask.len().max(integers.len()) as i32);
    }

    /// The columns; the batch is empty after that.
    ///
    /// # Errors
    /// [`ArrowError`].
    pub(super) fn take(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let rows = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.ends, vec![0])));
        let mut values: Vec<ArrayRef> = Vec::new();
        if self.form == LossForm::Mask {
            values.push(Arc::new(UInt8Array::from(std::mem::take(&mut self.mask))));
        } else {
            let columns = self.integers.iter_mut().take(self.form.columns().len());
            values.extend(
                columns.map(|integers| Arc::new(Int32Array::from(std::mem::take(integers))) as ArrayRef),
            );
        }
        let list = |values: ArrayRef| {
            let item = Arc::new(Field::new("item", values.data_type().clone(), true));
            ListArray::try_new(item, rows.clone(), values, None).map(|list| Arc::new(list) as ArrayRef)
        };
        values.into_iter().map(list).collect()
    }
}
