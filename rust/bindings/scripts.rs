//! The scripts of characters, for `lexmill.reports`.

use pyo3::prelude::*;

use crate::scan::scripts;

/// First and last code point and the name of their script, for all characters, ascending and without gaps.
#[pyfunction]
pub(super) fn script_ranges(py: Python<'_>) -> Vec<(u32, u32, &'static str)> {
    let ranges = py.detach(scripts::script_ranges);
    ranges.into_iter().map(|(first, last, name)| (first.into(), last.into(), name)).collect()
}
