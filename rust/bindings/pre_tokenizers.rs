//! `lexmill.pre_tokenizers`.

mod cuts;
mod metaspace;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

pub(super) use cuts::{PyCharDelimiterSplit, PyFixedLength, PyUnicodeScripts};
pub(super) use metaspace::PyMetaspace;

use super::components::{get_state, index, no_such_index, plain_stages, repr, set_state, unpickled};
use super::errors::{OrRaise, exception};
use super::regex::PatternArgument;
use super::stage::{Stage, Staged};
use crate::byte_level::BYTE_TO_CHAR;
use crate::encoding::ColumnsBuilder;
use crate::normalized::{Normalized, PreTokenized};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};

impl Staged for PreTokenizer {
    fn sequence(stages: Vec<Self>) -> Self {
        Self::Sequence(stages)
    }

    fn as_sequence(&self) -> Option<&[Self]> {
        match self {
            Self::Sequence(stages) => Some(stages),
            _ => None,
        }
    }
}

/// Base class of all pre-tokenizers.
#[pyclass(name = "PreTokenizer", module = "lexmill.pre_tokenizers", subclass, frozen, dict, weakref)]
pub(super) struct PyPreTokenizer {
    pub(super) stage: Arc<Stage<PreTokenizer>>,
}

impl PyPreTokenizer {
    fn of(value: PreTokenizer) -> Self {
        Self { stage: Stage::new(value) }
    }
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<PreTokenizer>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyPreTokenizer { stage });
    Ok(match kind {
        PreTokenizer::ByteLevel(_) => Py::new(py, base.add_subclass(PyByteLevel))?.into_any(),
        PreTokenizer::Metaspace(_) => Py::new(py, base.add_subclass(PyMetaspace))?.into_any(),
        PreTokenizer::Split(_) => Py::new(py, base.add_subclass(PySplit))?.into_any(),
        PreTokenizer::Whitespace => Py::new(py, base.add_subclass(PyWhitespace))?.into_any(),
        PreTokenizer::WhitespaceSplit => Py::new(py, base.add_subclass(PyWhitespaceSplit))?.into_any(),
        PreTokenizer::Bert => Py::new(py, base.add_subclass(PyBertPreTokenizer))?.into_any(),
        PreTokenizer::Digits { .. } => Py::new(py, base.add_subclass(PyDigits))?.into_any(),
        PreTokenizer::Punctuation { .. } => Py::new(py, base.add_subclass(PyPunctuation))?.into_any(),
        PreTokenizer::CharDelimiterSplit { .. } => {
            Py::new(py, base.add_subclass(PyCharDelimiterSplit))?.into_any()
        }
        PreTokenizer::UnicodeScripts => Py::new(py, base.add_subclass(PyUnicodeScripts))?.into_any(),
        PreTokenizer::FixedLength { .. } => Py::new(py, base.add_subclass(PyFixedLength))?.into_any(),
        PreTokenizer::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
    })
}

type Pieces = Vec<(String, (u32, u32))>;

fn pre_tokenize(pre_tokenizer: &PreTokenizer, text: &str) -> crate::Result<Pieces> {
    let mut cut = PreTokenized::new(Normalized::new(text, 0, true));
    pre_tokenizer.pre_tokenize(&mut cut)?;
    let mut offsets = ColumnsBuilder::default();
    for span in &cut.spans {
        offsets.push(0, cut.text.original(span.clone()), None);
    }
    offsets.bytes_to_chars(text, 0);
    let offsets = offsets.starts.into_iter().zip(offsets.ends);
    let pieces = cut.spans.into_iter().map(|span| cut.text.text()[span].to_owned());
    Ok(pieces.zip(offsets).collect())
}

