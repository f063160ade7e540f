//! `lexmill.trainers`.

mod bpe;
mod options;
mod parity;
mod shown;
mod superwords;
mod unigram;
mod wordlevel;
mod wordpiece;

use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::{Map, Value, json};

pub(super) use bpe::{PyBpeTrainer, extend_bpe_words, train_bpe_words};
pub(super) use parity::{ParityTraining, PyParityBpeTrainer, train_parity_bpe_words};
pub(super) use superwords::PySuperwordOptions;
pub(super) use unigram::{PyUnigramTrainer, train_unigram_words};
pub(super) use wordlevel::{PyWordLevelTrainer, train_wordlevel_words};
pub(super) use wordpiece::{PyWordPieceTrainer, train_wordpiece_words};

use super::added_token::{PyAddedToken, tokens};
use super::errors::exception;
use super::progress::{ProgressFormat, Reporter};
use super::properties::name_of;
use super::shown::Extent;
use crate::Result;
use crate::added_tokens::AddedToken;
use crate::formats::tokenizer_json::{added_token_json, read_added_token_json};
use crate::models::Model;
use crate::structures::parallel::OnProgress;
use crate::trainers::Trainer;
use crate::trainers::word_counts::WordCounts;

/// A trainer, with the options that only the tokenizer around it needs.
#[derive(Clone, Debug)]
pub(super) struct Training {
    pub(super) trainer: Trainer,
    pub(super) special_tokens: Vec<AddedToken>,
    pub(super) show_progress: bool,
    pub(super) progress_format: ProgressFormat,
    /// Distinct words of the last training; all copies share the number.
    pub(super) words: Arc<AtomicUsize>,
}

impl Training {
    /// Reports progress to `on_progress`, else as the trainer's options say.
    pub(super) fn reporter(&self, py: Python<'_>, on_progress: Option<Py<PyAny>>) -> PyResult<Reporter> {
        match on_progress {
            Some(callback) => Ok(Reporter::to(callback)),
            None if self.show_progress => Reporter::shown(py, self.progress_format),
            None => Ok(Reporter::silent()),
        }
    }
}

/// Base class of all trainers.
#[pyclass(name = "Trainer", module = "lexmill.trainers", subclass, frozen, weakref)]
pub(super) struct PyTrainer {
    training: Arc<RwLock<Training>>,
}

impl PyTrainer {
    /// A trainer with the options that all kinds have.
    fn of(
        mut trainer: Trainer,
        special_tokens: Option<&Bound<'_, PyList>>,
        show_progress: bool,
        progress_format: &str,
    ) -> PyResult<PyClassInitializer<Self>> {
        let special = |list| tokens(list, true, "special_tokens");
        let special_tokens = special_tokens.map_or_else(|| Ok(Vec::new()), special)?;
        trainer.set_special_tokens(contents(&special_tokens));
        let progress_format = ProgressFormat::named(progress_format);
        let words = Arc::default();
        let training = Training { trainer, special_tokens, show_progress, progress_format, words };
        Ok(PyClassInitializer::from(Self { training: Arc::new(RwLock::new(training)) }))
    }

    /// The options as they are now.
    pub(super) fn get(&self) -> Training {
        self.training.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Distinct words of the last training.
    fn words(&self) -> usize {
        self.get().words.load(Ordering::Relaxed)
    }

    fn update(&self, change: impl FnOnce(&mut Training)) {
        change(&mut self.training.write().unwrap_or_else(PoisonError::into_inner));
    }
}

#[pymethods]
impl PyTrainer {
    #[getter]
    fn get_show_progress(&self) -> bool {
        self.get().show_progress
    }

    #[setter]
    fn set_show_progress(&self, value: bool) {
        self.update(|training| training.show_progress = value);
    }

    #[getter]
    fn get_progress_format(&self) -> &'static str {
        name_of(&ProgressFormat::NAMES, self.get().progress_format)
    }

    #[setter]
    fn set_progress_format(&self, value: &str) {
        self.update(|training| training.progress_format = ProgressFormat::named(value));
    }

    #[getter]
    fn get_special_tokens(&self) -> Vec<PyAddedToken> {
        self.get().special_tokens.into_iter().map(PyAddedToken::of).collect()
    }

    #[setter]
    fn set_special_tokens(&self, value: &Bound<'_, PyList>) -> PyResult<()> {
        let tokens = tokens(value, true, "Special tokens")?;
        self.update(|training| {
            training.trainer.set_special_tokens(contents(&tokens));
            training.special_tokens = tokens;
        });
        Ok(())
    }

