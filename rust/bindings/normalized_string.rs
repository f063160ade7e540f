//! `lexmill.NormalizedString`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::errors::{OrRaise, exception};
use super::properties;
use super::regex::PatternArgument;
use crate::normalized::NormalizedString;
use crate::normalizers::{Form, Normalizer};
use crate::pre_tokenizers::Split;
use crate::structures::finder::Replacement;

/// A text that is changed step by step and keeps its original: every character of `normalized` stands for characters
/// of `original`.
///
/// Args:
///     `sequence`: the text.
#[pyclass(name = "NormalizedString", module = "lexmill", frozen)]
pub(super) struct PyNormalizedString {
    text: Mutex<NormalizedString>,
}

/// Some characters: one by its index, a pair of indices, or a slice.
enum Chars<'py> {
    One(isize),
    Range((usize, usize)),
    Slice(Bound<'py, PySlice>),
}

impl<'py> FromPyObject<'_, 'py> for Chars<'py> {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(slice) = item.cast::<PySlice>() {
            return Ok(Self::Slice(slice.to_owned()));
        }
        let range = || item.extract().map(Self::Range);
        item.extract().map(Self::One).or_else(|_| range()).map_err(|_: PyErr| {
            let kind = item.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            let message =
                format!("characters are of type {kind} but must be an int, a tuple of two ints or a slice");
            exception(item.py(), "InputTypeError", message)
        })
    }
}

impl PyNormalizedString {
    pub(super) fn of(text: NormalizedString) -> Self {
        Self { text: Mutex::new(text) }
    }

    fn locked(&self) -> MutexGuard<'_, NormalizedString> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text as it is now.
    pub(super) fn get(&self) -> NormalizedString {
        self.locked().clone()
    }

    /// Normalizes the text by a stage, which may run Python code.
    pub(super) fn apply(&self, py: Python<'_>, normalizer: &Normalizer) -> PyResult<()> {
        let mut text = self.get();
        let result = py.detach(|| normalizer.apply(&mut text)).or_raise(py);
        *self.locked() = text;
        result
    }

    /// The answers of `func`, one for each character. `func` is called without a lock.
    fn ask<'py, T>(
        &self,
        func: &Bound<'py, PyAny>,
        answer: impl Fn(Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        self.get().normalized().chars().map(|c| answer(func.call1((c,))?)).collect()
    }
}

#[pymethods]
impl PyNormalizedString {
    #[new]
    fn new(sequence: &str) -> Self {
        Self::of(NormalizedString::new(sequence, 0))
    }

    /// The text after all changes.
    #[getter]
    fn normalized(&self) -> String {
        self.locked().normalized().to_owned()
    }

    /// The text before all changes.
    #[getter]
    fn original(&self) -> String {
        self.locked().original().to_owned()
    }

