//! `lexmill.trainers.BpeTrainer`, and training on counted words.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};

use super::options::trainer_options;
use super::superwords::{PySuperwordOptions, superwords_from_json, superwords_json};
use super::{PyTrainer, members, texts, trained};
use crate::bindings::arguments::{Keyword, note_unknown};
use crate::bindings::errors::OrRaise;
use crate::bindings::properties::{
    Given, Property, Shown, choice, first_chars, name_of, named, read_forbidden, unsigned,
};
use crate::bindings::regex::PatternList;
use crate::bindings::threads::threads;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::trainers::Trainer;
use crate::trainers::bpe::{BpeTrainer, TieBreak, TrainedBpe};
use crate::trainers::forbidden::Forbidden;
use crate::vocab::Vocab;

/// Learns byte-pair merges: the most frequent pair of neighbours first.
///
/// All options are attributes too, which can be set.
///
/// Args:
///     `vocab_size`: tokens of the vocabulary, with special tokens and the alphabet.
///     `min_frequency`: a pair that is less frequent is never merged.
///     `show_progress`: draws progress on standard error, unless `train` gets `on_progress`.
///     `progress_format`: how it is drawn: `indicatif`, `json` lines or `silent`.
///     `special_tokens`: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
///     `limit_alphabet`: the largest size of the alphabet; the rarest characters are dropped. By default there is no limit.
///     `initial_alphabet`: characters that are in the alphabet even if no word has them; of longer texts the first
///         character.
///     `continuing_subword_prefix`: the prefix of every character of a word but the first.
///     `end_of_word_suffix`: the suffix of the last character of a word.
///     `max_token_length`: tokens that are merged have fewer characters than this; two single characters may always be
///         merged.
///     `tie_break`: which of equally frequent pairs is merged first: `smallest-ids`, or `first-seen` in the corpus.
///     `superwords`: a second phase, which learns tokens of several words; see `SuperwordOptions`.
///     `auto_character_coverage`: characters share the vocabulary with the merges instead of having places of their own. The trained
///         model has the 256 byte pieces and `byte_fallback`.
///     `forbid`: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match anywhere: `"  "` for two
///         spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token, without affixes; at the byte level with its bytes. Initial
///         symbols are exempt.
///     `initial_tokens`: tokens that the vocabulary must have, as it spells them. The merges that make them come first, in this order. Neither
///         `forbid` nor `max_token_length` concerns them.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
///     `RegexError`: a pattern of `forbid` does not compile.
///     `OptionError`: another name for `tie_break` or `progress_format`.
#[pyclass(name = "BpeTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(in crate::bindings) struct PyBpeTrainer;

pub(super) const TIE_BREAKS: [(&str, TieBreak); 2] =
    [("smallest-ids", TieBreak::SmallestIds), ("first-seen", TieBreak::FirstSeen)];

choice!(TieBreak: TIE_BREAKS);

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
        "superwords": trainer.superwords.as_ref().map(superwords_json),
        "auto_character_coverage": trainer.auto_character_coverage,
        "initial_tokens": trainer.initial_tokens,
        "forbid": trainer.forbid.sources().collect::<Vec<_>>(),
    }))
}

