//! The scripts of characters, for `lexmill.reports` and `lexmill.vocabularies`.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use crate::scan::scripts;

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
