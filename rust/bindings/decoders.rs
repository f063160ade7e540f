//! `lexmill.decoders`.

mod ctc;
mod metaspace;
mod wordpiece;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

pub(super) use ctc::PyCtc;
pub(super) use metaspace::PyMetaspace;
pub(super) use wordpiece::PyWordPiece;

use super::components::{get_state, plain_stages, repr, set_state};
use super::errors::OrRaise;
use super::options::{character, count};
use super::regex::PatternArgument;
use super::stage::{Stage, Staged};
use crate::decoders::{Decoder, Strip};
use crate::structures::finder::Replacement;

impl Staged for Decoder {
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

/// Base class of all decoders.
#[pyclass(name = "Decoder", module = "lexmill.decoders", subclass, frozen, dict, weakref)]
pub(super) struct PyDecoder {
    pub(super) stage: Arc<Stage<Decoder>>,
}

impl PyDecoder {
    fn of(value: Decoder) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Self { stage: Stage::new(value) })
    }
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<Decoder>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyDecoder { stage });
    Ok(match kind {
        Decoder::ByteLevel { .. } => Py::new(py, base.add_subclass(PyByteLevel))?.into_any(),
        Decoder::Replace(_) => Py::new(py, base.add_subclass(PyReplace))?.into_any(),
        Decoder::ByteFallback => Py::new(py, base.add_subclass(PyByteFallback))?.into_any(),
        Decoder::Fuse => Py::new(py, base.add_subclass(PyFuse))?.into_any(),
        Decoder::Strip(_) => Py::new(py, base.add_subclass(PyStrip))?.into_any(),
        Decoder::Metaspace(_) => Py::new(py, base.add_subclass(PyMetaspace))?.into_any(),
        Decoder::Bpe { .. } => Py::new(py, base.add_subclass(PyBpeDecoder))?.into_any(),
        Decoder::Ctc(_) => Py::new(py, base.add_subclass(PyCtc))?.into_any(),
        Decoder::WordPiece { .. } => Py::new(py, base.add_subclass(PyWordPiece))?.into_any(),
        Decoder::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
    })
}

#[pymethods]
impl PyDecoder {
    /// The text of a list of tokens.
    fn decode(&self, py: Python<'_>, tokens: Vec<String>) -> PyResult<String> {
        let decoder = self.stage.get();
        py.detach(|| decoder.decode(tokens.iter().map(String::as_str))).or_raise(py)
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

/// From the byte-level alphabet back to text.
#[pyclass(name = "ByteLevel", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyByteLevel;

#[pymethods]
impl PyByteLevel {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let decoder = Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true };
        PyDecoder::of(decoder).add_subclass(Self)
    }
}

/// Puts one text in place of every match of a text or a regular expression, in each token.
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

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, ["", ""])
    }
}

plain_stages! {
    PyDecoder of "lexmill.decoders":
    /// From `<0xNN>` tokens to bytes.
    "ByteFallback" PyByteFallback => Decoder::ByteFallback;
    /// All tokens become one.
    "Fuse" PyFuse => Decoder::Fuse;
}

/// Takes up to `left` and `right` characters off the ends of each token.
#[pyclass(name = "Strip", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyStrip;

fn strip(this: &PyRef<'_, PyStrip>) -> Strip {
    match this.as_super().stage.get() {
        Decoder::Strip(strip) => strip,
        _ => Strip { content: ' ', start: 0, stop: 0 },
    }
}

fn set_strip(this: &PyRef<'_, PyStrip>, strip: Strip) {
    this.as_super().stage.set(Decoder::Strip(strip));
}

#[pymethods]
impl PyStrip {
    #[new]
    #[pyo3(signature = (content=" ", left=0, right=0))]
    fn new(py: Python<'_>, content: &str, left: i64, right: i64) -> PyResult<PyClassInitializer<Self>> {
        let content = character(py, "content", content)?;
        let (start, stop) = (count(py, "left", left)?, count(py, "right", right)?);
        Ok(PyDecoder::of(Decoder::Strip(Strip { content, start, stop })).add_subclass(Self))
    }

    #[getter]
    fn get_content(this: PyRef<'_, Self>) -> char {
        strip(&this).content
    }

    #[setter]
    fn set_content(this: PyRef<'_, Self>, value: &str) -> PyResult<()> {
        let content = character(this.py(), "content", value)?;
        set_strip(&this, Strip { content, ..strip(&this) });
        Ok(())
    }

    #[getter]
    fn get_start(this: PyRef<'_, Self>) -> usize {
        strip(&this).start
    }

    #[setter]
    fn set_start(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let start = count(this.py(), "start", value)?;
        set_strip(&this, Strip { start, ..strip(&this) });
        Ok(())
    }

    #[getter]
    fn get_stop(this: PyRef<'_, Self>) -> usize {
        strip(&this).stop
    }

    #[setter]
    fn set_stop(this: PyRef<'_, Self>, value: i64) -> PyResult<()> {
        let stop = count(this.py(), "stop", value)?;
        set_strip(&this, Strip { stop, ..strip(&this) });
        Ok(())
    }
}

/// A space in place of the mark at a word's end, but nothing in the last token.
#[pyclass(name = "BPEDecoder", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PyBpeDecoder;

#[pymethods]
impl PyBpeDecoder {
    #[new]
    #[pyo3(signature = (suffix="</w>".to_owned()), text_signature = "(suffix='</w>')")]
    fn new(suffix: String) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::Bpe { suffix }).add_subclass(Self)
    }

    #[getter]
    fn get_suffix(this: PyRef<'_, Self>) -> String {
        match this.as_super().stage.get() {
            Decoder::Bpe { suffix } => suffix,
            _ => String::new(),
        }
    }

    #[setter]
    fn set_suffix(this: PyRef<'_, Self>, value: String) {
        this.as_super().stage.set(Decoder::Bpe { suffix: value });
    }
}

/// Decoders one after the other.
#[pyclass(name = "Sequence", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(super) struct PySequence;

#[pymethods]
impl PySequence {
    #[new]
    fn new(decoders: Vec<Bound<'_, PyDecoder>>) -> PyClassInitializer<Self> {
        let stages = decoders.iter().map(|decoder| Arc::clone(&decoder.get().stage)).collect();
        PyClassInitializer::from(PyDecoder { stage: Stage::of_sequence(stages) }).add_subclass(Self)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [PyList::empty(py)])
    }
}
