//! `lexmill.PreTokenizedString`.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::encoding::PyEncoding;
use super::errors::{OrRaise, exception};
use super::models::PyToken;
use super::normalized_string::{PyNormalizedString, callable};
use crate::normalized::{CharOffsets, NormalizedString, PreTokenizedString, StringToken};
use crate::pre_tokenizers::PreTokenizer;

/// A text cut into splits, which get their tokens one by one.
///
/// Args:
///     `s`: the text, at first one split.
#[pyclass(name = "PreTokenizedString", module = "lexmill", frozen)]
pub(super) struct PyPreTokenizedString {
    text: Mutex<PreTokenizedString>,
}

/// A split: its text, its offsets, and its tokens once it has them.
type ShownSplit = (String, (usize, usize), Option<Vec<PyToken>>);

impl PyPreTokenizedString {
    pub(super) fn of(text: PreTokenizedString) -> Self {
        Self { text: Mutex::new(text) }
    }

    fn locked(&self) -> MutexGuard<'_, PreTokenizedString> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text as it is now.
    pub(super) fn get(&self) -> PreTokenizedString {
        self.locked().clone()
    }

    /// Cuts the splits by a stage, which may run Python code.
    pub(super) fn apply(&self, py: Python<'_>, pre_tokenizer: &PreTokenizer) -> PyResult<()> {
        let mut text = self.get();
        let result = py.detach(|| pre_tokenizer.apply(&mut text)).or_raise(py);
        *self.locked() = text;
        result
    }

    /// Changes the text by `change`, which runs Python code and so gets a copy.
    fn change(
        &self,
        change: impl FnOnce(&mut PreTokenizedString) -> crate::Result<()>,
        py: Python<'_>,
    ) -> PyResult<()> {
        let mut text = self.get();
        change(&mut text).or_raise(py)?;
        *self.locked() = text;
        Ok(())
    }
}

/// One of two values by its name.
fn choice(argument: &str, given: &str, names: [&str; 2]) -> PyResult<bool> {
    let message = || format!("Wrong value for {argument}, expected one of `{}`", names.join(", "));
    let found = names.iter().position(|name| *name == given);
    found.map(|at| at == 0).ok_or_else(|| PyValueError::new_err(message()))
}

fn of_callback(error: PyErr) -> crate::Error {
    crate::Error::Custom(Box::new(error))
}

#[pymethods]
impl PyPreTokenizedString {
    #[new]
    fn new(s: &str) -> Self {
        Self::of(PreTokenizedString::new(NormalizedString::new(s, 0)))
    }

    /// Puts the `NormalizedString` objects that `func(index, split)` returns in the place of each split without tokens.
    fn split(&self, py: Python<'_>, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("split", "fn(index: int, normalized: NormalizedString) -> List[NormalizedString]", func)?;
        let cut = |number: usize, split: &NormalizedString| {
            let parts = func.call1((number, PyNormalizedString::of(split.clone())))?;
            let parts: Vec<Bound<'_, PyNormalizedString>> = parts.extract()?;
            Ok(parts.iter().map(|part| part.get().get()).collect())
        };
        self.change(|text| text.split(|number, split| cut(number, split).map_err(of_callback)), py)
    }

    /// Calls `func(split)` with the `NormalizedString` of each split without tokens, which `func` may change.
    fn normalize(&self, py: Python<'_>, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("normalize", "fn(normalized: NormalizedString)", func)?;
        let change = |split: &mut NormalizedString| {
            let shown = Bound::new(py, PyNormalizedString::of(split.clone()))?;
            func.call1((&shown,))?;
            *split = shown.get().get();
            Ok(())
        };
        self.change(|text| text.normalize(|split| change(split).map_err(of_callback)), py)
    }

    /// Gives each split without tokens the list of `Token` objects that `func(text)` returns for its text.
    fn tokenize(&self, py: Python<'_>, func: &Bound<'_, PyAny>) -> PyResult<()> {
        callable("tokenize", "fn(str) -> List[Token]", func)?;
        let tokenize = |split: &str| -> PyResult<Vec<StringToken>> {
            let tokens = func.call1((split,))?;
            tokens
                .cast::<PyList>()?
                .iter()
                .map(|token| Ok(token.cast::<PyToken>()?.get().to_core()))
                .collect()
        };
        self.change(|text| text.tokenize(|split| tokenize(split).map_err(of_callback)), py)
    }

    /// The splits: text, offsets and tokens of each. `offset_referential` is `original` or `normalized`, `offset_type` is
    /// `char` or `byte`.
    ///
    /// Raises:
    ///     `ValueError`: another name.
    #[pyo3(signature = (offset_referential="original", offset_type="char"))]
    fn get_splits(&self, offset_referential: &str, offset_type: &str) -> PyResult<Vec<ShownSplit>> {
        let in_original = choice("OffsetReferential", offset_referential, ["original", "normalized"])?;
        let in_bytes = choice("OffsetType", offset_type, ["byte", "char"])?;
        let text = self.locked();
        let chars = (!in_bytes).then(|| CharOffsets::new(text.original()));
        let convert =
            |bytes: Range<usize>| chars.as_ref().map_or(bytes.clone(), |chars| chars.convert(bytes));
        let splits = text.splits().iter().zip(text.byte_ranges(in_original)).map(|(split, bytes)| {
            let range = convert(bytes);
            let tokens = split.tokens.as_ref().map(|tokens| tokens.iter().map(PyToken::of).collect());
            (split.text.normalized().to_owned(), (range.start, range.end), tokens)
        });
        Ok(splits.collect())
    }

    /// An encoding of the tokens. Each split is a word, or all are word `word_idx`.
    ///
    /// Raises:
    ///     `LexmillError`: a split has no tokens yet.
    #[pyo3(signature = (type_id=0, word_idx=None))]
    fn to_encoding(&self, py: Python<'_>, type_id: u32, word_idx: Option<u32>) -> PyResult<PyEncoding> {
        let text = self.locked();
        let chars = CharOffsets::new(text.original());
        let mut columns = crate::encoding::ColumnsBuilder::default();
        for (number, split) in text.splits().iter().enumerate() {
            let message = "Split has not been tokenized, call `PreTokenizedString::tokenize` first";
            let tokens = split.tokens.as_ref();
            let tokens = tokens.ok_or_else(|| exception(py, "LexmillError", message.to_owned()))?;
            for StringToken { id, value, span } in tokens {
                let bytes = split.text.original_bytes(span.0..span.1).unwrap_or(span.0..span.1);
                let range = chars.convert(bytes);
                let word = word_idx.unwrap_or(number as u32);
                columns.push_with_text(*id, value, (range.start as u32, range.end as u32), Some(word));
            }
        }
        Ok(PyEncoding::of_columns(columns, type_id))
    }
}
