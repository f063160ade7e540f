//! `lexmill.trainers.WordPieceTrainer`, and training on counted words.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};

use super::bpe::{TIE_BREAKS, Trained, trained_texts};
use super::options::trainer_options;
use super::{PyTrainer, members, texts, trained};
use crate::bindings::arguments::{Keyword, note_unknown};
use crate::bindings::properties::{
    Given, Property, Shown, choice, first_chars, name_of, named, read_forbidden, unsigned,
};
use crate::bindings::regex::PatternList;
use crate::bindings::threads::threads;
use crate::trainers::Trainer;
use crate::trainers::bpe::TieBreak;
use crate::trainers::forbidden::Forbidden;
use crate::trainers::wordpiece::{Score, WordPieceTrainer};

/// Learns pieces of words by frequency, which is byte-pair encoding, or by likelihood, which is the textbook's rule.
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
///     `continuing_subword_prefix`: stands before every character of a word but the first. If the attribute is set to None, characters are learnt
///         without a prefix.
///     `end_of_word_suffix`: the suffix of the last character of a word.
///     `score`: `frequency` merges the most frequent pair first, `likelihood` the pair with the highest count(ab) /
///         (count(a) count(b)), compared exactly, and `likelihood-float64` the same in 64-bit numbers.
///     `tie_break`: which of equal pairs comes first: `smallest-ids`, the default for `frequency`, or `first-seen`, the default for the others.
///     `min_pair_frequency`: as `min_frequency`; the larger of the two applies.
///     `forbid`: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match anywhere: `"  "` for two
///         spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token, without affixes; at the byte level with its bytes. Initial
///         symbols are exempt.
///     `initial_tokens`: tokens that the vocabulary must have, as it spells them; their ids follow the special tokens' ids.
///         `forbid` does not concern them.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
///     `RegexError`: a pattern of `forbid` does not compile.
///     `OptionError`: another name for `score`, `tie_break` or `progress_format`.
#[pyclass(name = "WordPieceTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(in crate::bindings) struct PyWordPieceTrainer;

const SCORES: [(&str, Score); 3] = [
    ("frequency", Score::Frequency),
    ("likelihood", Score::Likelihood),
    ("likelihood-float64", Score::LikelihoodFloat64),
];

choice!(Score: SCORES);

/// The options that this kind of trainer alone has.
pub(super) fn to_json(trainer: &WordPieceTrainer) -> Map<String, Value> {
    members(json!({
        "vocab_size": trainer.vocab_size,
        "min_frequency": trainer.min_frequency,
        "limit_alphabet": trainer.limit_alphabet,
        "initial_alphabet": trainer.initial_alphabet,
        "continuing_subword_prefix": trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
        "score": name_of(&SCORES, trainer.score),
        "tie_break": trainer.tie_break.map(|rule| name_of(&TIE_BREAKS, rule)),
        "min_pair_frequency": trainer.min_pair_frequency,
        "initial_tokens": trainer.initial_tokens,
        "forbid": trainer.forbid.sources().collect::<Vec<_>>(),
    }))
}

/// The trainer of a pickled state, still without special tokens.
pub(super) fn from_json(value: &Value) -> Option<WordPieceTrainer> {
    let alphabet = value["initial_alphabet"].as_array()?;
    Some(WordPieceTrainer {
        vocab_size: value["vocab_size"].as_u64()? as usize,
        min_frequency: value["min_frequency"].as_u64()?,
        limit_alphabet: value["limit_alphabet"].as_u64().map(|limit| limit as usize),
        initial_alphabet: alphabet.iter().filter_map(|c| c.as_str()?.chars().next()).collect(),
        continuing_subword_prefix: value["continuing_subword_prefix"].as_str().map(str::to_owned),
        end_of_word_suffix: value["end_of_word_suffix"].as_str().map(str::to_owned),
        score: SCORES.iter().find(|(name, _)| value["score"] == **name)?.1,
        tie_break: TIE_BREAKS.iter().find(|(name, _)| value["tie_break"] == **name).map(|&(_, rule)| rule),
        min_pair_frequency: value["min_pair_frequency"].as_u64()?,
        initial_tokens: texts(&value["initial_tokens"])?,
        forbid: read_forbidden(&value["forbid"])?,
        ..WordPieceTrainer::default()
    })
}

trainer_options! {
    PyWordPieceTrainer of WordPiece(WordPieceTrainer):
    vocab_size set_vocab_size: usize;
    min_frequency set_min_frequency: u64;
    limit_alphabet set_limit_alphabet: Option<usize>;
    initial_alphabet set_initial_alphabet: Vec<char>;
    continuing_subword_prefix set_continuing_subword_prefix: Option<String>;
    end_of_word_suffix set_end_of_word_suffix: Option<String>;
    score set_score: Score;
    tie_break set_tie_break: Option<TieBreak>;
    min_pair_frequency set_min_pair_frequency: u64;
    initial_tokens set_initial_tokens: Vec<String>;
    forbid set_forbid: Forbidden;
}

#[pymethods]
impl PyWordPieceTrainer {
    #[new]
    #[pyo3(signature = (
        *, vocab_size=30000, min_frequency=0, show_progress=true, progress_format="indicatif",
        special_tokens=Keyword::ABSENT, limit_alphabet=Keyword::ABSENT, initial_alphabet=Keyword::ABSENT, continuing_subword_prefix="##",
        end_of_word_suffix=Keyword::ABSENT, score="frequency", tie_break=None, min_pair_frequency=0,
        forbid=PatternList::default(), initial_tokens=Vec::new(), **kwargs
    ), text_signature = "(*, vocab_size=30000, min_frequency=0, show_progress=True, progress_format='indicatif', \
        special_tokens=[], limit_alphabet=None, initial_alphabet=[], continuing_subword_prefix='##', \
        end_of_word_suffix=None, score='frequency', tie_break=None, min_pair_frequency=0, forbid=[], initial_tokens=[], **kwargs)")]
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
        continuing_subword_prefix: &str,
        end_of_word_suffix: Keyword<String>,
        score: &str,
        tie_break: Option<&str>,
        min_pair_frequency: i64,
        forbid: PatternList,
        initial_tokens: Vec<String>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let trainer = Trainer::WordPiece(WordPieceTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            limit_alphabet: Option::<usize>::given(py, "limit_alphabet", limit_alphabet.0)?,
            initial_alphabet: first_chars(&initial_alphabet.0.unwrap_or_default()),
            continuing_subword_prefix: Some(continuing_subword_prefix.to_owned()),
            end_of_word_suffix: end_of_word_suffix.0,
            score: named(py, "score", &SCORES, score)?,
            tie_break: tie_break.map(|rule| named(py, "tie_break", &TIE_BREAKS, rule)).transpose()?,
            min_pair_frequency: unsigned(py, "min_pair_frequency", min_pair_frequency)?,
            initial_tokens,
            forbid: forbid.to_core(py)?,
            ..WordPieceTrainer::default()
        });
        let base = PyTrainer::of(trainer, special_tokens.0.as_ref(), show_progress, progress_format)?;
        Ok(base.add_subclass(Self))
    }
}

/// Trains `WordPiece` on counted words; further arguments go to `WordPieceTrainer`.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (words, *, num_threads=None, byte_level=false, **options))]
pub(in crate::bindings) fn train_wordpiece_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    num_threads: Option<usize>,
    byte_level: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = options_of(py, options)?;
    let trainer = WordPieceTrainer { threads: threads(num_threads), is_byte_level: byte_level, ..trainer };
    trained(py, words, |words, on_progress| trainer.train(words, on_progress)).map(trained_texts)
}
