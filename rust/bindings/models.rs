//! `lexmill.models`.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use super::arguments::note_unknown;
use super::errors::{OrRaise, exception, to_python};
use super::stage::{Stage, Staged};
use super::trainers::PyBpeTrainer;
use crate::formats::{model_json, vocab_files};
use crate::models::bpe::{Bpe, BpeOptions, Scratch};
use crate::models::{Model, Tokens};
use crate::vocab::Vocab;

impl Staged for Arc<Model> {
    fn sequence(mut stages: Vec<Self>) -> Self {
        stages.swap_remove(0)
    }

    fn as_sequence(&self) -> Option<&[Self]> {
        None
    }
}

/// One token of a pre-token: id, text, and byte offsets in the pre-token.
#[pyclass(name = "Token", module = "lexmill", frozen)]
pub(super) struct PyToken {
    #[pyo3(get)]
    id: u32,
    #[pyo3(get)]
    value: String,
    #[pyo3(get)]
    offsets: (usize, usize),
}

#[pymethods]
impl PyToken {
    #[new]
    fn new(id: u32, value: String, offsets: (usize, usize)) -> Self {
        Self { id, value, offsets }
    }

    /// Id, text and offsets.
    fn as_tuple(&self) -> (u32, &str, (usize, usize)) {
        (self.id, &self.value, self.offsets)
    }

    fn __getnewargs__(&self) -> (u32, &str, (usize, usize)) {
        self.as_tuple()
    }

    fn __repr__(&self) -> String {
        format!("Token(id={}, value={:?}, offsets={:?})", self.id, self.value, self.offsets)
    }
}

/// Base class of all models.
#[pyclass(name = "Model", module = "lexmill.models", subclass, frozen, weakref)]
pub(super) struct PyModel {
    pub(super) stage: Arc<Stage<Arc<Model>>>,
}

/// The Python object of the right class for a shared model.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<Arc<Model>>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyModel { stage });
    Ok(match &*kind {
        Model::Bpe(_) => Py::new(py, base.add_subclass(PyBpe))?.into_any(),
    })
}

#[pymethods]
impl PyModel {
    /// The tokens of one pre-token.
    fn tokenize(&self, py: Python<'_>, sequence: &str) -> PyResult<Vec<PyToken>> {
        let model = self.stage.get();
        let tokens = py.detach(|| {
            let mut scratch = Scratch::default();
            scratch.seed(model.seed().unwrap_or_else(|| fastrand::u64(..)));
            let mut tokens = Tokens::default();
            model.encode_word(sequence, &mut scratch, &mut tokens).map(|()| tokens)
        });
        let Tokens { ids, lens } = tokens.or_raise(py)?;
        let mut end = 0;
        let token = |(id, len): (u32, u32)| {
            let start = end;
            end += len as usize;
            let value = model.vocab().token(id).unwrap_or_default().to_owned();
            PyToken { id, value, offsets: (start, end) }
        };
        Ok(ids.into_iter().zip(lens).map(token).collect())
    }

    /// The id of a token.
    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.stage.get().vocab().id(token)
    }

    /// The token with an id.
    fn id_to_token(&self, id: u32) -> Option<String> {
        self.stage.get().vocab().token(id).map(str::to_owned)
    }

    /// Writes the model's files into a folder; returns their paths.
    #[pyo3(signature = (folder, prefix=None, name=None))]
    fn save(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        prefix: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<Vec<String>> {
        let model = self.stage.get();
        let paths = py.detach(|| match &*model {
            Model::Bpe(bpe) => vocab_files::write(bpe, &folder, prefix.or(name)),
        });
        Ok(paths.or_raise(py)?.iter().map(|path| path.display().to_string()).collect())
    }

    /// A trainer for this kind of model, with default options.
    fn get_trainer(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &*self.stage.get() {
            Model::Bpe(_) => PyBpeTrainer::default_object(py),
        }
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, model_json::write(&self.stage.get()).to_string().as_bytes())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let model = model_json::read(&String::from_utf8_lossy(state)).or_raise(py)?;
        self.stage.set(Arc::new(model));
        Ok(())
    }
}

/// Byte-pair encoding.
#[pyclass(name = "BPE", module = "lexmill.models", extends = PyModel, frozen)]
pub(super) struct PyBpe;

