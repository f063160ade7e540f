//! `lexmill.models.WordPiece`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::options::model_options;
use super::{PyModel, dictionary, vocab_of};
use crate::bindings::arguments::note_unknown;
use crate::bindings::components::{get_field, replace};
use crate::bindings::errors::OrRaise;
use crate::bindings::file_paths::FilePath;
use crate::bindings::properties::{Given, Property, Shown, unsigned};
use crate::formats::vocab_files;
use crate::models::Model;
use crate::models::wordpiece::{WordPiece, WordPieceOptions};

/// The longest token first, from left to right.
///
/// A word that cannot be cut into tokens becomes the unknown token. The options are attributes too, which can be set.
///
/// Args:
///     `vocab`: ids by token, or the path of a `vocab.txt`.
///     `unk_token`: the token for words that cannot be cut into tokens.
///     `max_input_chars_per_word`: longer words are unknown.
///     `continuing_subword_prefix`: the prefix of tokens inside a word.
#[pyclass(name = "WordPiece", module = "lexmill.models", extends = PyModel, frozen)]
pub(in crate::bindings) struct PyWordPiece;

model_options! {
    PyWordPiece of WordPiece(wordpiece), WordPieceOptions: wordpiece.options().clone() => |options| {
        Ok(WordPiece::new(wordpiece.shared_vocab(), options))
    };
    unk_token set_unk_token: String;
    max_input_chars_per_word set_max_input_chars_per_word: usize;
    continuing_subword_prefix set_continuing_subword_prefix: String;
}

#[pymethods]
impl PyWordPiece {
    #[new]
    #[pyo3(signature = (
        vocab=None, *, unk_token="[UNK]", max_input_chars_per_word=100, continuing_subword_prefix="##", **kwargs
    ))]
    fn new(
        py: Python<'_>,
        vocab: Option<&Bound<'_, PyAny>>,
        unk_token: &str,
        max_input_chars_per_word: i64,
        continuing_subword_prefix: &str,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let max_input_chars_per_word = unsigned(py, "max_input_chars_per_word", max_input_chars_per_word)?;
        let options = WordPieceOptions {
            unk_token: unk_token.to_owned(),
            continuing_subword_prefix: continuing_subword_prefix.to_owned(),
            max_input_chars_per_word,
        };
        let vocab = vocab_of(vocab, vocab_files::read_lines)?;
        let model = Model::WordPiece(WordPiece::new(Arc::new(vocab), options));
        Ok(PyModel::of(model).add_subclass(Self))
    }

    /// Reads a `vocab.txt`; further arguments go to the constructor.
    #[classmethod]
    #[pyo3(signature = (vocab, **kwargs))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        vocab: FilePath,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.call((Self::read_file(class.py(), vocab)?,), kwargs)
    }

    /// The contents of a `vocab.txt`.
    #[staticmethod]
    fn read_file(py: Python<'_>, vocab: FilePath) -> PyResult<Bound<'_, PyDict>> {
        dictionary(py, py.detach(|| vocab_files::read_lines(&vocab)).or_raise(py)?)
    }
}
