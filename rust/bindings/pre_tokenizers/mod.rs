//! `lexmill.pre_tokenizers`.

mod cuts;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(super) use cuts::{PyCharDelimiterSplit, PyFixedLength, PyUnicodeScripts};

use super::components::{element, get_field, replace, set_element};
use super::custom_stage::CustomStage;
use super::errors::{OrRaise, exception};
use super::pre_tokenized_string::PyPreTokenizedString;
use super::properties::{self, behavior_name};
use super::regex::PatternArgument;
use super::stage::Stage;
use super::stage_class::{metaspace_class, plain_stages, stage_base, stage_fields};
use crate::byte_level::BYTE_TO_CHAR;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalized::{CharOffsets, NormalizedString, PreTokenizedString};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};

stage_base! {
    /// Base class of all pre-tokenizers.
    "PreTokenizer" PyPreTokenizer of PreTokenizer("pre-tokenizer") in "lexmill.pre_tokenizers";
    custom PreTokenizer::Custom;
    /// Pre-tokenizers one after the other.
    ///
    /// Args:
    ///     `pre_tokenizers`: the pre-tokenizers, in their order; each cuts the pre-tokens of the one before. They stay shared.
    Sequence(pre_tokenizers) nests: false;
    PreTokenizer::ByteLevel(_) => PyByteLevel,
    PreTokenizer::Metaspace(_) => PyMetaspace,
    PreTokenizer::Split(_) => PySplit,
    PreTokenizer::Whitespace => PyWhitespace,
    PreTokenizer::WhitespaceSplit => PyWhitespaceSplit,
    PreTokenizer::Bert => PyBertPreTokenizer,
    PreTokenizer::Digits { .. } => PyDigits,
    PreTokenizer::Punctuation { .. } => PyPunctuation,
    PreTokenizer::CharDelimiterSplit { .. } => PyCharDelimiterSplit,
    PreTokenizer::UnicodeScripts => PyUnicodeScripts,
    PreTokenizer::FixedLength { .. } => PyFixedLength,
}

#[pymethods]
impl PySequence {
    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        wrap(py, element(&this.as_super().stage, at)?)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyPreTokenizer>) -> PyResult<()> {
        set_element(this.py(), &this.as_super().stage, at, &value.get().stage)
    }
}

metaspace_class! {
    /// Visible spaces, each of which begins a pre-token.
    ///
    /// Args:
    ///     `replacement`: the character that stands for a space.
    ///     `prepend_scheme`: where a text gets one before it: `always`, `first` (not after an added token) or `never`.
    ///     `split`: True if each visible space begins a new pre-token.
    PyPreTokenizer of PreTokenizer in "lexmill.pre_tokenizers"
}

#[pymethods]
impl PyPreTokenizer {
    /// A pre-tokenizer that calls `pretok.pre_tokenize(text)` with a `PreTokenizedString`, which the call cuts. A tokenizer with
    /// it cannot be saved.
    #[staticmethod]
    fn custom(py: Python<'_>, pretok: Py<PyAny>) -> PyResult<Py<PyAny>> {
        wrap(py, Stage::new(CustomStage::pre_tokenizer(pretok)))
    }

    /// Cuts the splits of a text in place.
    fn pre_tokenize(&self, py: Python<'_>, pretok: &Bound<'_, PyPreTokenizedString>) -> PyResult<()> {
        pretok.get().apply(py, &self.stage.get())
    }

    /// The pre-tokens of a text, each with its character offsets.
    fn pre_tokenize_str(&self, py: Python<'_>, s: &str) -> PyResult<Vec<(String, (usize, usize))>> {
        let (pre_tokenizer, chars) = (self.stage.get(), CharOffsets::new(s));
        let mut text = PreTokenizedString::new(NormalizedString::new(s, 0));
        py.detach(|| pre_tokenizer.apply(&mut text)).or_raise(py)?;
        let splits = text.splits().iter().zip(text.byte_ranges(true)).map(|(split, bytes)| {
            let range = chars.convert(bytes);
            (split.text.normalized().to_owned(), (range.start, range.end))
        });
        Ok(splits.collect())
    }
}

/// GPT-2's splitting, and every byte as a printable character.
///
/// Args:
///     `add_prefix_space`: puts a space before a text that begins with none.
///     `trim_offsets`: without effect here; the post-processor of this name leaves spaces out of offsets.
///     `use_regex`: cuts the text; off, bytes are only spelled out.
#[pyclass(name = "ByteLevel", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyByteLevel;