#[pymethods]
impl PyPreTokenizer {
    /// The pre-tokens of a text, each with its character offsets.
    fn pre_tokenize_str(&self, py: Python<'_>, s: &str) -> PyResult<Pieces> {
        let pre_tokenizer = self.stage.get();
        py.detach(|| pre_tokenize(&pre_tokenizer, s)).or_raise(py)
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        get_state(py, &self.stage)
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        set_state(py, &self.stage, state)
    }

    fn __repr__(&self) -> String {
        repr(&self.stage)
    }
}

/// GPT-2's splitting, and every byte as a printable character.
#[pyclass(name = "ByteLevel", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyByteLevel;

fn byte_level(this: &PyRef<'_, PyByteLevel>) -> ByteLevel {
    match this.as_super().stage.get() {
        PreTokenizer::ByteLevel(options) => options,
        _ => ByteLevel::default(),
    }
}

fn set_byte_level(this: &PyRef<'_, PyByteLevel>, options: ByteLevel) {
    this.as_super().stage.set(PreTokenizer::ByteLevel(options));
}

#[pymethods]
impl PyByteLevel {
    #[new]
    #[pyo3(signature = (add_prefix_space=true, trim_offsets=true, use_regex=true))]
    fn new(add_prefix_space: bool, trim_offsets: bool, use_regex: bool) -> PyClassInitializer<Self> {
        let options = ByteLevel { add_prefix_space, trim_offsets, use_regex };
        PyClassInitializer::from(PyPreTokenizer::of(PreTokenizer::ByteLevel(options))).add_subclass(Self)
    }

    /// The 256 characters that stand for bytes.
    #[staticmethod]
    fn alphabet() -> Vec<char> {
        BYTE_TO_CHAR.to_vec()
    }

    #[getter]
    fn add_prefix_space(this: PyRef<'_, Self>) -> bool {
        byte_level(&this).add_prefix_space
    }

    #[setter]
    fn set_add_prefix_space(this: PyRef<'_, Self>, value: bool) {
        set_byte_level(&this, ByteLevel { add_prefix_space: value, ..byte_level(&this) });
    }

    #[getter]
    fn trim_offsets(this: PyRef<'_, Self>) -> bool {
        byte_level(&this).trim_offsets
    }

    #[setter]
    fn set_trim_offsets(this: PyRef<'_, Self>, value: bool) {
        set_byte_level(&this, ByteLevel { trim_offsets: value, ..byte_level(&this) });
    }

    #[getter]
    fn use_regex(this: PyRef<'_, Self>) -> bool {
        byte_level(&this).use_regex
    }

    #[setter]
    fn set_use_regex(this: PyRef<'_, Self>, value: bool) {
        set_byte_level(&this, ByteLevel { use_regex: value, ..byte_level(&this) });
    }
}

/// A `behavior` argument by its name.
fn behavior(py: Python<'_>, name: &str) -> PyResult<Behavior> {
    let found = Behavior::NAMES.into_iter().find(|&(_, known, _)| known == name);
    found.map(|(behavior, ..)| behavior).ok_or_else(|| {
        let known = Behavior::NAMES.map(|(_, name, _)| name).join(", ");
        exception(py, "OptionError", format!("behavior is {name} but must be one of {known}"))
    })
}

fn behavior_name(behavior: Behavior) -> &'static str {
    Behavior::NAMES.into_iter().find(|&(known, ..)| known == behavior).map_or("", |(_, name, _)| name)
}

/// Cuts at a text or a regular expression.
#[pyclass(name = "Split", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PySplit;

fn split(this: &PyRef<'_, PySplit>) -> PyResult<Arc<Split>> {
    match this.as_super().stage.get() {
        PreTokenizer::Split(split) => Ok(split),
        _ => Err(unpickled("pre-tokenizer")),
    }
}

