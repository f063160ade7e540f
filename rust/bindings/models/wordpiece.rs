//! `lexmill.models.WordPiece`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::{PyModel, dictionary, vocab_of};
use crate::bindings::arguments::{FilePath, note_unknown};
use crate::bindings::errors::OrRaise;
use crate::bindings::options::count;
use crate::formats::vocab_files;
use crate::models::Model;
use crate::models::wordpiece::{WordPiece, WordPieceOptions};

/// The longest token first, from left to right.
#[pyclass(name = "WordPiece", module = "lexmill.models", extends = PyModel, frozen)]
pub(in crate::bindings) struct PyWordPiece;

fn options(this: &PyRef<'_, PyWordPiece>) -> WordPieceOptions {
    match &*this.as_super().stage.get() {
        Model::WordPiece(wordpiece) => wordpiece.options().clone(),
        // The kind of model never changes after an object of this class.
        _ => WordPieceOptions::default(),
    }
}

fn set_options(this: &PyRef<'_, PyWordPiece>, change: impl FnOnce(&mut WordPieceOptions)) {
    let mut options = options(this);
    change(&mut options);
    let stage = &this.as_super().stage;
    let changed = WordPiece::new(stage.get().shared_vocab(), options);
    stage.set(Arc::new(Model::WordPiece(changed)));
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
        let max_input_chars_per_word = count(py, "max_input_chars_per_word", max_input_chars_per_word)?;
        let options = WordPieceOptions {
            unk_token: unk_token.to_owned(),
            continuing_subword_prefix: continuing_subword_prefix.to_owned(),
            max_input_chars_per_word,
        };
        let vocab = vocab_of(vocab, vocab_files::read_lines)?;
        let model = Model::WordPiece(WordPiece::new(Arc::new(vocab), options));
        Ok(PyModel::of(model).add_subclass(Self))
    }

    /// Reads a `vocab.txt`; further arguments are those of the constructor.
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

    #[getter]
    fn get_unk_token(this: PyRef<'_, Self>) -> String {
        options(&this).unk_token
    }

    #[setter]
    fn set_unk_token(this: PyRef<'_, Self>, value: String) {
        set_options(&this, |options| options.unk_token = value);
    }

    #[getter]
    fn get_max_input_chars_per_word(this: PyRef<'_, Self>) -> usize {
        options(&this).max_input_chars_per_word
    }

    #[setter]
    fn set_max_input_chars_per_word(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let value = count(this.py(), "max_input_chars_per_word", value)?;
        set_options(&this, |options| options.max_input_chars_per_word = value);
        Ok(())
    }

    #[getter]
    fn get_continuing_subword_prefix(this: PyRef<'_, Self>) -> String {
        options(&this).continuing_subword_prefix
    }

    #[setter]
    fn set_continuing_subword_prefix(this: PyRef<'_, Self>, value: String) {
        set_options(&this, |options| options.continuing_subword_prefix = value);
    }

    fn __repr__(this: PyRef<'_, Self>) -> String {
        let WordPieceOptions { unk_token, continuing_subword_prefix, max_input_chars_per_word } =
            options(&this);
        format!(
            "WordPiece(vocab_size={}, unk_token={unk_token:?}, continuing_subword_prefix={continuing_subword_prefix:?}, \
             max_input_chars_per_word={max_input_chars_per_word})",
            this.as_super().stage.get().vocab().len()
        )
    }
}
