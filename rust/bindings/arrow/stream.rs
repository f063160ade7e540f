//! Streams taken over from other libraries, for the readers of `corpus::sources`.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::import::malformed;
use crate::bindings::errors::exception;

/// The stream of an object with `__arrow_c_stream__`; whoever looks into the capsule again finds it released.
#[expect(unsafe_code, reason = "the structure lies in memory of the producer's")]
pub(in crate::bindings) fn taken_stream(object: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let py = object.py();
    let Some(method) = object.getattr_opt("__arrow_c_stream__")? else {
        // Hugging Face's data sets are tables without this method.
        let hint =
            if object.hasattr("with_format")? { "; pass dataset.with_format(\"arrow\")[:]" } else { "" };
        let kind = object.get_type().name()?;
        let message = format!("data is of type {kind} but must have __arrow_c_stream__{hint}");
        return Err(exception(py, "InputTypeError", message));
    };
    let capsule = method.call0()?;
    let wrong = || malformed(py, format!("{capsule} is not a capsule named arrow_array_stream"));
    let pointer = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
    let pointer = pointer.pointer_checked(Some(c"arrow_array_stream")).map_err(|_| wrong())?;
    let pointer = pointer.cast::<FFI_ArrowArrayStream>();
    if !pointer.is_aligned() {
        return Err(wrong());
    }
    // SAFETY: a capsule of this name holds such a structure, which is moved out and marked as released.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) })
}
