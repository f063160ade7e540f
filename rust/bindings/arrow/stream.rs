//! Streams taken over from other libraries, for the readers of `corpus::sources`.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;

use super::capsule::taken;
use crate::bindings::errors::exception;

/// The stream of an object with `__arrow_c_stream__`; whoever looks into the capsule again finds it released.
pub(in crate::bindings) fn taken_stream(object: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let Some(method) = object.getattr_opt("__arrow_c_stream__")? else {
        // Hugging Face's data sets are tables without this method.
        let hint =
            if object.hasattr("with_format")? { "; pass dataset.with_format(\"arrow\")[:]" } else { "" };
        let kind = object.get_type().name()?;
        let message = format!("data is of type {kind} but must have __arrow_c_stream__{hint}");
        return Err(exception(object.py(), "InputTypeError", message));
    };
    taken(&method.call0()?, c"arrow_array_stream", FFI_ArrowArrayStream::from_raw)
}
