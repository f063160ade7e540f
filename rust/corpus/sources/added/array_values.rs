//! Values of Arrow's arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};

use super::value::{AddedColumn, AddedValue, unfit};

/// Where an added column is in arrays of structs, and the column itself.
#[derive(Clone, Debug)]
pub(in crate::corpus::sources) struct ArrayPath {
    /// Its number among the fields of the outermost struct, then of the next one inward.
    pub(in crate::corpus::sources) numbers: Vec<usize>,
    pub(in crate::corpus::sources) column: AddedColumn,
}

/// Added columns of one batch.
pub(in crate::corpus::sources) struct ArrayValues {
    columns: Vec<(ColumnValues, AddedColumn)>,
}

/// One column of a batch.
struct ColumnValues {
    /// Arrays whose nulls make a value null: the structs around it, and the keys of a dictionary.
    outer: Vec<ArrayRef>,
    /// Of a dictionary, the row of `array` that each row refers to.
    keys: Option<Vec<usize>>,
    array: ArrayRef,
}

impl ArrayValues {
    /// The columns at `paths` of a batch; arrays of another library are checked first.
    ///
    /// # Errors
    /// [`ArrowError`] for a batch that is not as its schema says.
    pub(in crate::corpus::sources) fn new(
        batch: &ArrayRef,
        paths: &[ArrayPath],
        is_foreign: bool,
    ) -> Result<Self, ArrowError> {
        let columns = paths.iter().map(|path| {
            let values = ColumnValues::new(ArrayRef::clone(batch), &path.numbers, is_foreign)?;
            Ok((values, path.column.clone()))
        });
        Ok(Self { columns: columns.collect::<Result<_, ArrowError>>()? })
    }

    /// Appends the values of a row.
    ///
    /// # Errors
    /// A message about the first value that does not fit its column.
    pub(in crate::corpus::sources) fn push(&self, row: usize, bytes: &mut Vec<u8>) -> Result<(), String> {
        self.columns.iter().try_for_each(|(values, column)| values.push(row, column, bytes))
    }
}

impl ColumnValues {
    fn new(batch: ArrayRef, numbers: &[usize], is_foreign: bool) -> Result<Self, ArrowError> {
        let (mut outer, mut values) = (Vec::new(), batch);
        for &number in numbers {
            let inner = values.as_struct_opt().and_then(|fields| fields.columns().get(number).cloned());
            let lacking = || ArrowError::SchemaError("a batch has other columns than the schema".to_owned());
            outer.push(std::mem::replace(&mut values, inner.ok_or_else(lacking)?));
        }
        if is_foreign {
            values.to_data().validate_full()?;
        }
        let Some(dictionary) = values.as_any_dictionary_opt() else {
            return Ok(Self { outer, keys: None, array: values });
        };
        let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        let inner = dictionary.values().clone();
        outer.push(std::mem::replace(&mut values, inner));
        Ok(Self { outer, keys: Some(keys), array: values })
    }

    fn push(&self, row: usize, column: &AddedColumn, bytes: &mut Vec<u8>) -> Result<(), String> {
        let is_null = |array: &ArrayRef| row >= array.len() || array.is_null(row);
        let inner = match &self.keys {
            Some(keys) => keys.get(row).copied(),
            None => Some(row),
        };
        let row = inner.filter(|&inner| inner < self.array.len() && !self.array.is_null(inner));
        let value = match row {
            Some(row) if !self.outer.iter().any(is_null) => self.value(row, column)?,
            _ => AddedValue::Null,
        };
        value.push_as(column.kind, &column.name, bytes)
    }

    /// A value that is not null.
    fn value(&self, row: usize, column: &AddedColumn) -> Result<AddedValue<'_>, String> {
        let values = &self.array;
        macro_rules! integer {
            ($type:ty) => {
                AddedValue::Int64(values.as_primitive::<$type>().value(row).into())
            };
        }
        let text = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(AddedValue::Text(text)),
            Err(_) => Err(format!("column `{}` is not valid UTF-8", column.name)),
        };
        Ok(match values.data_type() {
            DataType::Int8 => integer!(Int8Type),
            DataType::Int16 => integer!(Int16Type),
            DataType::Int32 => integer!(Int32Type),
            DataType::Int64 => integer!(Int64Type),
            DataType::UInt8 => integer!(UInt8Type),
            DataType::UInt16 => integer!(UInt16Type),
            DataType::UInt32 => integer!(UInt32Type),
            DataType::UInt64 => {
                let value = values.as_primitive::<UInt64Type>().value(row);
                let fitting = i64::try_from(value).map(AddedValue::Int64);
                fitting.map_err(|_| unfit(&column.name, &value.to_string(), column.kind))?
            }
            DataType::Float16 => AddedValue::Float64(values.as_primitive::<Float16Type>().value(row).into()),
            DataType::Float32 => AddedValue::Float64(values.as_primitive::<Float32Type>().value(row).into()),
            DataType::Float64 => AddedValue::Float64(values.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => AddedValue::Bool(values.as_boolean().value(row)),
            DataType::Utf8 => AddedValue::Text(values.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => AddedValue::Text(values.as_string::<i64>().value(row)),
            DataType::Utf8View => AddedValue::Text(values.as_string_view().value(row)),
            DataType::Binary => text(values.as_binary::<i32>().value(row))?,
            DataType::LargeBinary => text(values.as_binary::<i64>().value(row))?,
            DataType::BinaryView => text(values.as_binary_view().value(row))?,
            _ => AddedValue::Null,
        })
    }
}
