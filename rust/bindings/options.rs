//! Options that several stages have: single characters, prepend schemes, counts.

use pyo3::prelude::*;

use super::errors::exception;
use crate::metaspace::PrependScheme;

/// A text of one character.
pub(super) fn character(py: Python<'_>, name: &str, value: &str) -> PyResult<char> {
    let mut chars = value.chars();
    let (first, second) = (chars.next(), chars.next());
    first.filter(|_| second.is_none()).ok_or_else(|| {
        exception(py, "OptionError", format!("{name} is {value:?} but must be a single character"))
    })
}

/// A `prepend_scheme` by its name.
pub(super) fn prepend_scheme(py: Python<'_>, value: &str) -> PyResult<PrependScheme> {
    PrependScheme::from_name(value).ok_or_else(|| {
        let known = PrependScheme::NAMES.map(|(_, name)| name).join(", ");
        exception(py, "OptionError", format!("prepend_scheme is {value} but must be one of {known}"))
    })
}

/// A count, which must not be negative.
pub(super) fn count(py: Python<'_>, name: &str, value: i64) -> PyResult<usize> {
    usize::try_from(value)
        .map_err(|_| exception(py, "OptionRangeError", format!("{name} is {value} but must be at least 0")))
}
