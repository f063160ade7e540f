//! The scripts of characters, for `lexmill.reports` and `lexmill.vocabularies`.

use std::collections::BTreeMap;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::exception;
use super::numpy_loading::load_numpy;
use super::texts::Texts;
use crate::corpus::Utf8Errors;
use crate::scan::scripts;
use crate::scan::word_scripts::WordScripts;

/// First and last code point and the name of their script, for all characters, ascending and without gaps.
#[pyfunction]
pub(super) fn script_ranges(py: Python<'_>) -> Vec<(u32, u32, &'static str)> {
    let ranges = py.detach(scripts::script_ranges);
    ranges.into_iter().map(|(first, last, name)| (first.into(), last.into(), name)).collect()
}

/// The name of each script by its code of ISO 15924, such as `Latn`.
#[pyfunction]
pub(super) fn script_codes(py: Python<'_>) -> BTreeMap<&'static str, &'static str> {
    py.detach(scripts::script_codes)
}

/// The words of texts and their scripts; the attributes of `lexmill.reports.scripts.BlockScripts` by name.
///
/// Args:
///     `texts`: the texts.
///     `classes`: by code point, the number of its script, 0 for none and 1 for white space; `uint8`.
#[pyfunction]
pub(super) fn word_scripts<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    classes: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyDict>> {
    load_numpy(py)?;
    let texts = Texts::of(texts, Utf8Errors::Strict, None)?;
    let classes = classes.as_slice()?;
    let Ok(classes) = <&[u8; 0x11_0000]>::try_from(classes) else {
        let message =
            format!("classes has {} entries but must have 1,114,112, one for each code point", classes.len());
        return Err(exception(py, "OptionError", message));
    };
    let found = py.detach(|| WordScripts::of(texts.as_slice().iter().copied(), classes));
    let sums = |column: usize| -> Bound<'py, PyArray1<i64>> {
        found.sums.iter().map(|row| row[column]).collect::<Vec<_>>().into_pyarray(py)
    };
    let dict = PyDict::new(py);
    dict.set_item("script_bytes", sums(0))?;
    dict.set_item("script_characters", sums(1))?;
    dict.set_item("script_words", sums(2))?;
    dict.set_item("bytes", found.bytes.into_pyarray(py))?;
    dict.set_item("characters", found.characters.into_pyarray(py))?;
    dict.set_item("words", found.words.into_pyarray(py))?;
    dict.set_item("splits", found.splits.into_pyarray(py))?;
    dict.set_item("scripts", found.scripts.into_pyarray(py))?;
    dict.set_item("places", found.places.into_pyarray(py))?;
    dict.set_item("starts", found.starts.into_pyarray(py))?;
    Ok(dict)
}