    fn __repr__(&self) -> String {
        shown::shown(&self.get(), Extent::Long)
    }

    fn __str__(&self) -> String {
        shown::shown(&self.get(), Extent::Short)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let (name, mut state) = to_json(&self.get());
        state.insert("type".to_owned(), json!(name));
        PyBytes::new(py, Value::Object(state).to_string().as_bytes())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let invalid = |reason: &dyn Display| {
            let message = format!("Error while attempting to unpickle PyTrainer: {reason}");
            exception(py, "FormatError", message)
        };
        let value: Value = serde_json::from_slice(state).map_err(|error| invalid(&error))?;
        let training = from_json(&value).ok_or_else(|| invalid(&"the state is not that of a trainer"))?;
        let (own, given) = (to_json(&self.get()).0, to_json(&training).0);
        if own != given {
            return Err(exception(py, "FormatError", format!("the state is that of {given}, not of {own}")));
        }
        self.update(|current| *current = training);
        Ok(())
    }
}

/// The class of a trainer and its options by name, in the order of the constructor.
fn to_json(training: &Training) -> (&'static str, Map<String, Value>) {
    let (name, options) = match &training.trainer {
        Trainer::Bpe(trainer) => ("BpeTrainer", bpe::to_json(trainer)),
        Trainer::Unigram(trainer) => ("UnigramTrainer", unigram::to_json(trainer)),
        Trainer::WordPiece(trainer) => ("WordPieceTrainer", wordpiece::to_json(trainer)),
        Trainer::WordLevel(trainer) => ("WordLevelTrainer", wordlevel::to_json(trainer)),
    };
    let mut all = Map::new();
    all.insert("show_progress".to_owned(), json!(training.show_progress));
    all.insert(
        "progress_format".to_owned(),
        json!(name_of(&ProgressFormat::NAMES, training.progress_format)),
    );
    let special_tokens = training.special_tokens.iter().map(added_token_json).collect();
    all.insert("special_tokens".to_owned(), Value::Array(special_tokens));
    all.extend(options);
    (name, all)
}

fn from_json(value: &Value) -> Option<Training> {
    let special_tokens = value["special_tokens"].as_array()?;
    let special_tokens: Option<Vec<AddedToken>> = special_tokens.iter().map(read_added_token_json).collect();
    let special_tokens = special_tokens?;
    let mut trainer = match value["type"].as_str()? {
        "BpeTrainer" => Trainer::Bpe(bpe::from_json(value)?),
        "UnigramTrainer" => Trainer::Unigram(unigram::from_json(value)?),
        "WordPieceTrainer" => Trainer::WordPiece(wordpiece::from_json(value)?),
        "WordLevelTrainer" => Trainer::WordLevel(wordlevel::from_json(value)?),
        _ => return None,
    };
    trainer.set_special_tokens(contents(&special_tokens));
    Some(Training {
        trainer,
        special_tokens,
        show_progress: value["show_progress"].as_bool()?,
        progress_format: ProgressFormat::NAMES.iter().find(|(name, _)| value["progress_format"] == **name)?.1,
        words: Arc::default(),
    })
}

/// Trains on counted words in the given order; Ctrl-C stops it.
fn trained<T: Send>(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    train: impl FnOnce(WordCounts, &mut OnProgress<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let words: WordCounts = words.into_iter().collect();
    let mut reporter = Reporter::silent();
    let trained = py.detach(|| train(words, &mut |progress| reporter.report(progress)));
    reporter.or_raise(py, trained)
}

/// The members of an object.
fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The items of a pickled list.
fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn contents(tokens: &[AddedToken]) -> Vec<String> {
    tokens.iter().map(|token| token.content.clone()).collect()
}

/// A trainer with default options for a kind of model.
pub(super) fn default_trainer(py: Python<'_>, model: &Model) -> PyResult<Py<PyAny>> {
    let class = match model {
        Model::Bpe(_) => py.get_type::<PyBpeTrainer>(),
        Model::Unigram(_) => py.get_type::<PyUnigramTrainer>(),
        Model::WordPiece(_) => py.get_type::<PyWordPieceTrainer>(),
        Model::WordLevel(_) => py.get_type::<PyWordLevelTrainer>(),
    };
    Ok(class.call0()?.unbind())
}
