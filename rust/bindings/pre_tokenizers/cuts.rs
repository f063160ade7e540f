//! `lexmill.pre_tokenizers`: the classes that cut at a character, a script or a length.

use std::num::NonZeroUsize;

use pyo3::prelude::*;

use super::PyPreTokenizer;
use crate::bindings::properties::{self, character};
use crate::bindings::stage_class::{plain_stages, stage_fields};
use crate::pre_tokenizers::PreTokenizer;

/// Cuts at one character and drops it.
///
/// Args:
///     `delimiter`: the character.
#[pyclass(name = "CharDelimiterSplit", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(in crate::bindings) struct PyCharDelimiterSplit;

#[pymethods]
impl PyCharDelimiterSplit {
    #[new]
    fn new(py: Python<'_>, delimiter: &str) -> PyResult<PyClassInitializer<Self>> {
        let delimiter = character(py, "delimiter", delimiter)?;
        Ok(PyPreTokenizer::of(PreTokenizer::CharDelimiterSplit { delimiter }).add_subclass(Self))
    }

    fn __getnewargs__(&self) -> (&'static str,) {
        (" ",)
    }
}

stage_fields! { PyCharDelimiterSplit: PreTokenizer::CharDelimiterSplit { delimiter } => {
    delimiter set_delimiter: char = *delimiter;
}}

plain_stages! {
    PyPreTokenizer of "lexmill.pre_tokenizers":
    /// Cuts where the script changes.
    "UnicodeScripts" PyUnicodeScripts => PreTokenizer::UnicodeScripts;
}

/// Cuts a text into pieces of `length` characters each.
///
/// Args:
///     `length`: characters of a piece; the last may have fewer.
#[pyclass(name = "FixedLength", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(in crate::bindings) struct PyFixedLength;

#[pymethods]
impl PyFixedLength {
    #[new]
    #[pyo3(signature = (length=5))]
    fn new(py: Python<'_>, length: i64) -> PyResult<PyClassInitializer<Self>> {
        let length = properties::length(py, "length", length)?;
        Ok(PyPreTokenizer::of(PreTokenizer::FixedLength { length }).add_subclass(Self))
    }
}

stage_fields! { PyFixedLength: PreTokenizer::FixedLength { length } => {
    length set_length: NonZeroUsize = *length;
}}
