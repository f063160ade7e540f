//! The Python side that all stages share: pickling, `repr`, fields, indices of sequences.

use std::sync::Arc;

use pyo3::exceptions::{PyException, PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::errors::{OrRaise, exception, to_python};
use super::shown::{Extent, shown};
use super::stage::{NotReplaced, Stage, Staged};
use crate::Error;
use crate::formats::components::{Component, from_str};

/// The stage as JSON bytes, which is how it travels in a pickle.
pub(super) fn get_state<'py, T: Component + Staged>(
    py: Python<'py>,
    stage: &Stage<T>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, stage.get().to_json().or_raise(py)?.to_string().as_bytes()))
}

/// True if the class of an object is in Hugging Face `tokenizers`.
pub(super) fn is_of_peer(object: &Bound<'_, PyAny>) -> bool {
    let module = object.get_type().module();
    module.is_ok_and(|module| module.to_cow().is_ok_and(|name| name.split('.').next() == Some("tokenizers")))
}

/// The JSON text that an object of Hugging Face `tokenizers` is pickled as; none for any other object.
pub(super) fn peer_state(object: &Bound<'_, PyAny>) -> Option<String> {
    let state = is_of_peer(object).then(|| object.call_method0("__getstate__"))?;
    String::from_utf8(state.ok()?.extract().ok()?).ok()
}

/// A stage as a tokenizer takes it: one of ours, `own`, as it is and shared, or one of Hugging Face `tokenizers` as it is now.
pub(super) fn given_stage<T: Component + Staged>(
    value: &Bound<'_, PyAny>,
    own: PyResult<Arc<Stage<T>>>,
) -> PyResult<Arc<Stage<T>>> {
    match peer_state(value) {
        Some(state) => Ok(Stage::new(from_str(&state).or_raise(value.py())?)),
        None => own,
    }
}

/// Sets the stage from a pickle's JSON bytes.
pub(super) fn set_state<T: Component + Staged>(
    py: Python<'_>,
    stage: &Stage<T>,
    state: &[u8],
) -> PyResult<()> {
    stage.set(from_str(&String::from_utf8_lossy(state)).map_err(|error| unpickling(py, T::CLASS, error))?);
    Ok(())
}

/// The error for the pickled state of an object of class `class`, in Hugging Face's words.
pub(super) fn unpickling(py: Python<'_>, class: &str, error: Error) -> PyErr {
    let message = match error {
        // JSON that cannot be read at all has no place in the stage.
        Error::Format { message, .. } if message.contains(" at line ") => message,
        error => error.to_string(),
    };
    exception(py, "FormatError", format!("Error while attempting to unpickle {class}: {message}"))
}

/// The stage as a Python call that would make it.
pub(super) fn repr<T: Component + Staged>(
    py: Python<'_>,
    stage: &Stage<T>,
    extent: Extent,
) -> PyResult<String> {
    Ok(shown(&stage.get().to_json().or_raise(py)?, extent))
}

/// The error for an object that has the state of another class.
fn unpickled<T: Staged>() -> PyErr {
    PyException::new_err(format!("this object was unpickled from another {}'s state", T::NAME))
}

/// Reads a field of a stage by `read`, which gives None if the stage is not of the object's class.
pub(super) fn get_field<T: Staged, R>(
    stage: &Stage<T>,
    read: impl FnOnce(&mut T) -> Option<R>,
) -> PyResult<R> {
    read(&mut stage.get()).ok_or_else(unpickled::<T>)
}

/// Changes a stage by `set`, which gives None if the stage is not of the object's class.
pub(super) fn set_field<T: Staged>(stage: &Stage<T>, set: impl FnOnce(&mut T) -> Option<()>) -> PyResult<()> {
    stage.update(|mut value| set(&mut value).map(|()| value).ok_or_else(unpickled::<T>))
}

/// As [`set_field`], for a stage that is made again, which may fail.
pub(super) fn replace<T: Staged>(
    py: Python<'_>,
    stage: &Stage<T>,
    make: impl FnOnce(T) -> Option<crate::Result<T>>,
) -> PyResult<()> {
    let replaced = stage.update(|old| make(old).ok_or(None)?.map_err(Some));
    // After the update, since the exception's class is Python's, and no Python code may run during an update.
    replaced.map_err(|error| error.map_or_else(unpickled::<T>, |error| to_python(py, &error)))
}

/// The shared element at an index of a sequence.
pub(super) fn element<T: Staged>(stage: &Stage<T>, at: i64) -> PyResult<Arc<Stage<T>>> {
    stage.element(index(at)?).ok_or_else(no_such_index)
}

/// Replaces the element at an index of a sequence.
pub(super) fn set_element<T: Staged>(
    py: Python<'_>,
    stage: &Stage<T>,
    at: i64,
    value: &Arc<Stage<T>>,
) -> PyResult<()> {
    let nested =
        || exception(py, "OptionError", format!("a {} in a sequence must not be a sequence", T::NAME));
    stage.set_element(index(at)?, Arc::clone(value)).map_err(|error| match error {
        NotReplaced::NoSuchIndex => no_such_index(),
        NotReplaced::Nested => nested(),
    })
}

/// An index of a sequence; negative ones are refused, as in Hugging Face.
fn index(index: i64) -> PyResult<usize> {
    usize::try_from(index).map_err(|_| PyOverflowError::new_err("can't convert negative int to unsigned"))
}

fn no_such_index() -> PyErr {
    PyIndexError::new_err("Index not found")
}
