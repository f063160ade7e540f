//! `lexmill.trainers`.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde_json::{Value, json};

use super::added_token::{PyAddedToken, tokens};
use super::arguments::{note_unknown, threads};
use super::errors::exception;
use super::progress::Reporter;
use crate::added_tokens::AddedToken;
use crate::formats::tokenizer_json::{added_token_json, read_added_token_json};
use crate::trainers::bpe::{BpeTrainer, TieBreak};
use crate::trainers::word_counts::WordCounts;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressFormat {
    /// A line on a terminal's standard error.
    Terminal,
    /// Lines of JSON on standard error.
    Json,
    /// Nothing.
    Silent,
}

/// Options of a trainer with what only the tokenizer around it needs.
#[derive(Clone, Debug)]
pub(super) struct Training {
    pub(super) trainer: BpeTrainer,
    pub(super) special_tokens: Vec<AddedToken>,
    pub(super) show_progress: bool,
    pub(super) progress_format: ProgressFormat,
}

/// Base class of all trainers.
#[pyclass(name = "Trainer", module = "lexmill.trainers", subclass, frozen, weakref)]
pub(super) struct PyTrainer {
    training: Arc<RwLock<Training>>,
}

impl PyTrainer {
    /// The options as they are now.
    pub(super) fn get(&self) -> Training {
        self.training.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn update(&self, change: impl FnOnce(&mut Training)) {
        change(&mut self.training.write().unwrap_or_else(PoisonError::into_inner));
    }
}

#[pymethods]
impl PyTrainer {
    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, to_json(&self.get()).to_string().as_bytes())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let training = serde_json::from_slice(state).ok().and_then(|value| from_json(&value));
        let invalid = || exception(py, "FormatError", "the pickled trainer cannot be read".to_owned());
        let training = training.ok_or_else(invalid)?;
        self.update(|current| *current = training);
        Ok(())
    }
}

/// Learns byte-pair merges: the most frequent pair of neighbours first.
#[pyclass(name = "BpeTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(super) struct PyBpeTrainer;

const TIE_BREAKS: [(&str, TieBreak); 2] =
    [("smallest-ids", TieBreak::SmallestIds), ("first-seen", TieBreak::FirstSeen)];

const FORMATS: [(&str, ProgressFormat); 3] = [
    ("indicatif", ProgressFormat::Terminal),
    ("json", ProgressFormat::Json),
    ("silent", ProgressFormat::Silent),
];

/// The value of an option that goes by name.
fn named<T: Copy + PartialEq, const N: usize>(
    py: Python<'_>,
    option: &str,
    names: &[(&str, T); N],
    given: &str,
) -> PyResult<T> {
    names.iter().find(|(name, _)| *name == given).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|&(name, _)| name).collect();
        exception(py, "OptionError", format!("{option} is {given} but must be {}", known.join(" or ")))
    })
}

