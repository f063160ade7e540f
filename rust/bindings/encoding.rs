//! `lexmill.Encoding`.

use std::sync::Arc;

use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::arguments::note_unknown;
use super::errors::{OrRaise, exception};
use super::int_lists::{list_of_ints, list_of_options, list_of_pairs};
use crate::encoding::{ColumnsBuilder, Direction, Encoding, Padding, Symbol, TokenNames};

/// The tokens of one text or of a pair; every attribute is built when asked for.
#[pyclass(name = "Encoding", module = "lexmill", dict, weakref)]
pub(super) struct PyEncoding {
    pub(super) inner: Encoding,
}

impl PyEncoding {
    pub(super) fn of(inner: Encoding) -> Self {
        Self { inner }
    }

    /// An encoding of tokens that each have a text of their own.
    pub(super) fn of_columns(columns: ColumnsBuilder, type_id: u32) -> Self {
        let columns = Arc::new(columns.finish(TokenNames::Own));
        let mut inner = Encoding::from_columns(Arc::clone(&columns), 0..columns.len());
        inner.set_type_id(type_id);
        Self { inner }
    }
}

/// A `direction` argument by its name.
pub(super) fn direction(py: Python<'_>, name: &str) -> PyResult<Direction> {
    match name {
        "left" => Ok(Direction::Left),
        "right" => Ok(Direction::Right),
        _ => {
            let message = format!("Unknown `direction`: `{name}`. Use one of `left` or `right`");
            Err(exception(py, "OptionError", message))
        }
    }
}

/// The name of a direction.
pub(super) fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Left => "left",
        Direction::Right => "right",
    }
}

#[pymethods]
impl PyEncoding {
    #[new]
    fn new() -> Self {
        Self::of(Encoding::default())
    }

    /// Joins encodings; with `growing_offsets` each starts where the one before ended.
    ///
    /// Args:
    ///     `encodings`: in the order of the result.
    ///     `growing_offsets`: the offsets of each encoding begin where the encoding before ends, as if the texts were one.
    #[staticmethod]
    #[pyo3(signature = (encodings, growing_offsets=true))]
    fn merge(py: Python<'_>, encodings: Vec<PyRef<'_, Self>>, growing_offsets: bool) -> PyResult<Self> {
        let encodings = encodings.iter().map(|encoding| encoding.inner.clone());
        Encoding::merge(encodings, growing_offsets).map(Self::of).or_raise(py)
    }

    /// Token ids.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_ints(py, self.inner.len(), self.inner.ids())
    }

    /// Type id of each token, set by the post-processor: most often 0 for the first text and 1 for the second.
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_ints(py, self.inner.len(), self.inner.type_ids())
    }

    /// Tokens as the vocabulary spells them.
    #[getter]
    fn tokens(&self) -> Vec<&str> {
        self.inner.tokens().collect()
    }

    /// Half-open character ranges of the text.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_pairs(py, self.inner.len(), self.inner.offsets())
    }

    /// Number of the pre-token that each token belongs to.
    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_options(py, self.inner.len(), self.inner.word_ids())
    }

    /// As `word_ids`; deprecated.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let message = c"Encoding.words is deprecated, please use Encoding.word_ids instead";
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), message, 1)?;
        self.word_ids(py)
    }

    /// Number of the input sequence that each token belongs to.
    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.inner.sequence_ids().into_iter().map(|id| id.map(|id| id as u32));
        list_of_options(py, self.inner.len(), ids)
    }

    /// 1 for special tokens and padding, 0 for text.
    #[getter]
    fn special_tokens_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_ints(py, self.inner.len(), self.inner.special_tokens_mask())
    }

    /// 0 for padding, 1 for everything else.
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of_ints(py, self.inner.len(), self.inner.attention_mask())
    }

    /// The encodings that truncation cut off.
    #[getter]
    fn overflowing(&self) -> Vec<Self> {
        self.inner.overflowing().iter().cloned().map(Self::of).collect()
    }

    /// Number of input sequences.
    #[getter]
    fn n_sequences(&self) -> usize {
        self.inner.n_sequences()
    }

    /// Marks all tokens as tokens of one input sequence.
    fn set_sequence_id(&mut self, sequence_id: usize) {
        self.inner.set_sequence(sequence_id);
    }

    /// The token that holds a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_token(&self, char_pos: u32, sequence_index: usize) -> Option<usize> {
        self.inner.char_to_token(char_pos, sequence_index)
    }

    /// The word that holds a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_word(&self, char_pos: u32, sequence_index: usize) -> Option<u32> {
        self.inner.char_to_word(char_pos, sequence_index)
    }

    /// The character range of a token.
    fn token_to_chars(&self, token_index: usize) -> Option<(u32, u32)> {
        self.inner.token_to_chars(token_index).map(|(_, chars)| chars)
    }

    /// The input sequence of a token.
    fn token_to_sequence(&self, token_index: usize) -> Option<usize> {
        self.inner.token_to_sequence(token_index)
    }

    /// The word of a token.
    fn token_to_word(&self, token_index: usize) -> Option<u32> {
        self.inner.token_to_word(token_index).map(|(_, word)| word)
    }

    /// The character range of a word.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_chars(&self, word_index: u32, sequence_index: usize) -> Option<(u32, u32)> {
        self.inner.word_to_chars(word_index, sequence_index)
    }

    /// The first token of a word and one past its last.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_tokens(&self, word_index: u32, sequence_index: usize) -> Option<(usize, usize)> {
        self.inner.word_to_tokens(word_index, sequence_index)
    }

    /// Pads the encoding and its overflowing encodings to `length` tokens.
    ///
    /// Args:
    ///     `length`: tokens after padding; a longer encoding stays as it is.
    ///     `direction`: the side of the padding, `left` or `right`.
    ///     `pad_id`: the id of padding.
    ///     `pad_type_id`: the type id of padding.
    ///     `pad_token`: the text of padding.
    #[pyo3(signature = (length, *, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]", **kwargs))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn pad(
        &mut self,
        py: Python<'_>,
        length: usize,
        direction: &str,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &str,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        note_unknown(kwargs)?;
        let symbol = Symbol { id: pad_id, text: Arc::from(pad_token) };
        let direction = self::direction(py, direction)?;
        let padding = Padding { symbol, type_id: pad_type_id, direction };
        self.inner.pad(length, &padding).or_raise(py)
    }

    /// Keeps at most `max_length` tokens; the rest becomes `overflowing`.
    ///
    /// Args:
    ///     `max_length`: tokens to keep.
    ///     `stride`: tokens that each overflowing encoding repeats from the one before.
    ///     `direction`: the side that is cut off, `left` or `right`.
    #[pyo3(signature = (max_length, stride=0, direction="right"))]
    fn truncate(
        &mut self,
        py: Python<'_>,
        max_length: usize,
        stride: usize,
        direction: &str,
    ) -> PyResult<()> {
        let message = || format!("Invalid truncation direction value : {direction}, use left or right");
        let direction =
            self::direction(py, direction).map_err(|_| exception(py, "OptionError", message()))?;
        self.inner.truncate(max_length, stride, direction).or_raise(py)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_bytes())
    }

    fn __setstate__(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let refused = |reason: String| {
            let message = format!("the pickled Encoding cannot be read: {reason}; encode its text again");
            exception(py, "FormatError", message)
        };
        self.inner = Encoding::from_bytes(state).map_err(refused)?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!(
            "Encoding(num_tokens={}, attributes=[ids, type_ids, tokens, offsets, attention_mask, \
             special_tokens_mask, overflowing])",
            self.inner.len()
        )
    }
}
