//! `lexmill.models`.

mod bpe;
mod options;
mod unigram;
mod wordlevel;
mod wordpiece;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use serde_json::json;

pub(super) use bpe::PyBpe;
pub(super) use unigram::PyUnigram;
pub(super) use wordlevel::PyWordLevel;
pub(super) use wordpiece::PyWordPiece;

use super::arguments::with_note;
use super::components::unpickling;
use super::errors::{OrRaise, exception};
use super::file_paths::FilePath;
use super::shown::{Extent, shown};
use super::stage::{Stage, Staged};
use super::strings::surrogate_note;
use super::trainers::default_trainer;
use crate::formats::model_json::{self, ModelJson};
use crate::formats::vocab_files;
use crate::models::bpe::Bpe;
use crate::models::{Model, Scratch, Tokens};
use crate::normalized::StringToken;
use crate::vocab::Vocab;

impl Staged for Arc<Model> {
    const NAME: &'static str = "model";
    const CLASS: &'static str = "Model";
    const NESTS: bool = false;

    fn sequence(mut stages: Vec<Self>) -> Self {
        stages.swap_remove(0)
    }

    fn as_sequence(&self) -> Option<&[Self]> {
        None
    }
}

/// One token of a pre-token: id, text, and byte offsets in the pre-token.
///
/// Args:
///     `id`: its number in the vocabulary.
///     `value`: its text.
///     `offsets`: its first byte in the pre-token and one past its last.
#[pyclass(name = "Token", module = "lexmill", frozen)]
pub(super) struct PyToken {
    #[pyo3(get)]
    id: u32,
    #[pyo3(get)]
    value: String,
    #[pyo3(get)]
    offsets: (usize, usize),
}

impl PyToken {
    /// A token of a split.
    pub(super) fn of(token: &StringToken) -> Self {
        Self { id: token.id, value: token.value.clone(), offsets: token.span }
    }

    /// The token for a split.
    pub(super) fn to_core(&self) -> StringToken {
        StringToken { id: self.id, value: self.value.clone(), span: self.offsets }
    }
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

/// Base class of all models; by itself an empty BPE model.
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
        Model::Unigram(_) => Py::new(py, base.add_subclass(PyUnigram))?.into_any(),
        Model::WordPiece(_) => Py::new(py, base.add_subclass(PyWordPiece))?.into_any(),
        Model::WordLevel(_) => Py::new(py, base.add_subclass(PyWordLevel))?.into_any(),
    })
}

/// Tokens of a pre-token as Python sees them.
fn tokens(model: &Model, word: &str, tokens: &Tokens) -> Vec<PyToken> {
    let token = |(id, span): (u32, Range<usize>)| {
        let offsets = (span.start, span.end);
        let own =
            word.get(span).filter(|own| model.id_of_unknown_text() == Some(id) && !model.falls_back(own));
        let value = own.or_else(|| model.vocab().token(id)).unwrap_or_default().to_owned();
        PyToken { id, value, offsets }
    };
    tokens.spans().map(token).collect()
}

impl PyModel {
    fn of(model: Model) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Self { stage: Stage::new(Arc::new(model)) })
    }

    fn shown(&self, extent: Extent) -> String {
        shown(&json!(ModelJson::beginning(&self.stage.get(), extent.looked_at())), extent)
    }

    /// An empty model, which has no class of its own.
    pub(super) fn empty() -> Self {
        Self { stage: Stage::new(Arc::new(Model::Bpe(Bpe::default()))) }
    }
}

#[pymethods]
impl PyModel {
    /// An empty BPE model.
    #[new]
    fn new() -> Self {
        Self::empty()
    }

    /// Empties the caches of the tokenizers with this model.
    #[pyo3(name = "_clear_cache")]
    fn clear_cache(&self) {
        self.stage.touch();
    }

    /// As `_clear_cache`: the size of a cache is an option of the tokenizer, in bytes, and `capacity` has no effect.
    #[pyo3(name = "_resize_cache")]
    fn resize_cache(&self, capacity: usize) {
        let _ = capacity;
        self.stage.touch();
    }

