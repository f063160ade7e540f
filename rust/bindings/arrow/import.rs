//! Columns of text taken over from other libraries.
//!
//! A producer of an array is believed that its buffers are as long as its lengths and offsets say; these numbers are checked before
//! they are used. A producer of a stream is believed that its arrays have the buffers of their type.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, make_array, new_empty_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use super::capsule::{malformed, taken};
use crate::bindings::errors::exception;
use crate::corpus::sources::{arrow_error, decoded};

/// One array of a column; its buffers live as long as this.
pub(in crate::bindings) struct Imported(ArrayRef);

/// A column of text, array by array.
pub(in crate::bindings) enum Column {
    /// One array, not yet handed out.
    Array(Option<Imported>),
    /// The arrays that a producer makes when it is asked.
    Stream(ArrayStreamReader),
}

impl Column {
    /// The column that an object offers through Arrow's capsules, if it does.
    pub(in crate::bindings) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        if let Some(method) = object.getattr_opt("__arrow_c_array__")? {
            let pair = method.call0()?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>();
            let (schema, array) =
                pair.map_err(|_| malformed(py, "there is no pair of capsules".to_owned()))?;
            let schema = taken(&schema, c"arrow_schema", FFI_ArrowSchema::from_raw)?;
            let kind = checked(py, || DataType::try_from(&schema))?;
            check_texts(py, &kind)?;
            let array = taken(&array, c"arrow_array", FFI_ArrowArray::from_raw)?;
            return Ok(Some(Self::Array(Some(Imported::of(py, array, kind)?))));
        }
        let Some(method) = object.getattr_opt("__arrow_c_stream__")? else { return Ok(None) };
        let capsule = match method.call0() {
            Ok(capsule) => capsule,
            // The method of pandas needs pyarrow, which may be absent; such an object can still be iterated over.
            Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stream = taken(&capsule, c"arrow_array_stream", FFI_ArrowArrayStream::from_raw)?;
        let reader = checked(py, || ArrayStreamReader::try_new(stream))?;
        check_texts(py, reader.field().data_type())?;
        Ok(Some(Self::Stream(reader)))
    }

    /// As [`Self::of`], but `None` also for a column of other things than texts if Python gives its items as its own objects:
    /// pandas and polars have texts as categories and pairs as objects, pyarrow gives scalars. A table has no items.
    pub(in crate::bindings) fn of_texts(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        let found = Self::of(object);
        let Err(error) = &found else { return found };
        let is_format = error.get_type(py).name().is_ok_and(|name| name == "FormatError");
        let module = object.get_type().module()?.to_string();
        let has_items =
            object.hasattr("__iter__")? && !object.hasattr("columns")? && !module.starts_with("pyarrow");
        if is_format || !has_items { found } else { Ok(None) }
    }

    /// The next array, if there is one more.
    pub(in crate::bindings) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Imported>> {
        match self {
            Self::Array(array) => Ok(array.take()),
            Self::Stream(reader) => {
                let array = checked(py, || reader.next().map(|array| as_bytes(&array?)).transpose())?;
                Ok(array.map(Imported))
            }
        }
    }
}

impl Imported {
    /// Takes over one array of texts.
    #[expect(unsafe_code, reason = "the structure points to the producer's buffers")]
    fn of(py: Python<'_>, array: FFI_ArrowArray, kind: DataType) -> PyResult<Self> {
        if array.is_released() {
            return Err(malformed(py, "arrow_array was released already".to_owned()));
        }
        let array = checked(py, || {
            check_numbers(&array, &kind)?;
            // An array without rows may lack its buffers.
            if array.is_empty() {
                return as_bytes(&new_empty_array(&kind));
            }
            // SAFETY: the numbers fit the type, and the producer promises that its buffers are as long as they say.
            let data = unsafe { from_ffi_and_data_type(array, kind) }?;
            as_bytes(&make_array(data))
        })?;
        Ok(Self(array))
    }

    /// The bytes of each row, which are not checked to be UTF-8.
    ///
    /// # Errors
    /// The number of the first row without a text.
    pub(in crate::bindings) fn rows(&self) -> Result<Vec<&[u8]>, usize> {
        let array = &self.0;
        if let Some(null) = array.nulls().and_then(|nulls| nulls.iter().position(|is_valid| !is_valid)) {
            return Err(null);
        }
        let rows = 0..array.len();
        Ok(match array.data_type() {
            DataType::Binary => rows.map(|row| array.as_binary::<i32>().value(row)).collect(),
            DataType::LargeBinary => rows.map(|row| array.as_binary::<i64>().value(row)).collect(),
            _ => rows.map(|row| array.as_binary_view().value(row)).collect(),
        })
    }
}

/// The bytes of texts, with all offsets checked. A text that is not UTF-8 is the affair of the reader.
fn as_bytes(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let kind = match array.data_type() {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        other => other.clone(),
    };
    let data = array.to_data().into_builder().data_type(kind).build()?;
    Ok(make_array(data))
}

/// Refuses numbers from which the lengths of buffers cannot be computed, and buffers that must be there.
fn check_numbers(array: &FFI_ArrowArray, kind: &DataType) -> Result<(), ArrowError> {
    let refused = |message: String| Err(ArrowError::CDataInterface(message));
    let (length, offset, buffers) = (array.len(), array.offset(), array.num_buffers());
    // A negative number is a huge one here. No item has more than 16 bytes.
    let most = isize::MAX as usize / 16 - 1;
    if length > most || offset > most - length {
        return refused(format!("length {length} and offset {offset} are more than memory can hold"));
    }
    let is_views = matches!(kind, DataType::Utf8View | DataType::BinaryView);
    let is_number_right = if is_views { (3..1 << 31).contains(&buffers) } else { buffers == 3 };
    if !is_number_right || array.num_children() != 0 {
        let children = array.num_children();
        return refused(format!(
            "there are {buffers} buffers and {children} children but must be 3 buffers, or more with views, and none"
        ));
    }
    if length + offset > 0 && array.buffer(1).is_null() {
        return refused("the buffer of offsets or views is null".to_owned());
    }
    if buffers > 3 && array.buffer(buffers - 1).is_null() {
        return refused("the buffer of buffer sizes is null".to_owned());
    }
    Ok(())
}

/// The outcome of arrow's work on a producer's structures, whose panics are errors too.
fn checked<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    decoded(work, arrow_error).map_err(|error| malformed(py, error.to_string()))
}

/// Refuses a column of other things than texts.
fn check_texts(py: Python<'_>, kind: &DataType) -> PyResult<()> {
    use DataType::{Binary, BinaryView, Dictionary, LargeBinary, LargeUtf8, Struct, Utf8, Utf8View};
    let refused = match kind {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => return Ok(()),
        Dictionary(..) => "dictionary indices".to_owned(),
        Struct(_) => "structs, such as a table,".to_owned(),
        other => other.to_string(),
    };
    let message = format!(
        "texts are an Arrow column of {refused} but must be one of utf8, large_utf8, utf8_view, binary, large_binary or \
         binary_view"
    );
    Err(exception(py, "InputTypeError", message))
}
