//! `lexmill.normalizers`.

mod bert;
mod sentencepiece;

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::prelude::*;

pub(super) use bert::PyBertNormalizer;
pub(super) use sentencepiece::{PyNmt, PyPrecompiled, PySentencePiece};

use super::components::{element, get_field, set_element, set_field};
use super::custom_stage::CustomStage;
use super::errors::{OrRaise, exception};
use super::normalized_string::PyNormalizedString;
use super::properties;
use super::regex::PatternArgument;
use super::stage::Stage;
use super::stage_class::{plain_stages, stage_base, stage_fields};
use crate::metaspace::PrependScheme;
use crate::normalizers::{Form, MetaspaceNormalizer, Normalizer};
use crate::structures::finder::Replacement;

stage_base! {
    /// Base class of all normalizers.
    "Normalizer" PyNormalizer of Normalizer("normalizer") in "lexmill.normalizers";
    custom Normalizer::Custom;
    /// Normalizers one after the other.
    ///
    /// Args:
    ///     `normalizers`: the normalizers, in their order. They stay shared: a change to one takes effect here.
    Sequence(normalizers) nests: false;
    Normalizer::Unicode(Form::Nfc) => PyNfc,
    Normalizer::Unicode(Form::Nfd) => PyNfd,
    Normalizer::Unicode(Form::Nfkc) => PyNfkc,
    Normalizer::Unicode(Form::Nfkd) => PyNfkd,
    Normalizer::Lowercase => PyLowercase,
    Normalizer::Strip { .. } => PyStrip,
    Normalizer::StripAccents => PyStripAccents,
    Normalizer::Prepend(_) => PyPrepend,
    Normalizer::Nmt => PyNmt,
    Normalizer::ByteLevel => PyByteLevel,
    Normalizer::Precompiled(_) => PyPrecompiled,
    Normalizer::Replace(_) => PyReplace,
    Normalizer::Bert(_) => PyBertNormalizer,
    Normalizer::Metaspace(_) => PyMetaspaceNormalizer,
    Normalizer::SentencePiece(_) => PySentencePiece,
}

#[pymethods]
impl PySequence {
    fn __len__(this: PyRef<'_, Self>) -> usize {
        this.as_super().stage.len()
    }

    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        wrap(py, element(&this.as_super().stage, at)?)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyNormalizer>) -> PyResult<()> {
        set_element(this.py(), &this.as_super().stage, at, &value.get().stage)
    }
}

#[pymethods]
impl PyNormalizer {
    /// A normalizer that calls `obj.normalize(text)` with a `NormalizedString`, which the call changes. A tokenizer with it
    /// cannot be saved.
    #[staticmethod]
    fn custom(py: Python<'_>, obj: Py<PyAny>) -> PyResult<Py<PyAny>> {
        wrap(py, Stage::new(CustomStage::normalizer(obj)))
    }

    /// Normalizes a text in place.
    fn normalize(&self, py: Python<'_>, normalized: &Bound<'_, PyNormalizedString>) -> PyResult<()> {
        normalized.get().apply(py, &self.stage.get())
    }

    /// The normalized form of a text.
    fn normalize_str(&self, py: Python<'_>, sequence: &str) -> PyResult<String> {
        let normalizer = self.stage.get();
        py.detach(|| normalizer.normalize_str(sequence).map(Cow::into_owned)).or_raise(py)
    }
}

plain_stages! {
    PyNormalizer of "lexmill.normalizers":
    /// Canonical composition.
    "NFC" PyNfc => Normalizer::Unicode(Form::Nfc);
    /// Canonical decomposition.
    "NFD" PyNfd => Normalizer::Unicode(Form::Nfd);
    /// Compatibility composition.
    "NFKC" PyNfkc => Normalizer::Unicode(Form::Nfkc);
    /// Compatibility decomposition.
    "NFKD" PyNfkd => Normalizer::Unicode(Form::Nfkd);
    /// Lower case, character by character.
    "Lowercase" PyLowercase => Normalizer::Lowercase;
    /// Every byte as a printable character.
    "ByteLevel" PyByteLevel => Normalizer::ByteLevel;
    /// Takes combining marks out.
    "StripAccents" PyStripAccents => Normalizer::StripAccents;
}

/// Takes white space off the ends.
///
/// Args:
///     `left`: takes it off the beginning.
///     `right`: takes it off the end.
#[pyclass(name = "Strip", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyStrip;

#[pymethods]
impl PyStrip {
    #[new]
    #[pyo3(signature = (left=true, right=true))]
    fn new(left: bool, right: bool) -> PyClassInitializer<Self> {
        PyNormalizer::of(Normalizer::Strip { left, right }).add_subclass(Self)
    }
}

