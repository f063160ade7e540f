//! `lexmill.trainers.UnigramTrainer`, and training on counted words.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};

use super::options::trainer_options;
use super::{PyTrainer, members, texts, trained};
use crate::bindings::arguments::{Keyword, note_unknown};
use crate::bindings::properties::{
    Given, Property, Shown, choice, first_chars, name_of, named, read_forbidden, unsigned,
};
use crate::bindings::regex::PatternList;
use crate::bindings::threads::threads;
use crate::trainers::Trainer;
use crate::trainers::forbidden::Forbidden;
use crate::trainers::unigram::{Algorithm, UnigramTrainer};

/// Learns the pieces of a unigram language model.
///
/// `vocab_size`, `initial_alphabet`, `forbid` and `initial_tokens` are attributes too, which can be set.
///
/// Args:
///     `vocab_size`: pieces of the vocabulary, with special tokens.
///     `show_progress`: draws progress on standard error, unless `train` gets `on_progress`.
///     `progress_format`: how it is drawn: `indicatif`, `json` lines or `silent`.
///     `special_tokens`: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
///     `initial_alphabet`: characters that are pieces even if no word has them; of longer texts the first character.
///     `shrinking_factor`: the share of the pieces that each pruning keeps, between 0 and 1.
///     `unk_token`: the token for unknown characters; it takes the first id if it is no special token.
///     `max_piece_length`: the most characters of a piece.
///     `n_sub_iterations`: rounds of expectation maximization between two prunings.
///     `seed_size`: how many characters and substrings training starts from.
///     `character_coverage`: the share of all characters of the corpus, from 0 to 1, that have a piece; the rarest go
///         without.
///     `algorithm`: `em`, expectation maximization, or `exact-loss`, the textbook's loop for small corpora.
///     `use_sparse_pruning`: subtracts a penalty from expected counts, which removes the rare pieces, in the place of pruning by loss.
///     `auto_character_coverage`: characters share the vocabulary with the other pieces instead of having places of their own. The
///         trained model has the 256 byte pieces and `byte_fallback`. Needs `use_sparse_pruning`.
///     `forbid`: one or several regular expressions, in the syntax of `lexmill.Regex`, that no learned token may match anywhere: `"  "` for two
///         spaces, `"[0-9]{2}"` for two digits. They are matched with the text of a token, without affixes; at the byte level with its bytes.
///         Characters are exempt.
///     `initial_tokens`: pieces that the vocabulary must have, as it spells them; pruning keeps them. `forbid` does not concern them.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
///     `RegexError`: a pattern of `forbid` does not compile.
///     `OptionError`: another name for `algorithm` or `progress_format`.
#[pyclass(name = "UnigramTrainer", module = "lexmill.trainers", extends = PyTrainer, frozen)]
pub(in crate::bindings) struct PyUnigramTrainer;

const ALGORITHMS: [(&str, Algorithm); 2] = [("em", Algorithm::Em), ("exact-loss", Algorithm::ExactLoss)];

choice!(Algorithm: ALGORITHMS);

/// The options that this kind of trainer alone has.
pub(super) fn to_json(trainer: &UnigramTrainer) -> Map<String, Value> {
    members(json!({
        "vocab_size": trainer.vocab_size,
        "initial_alphabet": trainer.initial_alphabet,
        "shrinking_factor": trainer.shrinking_factor,
        "unk_token": trainer.unk_token,
        "max_piece_length": trainer.max_piece_length,
        "n_sub_iterations": trainer.n_sub_iterations,
        "seed_size": trainer.seed_size,
        "character_coverage": trainer.character_coverage,
        "algorithm": name_of(&ALGORITHMS, trainer.algorithm),
        "use_sparse_pruning": trainer.use_sparse_pruning,
        "auto_character_coverage": trainer.auto_character_coverage,
        "initial_tokens": trainer.initial_tokens,
        "forbid": trainer.forbid.sources().collect::<Vec<_>>(),
    }))
}