fn set_split(this: &PyRef<'_, PySplit>, behavior: Behavior, invert: bool) -> PyResult<()> {
    let changed = Split::new(split(this)?.pattern().clone(), behavior, invert).or_raise(this.py())?;
    this.as_super().stage.set(PreTokenizer::Split(Arc::new(changed)));
    Ok(())
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
        let split = Split::new(pattern.to_core(), self::behavior(py, behavior)?, invert).or_raise(py)?;
        Ok(PyClassInitializer::from(PyPreTokenizer::of(PreTokenizer::Split(Arc::new(split))))
            .add_subclass(Self))
    }

    #[getter]
    fn pattern(&self, py: Python<'_>) -> PyResult<()> {
        Err(exception(py, "LexmillError", "Cannot get pattern".to_owned()))
    }

    #[getter]
    fn get_behavior(this: PyRef<'_, Self>) -> PyResult<&'static str> {
        Ok(behavior_name(split(&this)?.behavior()))
    }

    #[setter]
    fn set_behavior(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let invert = split(&this)?.invert();
        set_split(&this, behavior(this.py(), value)?, invert)
    }

    #[getter]
    fn get_invert(this: PyRef<'_, Self>) -> PyResult<bool> {
        Ok(split(&this)?.invert())
    }

    #[setter]
    fn set_invert(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        let behavior = split(&this)?.behavior();
        set_split(&this, behavior, value)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, ["", "removed"])
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
#[pyclass(name = "Digits", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyDigits;

#[pymethods]
impl PyDigits {
    #[new]
    #[pyo3(signature = (individual_digits=false))]
    fn new(individual_digits: bool) -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyPreTokenizer::of(PreTokenizer::Digits { individual_digits }))
            .add_subclass(Self)
    }

    #[getter]
    fn get_individual_digits(this: PyRef<'_, Self>) -> bool {
        matches!(this.as_super().stage.get(), PreTokenizer::Digits { individual_digits: true })
    }

    #[setter]
    fn set_individual_digits(this: PyRef<'_, Self>, value: bool) {
        this.as_super().stage.set(PreTokenizer::Digits { individual_digits: value });
    }
}

/// Cuts at punctuation characters.
#[pyclass(name = "Punctuation", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PyPunctuation;

#[pymethods]
impl PyPunctuation {
    #[new]
    #[pyo3(signature = (behavior="isolated"))]
    fn new(py: Python<'_>, behavior: &str) -> PyResult<PyClassInitializer<Self>> {
        let behavior = self::behavior(py, behavior)?;
        Ok(PyClassInitializer::from(PyPreTokenizer::of(PreTokenizer::Punctuation { behavior }))
            .add_subclass(Self))
    }

    #[getter]
    fn get_behavior(this: PyRef<'_, Self>) -> &'static str {
        match this.as_super().stage.get() {
            PreTokenizer::Punctuation { behavior } => behavior_name(behavior),
            _ => "",
        }
    }

    #[setter]
    fn set_behavior(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let behavior = behavior(this.py(), value)?;
        this.as_super().stage.set(PreTokenizer::Punctuation { behavior });
        Ok(())
    }
}

/// Pre-tokenizers one after the other.
#[pyclass(name = "Sequence", module = "lexmill.pre_tokenizers", extends = PyPreTokenizer, frozen)]
pub(super) struct PySequence;

#[pymethods]
impl PySequence {
    #[new]
    fn new(pretokenizers: Vec<Bound<'_, PyPreTokenizer>>) -> PyClassInitializer<Self> {
        let stages = pretokenizers.iter().map(|stage| Arc::clone(&stage.get().stage)).collect();
        PyClassInitializer::from(PyPreTokenizer { stage: Stage::of_sequence(stages) }).add_subclass(Self)
    }

    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        let stage = this.as_super().stage.element(index(at)?).ok_or_else(no_such_index)?;
        wrap(py, stage)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyPreTokenizer>) -> PyResult<()> {
        let was_set = this.as_super().stage.set_element(index(at)?, Arc::clone(&value.get().stage));
        if was_set { Ok(()) } else { Err(no_such_index()) }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [PyList::empty(py)])
    }
}
