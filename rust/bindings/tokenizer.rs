//! `lexmill.Tokenizer`: its parts. Files: `tokenizer_files.rs`, encoding: `tokenizer_batch.rs`, decoding: `tokenizer_decode.rs`,
//! texts cut: `tokenizer_split.rs`, truncation and padding: `tokenizer_limits.rs`.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use super::added_token::{self, PyAddedToken};
use super::components::unpickling;
use super::encoding::PyEncoding;
use super::errors::OrRaise;
use super::models::{self, PyModel};
use super::shown::{Extent, called};
use super::stage::Stage;
use super::tokenizer_state::{BesideFile, Concerns, Runs, Shared, State};
use super::{arguments, components, decoders, normalizers, pre_tokenizers, processors};
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::byte_level;
use crate::formats::{model_json, tokenizer_json};
use crate::tokenizer::Tokenizer;

/// Cuts text into tokens and puts tokens together again.
///
/// A text passes `normalizer`, `pre_tokenizer`, `model` and `post_processor`; ids become text by `decoder`. Each of
/// these can be set, and all but `model` may be None. A stage that is taken from a tokenizer stays part of it:
/// `tokenizer.model.dropout = 0.1` takes effect.
///
/// Args:
///     `model`: a model of `lexmill.models`, empty if it is to be trained.
#[pyclass(name = "Tokenizer", module = "lexmill", frozen, dict, weakref)]
pub(super) struct PyTokenizer {
    pub(super) shared: Shared,
}

impl PyTokenizer {
    pub(super) fn of(state: State) -> Self {
        Self { shared: Shared::new(state) }
    }

    /// The compiled tokenizer as of now.
    pub(super) fn core(&self, py: Python<'_>) -> PyResult<Arc<Tokenizer>> {
        self.shared.tokenizer().or_raise(py)
    }

    fn shown(&self, extent: Extent) -> crate::Result<String> {
        let file = tokenizer_json::beginning(&self.shared.parts(), extent.looked_at())?;
        Ok(file.as_object().map_or_else(String::new, |members| called("Tokenizer", members, extent)))
    }

    /// The settings that decide the ids of a text: the JSON of the file, and `encode_special_tokens`, which the file does not hold.
    pub(super) fn identity(&self) -> crate::Result<String> {
        let encodes_special_tokens = self.shared.state().encode_special_tokens;
        Ok(format!("{}{encodes_special_tokens}", self.to_json(false)?))
    }

    pub(super) fn to_json(&self, pretty: bool) -> crate::Result<String> {
        tokenizer_json::write(&self.shared.parts(), pretty)
    }
}

/// Properties for the stages that a tokenizer may lack: each with its setter, its module and class, and the
/// `Concerns` of a change.
macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident $set:ident: $module:ident::$class:ident, $concerns:ident;)+) => {
        #[pymethods]
        impl PyTokenizer {$(
            $(#[$doc])*
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
                if stage.as_ref().map(Arc::as_ptr) != self.shared.state().$name.as_ref().map(Arc::as_ptr) {
                    self.shared.change(Concerns::$concerns, |state| state.$name = stage);
                }
                Ok(())
            }
        )+}
    };
}

stages! {
    /// The normalizer, which changes a text before it is cut; None leaves the text as it is.
    normalizer set_normalizer: normalizers::PyNormalizer, Pipeline;
    /// The pre-tokenizer, which cuts a text into pre-tokens; None leaves the text whole.
    pre_tokenizer set_pre_tokenizer: pre_tokenizers::PyPreTokenizer, Pipeline;
    /// The post-processor, which puts special tokens around encodings; None adds no tokens.
    post_processor set_post_processor: processors::PyPostProcessor, Rest;
    /// The decoder, which turns tokens back into text; None joins the tokens with spaces.
    decoder set_decoder: decoders::PyDecoder, Rest;
}

#[pymethods]
impl PyTokenizer {
    #[new]
    fn new(model: &Bound<'_, PyModel>) -> Self {
        Self::of(State::of_model(Arc::clone(&model.get().stage)))
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let file = PyBytes::new(py, self.to_json(false).or_raise(py)?.as_bytes());
        match self.shared.state().beside_file() {
            None => Ok(file.into_any()),
            Some(BesideFile { encode_special_tokens, cache_limit, special, roles }) => {
                (file, encode_special_tokens, cache_limit, special, roles).into_bound_py_any(py)
            }
        }
    }

