//! Columns of tokens as Arrow lists. The lists share the buffers of the numpy arrays, and keep the arrays alive.

use std::ffi::c_void;
use std::panic::RefUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::capsule::malformed;

/// The type of the values of a column.
#[derive(Clone, Copy)]
pub(in crate::bindings) enum Values {
    U8,
    U16,
    I32,
    U32,
    I64,
    PairsOfU32,
}

impl Values {
    /// The type of a value, and its bytes.
    fn layout(self) -> (DataType, usize) {
        match self {
            Self::U8 => (DataType::UInt8, 1),
            Self::U16 => (DataType::UInt16, 2),
            Self::I32 => (DataType::Int32, 4),
            Self::U32 => (DataType::UInt32, 4),
            Self::I64 => (DataType::Int64, 8),
            Self::PairsOfU32 => (DataType::FixedSizeList(item(DataType::UInt32), 2), 8),
        }
    }
}

/// One column of rows of tokens.
pub(in crate::bindings) struct ArrowColumn {
    /// Name of the field.
    pub(in crate::bindings) name: &'static str,
    /// Start of the values.
    pub(in crate::bindings) data: *const c_void,
    /// Type of the values.
    pub(in crate::bindings) values: Values,
    /// True if there is a value for each token, false if there is one for each row.
    pub(in crate::bindings) is_per_token: bool,
}

/// The Python object that owns the buffers.
struct Owner(Option<Py<PyAny>>);

// Nobody calls the object before its last reference is dropped.
impl RefUnwindSafe for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // A consumer releases its arrays from any thread, and the object is freed at once.
        Python::attach(|_| drop(self.0.take()));
    }
}

/// Rows of tokens in buffers of numpy.
struct Rows {
    splits: Buffer,
    len: usize,
    n_ids: usize,
    owner: Arc<Owner>,
}

impl Rows {
    fn column(&self, column: &ArrowColumn) -> Result<ArrayData, ArrowError> {
        let (kind, size) = column.values.layout();
        let len = if column.is_per_token { self.n_ids } else { self.len };
        let buffer = shared(column.data, len * size, &self.owner);
        let values = match &kind {
            DataType::FixedSizeList(number, pair) => {
                let numbers = ArrayData::builder(number.data_type().clone()).len(len * *pair as usize);
                let numbers = numbers.add_buffer(buffer).build()?;
                ArrayData::builder(kind).len(len).add_child_data(numbers).build()?
            }
            _ => ArrayData::builder(kind).len(len).add_buffer(buffer).build()?,
        };
        if !column.is_per_token {
            return Ok(values);
        }
        let kind = DataType::LargeList(item(values.data_type().clone()));
        ArrayData::builder(kind).len(self.len).add_buffer(self.splits.clone()).add_child_data(values).build()
    }

    /// A `large_list` if there is one column, else a struct of them.
    fn array(&self, columns: &[ArrowColumn]) -> Result<ArrayData, ArrowError> {
        if let [column] = columns {
            return self.column(column);
        }
        let arrays = columns.iter().map(|column| self.column(column)).collect::<Result<Vec<_>, _>>()?;
        let field = |(column, array): (&ArrowColumn, &ArrayData)| {
            Field::new(column.name, array.data_type().clone(), false)
        };
        let fields = columns.iter().zip(&arrays).map(field).collect();
        ArrayData::builder(DataType::Struct(fields)).len(self.len).child_data(arrays).build()
    }
}

fn item(kind: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", kind, false))
}

/// A buffer of `len` bytes at `start`, which lie in an array of `owner`.
#[expect(unsafe_code, reason = "the buffer lies in an array of numpy's")]
fn shared(start: *const c_void, len: usize, owner: &Arc<Owner>) -> Buffer {
    let start = NonNull::new(start.cast::<u8>().cast_mut()).unwrap_or(NonNull::dangling());
    // SAFETY: the callers give the bytes of a contiguous array that `owner` keeps alive.
    unsafe { Buffer::from_custom_allocation(start, len, Arc::<Owner>::clone(owner)) }
}

/// Schema and array capsules of columns whose rows begin at `row_splits` (start of the 64-bit numbers, number of rows): a
/// `large_list` if there is one column, else a struct of them.
///
/// # Errors
/// `FormatError` if arrays and row splits contradict each other.
pub(in crate::bindings) fn export<'py>(
    py: Python<'py>,
    columns: &[ArrowColumn],
    row_splits: (*const c_void, usize),
    n_ids: usize,
    owner: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let owner = Arc::new(Owner(Some(owner.clone().unbind())));
    let (splits, len) = row_splits;
    let rows = Rows { splits: shared(splits, (len + 1) * 8, &owner), len, n_ids, owner };
    let exported = || {
        let array = rows.array(columns)?;
        Ok((FFI_ArrowSchema::try_from(array.data_type())?, FFI_ArrowArray::new(&array)))
    };
    let (schema, array) = exported().map_err(|error: ArrowError| malformed(py, error.to_string()))?;
    Ok((
        PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
        PyCapsule::new_with_value(py, array, c"arrow_array")?,
    ))
}