/// The trainer of a pickled state, still without special tokens.
pub(super) fn from_json(value: &Value) -> Option<UnigramTrainer> {
    let size = |key: &str| value[key].as_u64().map(|size| size as usize);
    let alphabet = value["initial_alphabet"].as_array()?;
    Some(UnigramTrainer {
        vocab_size: size("vocab_size")?,
        initial_alphabet: alphabet.iter().filter_map(|c| c.as_str()?.chars().next()).collect(),
        shrinking_factor: value["shrinking_factor"].as_f64()?,
        unk_token: value["unk_token"].as_str().map(str::to_owned),
        max_piece_length: size("max_piece_length")?,
        n_sub_iterations: size("n_sub_iterations")?,
        seed_size: size("seed_size")?,
        character_coverage: value["character_coverage"].as_f64()?,
        algorithm: ALGORITHMS.iter().find(|(name, _)| value["algorithm"] == **name)?.1,
        use_sparse_pruning: value["use_sparse_pruning"].as_bool()?,
        auto_character_coverage: value["auto_character_coverage"].as_bool()?,
        initial_tokens: texts(&value["initial_tokens"])?,
        forbid: read_forbidden(&value["forbid"])?,
        ..UnigramTrainer::default()
    })
}

trainer_options! {
    PyUnigramTrainer of Unigram(UnigramTrainer):
    vocab_size set_vocab_size: usize;
    initial_alphabet set_initial_alphabet: Vec<char>;
    initial_tokens set_initial_tokens: Vec<String>;
    forbid set_forbid: Forbidden;
}

#[pymethods]
impl PyUnigramTrainer {
    #[new]
    #[pyo3(signature = (
        *, vocab_size=8000, show_progress=true, progress_format="indicatif", special_tokens=Keyword::ABSENT,
        initial_alphabet=Keyword::ABSENT, shrinking_factor=0.75, unk_token=None, max_piece_length=16, n_sub_iterations=2,
        seed_size=1_000_000, character_coverage=1.0, algorithm="em", use_sparse_pruning=false, auto_character_coverage=false,
        forbid=PatternList::default(), initial_tokens=Vec::new(), **kwargs
    ), text_signature = "(*, vocab_size=8000, show_progress=True, progress_format='indicatif', special_tokens=[], \
        initial_alphabet=[], shrinking_factor=0.75, unk_token=None, max_piece_length=16, n_sub_iterations=2, \
        seed_size=1000000, character_coverage=1.0, algorithm='em', use_sparse_pruning=False, \
        auto_character_coverage=False, forbid=[], initial_tokens=[], **kwargs)")]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        vocab_size: i64,
        show_progress: bool,
        progress_format: &str,
        special_tokens: Keyword<Bound<'_, PyList>>,
        initial_alphabet: Keyword<Vec<String>>,
        shrinking_factor: f64,
        unk_token: Option<String>,
        max_piece_length: i64,
        n_sub_iterations: i64,
        seed_size: i64,
        character_coverage: f64,
        algorithm: &str,
        use_sparse_pruning: bool,
        auto_character_coverage: bool,
        forbid: PatternList,
        initial_tokens: Vec<String>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        let trainer = Trainer::Unigram(UnigramTrainer {
            vocab_size: unsigned(py, "vocab_size", vocab_size)?,
            initial_alphabet: first_chars(&initial_alphabet.0.unwrap_or_default()),
            shrinking_factor,
            unk_token,
            max_piece_length: unsigned(py, "max_piece_length", max_piece_length)?,
            n_sub_iterations: unsigned(py, "n_sub_iterations", n_sub_iterations)?,
            seed_size: unsigned(py, "seed_size", seed_size)?,
            character_coverage,
            algorithm: named(py, "algorithm", &ALGORITHMS, algorithm)?,
            use_sparse_pruning,
            auto_character_coverage,
            initial_tokens,
            forbid: forbid.to_core(py)?,
            ..UnigramTrainer::default()
        });
        let base = PyTrainer::of(trainer, special_tokens.0.as_ref(), show_progress, progress_format)?;
        Ok(base.add_subclass(Self))
    }
}

/// Pieces with scores by id, and the id of unknown characters.
type Trained = (Vec<(String, f64)>, Option<u32>);

/// Trains a unigram model on counted words; further arguments go to `UnigramTrainer`.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (words, *, num_threads=None, byte_level=false, **options))]
pub(in crate::bindings) fn train_unigram_words(
    py: Python<'_>,
    words: Vec<(String, u64)>,
    num_threads: Option<usize>,
    byte_level: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = options_of(py, options)?;
    let trainer = UnigramTrainer { threads: threads(num_threads), is_byte_level: byte_level, ..trainer };
    let trained = trained(py, words, |words, on_progress| trainer.train(&words, on_progress))?;
    Ok((trained.pieces, trained.unk_id))
}
