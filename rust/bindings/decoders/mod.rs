//! `lexmill.decoders`.

mod ctc;
mod sentencepiece;
mod wordpiece;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(super) use ctc::PyCtc;
pub(super) use sentencepiece::PySentencePiece;
pub(super) use wordpiece::PyWordPiece;

use super::custom_stage::CustomStage;
use super::errors::OrRaise;
use super::properties::{character, unsigned};
use super::regex::PatternArgument;
use super::stage::Stage;
use super::stage_class::{metaspace_class, plain_stages, stage_base, stage_fields};
use crate::decoders::{Decoder, Strip};
use crate::metaspace::{Metaspace, PrependScheme};
use crate::structures::finder::Replacement;

stage_base! {
    /// Base class of all decoders.
    "Decoder" PyDecoder of Decoder("decoder") in "lexmill.decoders";
    custom Decoder::Custom;
    /// Decoders one after the other.
    ///
    /// Args:
    ///     `decoders_py`: the decoders, in their order. They stay shared.
    Sequence(decoders_py) nests: true;
    Decoder::ByteLevel { .. } => PyByteLevel,
    Decoder::Replace(_) => PyReplace,
    Decoder::ByteFallback => PyByteFallback,
    Decoder::Fuse => PyFuse,
    Decoder::Strip(_) => PyStrip,
    Decoder::Metaspace(_) => PyMetaspace,
    Decoder::Bpe { .. } => PyBpeDecoder,
    Decoder::Ctc(_) => PyCtc,
    Decoder::WordPiece { .. } => PyWordPiece,
    Decoder::SentencePiece(_) => PySentencePiece,
}

metaspace_class! {
    /// Turns visible spaces into spaces.
    ///
    /// Args:
    ///     `replacement`: the character that stands for a space.
    ///     `prepend_scheme`: `always` or `first` takes the space off the beginning of the text, `never` leaves it.
    ///     `split`: kept for files; without effect.
    PyDecoder of Decoder in "lexmill.decoders"
}

#[pymethods]
impl PyDecoder {
    /// A decoder that calls `decoder.decode_chain(tokens)` with a list of texts; the call returns a list of texts. A tokenizer with it cannot be
    /// saved.
    #[staticmethod]
    fn custom(py: Python<'_>, decoder: Py<PyAny>) -> PyResult<Py<PyAny>> {
        wrap(py, Stage::new(CustomStage::decoder(decoder)))
    }

    /// The text of a list of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<String>) -> PyResult<String> {
        let decoder = self.stage.get();
        py.detach(|| decoder.decode(tokens.iter().map(String::as_str))).or_raise(py)
    }
}

/// Puts one text in place of every match of a text or a regular expression, in each token.
///
/// Args:
///     `pattern`: a `str`, which stands for itself, or a `Regex`.
///     `content`: the text that takes the place of a match, as it stands.
///
/// Raises:
///     `RegexError`: the expression does not compile.
#[pyclass(name = "Replace", module = "lexmill.decoders", extends = PyDecoder, frozen)]
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
        Ok(PyDecoder::of(Decoder::Replace(Arc::new(replacement))).add_subclass(Self))
    }

    fn __getnewargs__(&self) -> (&'static str, &'static str) {
        ("", "")
    }
}

plain_stages! {
    PyDecoder of "lexmill.decoders":
    /// From `<0xNN>` tokens to bytes.
    "ByteFallback" PyByteFallback => Decoder::ByteFallback;
    /// All tokens become one.
    "Fuse" PyFuse => Decoder::Fuse;
}

/// From the byte-level alphabet back to text.
#[pyclass(name = "ByteLevel", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyByteLevel;

#[pymethods]
impl PyByteLevel {
    #[new]
    #[pyo3(signature = (**_kwargs))]
    fn new(_kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        let decoder = Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true };
        PyDecoder::of(decoder).add_subclass(Self)
    }
}

/// Takes up to `left` and `right` characters off the ends of each token.
///
/// Args:
///     `content`: the character to take off.
///     `left`: the most that are taken off the beginning.
///     `right`: the most that are taken off the end.
#[pyclass(name = "Strip", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyStrip;

#[pymethods]
impl PyStrip {
    #[new]
    #[pyo3(signature = (content=" ", left=0, right=0))]
    fn new(py: Python<'_>, content: &str, left: i64, right: i64) -> PyResult<PyClassInitializer<Self>> {
        let content = character(py, "content", content)?;
        let (start, stop) = (unsigned(py, "left", left)?, unsigned(py, "right", right)?);
        Ok(PyDecoder::of(Decoder::Strip(Strip { content, start, stop })).add_subclass(Self))
    }
}

stage_fields! { PyStrip: Decoder::Strip(strip) => {
    content set_content: char = strip.content;
    start set_start: usize = strip.start;
    stop set_stop: usize = strip.stop;
}}

/// Turns the mark at a word's end into a space, and removes the mark in the last token.
///
/// Args:
///     `suffix`: the mark.
#[pyclass(name = "BPEDecoder", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyBpeDecoder;

#[pymethods]
impl PyBpeDecoder {
    #[new]
    #[pyo3(signature = (suffix="</w>".to_owned()), text_signature = "(suffix='</w>')")]
    fn new(suffix: String) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::Bpe { suffix }).add_subclass(Self)
    }
}

stage_fields! { PyBpeDecoder: Decoder::Bpe { suffix } => {
    suffix set_suffix: String = *suffix;
}}
