//! `lexmill.Regex`.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::arguments::with_note;
use super::errors::{OrRaise, exception};
use super::strings::surrogate_note;
use super::texts::kind_of;
use crate::structures::finder::TextPattern;
use crate::structures::regex::Pattern;
use crate::trainers::forbidden::Forbidden;

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

/// Regular expressions: none, one, or several, each as `str` or as `Regex`.
#[derive(Default)]
pub(super) struct PatternList(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for PatternList {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let one = |item: &Bound<'py, PyAny>| -> PyResult<Option<String>> {
            if let Ok(regex) = item.cast::<PyRegex>() {
                return Ok(Some(regex.get().pattern.clone()));
            }
            item.is_instance_of::<PyString>().then(|| item.extract()).transpose()
        };
        let wrong = |name: &str, item: &Bound<'py, PyAny>, expected: &str| {
            let message = format!("{name} is {} but must be {expected}", kind_of(item)?);
            PyResult::Ok(exception(item.py(), "InputTypeError", message))
        };
        if item.is_none() {
            return Ok(Self::default());
        }
        if let Some(pattern) = one(&item)? {
            return Ok(Self(vec![pattern]));
        }
        let Ok(items) = item.try_iter() else {
            return Err(wrong("forbid", &item, "str or Regex, or a list of these")?);
        };
        let mut patterns = Vec::new();
        for item in items {
            let item = item?;
            let Some(pattern) = one(&item)? else {
                return Err(wrong("an item of forbid", &item, "str or Regex")?);
            };
            patterns.push(pattern);
        }
        Ok(Self(patterns))
    }
}

impl PatternList {
    /// # Errors
    /// `RegexError` for a pattern that does not compile.
    pub(super) fn to_core(&self, py: Python<'_>) -> PyResult<Forbidden> {
        Forbidden::new(&self.0).or_raise(py)
    }
}

/// A `str` to look for as it is, or a `Regex`.
pub(super) enum PatternArgument<'py> {
    /// Literal text.
    Text(String),
    /// A regular expression.
    Regex(Bound<'py, PyRegex>),
}

impl<'py> FromPyObject<'_, 'py> for PatternArgument<'py> {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(regex) = item.cast::<PyRegex>() {
            return Ok(Self::Regex(regex.to_owned()));
        }
        let note = match item.cast::<PyString>() {
            Ok(text) => match text.to_str() {
                Ok(text) => return Ok(Self::Text(text.to_owned())),
                Err(_) => surrogate_note(&text),
            },
            Err(_) => None,
        };
        let message = with_note(&format!("pattern is {} but must be str or Regex", kind_of(&item)?), note);
        Err(exception(item.py(), "InputTypeError", message))
    }
}

impl PatternArgument<'_> {
    /// True if this is a text without characters, which a `NormalizedString` finds nowhere.
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
