//! `lexmill.pre_tokenizers`: those that cut at a character, a script or a length.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::PyPreTokenizer;
use crate::bindings::errors::OrRaise;
use crate::bindings::options::{character, count};
use crate::pre_tokenizers::{PreTokenizer, fixed_length};

fn of(value: PreTokenizer) -> PyClassInitializer<PyPreTokenizer> {
    PyClassInitializer::from(PyPreTokenizer::of(value))
}

/// Cuts at one character and drops it.
#[pyclass(name = "CharDelimiterSplit", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(in crate::bindings) struct PyCharDelimiterSplit;

#[pymethods]
impl PyCharDelimiterSplit {
    #[new]
    fn new(py: Python<'_>, delimiter: &str) -> PyResult<PyClassInitializer<Self>> {
        let delimiter = character(py, "delimiter", delimiter)?;
        Ok(of(PreTokenizer::CharDelimiterSplit { delimiter }).add_subclass(Self))
    }

    #[getter]
    fn get_delimiter(this: PyRef<'_, Self>) -> char {
        match this.as_super().stage.get() {
            PreTokenizer::CharDelimiterSplit { delimiter } => delimiter,
            _ => ' ',
        }
    }

    #[setter]
    fn set_delimiter(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let delimiter = character(this.py(), "delimiter", value)?;
        this.as_super().stage.set(PreTokenizer::CharDelimiterSplit { delimiter });
        Ok(())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [" "])
    }
}

/// Cuts where the script changes.
#[pyclass(name = "UnicodeScripts", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(in crate::bindings) struct PyUnicodeScripts;

#[pymethods]
impl PyUnicodeScripts {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        of(PreTokenizer::UnicodeScripts).add_subclass(Self)
    }
}

/// Cuts into pieces of as many characters each.
#[pyclass(name = "FixedLength", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(in crate::bindings) struct PyFixedLength;

#[pymethods]
impl PyFixedLength {
    #[new]
    #[pyo3(signature = (length=5))]
    fn new(py: Python<'_>, length: i64) -> PyResult<PyClassInitializer<Self>> {
        let length = fixed_length::checked(count(py, "length", length)?).or_raise(py)?;
        Ok(of(PreTokenizer::FixedLength { length }).add_subclass(Self))
    }

    #[getter]
    fn get_length(this: PyRef<'_, Self>) -> usize {
        match this.as_super().stage.get() {
            PreTokenizer::FixedLength { length } => length.get(),
            _ => 5,
        }
    }

    #[setter]
    fn set_length(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let py = this.py();
        let length = fixed_length::checked(count(py, "length", value)?).or_raise(py)?;
        this.as_super().stage.set(PreTokenizer::FixedLength { length });
        Ok(())
    }
}