    fn __setstate__(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = |file: &[u8]| {
            let parts = tokenizer_json::read(&String::from_utf8_lossy(file));
            parts.map_err(|error| unpickling(py, "Tokenizer", error))
        };
        let state = if let Ok(state) = state.cast::<PyTuple>() {
            let (file, encode_special_tokens, cache_limit, special, roles): (Bound<'_, PyBytes>, _, _, _, _) =
                state.extract()?;
            let mut state = State::of(read(file.as_bytes())?);
            state.set_beside_file(BesideFile { encode_special_tokens, cache_limit, special, roles });
            state
        } else {
            State::of(read(state.extract()?)?)
        };
        self.shared.change(Concerns::Pipeline, |current| *current = state);
        Ok(())
    }

    fn __getnewargs__(&self) -> (PyModel,) {
        (PyModel::empty(),)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.shown(Extent::Long)).or_raise(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.shown(Extent::Short)).or_raise(py)
    }

    /// The model, which turns pre-tokens into tokens.
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
        if !Arc::ptr_eq(&stage, &self.shared.state().model) {
            self.shared.change(Concerns::Pipeline, |state| state.model = stage);
        }
        Ok(())
    }

    /// True if the model encodes special tokens in a text as plain text.
    #[getter]
    fn get_encode_special_tokens(&self) -> bool {
        self.shared.state().encode_special_tokens
    }

    #[setter]
    fn set_encode_special_tokens(&self, value: bool) {
        if self.get_encode_special_tokens() != value {
            self.shared.change(Concerns::Rest, |state| state.encode_special_tokens = value);
        }
    }

    /// Tokens by their role, such as `bos_token`, as files of version 2.0 may name them; None if there are none. Roles change no encoding,
    /// and the tokens need not be in the vocabulary.
    #[getter]
    fn get_role_to_token(&self) -> Option<BTreeMap<String, String>> {
        self.shared.state().role_to_token.as_deref().cloned()
    }

    #[setter]
    fn set_role_to_token(&self, value: Option<BTreeMap<String, String>>) {
        let roles = value.filter(|roles| !roles.is_empty()).map(Arc::new);
        self.shared.change(Concerns::Rest, |state| state.role_to_token = roles);
    }

    /// Bytes that the cache of each thread may take; 0 turns caching off.
    #[getter]
    fn get_cache_limit(&self) -> usize {
        self.shared.state().cache_limit
    }

    #[setter]
    fn set_cache_limit(&self, value: usize) {
        if self.get_cache_limit() != value {
            self.shared.change(Concerns::Rest, |state| state.cache_limit = value);
        }
    }

    /// A copy that runs stage by stage: the slow twin that every plan of chunks must equal. For tests.
    fn _staged(&self) -> Self {
        Self::of(State { runs: Runs::Staged, ..self.shared.state().clone() })
    }

    /// A copy with all tables that are otherwise made once there was enough text. For tests with little text.
    fn _with_all_tables(&self) -> Self {
        Self::of(State { runs: Runs::WithAllTables, ..self.shared.state().clone() })
    }

    /// `bytes`, the memory of all caches and of buffers for the next call, and `limit_per_thread`, the limit of each thread's cache.
    fn cache_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        info.set_item("bytes", self.core(py)?.pipeline().pool().bytes())?;
        info.set_item("limit_per_thread", self.get_cache_limit())?;
        Ok(info)
    }

    /// How the tokenizer encodes, as it is now.
    ///
    /// Returns:
    ///     A dict. `chunked` is True if text goes through the cache chunk by chunk, which is fast, and False if it goes stage by stage; `chunks` is
    ///         the finder of chunks, or `None`; `on_a_miss`, the stages of a chunk that is not in the cache; `offsets`, the way to find offsets and
    ///         word ids, or `None` if it is the same as for ids; and `because`, the reason against a faster way, or `None`. Chunks of text that is
    ///         not normalized yet need a table. This call makes the table, or encoding does after a megabyte of text (with `ignore_merges`, 64 bytes
    ///         more for each token).
    fn encoding_plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = self.core(py)?.pipeline().plan_report();
        let plan = PyDict::new(py);
        plan.set_item("chunked", report.is_chunked)?;
        plan.set_item("chunks", report.chunks)?;
        plan.set_item("on_a_miss", report.on_a_miss)?;
        plan.set_item("offsets", report.offsets)?;
        plan.set_item("because", report.because)?;
        Ok(plan)
    }

    /// Empties all caches.
    fn clear_cache(&self, py: Python<'_>) -> PyResult<()> {
        self.core(py)?.pipeline().pool().clear();
        Ok(())
    }

    /// Adds tokens that are cut out of the text; returns how many were new or changed.
    ///
    /// Args:
    ///     `tokens`: `str` or `AddedToken`.
    ///
    /// Warns:
    ///     `ByteTokenWarning`: a `ByteLevel` decoder reads a token as other bytes, since it has the id of the model's token for them.
    fn add_tokens(&self, tokens: &Bound<'_, PyList>) -> PyResult<usize> {
        self.add_noted(&added_token::tokens(tokens, false, "Input")?, tokens.py())
    }

    /// Adds tokens that decoding may skip; returns how many were new or changed. Sets `special` of each given `AddedToken` to True.
    ///
    /// Args:
    ///     `tokens`: `str` or `AddedToken`.
    ///
    /// Warns:
    ///     `ByteTokenWarning`: a `ByteLevel` decoder reads a token as other bytes, since it has the id of the model's token for them.
    fn add_special_tokens(&self, tokens: &Bound<'_, PyList>) -> PyResult<usize> {
        self.add_noted(&added_token::tokens(tokens, true, "Input")?, tokens.py())
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
    ///
    /// Args:
    ///     `with_added_tokens`: includes the tokens that were added to the model's tokens.
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
            for (id, token) in added.sorted() {
                vocab.set_item(&token.content, id)?;
            }
        }
        Ok(vocab)
    }

    /// Number of tokens.
    ///
    /// Args:
    ///     `with_added_tokens`: includes the tokens that were added to the model's tokens.
    #[pyo3(signature = (with_added_tokens=true))]
    fn get_vocab_size(&self, with_added_tokens: bool) -> usize {
        let state = self.shared.state();
        state.model.get().vocab().len() + if with_added_tokens { state.added.new_tokens() } else { 0 }
    }

    /// The id of a token.
    ///
    /// None if there is no such token.
    fn token_to_id(&self, py: Python<'_>, token: &str) -> PyResult<Option<u32>> {
        Ok(self.core(py)?.token_to_id(token))
    }

    /// The token with an id.
    ///
    /// None if there is no such id.
    fn id_to_token(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let id = arguments::id(id)?;
        Ok(self.core(py)?.id_to_token(id).map(str::to_owned))
    }

    /// How many special tokens a text or a pair gets.
    fn num_special_tokens_to_add(&self, py: Python<'_>, is_pair: bool) -> PyResult<usize> {
        Ok(self.core(py)?.added_tokens(is_pair))
    }

    /// Truncates, post-processes and pads an encoding or a pair.
    ///
    /// Args:
    ///     `encoding`: the first sequence, as the model left it.
    ///     `pair`: the second sequence, if there is one.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
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
    /// Adds tokens, and warns of each that decodes to other text.
    fn add_noted(&self, tokens: &[AddedToken], py: Python<'_>) -> PyResult<usize> {
        let added = self.add(tokens);
        let mut contents = tokens.iter().map(|token| &*token.content);
        if added == 0 || !contents.any(byte_level::is_ambiguous) {
            return Ok(added);
        }
        let core = self.core(py)?;
        for token in tokens {
            let Some((id, text)) = core.other_bytes(&token.content).or_raise(py)? else { continue };
            let content = PyString::new(py, &token.content).repr()?;
            let text = PyString::new(py, &text).repr()?;
            let message = format!(
                "the added token {content} has id {id}, that of the model's token for the bytes of {text}, so it decodes to {text}; \
                 add a token with a character outside the byte-level alphabet, such as a space, or train without {content}"
            );
            let category = py.import("lexmill.errors")?.getattr("ByteTokenWarning")?;
            let message = CString::new(message.replace('\0', "\\x00"))?;
            PyErr::warn(py, &category, &message, 1)?;
        }
        Ok(added)
    }

    pub(super) fn add(&self, tokens: &[AddedToken]) -> usize {
        let is_known =
            |added: &AddedTokens| tokens.iter().all(|token| token.content.is_empty() || added.has(token));
        if is_known(&self.shared.state().added) {
            return 0;
        }
        self.shared.change(Concerns::Rest, |state| {
            let vocab = state.number();
            Arc::make_mut(&mut state.added).add(tokens, &vocab)
        })
    }
}
