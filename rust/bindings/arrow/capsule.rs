//! Structures of Arrow's C interface taken out of capsules.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::bindings::errors::exception;

/// The structure in the capsule `name`; whoever looks into the capsule again finds it released. `from_raw` moves the structure out.
#[expect(unsafe_code, reason = "the structure lies in memory of the producer's")]
pub(super) fn taken<T>(
    capsule: &Bound<'_, PyAny>,
    name: &CStr,
    from_raw: unsafe fn(*mut T) -> T,
) -> PyResult<T> {
    let py = capsule.py();
    let wrong = || malformed(py, format!("{capsule} is not a capsule named {}", name.to_string_lossy()));
    let pointer = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
    let pointer = pointer.pointer_checked(Some(name)).map_err(|_| wrong())?.cast::<T>();
    if !pointer.is_aligned() {
        return Err(wrong());
    }
    // SAFETY: a capsule of this name holds such a structure, which is moved out and marked as released.
    Ok(unsafe { from_raw(pointer.as_ptr()) })
}

pub(super) fn malformed(py: Python<'_>, message: String) -> PyErr {
    exception(py, "FormatError", format!("arrow column: {message}"))
}
