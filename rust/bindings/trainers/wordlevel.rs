//! `lexmill.trainers.WordLevelTrainer`, and training on counted words.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};

use super::options::trainer_options;
use super::{PyTrainer, members};
use crate::bindings::arguments::{Keyword, note_unknown};
use crate::bindings::errors::OrRaise;
use crate::bindings::properties::{Given, Property, Shown, unsigned};
use crate::trainers::Trainer;
use crate::trainers::word_counts::WordCounts;
use crate::trainers::wordlevel::WordLevelTrainer;

/// Learns which words are tokens: the most frequent ones.
///
/// `vocab_size` and `min_frequency` are attributes too, which can be set.
///
/// Args:
///     `vocab_size`: tokens of the vocabulary, with special tokens.
///     `min_frequency`: a less frequent word is no token.
///     `show_progress`: draws progress on standard error, unless `train` gets `on_progress`.
///     `progress_format`: how it is drawn: `indicatif`, `json` lines or `silent`.
///     `special_tokens`: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
#[pyclass(name = "WordLevelTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(in crate::bindings) struct PyWordLevelTrainer;

/// The options that this kind of trainer alone has.
pub(super) fn to_json(trainer: &WordLevelTrainer) -> Map<String, Value> {
    members(json!({"vocab_size": trainer.vocab_size, "min_frequency": trainer.min_frequency}))
}

/// The trainer of a pickled state, still without special tokens.
pub(super) fn from_json(value: &Value) -> Option<WordLevelTrainer> {
    Some(WordLevelTrainer {
        vocab_size: value["vocab_size"].as_u64()? as usize,
        min_frequency: value["min_frequency"].as_u64()?,
        special_tokens: Vec::new(),
    })
}

trainer_options! {
    PyWordLevelTrainer of WordLevel(WordLevelTrainer):
    vocab_size set_vocab_size: usize;
    min_frequency set_min_frequency: u64;
}

#[pymethods]
impl PyWordLevelTrainer {
    #[new]
    #[pyo3(signature = (
        *, vocab_size=30000, min_frequency=0, show_progress=true, progress_format="indicatif",
        special_tokens=Keyword::ABSENT, **kwargs
    ), text_signature = "(*, vocab_size=30000, min_frequency=0, show_progress=True, progress_format='indicatif', \
        special_tokens=[], **kwargs)")]
    fn new(
        py: Python<'_>,
        vocab_size: i64,
        min_frequency: i64,
        show_progress: bool,
        progress_format: &str,
        special_tokens: Keyword<Bound<'_, PyList>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let trainer = Trainer::WordLevel(WordLevelTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            special_tokens: Vec::new(),
        });
        let base = PyTrainer::of(trainer, special_tokens.0.as_ref(), show_progress, progress_format)?;
        Ok(base.add_subclass(Self))
    }
}

/// Trains word-level models on counted words; further arguments go to `WordLevelTrainer`.
#[pyfunction]
#[pyo3(signature = (words, **options))]
pub(in crate::bindings) fn train_wordlevel_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    let trainer = options_of(py, options)?;
    let counts: WordCounts = words.into_iter().collect();
    py.detach(|| trainer.train(&counts)).or_raise(py)
}
