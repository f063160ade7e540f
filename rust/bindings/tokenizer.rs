//! `lexmill.Tokenizer`: making, saving, and its parts. Encoding and decoding: `tokenizer_batch.rs`, truncation and padding:
//! `tokenizer_limits.rs`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::added_token::{self, PyAddedToken};
use super::arguments::{self, FilePath};
use super::encoding::PyEncoding;
use super::errors::{OrRaise, exception};
use super::models::{self, PyModel};
use super::stage::Stage;
use super::tokenizer_state::{Concerns, Shared, State};
use super::{components, decoders, normalizers, pre_tokenizers, processors};
use crate::formats::{model_json, sentencepiece, tiktoken, tokenizer_json, vocab_files};
use crate::models::Model;
use crate::models::bpe::Bpe;
use crate::structures::atomic_file;
use crate::tokenizer::Tokenizer;

/// Cuts text into tokens and puts tokens together again.
#[pyclass(name = "Tokenizer", module = "lexmill", frozen, dict, weakref)]
pub(super) struct PyTokenizer {
    pub(super) shared: Shared,
}

impl PyTokenizer {
    fn of(state: State) -> Self {
        Self { shared: Shared::new(state) }
    }

    /// The compiled tokenizer as of now.
    pub(super) fn core(&self, py: Python<'_>) -> PyResult<Arc<Tokenizer>> {
        self.shared.tokenizer().or_raise(py)
    }

    fn read(py: Python<'_>, json: &str) -> PyResult<Self> {
        let parts = py.detach(|| tokenizer_json::read(json)).or_raise(py)?;
        Ok(Self::of(State::of(parts)))
    }

    fn to_json(&self, pretty: bool) -> crate::Result<String> {
        tokenizer_json::write(&self.shared.parts(), pretty)
    }
}

/// Properties for the stages that a tokenizer may lack: each with its setter, its module and class, and what it concerns.
macro_rules! stages {
    ($($name:ident $set:ident: $module:ident::$class:ident, $concerns:ident;)+) => {
        #[pymethods]
        impl PyTokenizer {$(
            #[getter]
            fn $name(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
                let stage = self.shared.state().$name.clone();
                stage.map(|stage| $module::wrap(py, stage)).transpose()
            }

            #[setter]
            fn $set(&self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
                let stage = value.map(|value| {
                    let own = value.cast::<$module::$class>().map(|own| Arc::clone(&own.get().stage));
                    components::given_stage(value, own.map_err(PyErr::from))
                });
                let stage = stage.transpose()?;
                self.shared.change(Concerns::$concerns, |state| state.$name = stage);
                Ok(())
            }
        )+}
    };
}

stages! {
    normalizer set_normalizer: normalizers::PyNormalizer, Pipeline;
    pre_tokenizer set_pre_tokenizer: pre_tokenizers::PyPreTokenizer, Pipeline;
    post_processor set_post_processor: processors::PyPostProcessor, Rest;
    decoder set_decoder: decoders::PyDecoder, Rest;
}

#[pymethods]
impl PyTokenizer {
    #[new]
    fn new(model: &Bound<'_, PyModel>) -> Self {
        Self::of(State::of_model(Arc::clone(&model.get().stage)))
    }

    /// Reads a `tokenizer.json` from text.
    #[staticmethod]
    fn from_str(py: Python<'_>, json: &str) -> PyResult<Self> {
        Self::read(py, json)
    }