fn bpe(this: &PyRef<'_, PyBpe>) -> Arc<Model> {
    this.as_super().stage.get()
}

fn options(this: &PyRef<'_, PyBpe>) -> BpeOptions {
    match &*bpe(this) {
        Model::Bpe(bpe) => bpe.options().clone(),
    }
}

fn set_options(this: &PyRef<'_, PyBpe>, change: impl FnOnce(&mut BpeOptions)) -> PyResult<()> {
    let Model::Bpe(mut changed) = (*bpe(this)).clone();
    let mut options = changed.options().clone();
    change(&mut options);
    changed.set_options(options).or_raise(this.py())?;
    this.as_super().stage.set(Arc::new(Model::Bpe(changed)));
    Ok(())
}

/// A vocabulary as a dictionary or as the path of a `vocab.json`.
fn vocab(tokens: &Bound<'_, PyDict>) -> PyResult<Vocab> {
    let wrong = |_| {
        let message = format!("vocab must be a path, or a dict from str to ids from 0 to {}", u32::MAX);
        exception(tokens.py(), "InputTypeError", message)
    };
    let mut entries = Vec::with_capacity(tokens.len());
    for (token, id) in tokens {
        entries.push((token.extract::<String>().map_err(wrong)?, id.extract::<u32>().map_err(wrong)?));
    }
    // The order of a dictionary must not show in anything, such as the id of tokens that share one.
    entries.sort_by(|left, right| (left.1, &left.0).cmp(&(right.1, &right.0)));
    let mut vocab = Vocab::new();
    for (token, id) in &entries {
        vocab.insert(token, *id);
    }
    Ok(vocab)
}

/// Merges as a list of pairs.
fn merges(pairs: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let wrong = |_| {
        let message = "merges must be a path, or a list of pairs of str".to_owned();
        exception(pairs.py(), "InputTypeError", message)
    };
    pairs.extract().map_err(wrong)
}

fn build(
    py: Python<'_>,
    vocab: Vocab,
    merges: &[(String, String)],
    options: BpeOptions,
) -> PyResult<PyClassInitializer<PyBpe>> {
    let merges: Vec<(&str, &str)> =
        merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
    let bpe = py.detach(|| Bpe::new(vocab, &merges, options)).or_raise(py)?;
    Ok(PyClassInitializer::from(PyModel { stage: Stage::new(Arc::new(Model::Bpe(bpe))) }).add_subclass(PyBpe))
}

/// Ids by token, and merges.
type ReadFile<'py> = (Bound<'py, PyDict>, Vec<(String, String)>);