stage_fields! { PyStrip: Normalizer::Strip { left, right } => {
    left set_left: bool = *left;
    right set_right: bool = *right;
}}

/// Puts a text before every text that is not empty.
///
/// Args:
///     `prepend`: the text to put there.
#[pyclass(name = "Prepend", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyPrepend;

#[pymethods]
impl PyPrepend {
    #[new]
    #[pyo3(signature = (prepend="\u{2581}".to_owned()), text_signature = "(prepend='\\u2581')")]
    fn new(prepend: String) -> PyClassInitializer<Self> {
        PyNormalizer::of(Normalizer::Prepend(prepend)).add_subclass(Self)
    }
}

stage_fields! { PyPrepend: Normalizer::Prepend(text) => {
    prepend set_prepend: String = *text;
}}

/// Makes spaces visible without cutting the text. Files of version 2.0 have this stage in the place of the pre-tokenizer `Metaspace`.
///
/// Args:
///     `replacement`: the character that stands for a space.
///     `prepend_scheme`: where a text gets one before it: `always`, `first` (not after an added token) or `never`. With
///         `drop_whitespace`, `always` puts one before each word, `first` before a word at the beginning of the text.
///     `drop_whitespace`: takes all white space out and joins the words.
///
/// Raises:
///     `OptionError`: `replacement` is not one character, or `prepend_scheme` is unknown.
#[pyclass(name = "MetaspaceNormalizer", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyMetaspaceNormalizer;

#[pymethods]
impl PyMetaspaceNormalizer {
    #[new]
    #[pyo3(signature = (replacement="\u{2581}", prepend_scheme="always", drop_whitespace=false),
        text_signature = "(replacement='\\u2581', prepend_scheme='always', drop_whitespace=False)")]
    fn new(
        py: Python<'_>,
        replacement: &str,
        prepend_scheme: &str,
        drop_whitespace: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let stage = MetaspaceNormalizer {
            replacement: properties::character(py, "replacement", replacement)?,
            prepend_scheme: properties::prepend_scheme(py, "prepend_scheme", prepend_scheme)?,
            drop_whitespace,
        };
        Ok(PyNormalizer::of(Normalizer::Metaspace(stage)).add_subclass(Self))
    }
}

stage_fields! { PyMetaspaceNormalizer: Normalizer::Metaspace(stage) => {
    replacement set_replacement: char = stage.replacement;
    prepend_scheme set_prepend_scheme: PrependScheme = stage.prepend_scheme;
    drop_whitespace set_drop_whitespace: bool = stage.drop_whitespace;
}}

/// Puts one text in place of every match of a text or a regular expression.
///
/// Args:
///     `pattern`: a `str`, which stands for itself, or a `Regex`.
///     `content`: the text that takes the place of a match, as it stands.
///
/// Raises:
///     `RegexError`: the expression does not compile.
#[pyclass(name = "Replace", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyReplace;

#[pymethods]
impl PyReplace {
    #[new]
    fn new(
        py: Python<'_>,
        pattern: PatternArgument<'_>,
        content: String,
    ) -> PyResult<PyClassInitializer<Self>> {
        let replacement = Replacement::new(pattern.to_core(), content).or_raise(py)?;
        Ok(PyNormalizer::of(Normalizer::Replace(Arc::new(replacement))).add_subclass(Self))
    }

    #[getter]
    fn get_pattern(&self, py: Python<'_>) -> PyResult<()> {
        Err(exception(py, "LexmillError", "Cannot get pattern".to_owned()))
    }

    #[setter]
    fn set_pattern(&self, py: Python<'_>, _value: PatternArgument<'_>) -> PyResult<()> {
        let message = "Cannot set pattern, please instantiate a new replace pattern instead";
        Err(exception(py, "LexmillError", message.to_owned()))
    }

    #[getter]
    fn get_content(this: PyRef<'_, Self>) -> PyResult<String> {
        get_field(&this.as_super().stage, |stage| match stage {
            Normalizer::Replace(replacement) => Some(replacement.content().to_owned()),
            _ => None,
        })
    }

    #[setter]
    fn set_content(this: PyRef<'_, Self>, value: String) -> PyResult<()> {
        set_field(&this.as_super().stage, |stage| match stage {
            Normalizer::Replace(replacement) => {
                *replacement = Arc::new(replacement.with_content(value));
                Some(())
            }
            _ => None,
        })
    }

    fn __getnewargs__(&self) -> (&'static str, &'static str) {
        ("", "")
    }
}
