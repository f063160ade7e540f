//! `lexmill.trainers.SuperwordOptions`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::bindings::errors::OrRaise;
use crate::bindings::properties::{name_of, named, unsigned};
use crate::structures::regex::Pattern;
use crate::trainers::bpe::{SuperwordAlgorithm, Superwords};

const ALGORITHMS: [(&str, SuperwordAlgorithm); 2] =
    [("boundless", SuperwordAlgorithm::Boundless), ("superbpe", SuperwordAlgorithm::SuperBpe)];

/// The second phase of `BpeTrainer`, which learns superwords: tokens of several words.
///
/// Args:
///     `initial_vocab_size`: tokens of the first phase, which is the training without superwords.
///     `algorithm`: `boundless` joins neighbouring pre-tokens that are single tokens after the first phase; `superbpe` merges any
///         neighbouring tokens of the text between two cuts of the second phase.
///     `max_words`: the most words of a merged token; a word is a run of characters other than spaces. By default 4 with `superbpe`, and no limit
///         with `boundless`.
///     `joins`: a regular expression for the pre-tokens that may be joined, each as a whole; by default words of letters, and with
///         `superbpe` runs of punctuation too, as GPT-2's pattern cuts them.
///     `pattern`: the regular expression that cuts text in the second phase, and that the trained tokenizer has; by default the
///         tokenizer's pattern, with runs of joined pre-tokens whole.
///
/// Raises:
///     `OptionRangeError`: a number is negative.
///     `OptionError`: another name for `algorithm`.
///     `RegexError`: a regular expression does not compile.
#[pyclass(name = "SuperwordOptions", module = "lexmill.trainers", frozen, eq)]
#[derive(Clone, PartialEq)]
pub(in crate::bindings) struct PySuperwordOptions(pub(in crate::bindings) Superwords);

#[pymethods]
impl PySuperwordOptions {
    #[new]
    #[pyo3(signature = (initial_vocab_size, *, algorithm="boundless", max_words=None, joins=None, pattern=None))]
    fn new(
        py: Python<'_>,
        initial_vocab_size: i64,
        algorithm: &str,
        max_words: Option<i64>,
        joins: Option<String>,
        pattern: Option<String>,
    ) -> PyResult<Self> {
        let algorithm = named(py, "algorithm", &ALGORITHMS, algorithm)?;
        for regex in [&joins, &pattern].into_iter().flatten() {
            Pattern::new(regex).or_raise(py)?;
        }
        let max_words = max_words.map(|words| unsigned(py, "max_words", words)).transpose()?;
        Ok(Self(Superwords {
            initial_vocab_size: unsigned(py, "initial_vocab_size", initial_vocab_size)?,
            algorithm,
            max_words: max_words.or(algorithm.default_max_words()),
            joins: joins.unwrap_or_else(|| algorithm.default_joins().to_owned()),
            pattern,
        }))
    }

    #[getter]
    fn initial_vocab_size(&self) -> usize {
        self.0.initial_vocab_size
    }

    #[getter]
    fn algorithm(&self) -> &'static str {
        name_of(&ALGORITHMS, self.0.algorithm)
    }

    #[getter]
    fn max_words(&self) -> Option<usize> {
        self.0.max_words
    }

    #[getter]
    fn joins(&self) -> &str {
        &self.0.joins
    }

    #[getter]
    fn pattern(&self) -> Option<&str> {
        self.0.pattern.as_deref()
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((usize,), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("algorithm", self.algorithm())?;
        options.set_item("max_words", self.max_words())?;
        options.set_item("joins", self.joins())?;
        options.set_item("pattern", self.pattern())?;
        Ok(((self.initial_vocab_size(),), options))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut shown = self.initial_vocab_size().to_string();
        for (name, value) in self.__getnewargs_ex__(py)?.1 {
            shown = format!("{shown}, {name}={}", value.repr()?);
        }
        Ok(format!("SuperwordOptions({shown})"))
    }
}

/// The options as JSON.
pub(super) fn superwords_json(superwords: &Superwords) -> Value {
    json!({
        "initial_vocab_size": superwords.initial_vocab_size,
        "algorithm": name_of(&ALGORITHMS, superwords.algorithm),
        "max_words": superwords.max_words,
        "joins": superwords.joins,
        "pattern": superwords.pattern,
    })
}

/// The options of a pickled state; `None` if it is not one.
pub(super) fn superwords_from_json(value: &Value) -> Option<Superwords> {
    Some(Superwords {
        initial_vocab_size: value["initial_vocab_size"].as_u64()? as usize,
        algorithm: ALGORITHMS.iter().find(|(name, _)| value["algorithm"] == **name)?.1,
        max_words: value["max_words"].as_u64().map(|words| words as usize),
        joins: value["joins"].as_str()?.to_owned(),
        pattern: value["pattern"].as_str().map(str::to_owned),
    })
}
