//! What all stages have in common towards Python: pickling, `repr`, and indices of sequences.

use pyo3::exceptions::{PyException, PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use super::errors::OrRaise;
use super::stage::{Stage, Staged};
use crate::formats::components::{Component, from_str};

/// Classes of stages without options: the Python name, the Rust name and the stage of each.
macro_rules! plain_stages {
    ($base:ident of $module:literal: $($(#[$doc:meta])* $name:literal $class:ident => $stage:expr;)+) => {$(
        $(#[$doc])*
        #[pyclass(name = $name, module = $module, extends = $base, frozen)]
        pub(super) struct $class;

        #[pymethods]
        impl $class {
            #[new]
            fn new() -> PyClassInitializer<Self> {
                PyClassInitializer::<$base>::from($base::of($stage)).add_subclass(Self)
            }
        }
    )+};
}

pub(super) use plain_stages;

/// The stage as JSON bytes, which is how it travels in a pickle.
pub(super) fn get_state<'py, T: Component + Staged>(
    py: Python<'py>,
    stage: &Stage<T>,
) -> Bound<'py, PyBytes> {
    PyBytes::new(py, stage.get().to_json().to_string().as_bytes())
}

/// Sets the stage from a pickle's JSON bytes.
pub(super) fn set_state<T: Component + Staged>(
    py: Python<'_>,
    stage: &Stage<T>,
    state: &[u8],
) -> PyResult<()> {
    let value = from_str(&String::from_utf8_lossy(state)).or_raise(py)?;
    stage.set(value);
    Ok(())
}

/// The stage as a Python call that would make it.
pub(super) fn repr<T: Component + Staged>(stage: &Stage<T>) -> String {
    shown(&stage.get().to_json())
}

/// An object of a file as `Type(key=value, ...)`.
pub(super) fn shown(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(shown).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!("[{}]", list(items)),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            let others = members.iter().filter(|(key, _)| *key != "type" || kind.is_none());
            let show = |(key, value): (&String, &Value)| match (kind, key.as_str(), value) {
                // These are names, not texts.
                (Some(_), "behavior" | "prepend_scheme", Value::String(name)) => format!("{key}={name}"),
                (Some(_), ..) => format!("{key}={}", shown(value)),
                (None, ..) if members.len() == 1 && (key == "String" || key == "Regex") => {
                    format!("{key}({})", shown(value))
                }
                (None, ..) => format!("{key:?}:{}", shown(value)),
            };
            let shown = others.map(show).collect::<Vec<_>>().join(", ");
            match kind {
                Some(kind) => format!("{kind}({shown})"),
                None if shown.starts_with("String(") || shown.starts_with("Regex(") => shown,
                None => format!("{{{shown}}}"),
            }
        }
    }
}

/// The error for an object whose state is that of another class.
pub(super) fn unpickled(kind: &str) -> PyErr {
    PyException::new_err(format!("this object was unpickled from another {kind}'s state"))
}

/// An index of a sequence; negative ones are refused, as in Hugging Face.
pub(super) fn index(index: i64) -> PyResult<usize> {
    usize::try_from(index).map_err(|_| PyOverflowError::new_err("can't convert negative int to unsigned"))
}

/// The error for an index beyond the end.
pub(super) fn no_such_index() -> PyErr {
    PyIndexError::new_err("Index not found")
}
