//! `lexmill.normalizers.Nmt` and `Precompiled`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::PyNormalizer;
use crate::bindings::errors::OrRaise;
use crate::normalizers::{Charsmap, Normalizer};

/// Takes control characters out and makes odd spaces plain.
#[pyclass(name = "Nmt", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PyNmt;

#[pymethods]
impl PyNmt {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        PyNormalizer::of(Normalizer::Nmt).add_subclass(Self)
    }
}

/// SentencePiece's compiled rules, as its model files hold them.
#[pyclass(name = "Precompiled", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PyPrecompiled;

#[pymethods]
impl PyPrecompiled {
    #[new]
    fn new(py: Python<'_>, precompiled_charsmap: &[u8]) -> PyResult<PyClassInitializer<Self>> {
        let charsmap = py.detach(|| Charsmap::new(precompiled_charsmap)).or_raise(py)?;
        Ok(PyNormalizer::of(Normalizer::Precompiled(charsmap)).add_subclass(Self))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        // A table without a rule; the state follows.
        PyTuple::new(py, [PyBytes::new(py, &[0; 4])])
    }
}
