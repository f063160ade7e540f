//! `lexmill.Regex`.

use pyo3::prelude::*;

use super::errors::OrRaise;
use crate::structures::finder::TextPattern;
use crate::structures::regex::Pattern;

/// A regular expression in Oniguruma's syntax, as `tokenizer.json` files hold them.
///
/// Args:
///     `s`: the expression.
///
/// Raises:
///     `RegexError`: it does not compile.
#[pyclass(name = "Regex", module = "lexmill", frozen)]
pub(super) struct PyRegex {
    pattern: String,
}

#[pymethods]
impl PyRegex {
    #[new]
    fn new(py: Python<'_>, s: String) -> PyResult<Self> {
        Pattern::new(&s).or_raise(py)?;
        Ok(Self { pattern: s })
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.pattern.clone(),)
    }

    fn __repr__(&self) -> String {
        format!("Regex({:?})", self.pattern)
    }
}

/// A `str` to look for as it is, or a `Regex`.
#[derive(FromPyObject)]
pub(super) enum PatternArgument<'py> {
    /// Literal text.
    #[pyo3(annotation = "str")]
    Text(String),
    /// A regular expression.
    #[pyo3(annotation = "lexmill.Regex")]
    Regex(Bound<'py, PyRegex>),
}

impl PatternArgument<'_> {
    /// Whether this is a text without characters, which is nowhere in a `NormalizedString`.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    pub(super) fn to_core(&self) -> TextPattern {
        match self {
            Self::Text(text) => TextPattern::Literal(text.clone()),
            Self::Regex(regex) => TextPattern::Regex(regex.get().pattern.clone()),
        }
    }
}