    /// The tokens of one pre-token.
    ///
    /// Args:
    ///     `sequence`: the pre-token, as the stages before the model leave it.
    fn tokenize(&self, py: Python<'_>, sequence: &str) -> PyResult<Vec<PyToken>> {
        let model = self.stage.get();
        let tokens = py.detach(|| {
            let mut scratch = Scratch::default();
            scratch.seed(model.seed().unwrap_or_else(|| fastrand::u64(..)));
            let mut tokens = Tokens::default();
            model.encode_word(sequence, &mut scratch, &mut tokens).map(|()| tokens)
        });
        Ok(self::tokens(&model, sequence, &tokens.or_raise(py)?))
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
    ///
    /// Args:
    ///     `folder`: where the files go.
    ///     `prefix`: the beginning of the files' names.
    ///     `name`: the same, if `prefix` is None.
    #[pyo3(signature = (folder, prefix=None, name=None))]
    fn save(
        &self,
        py: Python<'_>,
        folder: FilePath,
        prefix: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<Vec<String>> {
        if name.is_some() {
            let category = py.get_type::<PyDeprecationWarning>();
            PyErr::warn(py, &category, c"Model.save: name is deprecated, use prefix", 1)?;
        }
        let model = self.stage.get();
        let paths = py.detach(|| vocab_files::write(&model, &folder, prefix.or(name)));
        Ok(paths.or_raise(py)?.iter().map(|path| path.display().to_string()).collect())
    }

    /// A trainer for this kind of model, with default options.
    fn get_trainer(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        default_trainer(py, &self.stage.get())
    }

    fn __repr__(&self) -> String {
        self.shown(Extent::Long)
    }

    fn __str__(&self) -> String {
        self.shown(Extent::Short)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, ModelJson::new(&self.stage.get()).text(false).as_bytes())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let model = model_json::read(&String::from_utf8_lossy(state));
        let model = model.map_err(|error| unpickling(py, "Model", error))?;
        let (own, given) = (self.stage.get().kind(), model.kind());
        if own != given {
            return Err(exception(py, "FormatError", format!("the state is that of {given}, not of {own}")));
        }
        self.stage.set(Arc::new(model));
        Ok(())
    }
}

/// A vocabulary from a dictionary or from the file that `read` reads; an empty one if nothing is given.
fn vocab_of(
    given: Option<&Bound<'_, PyAny>>,
    read: impl Fn(&Path) -> crate::Result<vocab_files::Tokens> + Sync,
) -> PyResult<Vocab> {
    let Some(given) = given else { return Ok(Vocab::new()) };
    if let Ok(tokens) = given.cast::<PyDict>() {
        return vocab(tokens);
    }
    let (py, path) = (given.py(), path_of_vocab(given)?);
    Ok(sorted(py.detach(|| read(&path)).or_raise(py)?))
}

/// The path of the file of a vocabulary that is given as no dictionary.
fn path_of_vocab(given: &Bound<'_, PyAny>) -> PyResult<FilePath> {
    given.extract().map_err(|_| not_vocab(given.py(), None))
}

fn not_vocab(py: Python<'_>, note: Option<String>) -> PyErr {
    let message = format!("vocab must be a path, or a dict from str to ids from 0 to {}", u32::MAX);
    exception(py, "InputTypeError", with_note(&message, note))
}

/// A dictionary of the tokens that a file has.
fn dictionary(py: Python<'_>, tokens: vocab_files::Tokens) -> PyResult<Bound<'_, PyDict>> {
    let dictionary = PyDict::new(py);
    for (token, id) in tokens {
        dictionary.set_item(token, id)?;
    }
    Ok(dictionary)
}

/// A vocabulary of tokens that may come in any order, which must not show: not in the id of tokens that share one.
fn sorted(mut tokens: vocab_files::Tokens) -> Vocab {
    tokens.sort_by(|left, right| (left.1, &left.0).cmp(&(right.1, &right.0)));
    let mut vocab = Vocab::new();
    for (token, id) in &tokens {
        vocab.insert(token, *id);
    }
    vocab
}

/// A vocabulary from a dictionary.
fn vocab(tokens: &Bound<'_, PyDict>) -> PyResult<Vocab> {
    let py = tokens.py();
    let mut entries = Vec::with_capacity(tokens.len());
    for (token, id) in tokens {
        let text = token.extract::<String>().map_err(|_| {
            not_vocab(py, token.cast::<PyString>().ok().and_then(|token| surrogate_note(token)))
        })?;
        entries.push((text, id.extract::<u32>().map_err(|_| not_vocab(py, None))?));
    }
    Ok(sorted(entries))
}
