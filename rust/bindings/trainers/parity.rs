//! `lexmill.trainers.ParityBpeTrainer`, and its training on counted words.

use std::sync::{PoisonError, RwLock};

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::bpe::{Trained, trained_texts};
use crate::added_tokens::AddedToken;
use crate::bindings::added_token::{PyAddedToken, tokens};
use crate::bindings::errors::exception;
use crate::bindings::progress::Reporter;
use crate::bindings::properties::{Given, Property, Shown, character, name_of, unsigned};
use crate::bindings::threads::threads;
use crate::trainers::bpe::parity::{ParityBpeTrainer, Variant};
use crate::trainers::word_counts::WordCounts;

const VARIANTS: [(&str, Variant); 2] = [("base", Variant::Base), ("window", Variant::Window)];

/// A trainer, with the options that only the tokenizer needs.
#[derive(Clone, Debug)]
pub(in crate::bindings) struct ParityTraining {
    pub(in crate::bindings) trainer: ParityBpeTrainer,
    pub(in crate::bindings) special_tokens: Vec<AddedToken>,
    pub(in crate::bindings) show_progress: bool,
}

/// Learns byte-pair merges over several languages: the language that is compressed worst merges next.
///
/// All options are attributes too.
///
/// Args:
///     `num_merges`: how many merges to learn.
///     `variant`: how a language is chosen: `base`, the one that is compressed worst; `window`, the same, but none may have far
///         more than its even share of the last turns.
///     `min_frequency`: a pair that is less frequent in the chosen language is never merged.
///     `ratio`: the compression rate to aim at, for each language; only the proportions matter. Dev sets take precedence.
///     `global_merges`: how many merges go to the pair that is most frequent in all languages, before languages are chosen.
///     `window_size`: how many turns `window` looks back.
///     `alpha`: how many times its even share of these turns a language may have.
///     `total_symbols`: `num_merges` is the size of the vocabulary, with special tokens and the alphabet.
///     `special_tokens`: `str` or `AddedToken`, which take the first ids in this order and are added to the tokenizer.
///     `show_progress`: draws progress on standard error, unless `train_from_iterator` gets `on_progress`.
///     `limit_alphabet`: the largest size of the alphabet; the rarest characters are dropped. None for no limit.
///     `initial_alphabet`: single characters that are in the alphabet even if no word has them.
///     `continuing_subword_prefix`: the prefix of every character of a word but the first.
///     `end_of_word_suffix`: the suffix of the last character of a word.
///     `max_token_length`: tokens that are merged have fewer characters than this; two single characters may always be
///         merged.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
///     `OptionError`: another name for `variant`, or an element of `initial_alphabet` that is not one character.
#[pyclass(name = "ParityBpeTrainer", module = "lexmill.trainers", frozen, weakref)]
pub(in crate::bindings) struct PyParityBpeTrainer {
    training: RwLock<ParityTraining>,
}

