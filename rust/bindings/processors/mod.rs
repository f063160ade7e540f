//! `lexmill.processors`.

mod bert;
mod template;

use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(super) use bert::{PyBertProcessing, PyRobertaProcessing};
pub(super) use template::PyTemplateProcessing;

use super::components::{element, set_element};
use super::encoding::PyEncoding;
use super::errors::OrRaise;
use super::stage_class::{stage_base, stage_fields};
use crate::processors::PostProcessor;

stage_base! {
    /// Base class of all post-processors.
    "PostProcessor" PyPostProcessor of PostProcessor("post-processor") in "lexmill.processors";
    /// Post-processors one after the other.
    ///
    /// Args:
    ///     `processors_py`: the post-processors, in their order. They stay shared.
    Sequence(processors_py) nests: false;
    PostProcessor::ByteLevel { .. } => PyByteLevel,
    PostProcessor::Template(_) => PyTemplateProcessing,
    PostProcessor::Roberta(_) => PyRobertaProcessing,
    PostProcessor::Bert(_) => PyBertProcessing,
}

#[pymethods]
impl PySequence {
    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        wrap(py, element(&this.as_super().stage, at)?)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyPostProcessor>) -> PyResult<()> {
        set_element(this.py(), &this.as_super().stage, at, &value.get().stage)
    }
}

#[pymethods]
impl PyPostProcessor {
    /// How many special tokens a text or a pair gets.
    fn num_special_tokens_to_add(&self, is_pair: bool) -> usize {
        self.stage.get().added_tokens(is_pair)
    }

    /// Adds special tokens to an encoding, or joins a pair.
    #[pyo3(signature = (encoding, pair=None, add_special_tokens=true))]
    fn process(
        &self,
        py: Python<'_>,
        encoding: &PyEncoding,
        pair: Option<&PyEncoding>,
        add_special_tokens: bool,
    ) -> PyResult<PyEncoding> {
        let pair = pair.map(|pair| pair.inner.clone());
        let processor = self.stage.get();
        PostProcessor::process(Some(&processor), encoding.inner.clone(), pair, add_special_tokens)
            .map(PyEncoding::of)
            .or_raise(py)
    }
}

/// Trims spaces from offsets.
///
/// Args:
///     `add_prefix_space`: leaves alone the offsets of a space that the pre-tokenizer put before the text; True by
///         default.
///     `trim_offsets`: False to trim nothing; True by default.
///     `use_regex`: kept for files; without effect.
#[pyclass(name = "ByteLevel", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(super) struct PyByteLevel;

#[pymethods]
impl PyByteLevel {
    #[new]
    #[pyo3(signature = (add_prefix_space=None, trim_offsets=None, use_regex=None, **_kwargs))]
    fn new(
        add_prefix_space: Option<bool>,
        trim_offsets: Option<bool>,
        use_regex: Option<bool>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyClassInitializer<Self> {
        let processor = PostProcessor::ByteLevel {
            add_prefix_space: add_prefix_space.unwrap_or(true),
            trim_offsets: trim_offsets.unwrap_or(true),
            use_regex: use_regex.unwrap_or(true),
        };
        PyPostProcessor::of(processor).add_subclass(Self)
    }
}

stage_fields! { PyByteLevel: PostProcessor::ByteLevel { add_prefix_space, trim_offsets, use_regex } => {
    add_prefix_space set_add_prefix_space: bool = *add_prefix_space;
    trim_offsets set_trim_offsets: bool = *trim_offsets;
    use_regex set_use_regex: bool = *use_regex;
}}