#[pymethods]
impl PyBpe {
    #[new]
    #[pyo3(signature = (
        vocab=None, merges=None, *, cache_capacity=None, dropout=None, unk_token=None,
        continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=None, byte_fallback=false,
        ignore_merges=false, seed=None, **kwargs
    ))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        vocab: Option<&Bound<'_, PyAny>>,
        merges: Option<&Bound<'_, PyAny>>,
        cache_capacity: Option<usize>,
        dropout: Option<f32>,
        unk_token: Option<String>,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
        fuse_unk: Option<bool>,
        byte_fallback: bool,
        ignore_merges: bool,
        seed: Option<u64>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        // Caches here are bounded in bytes, by `Tokenizer.cache_limit`.
        let _ = cache_capacity;
        let options = BpeOptions {
            unk_token,
            continuing_subword_prefix,
            end_of_word_suffix,
            dropout,
            fuse_unk: fuse_unk.unwrap_or(false),
            byte_fallback,
            ignore_merges,
            seed,
        };
        match (vocab, merges) {
            (None, None) => build(py, Vocab::new(), &[], options),
            (Some(vocab), Some(merges)) => match vocab.cast::<PyDict>() {
                Ok(tokens) => build(py, self::vocab(tokens)?, &self::merges(merges)?, options),
                Err(_) => Self::open(py, vocab.extract()?, merges.extract()?, options),
            },
            _ => Err(PyValueError::new_err("`vocab` and `merges` must be both specified")),
        }
    }

    /// Reads a `vocab.json` and a `merges.txt`; further arguments are those of the constructor.
    #[classmethod]
    #[pyo3(signature = (vocab, merges, **kwargs))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        vocab: PathBuf,
        merges: PathBuf,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (tokens, pairs) = Self::read_file(class.py(), vocab, merges)?;
        class.call((tokens, pairs), kwargs)
    }

    /// The contents of a `vocab.json` and a `merges.txt`.
    #[staticmethod]
    fn read_file(py: Python<'_>, vocab: PathBuf, merges: PathBuf) -> PyResult<ReadFile<'_>> {
        let (tokens, pairs) = py.detach(|| vocab_files::read(&vocab, &merges)).or_raise(py)?;
        let dictionary = PyDict::new(py);
        for (token, id) in tokens {
            dictionary.set_item(token, id)?;
        }
        Ok((dictionary, pairs))
    }

    #[getter]
    fn get_dropout(this: PyRef<'_, Self>) -> Option<f32> {
        options(&this).dropout
    }

    #[setter]
    fn set_dropout(this: PyRef<'_, Self>, value: Option<f32>) -> PyResult<()> {
        set_options(&this, |options| options.dropout = value)
    }

    #[getter]
    fn get_seed(this: PyRef<'_, Self>) -> Option<u64> {
        options(&this).seed
    }

    #[setter]
    fn set_seed(this: PyRef<'_, Self>, value: Option<u64>) -> PyResult<()> {
        set_options(&this, |options| options.seed = value)
    }

    #[getter]
    fn get_unk_token(this: PyRef<'_, Self>) -> Option<String> {
        options(&this).unk_token
    }

    #[setter]
    fn set_unk_token(this: PyRef<'_, Self>, value: Option<String>) -> PyResult<()> {
        set_options(&this, |options| options.unk_token = value)
    }

    #[getter]
    fn get_continuing_subword_prefix(this: PyRef<'_, Self>) -> Option<String> {
        options(&this).continuing_subword_prefix
    }

    #[setter]
    fn set_continuing_subword_prefix(this: PyRef<'_, Self>, value: Option<String>) -> PyResult<()> {
        set_options(&this, |options| options.continuing_subword_prefix = value)
    }

    #[getter]
    fn get_end_of_word_suffix(this: PyRef<'_, Self>) -> Option<String> {
        options(&this).end_of_word_suffix
    }

    #[setter]
    fn set_end_of_word_suffix(this: PyRef<'_, Self>, value: Option<String>) -> PyResult<()> {
        set_options(&this, |options| options.end_of_word_suffix = value)
    }

    #[getter]
    fn get_fuse_unk(this: PyRef<'_, Self>) -> bool {
        options(&this).fuse_unk
    }

    #[setter]
    fn set_fuse_unk(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_options(&this, |options| options.fuse_unk = value)
    }

    #[getter]
    fn get_byte_fallback(this: PyRef<'_, Self>) -> bool {
        options(&this).byte_fallback
    }

    #[setter]
    fn set_byte_fallback(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_options(&this, |options| options.byte_fallback = value)
    }

    #[getter]
    fn get_ignore_merges(this: PyRef<'_, Self>) -> bool {
        options(&this).ignore_merges
    }

    #[setter]
    fn set_ignore_merges(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_options(&this, |options| options.ignore_merges = value)
    }

    fn __repr__(this: PyRef<'_, Self>) -> String {
        let model = bpe(&this);
        let Model::Bpe(bpe) = &*model;
        format!("BPE(vocab_size={}, merges={})", bpe.vocab().len(), bpe.merges().len())
    }
}

impl PyBpe {
    fn open(
        py: Python<'_>,
        vocab: PathBuf,
        merges: PathBuf,
        options: BpeOptions,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (tokens, pairs) = vocab_files::read(&vocab, &merges).map_err(|error| to_python(py, &error))?;
        let mut sorted = tokens;
        sorted.sort_by_key(|(_, id)| *id);
        let mut vocab = Vocab::new();
        for (token, id) in &sorted {
            vocab.insert(token, *id);
        }
        build(py, vocab, &pairs, options)
    }
}

/// A `BPE` object's own kind of model, or a clear complaint.
pub(super) fn require_bpe(py: Python<'_>, model: &Model) -> PyResult<Bpe> {
    match model {
        Model::Bpe(bpe) => Ok(bpe.clone()),
        #[expect(unreachable_patterns, reason = "other models are to come")]
        _ => Err(exception(py, "OptionError", "a BpeTrainer trains a BPE model".to_owned())),
    }
}
