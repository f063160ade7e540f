//! `lexmill.decoders`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::components::{get_state, repr, set_state};
use super::stage::{Stage, Staged};
use crate::decoders::Decoder;

impl Staged for Decoder {
    fn sequence(mut stages: Vec<Self>) -> Self {
        stages.swap_remove(0)
    }

    fn as_sequence(&self) -> Option<&[Self]> {
        None
    }
}

/// Base class of all decoders.
#[pyclass(name = "Decoder", module = "lexmill.decoders", subclass, frozen, dict, weakref)]
pub(super) struct PyDecoder {
    pub(super) stage: Arc<Stage<Decoder>>,
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<Decoder>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyDecoder { stage });
    Ok(match kind {
        Decoder::ByteLevel { .. } => Py::new(py, base.add_subclass(PyByteLevel))?.into_any(),
    })
}

#[pymethods]
impl PyDecoder {
    /// The text of a list of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<String>) -> String {
        let decoder = self.stage.get();
        py.detach(|| decoder.decode(tokens.iter().map(String::as_str)))
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        get_state(py, &self.stage)
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        set_state(py, &self.stage, state)
    }

    fn __repr__(&self) -> String {
        repr(&self.stage)
    }
}

/// From the byte-level alphabet back to text.
#[pyclass(name = "ByteLevel", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyByteLevel;

#[pymethods]
impl PyByteLevel {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let decoder = Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true };
        PyClassInitializer::from(PyDecoder { stage: Stage::new(decoder) }).add_subclass(Self)
    }
}