#[pymethods]
impl PyByteLevel {
    #[new]
    #[pyo3(signature = (add_prefix_space=true, trim_offsets=true, use_regex=true, **_kwargs))]
    fn new(
        add_prefix_space: bool,
        trim_offsets: bool,
        use_regex: bool,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyClassInitializer<Self> {
        let options = ByteLevel { add_prefix_space, trim_offsets, use_regex };
        PyPreTokenizer::of(PreTokenizer::ByteLevel(options)).add_subclass(Self)
    }

    /// The 256 characters that stand for bytes.
    #[staticmethod]
    fn alphabet() -> Vec<char> {
        BYTE_TO_CHAR.to_vec()
    }
}

stage_fields! { PyByteLevel: PreTokenizer::ByteLevel(options) => {
    add_prefix_space set_add_prefix_space: bool = options.add_prefix_space;
    trim_offsets set_trim_offsets: bool = options.trim_offsets;
    use_regex set_use_regex: bool = options.use_regex;
}}

/// Cuts at a text or a regular expression.
///
/// Args:
///     `pattern`: a `str`, which stands for itself, or a `Regex`.
///     `behavior`: the treatment of a match: `removed`, `isolated`, `merged_with_previous`, `merged_with_next` or
///         `contiguous`, which is isolated with neighbouring matches as one.
///     `invert`: cuts at the texts between matches.
///
/// Raises:
///     `RegexError`: the expression does not compile.
#[pyclass(name = "Split", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PySplit;

fn split<R>(this: &PyRef<'_, PySplit>, read: impl FnOnce(&Split) -> R) -> PyResult<R> {
    get_field(&this.as_super().stage, |stage| match stage {
        PreTokenizer::Split(split) => Some(read(split)),
        _ => None,
    })
}

/// Makes the stage again after `change` has set `behavior` or `invert`.
fn set_split(this: &PyRef<'_, PySplit>, change: impl FnOnce(&mut Behavior, &mut bool)) -> PyResult<()> {
    replace(this.py(), &this.as_super().stage, |stage| {
        let PreTokenizer::Split(split) = stage else { return None };
        let (mut behavior, mut invert) = (split.behavior(), split.invert());
        change(&mut behavior, &mut invert);
        let split = Split::new(split.pattern().clone(), behavior, invert);
        Some(split.map(|split| PreTokenizer::Split(Arc::new(split))))
    })
}

#[pymethods]
impl PySplit {
    #[new]
    #[pyo3(signature = (pattern, behavior, invert=false))]
    fn new(
        py: Python<'_>,
        pattern: PatternArgument<'_>,
        behavior: &str,
        invert: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let split = Split::new(pattern.to_core(), properties::behavior(py, "behavior", behavior)?, invert)
            .or_raise(py)?;
        Ok(PyPreTokenizer::of(PreTokenizer::Split(Arc::new(split))).add_subclass(Self))
    }

    #[getter]
    fn pattern(&self, py: Python<'_>) -> PyResult<()> {
        Err(exception(py, "LexmillError", "Cannot get pattern".to_owned()))
    }

    #[setter]
    fn set_pattern(&self, py: Python<'_>, value: PatternArgument<'_>) -> PyResult<()> {
        let _ = value;
        Err(exception(
            py,
            "LexmillError",
            "Cannot set pattern, please instantiate a new split pattern instead".to_owned(),
        ))
    }

    #[getter]
    fn get_behavior(this: PyRef<'_, Self>) -> PyResult<String> {
        split(&this, |split| behavior_name(split.behavior()))
    }

    #[setter]
    fn set_behavior(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let value = properties::behavior(this.py(), "behavior", value)?;
        set_split(&this, |behavior, _| *behavior = value)
    }

    #[getter]
    fn get_invert(this: PyRef<'_, Self>) -> PyResult<bool> {
        split(&this, Split::invert)
    }

    #[setter]
    fn set_invert(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_split(&this, |_, invert| *invert = value)
    }

    fn __getnewargs__(&self) -> (&'static str, &'static str) {
        (" ", "removed")
    }
}

plain_stages! {
    PyPreTokenizer of "lexmill.pre_tokenizers":
    /// Runs of word characters and runs of other visible characters.
    "Whitespace" PyWhitespace => PreTokenizer::Whitespace;
    /// Everything between white space.
    "WhitespaceSplit" PyWhitespaceSplit => PreTokenizer::WhitespaceSplit;
    /// Cuts at white space, which is dropped, and around each punctuation character.
    "BertPreTokenizer" PyBertPreTokenizer => PreTokenizer::Bert;
}

/// Cuts off numbers, whole or digit by digit.
///
/// Args:
///     `individual_digits`: makes each digit a pre-token.
#[pyclass(name = "Digits", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyDigits;

#[pymethods]
impl PyDigits {
    #[new]
    #[pyo3(signature = (individual_digits=false))]
    fn new(individual_digits: bool) -> PyClassInitializer<Self> {
        PyPreTokenizer::of(PreTokenizer::Digits { individual_digits }).add_subclass(Self)
    }
}

stage_fields! { PyDigits: PreTokenizer::Digits { individual_digits } => {
    individual_digits set_individual_digits: bool = *individual_digits;
}}

/// Cuts at punctuation characters.
///
/// Args:
///     `behavior`: the treatment of a match: `removed`, `isolated`, `merged_with_previous`, `merged_with_next` or
///         `contiguous`, which is isolated with neighbouring matches as one.
#[pyclass(name = "Punctuation", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyPunctuation;

#[pymethods]
impl PyPunctuation {
    #[new]
    #[pyo3(signature = (behavior="isolated"))]
    fn new(py: Python<'_>, behavior: &str) -> PyResult<PyClassInitializer<Self>> {
        let behavior = properties::behavior(py, "behavior", behavior)?;
        Ok(PyPreTokenizer::of(PreTokenizer::Punctuation { behavior }).add_subclass(Self))
    }
}

stage_fields! { PyPunctuation: PreTokenizer::Punctuation { behavior } => {
    behavior set_behavior: Behavior = *behavior;
}}
