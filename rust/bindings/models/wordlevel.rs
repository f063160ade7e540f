//! `lexmill.models.WordLevel`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::{PyModel, dictionary, vocab_of};
use crate::bindings::components::{get_field, set_field};
use crate::bindings::errors::OrRaise;
use crate::bindings::file_paths::FilePath;
use crate::formats::vocab_files;
use crate::models::Model;
use crate::models::wordlevel::WordLevel;

/// A dictionary of whole words.
///
/// Args:
///     `vocab`: ids by word, or the path of a `vocab.json`.
///     `unk_token`: the token for words that the vocabulary lacks.
#[pyclass(name = "WordLevel", module = "lexmill.models", extends = PyModel, frozen)]
pub(in crate::bindings) struct PyWordLevel;

#[pymethods]
impl PyWordLevel {
    #[new]
    #[pyo3(signature = (vocab=None, unk_token=None))]
    fn new(
        vocab: Option<&Bound<'_, PyAny>>,
        unk_token: Option<String>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let vocab = vocab_of(vocab, vocab_files::read_json)?;
        let unk_token = unk_token.unwrap_or_else(|| WordLevel::UNK_TOKEN.to_owned());
        let model = Model::WordLevel(WordLevel::new(Arc::new(vocab), unk_token));
        Ok(PyModel::of(model).add_subclass(Self))
    }

    /// Reads a `vocab.json`.
    #[classmethod]
    #[pyo3(signature = (vocab, unk_token=None))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        vocab: FilePath,
        unk_token: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.call1((Self::read_file(class.py(), vocab)?, unk_token))
    }

    /// The contents of a `vocab.json`.
    #[staticmethod]
    fn read_file(py: Python<'_>, vocab: FilePath) -> PyResult<Bound<'_, PyDict>> {
        dictionary(py, py.detach(|| vocab_files::read_json(&vocab)).or_raise(py)?)
    }

    #[getter]
    fn get_unk_token(this: PyRef<'_, Self>) -> PyResult<String> {
        get_field(&this.as_super().stage, |model| match &**model {
            Model::WordLevel(model) => Some(model.unk_token().to_owned()),
            _ => None,
        })
    }

    #[setter]
    fn set_unk_token(this: PyRef<'_, Self>, value: String) -> PyResult<()> {
        set_field(&this.as_super().stage, |stage| {
            let Model::WordLevel(model) = &**stage else { return None };
            let changed = WordLevel::new(model.shared_vocab(), value);
            let changed = changed.with_spaced_words(model.spaced_words().cloned());
            *stage = Arc::new(Model::WordLevel(changed));
            Some(())
        })
    }
}