impl PyParityBpeTrainer {
    /// The options as they are now.
    pub(in crate::bindings) fn get(&self) -> ParityTraining {
        self.training.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn update(&self, change: impl FnOnce(&mut ParityTraining)) {
        change(&mut self.training.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Properties of the class, by the names of the options, with a name for the setter of each.
macro_rules! options {
    ($($name:ident $set:ident: $type:ty;)+) => {
        #[pymethods]
        impl PyParityBpeTrainer {$(
            #[getter]
            fn $name(&self) -> Shown<$type> {
                <$type as Property>::shown(self.get().trainer.$name)
            }

            #[setter]
            fn $set(&self, py: Python<'_>, value: Given<$type>) -> PyResult<()> {
                let value = <$type as Property>::given(py, stringify!($name), value)?;
                self.update(|training| training.trainer.$name = value);
                Ok(())
            }
        )+}
    };
}

options! {
    num_merges set_num_merges: usize;
    min_frequency set_min_frequency: u64;
    global_merges set_global_merges: usize;
    window_size set_window_size: usize;
    alpha set_alpha: f64;
    total_symbols set_total_symbols: bool;
    limit_alphabet set_limit_alphabet: Option<usize>;
    continuing_subword_prefix set_continuing_subword_prefix: Option<String>;
    end_of_word_suffix set_end_of_word_suffix: Option<String>;
    max_token_length set_max_token_length: Option<usize>;
}

#[pymethods]
impl PyParityBpeTrainer {
    #[new]
    #[pyo3(signature = (
        num_merges=32000, variant="base", min_frequency=0, ratio=None, global_merges=0, window_size=100, alpha=2.0,
        total_symbols=false, special_tokens=None, show_progress=true, limit_alphabet=None, initial_alphabet=None,
        continuing_subword_prefix=None, end_of_word_suffix=None, max_token_length=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        num_merges: i64,
        variant: &str,
        min_frequency: i64,
        ratio: Option<Vec<f64>>,
        global_merges: i64,
        window_size: i64,
        alpha: f64,
        total_symbols: bool,
        special_tokens: Option<&Bound<'_, PyList>>,
        show_progress: bool,
        limit_alphabet: Option<i64>,
        initial_alphabet: Option<Vec<String>>,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
        max_token_length: Option<i64>,
    ) -> PyResult<Self> {
        let special_tokens = special_tokens.map_or_else(|| Ok(Vec::new()), special)?;
        let trainer = ParityBpeTrainer {
            num_merges: unsigned(py, "num_merges", num_merges)?,
            variant: self::variant(py, variant)?,
            min_frequency: unsigned(py, "min_frequency", min_frequency)?,
            ratio,
            global_merges: unsigned(py, "global_merges", global_merges)?,
            window_size: unsigned(py, "window_size", window_size)?,
            alpha,
            total_symbols,
            special_tokens: super::contents(&special_tokens),
            limit_alphabet: limit_alphabet.map(|limit| unsigned(py, "limit_alphabet", limit)).transpose()?,
            initial_alphabet: alphabet(py, &initial_alphabet.unwrap_or_default())?,
            continuing_subword_prefix,
            end_of_word_suffix,
            max_token_length: max_token_length
                .map(|length| unsigned(py, "max_token_length", length))
                .transpose()?,
            threads: 1,
        };
        Ok(Self { training: RwLock::new(ParityTraining { trainer, special_tokens, show_progress }) })
    }

    #[getter]
    fn variant(&self) -> &'static str {
        name_of(&VARIANTS, self.get().trainer.variant)
    }

    #[getter]
    fn get_initial_alphabet(&self) -> Vec<char> {
        self.get().trainer.initial_alphabet
    }

    #[setter]
    fn set_initial_alphabet(&self, py: Python<'_>, value: Vec<String>) -> PyResult<()> {
        let value = alphabet(py, &value)?;
        self.update(|training| training.trainer.initial_alphabet = value);
        Ok(())
    }

    #[getter]
    fn get_special_tokens(&self) -> Vec<PyAddedToken> {
        self.get().special_tokens.into_iter().map(PyAddedToken::of).collect()
    }

    #[setter]
    fn set_special_tokens(&self, value: &Bound<'_, PyList>) -> PyResult<()> {
        let tokens = special(value)?;
        self.update(|training| {
            training.trainer.special_tokens = super::contents(&tokens);
            training.special_tokens = tokens;
        });
        Ok(())
    }

    #[getter]
    fn get_show_progress(&self) -> bool {
        self.get().show_progress
    }

    #[setter]
    fn set_show_progress(&self, value: bool) {
        self.update(|training| training.show_progress = value);
    }

    fn __repr__(&self) -> String {
        let ParityBpeTrainer {
            num_merges,
            min_frequency,
            global_merges,
            window_size,
            alpha,
            total_symbols,
            ..
        } = self.get().trainer;
        format!(
            "ParityBpeTrainer(num_merges={num_merges}, variant=\"{}\", min_frequency={min_frequency}, \
             global_merges={global_merges}, window_size={window_size}, alpha={alpha}, total_symbols={total_symbols})",
            self.variant()
        )
    }

    /// The arguments of the constructor, by name.
    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ParityTraining { trainer, special_tokens, show_progress } = self.get();
        let state = PyDict::new(py);
        state.set_item("num_merges", trainer.num_merges)?;
        state.set_item("variant", name_of(&VARIANTS, trainer.variant))?;
        state.set_item("min_frequency", trainer.min_frequency)?;
        state.set_item("global_merges", trainer.global_merges)?;
        state.set_item("window_size", trainer.window_size)?;
        state.set_item("alpha", trainer.alpha)?;
        state.set_item("total_symbols", trainer.total_symbols)?;
        state.set_item("show_progress", show_progress)?;
        state.set_item("ratio", trainer.ratio)?;
        let special_tokens: Vec<PyAddedToken> = special_tokens.into_iter().map(PyAddedToken::of).collect();
        state.set_item("special_tokens", special_tokens)?;
        state.set_item("limit_alphabet", trainer.limit_alphabet)?;
        state.set_item("initial_alphabet", trainer.initial_alphabet)?;
        state.set_item("continuing_subword_prefix", trainer.continuing_subword_prefix)?;
        state.set_item("end_of_word_suffix", trainer.end_of_word_suffix)?;
        state.set_item("max_token_length", trainer.max_token_length)?;
        Ok(state)
    }

    fn __setstate__(&self, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let own = self.__getstate__(state.py())?;
        for name in own.keys() {
            if !state.contains(&name)? {
                return Err(PyKeyError::new_err(name.unbind()));
            }
        }
        let made = state.py().get_type::<Self>().call((), Some(state))?;
        let training = made.cast::<Self>()?.get().get();
        self.update(|current| *current = training);
        Ok(())
    }
}

/// A way to choose a language by its name.
fn variant(py: Python<'_>, name: &str) -> PyResult<Variant> {
    let found = VARIANTS.iter().find(|(known, _)| *known == name).map(|&(_, variant)| variant);
    let message = || format!("Unknown variant '{name}'. Use 'base' or 'window'.");
    found.ok_or_else(|| exception(py, "OptionError", message()))
}

fn special(list: &Bound<'_, PyList>) -> PyResult<Vec<AddedToken>> {
    tokens(list, true, "special_tokens")
}

fn alphabet(py: Python<'_>, texts: &[String]) -> PyResult<Vec<char>> {
    texts.iter().map(|text| character(py, "initial_alphabet", text)).collect()
}

/// Words with their counts, for each language.
type Corpora = Vec<Vec<(String, u64)>>;

/// Trains byte-pair merges on the counted words of several languages; further arguments go to `ParityBpeTrainer`.
#[pyfunction]
#[pyo3(signature = (corpora, dev=None, *, num_threads=None, **options))]
pub(in crate::bindings) fn train_parity_bpe_words(
    py: Python<'_>,
    corpora: Corpora,
    dev: Option<Corpora>,
    num_threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let trainer = py.get_type::<PyParityBpeTrainer>().call((), options)?;
    let trainer = trainer.cast::<PyParityBpeTrainer>()?.get().get().trainer;
    let trainer = ParityBpeTrainer { threads: threads(num_threads), ..trainer };
    let counted = |corpora: Corpora| corpora.into_iter().map(|words| words.into_iter().collect()).collect();
    let (corpora, dev): (Vec<WordCounts>, Option<Vec<WordCounts>>) = (counted(corpora), dev.map(counted));
    let mut reporter = Reporter::silent();
    let trained =
        py.detach(|| trainer.train(&corpora, dev.as_deref(), &mut |progress| reporter.report(progress)));
    reporter.or_raise(py, trained).map(trained_texts)
}