/// The trainer of a pickled state, still without special tokens.
pub(super) fn from_json(value: &Value) -> Option<BpeTrainer> {
    let string = |key: &str| value[key].as_str().map(str::to_owned);
    let alphabet = value["initial_alphabet"].as_array()?;
    Some(BpeTrainer {
        vocab_size: value["vocab_size"].as_u64()? as usize,
        min_frequency: value["min_frequency"].as_u64()?,
        limit_alphabet: value["limit_alphabet"].as_u64().map(|limit| limit as usize),
        initial_alphabet: alphabet.iter().filter_map(|c| c.as_str()?.chars().next()).collect(),
        continuing_subword_prefix: string("continuing_subword_prefix"),
        end_of_word_suffix: string("end_of_word_suffix"),
        max_token_length: value["max_token_length"].as_u64().map(|length| length as usize),
        superwords: match &value["superwords"] {
            Value::Null => None,
            options => Some(superwords_from_json(options)?),
        },
        tie_break: TIE_BREAKS.iter().find(|(name, _)| value["tie_break"] == **name)?.1,
        auto_character_coverage: value["auto_character_coverage"].as_bool()?,
        initial_tokens: texts(&value["initial_tokens"])?,
        forbid: read_forbidden(&value["forbid"])?,
        ..BpeTrainer::default()
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
    auto_character_coverage set_auto_character_coverage: bool;
    initial_tokens set_initial_tokens: Vec<String>;
    forbid set_forbid: Forbidden;
}

#[pymethods]
impl PyBpeTrainer {
    #[new]
    #[pyo3(signature = (
        *, vocab_size=30000, min_frequency=0, show_progress=true, progress_format="indicatif",
        special_tokens=Keyword::ABSENT, limit_alphabet=Keyword::ABSENT, initial_alphabet=Keyword::ABSENT, continuing_subword_prefix=Keyword::ABSENT,
        end_of_word_suffix=Keyword::ABSENT, max_token_length=None, tie_break="smallest-ids", superwords=None,
        auto_character_coverage=false, forbid=PatternList::default(), initial_tokens=Vec::new(), **kwargs
    ), text_signature = "(*, vocab_size=30000, min_frequency=0, show_progress=True, progress_format='indicatif', \
        special_tokens=[], limit_alphabet=None, initial_alphabet=[], continuing_subword_prefix=None, \
        end_of_word_suffix=None, max_token_length=None, tie_break='smallest-ids', superwords=None, \
        auto_character_coverage=False, forbid=[], initial_tokens=[], **kwargs)")]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        vocab_size: i64,
        min_frequency: i64,
        show_progress: bool,
        progress_format: &str,
        special_tokens: Keyword<Bound<'_, PyList>>,
        limit_alphabet: Keyword<i64>,
        initial_alphabet: Keyword<Vec<String>>,
        continuing_subword_prefix: Keyword<String>,
        end_of_word_suffix: Keyword<String>,
        max_token_length: Option<i64>,
        tie_break: &str,
        superwords: Option<Bound<'_, PySuperwordOptions>>,
        auto_character_coverage: bool,
        forbid: PatternList,
        initial_tokens: Vec<String>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let trainer = Trainer::Bpe(BpeTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            limit_alphabet: Option::<usize>::given(py, "limit_alphabet", limit_alphabet.0)?,
            initial_alphabet: first_chars(&initial_alphabet.0.unwrap_or_default()),
            continuing_subword_prefix: continuing_subword_prefix.0,
            end_of_word_suffix: end_of_word_suffix.0,
            max_token_length: Option::<usize>::given(py, "max_token_length", max_token_length)?,
            superwords: superwords.map(|options| options.get().0.clone()),
            tie_break: named(py, "tie_break", &TIE_BREAKS, tie_break)?,
            auto_character_coverage,
            initial_tokens,
            forbid: forbid.to_core(py)?,
            ..BpeTrainer::default()
        });
        let base = PyTrainer::of(trainer, special_tokens.0.as_ref(), show_progress, progress_format)?;
        Ok(base.add_subclass(Self))
    }

    #[getter]
    fn superwords(this: PyRef<'_, Self>) -> Option<PySuperwordOptions> {
        options(&this).superwords.map(PySuperwordOptions)
    }

    #[setter]
    fn set_superwords(this: PyRef<'_, Self>, value: Option<Bound<'_, PySuperwordOptions>>) {
        let value = value.map(|options| options.get().0.clone());
        this.as_super().update(|training| {
            if let Trainer::Bpe(trainer) = &mut training.trainer {
                trainer.superwords = value;
            }
        });
    }

    /// Distinct words of the corpus of the last training; 0 before the first.
    fn get_word_count(this: PyRef<'_, Self>) -> usize {
        this.as_super().words()
    }
}

/// Vocabulary by id, and merges as pairs of tokens.
pub(super) type Trained = (Vec<String>, Vec<(String, String)>);

/// Trains byte-pair merges on counted words; further arguments go to `BpeTrainer`.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (words, *, num_threads=None, byte_level=false, **options))]
pub(in crate::bindings) fn train_bpe_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    num_threads: Option<usize>,
    byte_level: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = options_of(py, options)?;
    let trainer = BpeTrainer { threads: threads(num_threads), is_byte_level: byte_level, ..trainer };
    trained(py, words, |words, on_progress| trainer.train(words, on_progress)).map(trained_texts)
}

/// Tokens with their ids, and merges.
type BpeTables = (Vec<(String, u32)>, Vec<(String, String)>);

/// Trains byte-pair merges after the merges of a model, on counted words; further arguments go to `BpeTrainer`.
///
/// Returns the tokens of the model with their ids, and its merges.
#[pyfunction]
#[pyo3(signature = (
    words, vocab, merges, *, ignore_merges=false, first_id=0, max_words=None, num_threads=None, **options
))]
#[expect(clippy::too_many_arguments, reason = "the parts of a model, and the options of training")]
pub(in crate::bindings) fn extend_bpe_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    vocab: Vec<(String, u32)>,
    merges: Vec<(String, String)>,
    ignore_merges: bool,
    first_id: u32,
    max_words: Option<usize>,
    num_threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<BpeTables> {
    let trainer = options_of(py, options)?;
    let trainer = BpeTrainer { threads: threads(num_threads), max_words, ..trainer };
    let model_options = BpeOptions {
        continuing_subword_prefix: trainer.continuing_subword_prefix.clone(),
        end_of_word_suffix: trainer.end_of_word_suffix.clone(),
        ignore_merges,
        ..BpeOptions::default()
    };
    let mut tokens = Vocab::new();
    for (token, id) in &vocab {
        tokens.insert(token, *id);
    }
    let merges: Vec<(&str, &str)> =
        merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
    let base = Bpe::new(tokens, &merges, model_options).or_raise(py)?;
    let model = trained(py, words, |words, on_progress| {
        trainer.extend(&base, first_id, words, on_progress)?.into_model(&base)
    })?;
    let owned = |(token, id): (&str, u32)| (token.to_owned(), id);
    let merges = model.spelled_merges().map(|(left, right)| (left.to_owned(), right.to_owned())).collect();
    Ok((model.vocab().sorted_by_id().into_iter().map(owned).collect(), merges))
}

/// The learnt vocabulary and merges, in texts.
pub(super) fn trained_texts(trained: TrainedBpe) -> Trained {
    let token = |id: u32| trained.vocab[id as usize].clone();
    let merges = trained.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
    (trained.vocab, merges)
}
