//! `lexmill.normalizers`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::components::{get_state, index, no_such_index, repr, set_state};
use super::stage::{Stage, Staged};
use crate::normalizers::Normalizer;

impl Staged for Normalizer {
    fn sequence(stages: Vec<Self>) -> Self {
        Self::Sequence(stages)
    }

    fn as_sequence(&self) -> Option<&[Self]> {
        match self {
            Self::Sequence(stages) => Some(stages),
            Self::Nfc => None,
        }
    }
}

/// Base class of all normalizers.
#[pyclass(name = "Normalizer", module = "lexmill.normalizers", subclass, frozen, dict, weakref)]
pub(super) struct PyNormalizer {
    pub(super) stage: Arc<Stage<Normalizer>>,
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<Normalizer>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyNormalizer { stage });
    Ok(match kind {
        Normalizer::Nfc => Py::new(py, base.add_subclass(PyNfc))?.into_any(),
        Normalizer::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
    })
}

#[pymethods]
impl PyNormalizer {
    /// The normalized form of a text.
    fn normalize_str(&self, py: Python<'_>, sequence: &str) -> String {
        let normalizer = self.stage.get();
        py.detach(|| normalizer.normalize_str(sequence).into_owned())
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

/// Canonical composition.
#[pyclass(name = "NFC", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyNfc;

#[pymethods]
impl PyNfc {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyNormalizer { stage: Stage::new(Normalizer::Nfc) }).add_subclass(Self)
    }
}

/// Normalizers one after the other.
#[pyclass(name = "Sequence", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PySequence;

#[pymethods]
impl PySequence {
    #[new]
    fn new(normalizers: Vec<Bound<'_, PyNormalizer>>) -> PyClassInitializer<Self> {
        let stages = normalizers.iter().map(|normalizer| Arc::clone(&normalizer.get().stage)).collect();
        PyClassInitializer::from(PyNormalizer { stage: Stage::of_sequence(stages) }).add_subclass(Self)
    }

    fn __len__(this: PyRef<'_, Self>) -> usize {
        this.as_super().stage.len()
    }

    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        let stage = this.as_super().stage.element(index(at)?).ok_or_else(no_such_index)?;
        wrap(py, stage)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyNormalizer>) -> PyResult<()> {
        let was_set = this.as_super().stage.set_element(index(at)?, Arc::clone(&value.get().stage));
        if was_set { Ok(()) } else { Err(no_such_index()) }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [pyo3::types::PyList::empty(py)])
    }
}
