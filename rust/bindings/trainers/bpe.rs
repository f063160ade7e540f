//! `lexmill.trainers.BpeTrainer`, and training on counted words.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};

use super::options::trainer_options;
use super::{PyTrainer, members};
use crate::bindings::arguments::{note_unknown, threads};
use crate::bindings::progress::Reporter;
use crate::bindings::properties::{Given, Property, Shown, first_chars, name_of, named, unsigned};
use crate::trainers::Trainer;
use crate::trainers::bpe::{BpeTrainer, TieBreak, TrainedBpe};
use crate::trainers::word_counts::WordCounts;

/// Learns byte-pair merges: the most frequent pair of neighbours first.
#[pyclass(name = "BpeTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(in crate::bindings) struct PyBpeTrainer;

pub(in crate::bindings) const TIE_BREAKS: [(&str, TieBreak); 2] =
    [("smallest-ids", TieBreak::SmallestIds), ("first-seen", TieBreak::FirstSeen)];

/// The options that this kind of trainer alone has.
pub(super) fn to_json(trainer: &BpeTrainer) -> Map<String, Value> {
    members(json!({
        "vocab_size": trainer.vocab_size,
        "min_frequency": trainer.min_frequency,
        "limit_alphabet": trainer.limit_alphabet,
        "initial_alphabet": trainer.initial_alphabet,
        "continuing_subword_prefix": trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
        "max_token_length": trainer.max_token_length,
        "tie_break": name_of(&TIE_BREAKS, trainer.tie_break),
    }))
}

/// The trainer of a pickled state, still without special tokens.
pub(super) fn from_json(value: &Value) -> Option<BpeTrainer> {
    let string = |key: &str| value[key].as_str().map(str::to_owned);
    let alphabet = value["initial_alphabet"].as_array()?;
    Some(BpeTrainer {
        vocab_size: value["vocab_size"].as_u64()? as usize,
        min_frequency: value["min_frequency"].as_u64()?,
        special_tokens: Vec::new(),
        limit_alphabet: value["limit_alphabet"].as_u64().map(|limit| limit as usize),
        initial_alphabet: alphabet.iter().filter_map(|c| c.as_str()?.chars().next()).collect(),
        continuing_subword_prefix: string("continuing_subword_prefix"),
        end_of_word_suffix: string("end_of_word_suffix"),
        max_token_length: value["max_token_length"].as_u64().map(|length| length as usize),
        tie_break: TIE_BREAKS.iter().find(|(name, _)| value["tie_break"] == **name)?.1,
        threads: 1,
    })
}

trainer_options! {
    PyBpeTrainer of Bpe(BpeTrainer):
    vocab_size set_vocab_size: usize;
    min_frequency set_min_frequency: u64;
    limit_alphabet set_limit_alphabet: Option<usize>;
    initial_alphabet set_initial_alphabet: Vec<char>;
    continuing_subword_prefix set_continuing_subword_prefix: Option<String>;
    end_of_word_suffix set_end_of_word_suffix: Option<String>;
    max_token_length set_max_token_length: Option<usize>;
    tie_break set_tie_break: TieBreak;
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
        let trainer = BpeTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            special_tokens: Vec::new(),
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
        let base = PyTrainer::of(py, Trainer::Bpe(trainer), special_tokens, show_progress, progress_format)?;
        Ok(base.add_subclass(Self))
    }

    /// Distinct words of the corpus of the last training; 0 before the first.
    fn get_word_count(this: PyRef<'_, Self>) -> usize {
        this.as_super().words()
    }
}

/// Vocabulary by id, and merges as pairs of tokens.
pub(super) type Trained = (Vec<String>, Vec<(String, String)>);

/// Trains byte-pair merges on counted words; further arguments are those of `BpeTrainer`.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (words, *, num_threads=None, **options))]
pub(in crate::bindings) fn train_bpe_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    num_threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = py.get_type::<PyBpeTrainer>().call((), options)?;
    let trainer = self::options(&trainer.cast::<PyBpeTrainer>()?.borrow());
    let trainer = BpeTrainer { threads: threads(num_threads), ..trainer };
    let counts: WordCounts = words.into_iter().collect();
    let mut reporter = Reporter::silent();
    let trained = py.detach(|| trainer.train(counts, &mut |progress| reporter.report(progress)));
    reporter.or_raise(py, trained).map(trained_texts)
}

/// What was learnt, in texts.
pub(super) fn trained_texts(trained: TrainedBpe) -> Trained {
    let token = |id: u32| trained.vocab[id as usize].clone();
    let merges = trained.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
    (trained.vocab, merges)
}