    /// Reads a `tokenizer.json`.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        let json = py.detach(|| vocab_files::read_text(&path)).or_raise(py)?;
        Self::read(py, &json)
    }

    /// Reads the `tokenizer.json` of a repository of the Hugging Face Hub, through the package `huggingface_hub` and its cache, or of
    /// a local folder.
    ///
    /// Raises:
    ///     `LexmillError`: `huggingface_hub` is not installed.
    #[staticmethod]
    #[pyo3(signature = (identifier, revision="main", token=None))]
    fn from_pretrained(
        py: Python<'_>,
        identifier: &str,
        revision: &str,
        token: Option<&str>,
    ) -> PyResult<Self> {
        let file =
            py.import("lexmill._hub")?.call_method1("tokenizer_file", (identifier, revision, token))?;
        Self::from_file(py, file.extract()?)
    }

    /// A `tokenizers.Tokenizer` as one of lexmill's.
    ///
    /// Raises:
    ///     `LexmillError`: the tokenizer holds stages written in Python.
    #[staticmethod]
    fn from_hf<'py>(py: Python<'py>, tokenizer: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        py.import("lexmill._peer")?.call_method1("from_hf", (tokenizer,))
    }

    /// This tokenizer as a `tokenizers.Tokenizer`.
    ///
    /// Raises:
    ///     `LexmillError`: that package is not installed, or lexmill stands in its place.
    fn to_hf<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("lexmill._peer")?.call_method1("to_hf", (this,))
    }

    /// Reads a `tokenizer.json` from bytes.
    #[staticmethod]
    fn from_buffer(py: Python<'_>, buffer: &Bound<'_, PyBytes>) -> PyResult<Self> {
        match std::str::from_utf8(buffer.as_bytes()) {
            Ok(json) => Self::read(py, json),
            Err(error) => {
                let message = format!("buffer is not valid UTF-8 at byte {}", error.valid_up_to());
                Err(exception(py, "InvalidUtf8Error", message))
            }
        }
    }

    /// Reads a `.model` file of SentencePiece's; special tokens in text are left to the model, as there.
    #[staticmethod]
    fn from_spm(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        let parts = py.detach(|| sentencepiece::read(&vocab_files::read_bytes(&path)?)).or_raise(py)?;
        Ok(Self::of(State { encode_special_tokens: true, ..State::of(parts) }))
    }

    /// Writes a `.model` file for SentencePiece, whole or not at all.
    fn save_spm(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let parts = self.shared.parts();
        py.detach(|| atomic_file::write(&path, &sentencepiece::write(&parts)?)).or_raise(py)
    }

    /// Reads a `.tiktoken` file, which holds neither `pattern`, which cuts text, nor `special_tokens` with their ids.
    ///
    /// A token's rank is its id. A pre-token that is a token is taken whole, as it stands (`ignore_merges`); in others the
    /// neighbours that spell the token of the lowest rank are merged first.
    ///
    /// Raises:
    ///     `FormatError`: a line is malformed, a token or a rank is there twice, a byte has no token, or a special token's
    ///         text or id is taken.
    ///     `RegexError`: `pattern` does not compile.
    ///     `IdRangeError`: an id is out of range.
    ///     `FileError`: the file cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path, pattern, special_tokens=None))]
    fn from_tiktoken(
        py: Python<'_>,
        path: FilePath,
        pattern: &str,
        special_tokens: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let given = special_tokens.unwrap_or_default().into_iter();
        let special_tokens = given.map(|(token, id)| Ok((token, arguments::id(&id)?)));
        let special_tokens = special_tokens.collect::<PyResult<Vec<_>>>()?;
        let read = || {
            let text = vocab_files::read_text(&path)?;
            tiktoken::read(&text, &path.display().to_string(), pattern, &special_tokens)
        };
        Ok(Self::of(State::of(py.detach(read).or_raise(py)?)))
    }

    /// Writes a `.tiktoken` file of a byte-level BPE model, whole or not at all; added tokens and all stages but the model
    /// are left out.
    ///
    /// Raises:
    ///     `OptionError`: the file would be read as another model: it is not BPE, has dropout, a prefix or a suffix, or kinds
    ///         of pieces; a token is not spelled in the byte-level alphabet, or a byte has none; merges are not in the
    ///         order of ids, or others would be made too; or, without `ignore_merges`, a token is not what its own text
    ///         is encoded to.
    ///     `FileError`: the file cannot be written.
    fn save_tiktoken(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let parts = self.shared.parts();
        py.detach(|| atomic_file::write(&path, tiktoken::write(&parts)?.as_bytes())).or_raise(py)
    }

    /// The tokenizer as JSON text; the same tokenizer gives the same text.
    #[pyo3(signature = (pretty=false))]
    fn to_str(&self, py: Python<'_>, pretty: bool) -> PyResult<String> {
        py.detach(|| self.to_json(pretty)).or_raise(py)
    }

    /// Writes a `tokenizer.json`, whole or not at all.
    #[pyo3(signature = (path, pretty=true))]
    fn save(&self, py: Python<'_>, path: FilePath, pretty: bool) -> PyResult<()> {
        py.detach(|| save(&path, &self.to_json(pretty)?)).or_raise(py)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.to_json(false).or_raise(py)?.as_bytes()))
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let parts = tokenizer_json::read(&String::from_utf8_lossy(state)).or_raise(py)?;
        self.shared.change(Concerns::Pipeline, |current| *current = State::of(parts));
        Ok(())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [models::wrap(py, Stage::new(Arc::new(Model::Bpe(Bpe::default()))))?])
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let core = self.core(py)?;
        let (vocab, added) = (core.pipeline().model().vocab().len(), core.pipeline().added().len());
        Ok(format!("Tokenizer(vocab_size={vocab}, added_tokens={added}, plan={:?})", core.pipeline().plan()))
    }

    #[getter]
    fn get_model(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        models::wrap(py, Arc::clone(&self.shared.state().model))
    }

    #[setter]
    fn set_model(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let stage = match components::peer_state(value) {
            Some(state) => Stage::new(Arc::new(model_json::read(&state).or_raise(value.py())?)),
            None => Arc::clone(&value.cast::<PyModel>()?.get().stage),
        };
        self.shared.change(Concerns::Pipeline, |state| state.model = stage);
        Ok(())
    }

    /// Whether special tokens in the text are left to the model.
    #[getter]
    fn get_encode_special_tokens(&self) -> bool {
        self.shared.state().encode_special_tokens
    }

    #[setter]
    fn set_encode_special_tokens(&self, value: bool) {
        if self.get_encode_special_tokens() != value {
            self.shared.change(Concerns::Pipeline, |state| state.encode_special_tokens = value);
        }
    }

    /// Bytes that the cache of each thread may take; 0 turns caching off.
    #[getter]
    fn get_cache_limit(&self) -> usize {
        self.shared.state().cache_limit
    }

    #[setter]
    fn set_cache_limit(&self, value: usize) {
        self.shared.change(Concerns::Pipeline, |state| state.cache_limit = value);
    }

    /// A copy that runs stage by stage: the slow twin that every plan of chunks must equal. For tests.
    fn _staged(&self) -> Self {
        Self::of(State { is_staged: true, ..self.shared.state().clone() })
    }

    /// Bytes that caches take now, and may take per thread.
    fn cache_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        info.set_item("bytes", self.core(py)?.pipeline().pool().cache_bytes())?;
        info.set_item("limit_per_thread", self.get_cache_limit())?;
        Ok(info)
    }

    /// Empties all caches.
    fn clear_cache(&self, py: Python<'_>) -> PyResult<()> {
        self.core(py)?.pipeline().pool().clear();
        Ok(())
    }

    /// Adds tokens that are cut out of the text; returns how many were new or changed.
    fn add_tokens(&self, tokens: &Bound<'_, PyList>) -> PyResult<usize> {
        let tokens = added_token::tokens(tokens, false)?;
        Ok(self.add(&tokens))
    }

    /// Adds tokens that decoding may skip; returns how many were new or changed.
    fn add_special_tokens(&self, tokens: &Bound<'_, PyList>) -> PyResult<usize> {
        let tokens = added_token::tokens(tokens, true)?;
        Ok(self.add(&tokens))
    }

    /// Added tokens by id.
    fn get_added_tokens_decoder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let decoder = PyDict::new(py);
        for (id, token) in self.shared.state().added.sorted() {
            decoder.set_item(id, PyAddedToken::of(token.clone()))?;
        }
        Ok(decoder)
    }

    /// Ids by token.
    #[pyo3(signature = (with_added_tokens=true))]
    fn get_vocab<'py>(&self, py: Python<'py>, with_added_tokens: bool) -> PyResult<Bound<'py, PyDict>> {
        let (model, added) = {
            let state = self.shared.state();
            (state.model.get(), Arc::clone(&state.added))
        };
        let vocab = PyDict::new(py);
        for (token, id) in model.vocab().sorted_by_id() {
            vocab.set_item(token, id)?;
        }
        if with_added_tokens {
            for (content, id) in added.contents() {
                vocab.set_item(content, id)?;
            }
        }
        Ok(vocab)
    }

    /// Number of tokens.
    #[pyo3(signature = (with_added_tokens=true))]
    fn get_vocab_size(&self, with_added_tokens: bool) -> usize {
        let state = self.shared.state();
        let model = state.model.get();
        let is_new = |content: &str| model.vocab().id(content).is_none();
        let added = state.added.contents().into_iter().filter(|&(content, _)| is_new(content)).count();
        model.vocab().len() + if with_added_tokens { added } else { 0 }
    }

    /// The id of a token.
    fn token_to_id(&self, py: Python<'_>, token: &str) -> PyResult<Option<u32>> {
        Ok(self.core(py)?.token_to_id(token))
    }

    /// The token with an id.
    fn id_to_token(&self, py: Python<'_>, id: u32) -> PyResult<Option<String>> {
        Ok(self.core(py)?.id_to_token(id).map(str::to_owned))
    }

    /// How many special tokens a text or a pair gets.
    fn num_special_tokens_to_add(&self, py: Python<'_>, is_pair: bool) -> PyResult<usize> {
        Ok(self.core(py)?.added_tokens(is_pair))
    }

    /// Truncates, post-processes and pads an encoding or a pair.
    #[pyo3(signature = (encoding, pair=None, add_special_tokens=true))]
    fn post_process(
        &self,
        py: Python<'_>,
        encoding: &PyEncoding,
        pair: Option<&PyEncoding>,
        add_special_tokens: bool,
    ) -> PyResult<PyEncoding> {
        let pair = pair.map(|pair| pair.inner.clone());
        let core = self.core(py)?;
        let mut processed =
            [core.post_process(encoding.inner.clone(), pair, add_special_tokens).or_raise(py)?];
        core.pad(&mut processed).or_raise(py)?;
        let [processed] = processed;
        Ok(PyEncoding::of(processed))
    }
}

impl PyTokenizer {
    /// Adds tokens to the state.
    pub(super) fn add(&self, tokens: &[crate::added_tokens::AddedToken]) -> usize {
        self.shared.change(Concerns::Pipeline, |state| {
            let model = state.model.get();
            Arc::make_mut(&mut state.added).add(tokens, model.vocab())
        })
    }
}

fn save(path: &Path, json: &str) -> crate::Result<()> {
    atomic_file::write(path, json.as_bytes())
}