    /// Canonical decomposition.
    fn nfd(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Unicode(Form::Nfd))
    }

    /// Compatibility decomposition.
    fn nfkd(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Unicode(Form::Nfkd))
    }

    /// Canonical composition.
    fn nfc(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Unicode(Form::Nfc))
    }

    /// Compatibility composition.
    fn nfkc(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Unicode(Form::Nfkc))
    }

    /// Puts each character in lower case.
    fn lowercase(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Lowercase)
    }

    /// Puts each character in upper case.
    fn uppercase(&self) {
        self.locked().uppercase();
    }

    /// Puts a text before the first character.
    fn prepend(&self, s: &str) {
        self.locked().prepend(s);
    }

    /// Puts a text after the last character.
    fn append(&self, s: &str) {
        self.locked().append(s);
    }

    /// Takes white space off the beginning.
    fn lstrip(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Strip { left: true, right: false })
    }

    /// Takes white space off the end.
    fn rstrip(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Strip { left: false, right: true })
    }

    /// Takes white space off both ends.
    fn strip(&self, py: Python<'_>) -> PyResult<()> {
        self.apply(py, &Normalizer::Strip { left: true, right: true })
    }

    /// Takes all text away.
    fn clear(&self) {
        self.locked().clear();
    }

    /// Puts `content` in place of every match of a text or a regular expression. An empty text is found nowhere.
    ///
    /// Raises:
    ///     `RegexError`: a search in the text takes too many steps.
    fn replace(&self, py: Python<'_>, pattern: PatternArgument<'_>, content: String) -> PyResult<()> {
        if pattern.is_empty() {
            return Ok(());
        }
        let replacement = Replacement::new(pattern.to_core(), content).or_raise(py)?;
        self.apply(py, &Normalizer::Replace(replacement.into()))
    }

    /// Keeps the characters for which `func(character)` is True.
    fn filter(&self, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("filter", "fn(char) -> bool", func)?;
        let kept = self.ask(func, |answer| answer.extract::<bool>())?;
        let mut text = self.locked();
        let made: Vec<_> = text.normalized().chars().zip(kept).map(|(c, kept)| kept.then_some(c)).collect();
        text.replace_chars(&made);
        Ok(())
    }

    /// Puts the character that `func(character)` returns in the place of each character.
    fn map(&self, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("map", "fn(char) -> char", func)?;
        let made = self.ask(func, first_char)?;
        self.locked().replace_chars(&made);
        Ok(())
    }

    /// Calls `func(character)` for each character.
    fn for_each(&self, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("for_each", "fn(char)", func)?;
        self.ask(func, |_| Ok(())).map(drop)
    }

    /// Cuts the text at the matches of a text or a regular expression; `behavior` is one of `removed`, `isolated`,
    /// `merged_with_previous`, `merged_with_next` and `contiguous`.
    ///
    /// Raises:
    ///     `ValueError`: another behavior.
    ///     `RegexError`: a search in the text takes too many steps.
    fn split(&self, py: Python<'_>, pattern: PatternArgument<'_>, behavior: &str) -> PyResult<Vec<Self>> {
        let behavior = properties::behavior(py, "behavior", behavior)?;
        if pattern.is_empty() {
            return Ok(vec![Self::of(self.get())]);
        }
        let split = Split::new(pattern.to_core(), behavior, false).or_raise(py)?;
        let (text, mut parts) = (self.get(), Vec::new());
        py.detach(|| split.for_each_span(text.normalized(), &mut |part| parts.push(part))).or_raise(py)?;
        if text.normalized().is_empty() && parts.is_empty() {
            parts.push(0..0);
        }
        Ok(parts.into_iter().map(|part| Self::of(text.slice(part))).collect())
    }

    /// The part of the text at some characters: an index, a pair of indices or a slice. None if they begin after the end.
    ///
    /// Negative indices count from the end in bytes, as in Hugging Face.
    fn slice(&self, range: Chars<'_>) -> PyResult<Option<Self>> {
        let text = self.locked();
        let len = text.normalized().len();
        let chars = match range {
            Chars::One(at) => {
                let from_end = at.unsigned_abs();
                let at = if at < 0 { len.checked_sub(from_end) } else { Some(from_end) };
                let at =
                    at.ok_or_else(|| PyValueError::new_err(format!("{from_end} is bigger than max len")))?;
                at..at + 1
            }
            Chars::Range((start, end)) => start..end,
            Chars::Slice(slice) => {
                let indices = slice.indices(len as isize)?;
                indices.start.max(0) as usize..indices.stop.max(0) as usize
            }
        };
        Ok(text.bytes_of_chars(chars).map(|bytes| Self::of(text.slice(bytes))))
    }

    fn __getitem__(&self, range: Chars<'_>) -> PyResult<Option<Self>> {
        self.slice(range)
    }

    fn __str__(&self) -> String {
        self.normalized()
    }

    fn __repr__(&self) -> String {
        let text = self.locked();
        format!("NormalizedString(original=\"{}\", normalized=\"{}\")", text.original(), text.normalized())
    }
}

/// Refuses a callback that cannot be called, even where it would never be.
pub(super) fn callable(method: &str, signature: &str, func: &Bound<'_, PyAny>) -> PyResult<()> {
    if func.is_callable() {
        return Ok(());
    }
    let kind = func.get_type().name()?;
    let message =
        format!("`{method}` expect a callable with the signature: `{signature}`, func is of type {kind}");
    Err(PyTypeError::new_err(message))
}

/// The first character of a text that a callback returned.
fn first_char(answer: Bound<'_, PyAny>) -> PyResult<Option<char>> {
    let text: String = answer.extract()?;
    let first = text.chars().next();
    first.map(Some).ok_or_else(|| PyTypeError::new_err("expected a character, got an empty text"))
}