fn name_of<T: Copy + PartialEq, const N: usize>(names: &[(&'static str, T); N], value: T) -> &'static str {
    names.iter().find(|&&(_, known)| known == value).map_or("", |&(name, _)| name)
}

/// A number that must not be negative.
fn unsigned<T: TryFrom<i64>>(py: Python<'_>, option: &str, given: i64) -> PyResult<T> {
    let message = || format!("{option} is {given} but must be at least 0");
    let invalid = |_| exception(py, "OptionRangeError", message());
    T::try_from(given).map_err(invalid)
}

fn first_chars(alphabet: &[String]) -> Vec<char> {
    alphabet.iter().filter_map(|text| text.chars().next()).collect()
}

fn to_json(training: &Training) -> Value {
    let trainer = &training.trainer;
    json!({
        "vocab_size": trainer.vocab_size,
        "min_frequency": trainer.min_frequency,
        "show_progress": training.show_progress,
        "progress_format": name_of(&FORMATS, training.progress_format),
        "special_tokens": training.special_tokens.iter().map(added_token_json).collect::<Vec<_>>(),
        "limit_alphabet": trainer.limit_alphabet,
        "initial_alphabet": trainer.initial_alphabet,
        "continuing_subword_prefix": trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
        "max_token_length": trainer.max_token_length,
        "tie_break": name_of(&TIE_BREAKS, trainer.tie_break),
    })
}

fn from_json(value: &Value) -> Option<Training> {
    let string = |key: &str| value[key].as_str().map(str::to_owned);
    let special_tokens = value["special_tokens"].as_array()?;
    let special_tokens: Option<Vec<AddedToken>> = special_tokens.iter().map(read_added_token_json).collect();
    let special_tokens = special_tokens?;
    let alphabet = value["initial_alphabet"].as_array()?;
    Some(Training {
        trainer: BpeTrainer {
            vocab_size: value["vocab_size"].as_u64()? as usize,
            min_frequency: value["min_frequency"].as_u64()?,
            special_tokens: special_tokens.iter().map(|token| token.content.clone()).collect(),
            limit_alphabet: value["limit_alphabet"].as_u64().map(|limit| limit as usize),
            initial_alphabet: alphabet.iter().filter_map(|c| c.as_str()?.chars().next()).collect(),
            continuing_subword_prefix: string("continuing_subword_prefix"),
            end_of_word_suffix: string("end_of_word_suffix"),
            max_token_length: value["max_token_length"].as_u64().map(|length| length as usize),
            tie_break: TIE_BREAKS.iter().find(|(name, _)| value["tie_break"] == **name)?.1,
            threads: 1,
        },
        special_tokens,
        show_progress: value["show_progress"].as_bool()?,
        progress_format: FORMATS.iter().find(|(name, _)| value["progress_format"] == **name)?.1,
    })
}

impl PyBpeTrainer {
    /// A trainer with default options.
    pub(super) fn default_object(py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(py.get_type::<Self>().call0()?.unbind())
    }
}

#[pymethods]
impl PyBpeTrainer {
    #[new]
    #[pyo3(signature = (
        *, vocab_size=30000, min_frequency=0, show_progress=true, progress_format="indicatif",
        special_tokens=None, limit_alphabet=None, initial_alphabet=None, continuing_subword_prefix=None,
        end_of_word_suffix=None, max_token_length=None, tie_break="smallest-ids", **kwargs
    ))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        vocab_size: i64,
        min_frequency: i64,
        show_progress: bool,
        progress_format: &str,
        special_tokens: Option<&Bound<'_, PyList>>,
        limit_alphabet: Option<i64>,
        initial_alphabet: Option<Vec<String>>,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
        max_token_length: Option<i64>,
        tie_break: &str,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let special_tokens = special_tokens.map_or_else(|| Ok(Vec::new()), |list| special(list))?;
        let trainer = BpeTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            special_tokens: special_tokens.iter().map(|token| token.content.clone()).collect(),
            limit_alphabet: limit_alphabet.map(|limit| unsigned(py, "limit_alphabet", limit)).transpose()?,
            initial_alphabet: first_chars(&initial_alphabet.unwrap_or_default()),
            continuing_subword_prefix,
            end_of_word_suffix,
            max_token_length: max_token_length
                .map(|length| unsigned(py, "max_token_length", length))
                .transpose()?,
            tie_break: named(py, "tie_break", &TIE_BREAKS, tie_break)?,
            threads: 1,
        };
        let progress_format = named(py, "progress_format", &FORMATS, progress_format)?;
        let training = Training { trainer, special_tokens, show_progress, progress_format };
        Ok(PyClassInitializer::from(PyTrainer { training: Arc::new(RwLock::new(training)) })
            .add_subclass(Self))
    }

    #[getter]
    fn get_vocab_size(this: PyRef<'_, Self>) -> usize {
        this.as_super().get().trainer.vocab_size
    }

    #[setter]
    fn set_vocab_size(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let value = unsigned(this.py(), "vocab_size", value)?;
        this.as_super().update(|training| training.trainer.vocab_size = value);
        Ok(())
    }

    #[getter]
    fn get_min_frequency(this: PyRef<'_, Self>) -> u64 {
        this.as_super().get().trainer.min_frequency
    }

    #[setter]
    fn set_min_frequency(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let value = unsigned(this.py(), "min_frequency", value)?;
        this.as_super().update(|training| training.trainer.min_frequency = value);
        Ok(())
    }

    #[getter]
    fn get_show_progress(this: PyRef<'_, Self>) -> bool {
        this.as_super().get().show_progress
    }

    #[setter]
    fn set_show_progress(this: PyRef<'_, Self>, value: bool) {
        this.as_super().update(|training| training.show_progress = value);
    }

    #[getter]
    fn get_progress_format(this: PyRef<'_, Self>) -> &'static str {
        name_of(&FORMATS, this.as_super().get().progress_format)
    }

    #[setter]
    fn set_progress_format(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let value = named(this.py(), "progress_format", &FORMATS, value)?;
        this.as_super().update(|training| training.progress_format = value);
        Ok(())
    }

    #[getter]
    fn get_special_tokens(this: PyRef<'_, Self>) -> Vec<PyAddedToken> {
        this.as_super().get().special_tokens.into_iter().map(PyAddedToken::of).collect()
    }

    #[setter]
    fn set_special_tokens(this: PyRef<'_, Self>, value: &Bound<'_, PyList>) -> PyResult<()> {
        let tokens = special(value)?;
        this.as_super().update(|training| {
            training.trainer.special_tokens = tokens.iter().map(|token| token.content.clone()).collect();
            training.special_tokens = tokens;
        });
        Ok(())
    }

    #[getter]
    fn get_limit_alphabet(this: PyRef<'_, Self>) -> Option<usize> {
        this.as_super().get().trainer.limit_alphabet
    }

    #[setter]
    fn set_limit_alphabet(this: PyRef<'_, Self>, value: Option<i64>) -> PyResult<()> {
        let value = value.map(|value| unsigned(this.py(), "limit_alphabet", value)).transpose()?;
        this.as_super().update(|training| training.trainer.limit_alphabet = value);
        Ok(())
    }

    #[getter]
    fn get_initial_alphabet(this: PyRef<'_, Self>) -> Vec<char> {
        this.as_super().get().trainer.initial_alphabet
    }

    #[setter]
    fn set_initial_alphabet(this: PyRef<'_, Self>, value: Vec<String>) {
        this.as_super().update(|training| training.trainer.initial_alphabet = first_chars(&value));
    }

    #[getter]
    fn get_continuing_subword_prefix(this: PyRef<'_, Self>) -> Option<String> {
        this.as_super().get().trainer.continuing_subword_prefix
    }

    #[setter]
    fn set_continuing_subword_prefix(this: PyRef<'_, Self>, value: Option<String>) {
        this.as_super().update(|training| training.trainer.continuing_subword_prefix = value);
    }

    #[getter]
    fn get_end_of_word_suffix(this: PyRef<'_, Self>) -> Option<String> {
        this.as_super().get().trainer.end_of_word_suffix
    }

    #[setter]
    fn set_end_of_word_suffix(this: PyRef<'_, Self>, value: Option<String>) {
        this.as_super().update(|training| training.trainer.end_of_word_suffix = value);
    }

    #[getter]
    fn get_max_token_length(this: PyRef<'_, Self>) -> Option<usize> {
        this.as_super().get().trainer.max_token_length
    }

    #[setter]
    fn set_max_token_length(this: PyRef<'_, Self>, value: Option<i64>) -> PyResult<()> {
        let value = value.map(|value| unsigned(this.py(), "max_token_length", value)).transpose()?;
        this.as_super().update(|training| training.trainer.max_token_length = value);
        Ok(())
    }

    #[getter]
    fn get_tie_break(this: PyRef<'_, Self>) -> &'static str {
        name_of(&TIE_BREAKS, this.as_super().get().trainer.tie_break)
    }

    #[setter]
    fn set_tie_break(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let value = named(this.py(), "tie_break", &TIE_BREAKS, value)?;
        this.as_super().update(|training| training.trainer.tie_break = value);
        Ok(())
    }

    fn __repr__(this: PyRef<'_, Self>) -> String {
        let Value::Object(options) = to_json(&this.as_super().get()) else { return String::new() };
        let shown = options.iter().map(|(name, value)| format!("{name}={}", super::components::shown(value)));
        format!("BpeTrainer({})", shown.collect::<Vec<_>>().join(", "))
    }
}

fn special(list: &Bound<'_, PyList>) -> PyResult<Vec<AddedToken>> {
    tokens(list, true)
        .map_err(|_| PyTypeError::new_err("Special tokens must be a List[Union[str, AddedToken]]"))
}

/// Vocabulary by id, and merges as pairs of tokens.
type Trained = (Vec<String>, Vec<(String, String)>);

/// Trains byte-pair merges on counted words; further arguments are those of `BpeTrainer`.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (words, *, num_threads=None, **options))]
pub(super) fn train_bpe_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    num_threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = py.get_type::<PyBpeTrainer>().call((), options)?;
    let training = trainer.cast::<PyTrainer>()?.get().get();
    let trainer = BpeTrainer { threads: threads(num_threads), ..training.trainer };
    let mut counts = WordCounts::new();
    for (word, count) in &words {
        counts.push(word, *count);
    }
    let mut reporter = Reporter::silent();
    let trained = py.detach(|| trainer.train(counts, &mut |progress| reporter.report(progress)));
    let trained = reporter.or_raise(py, trained)?;
    let token = |id: u32| trained.vocab[id as usize].clone();
    let merges = trained.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
    Ok((trained.vocab, merges))
}
