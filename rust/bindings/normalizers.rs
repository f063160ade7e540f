//! `lexmill.normalizers`.

mod bert;
mod sentencepiece;

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

pub(super) use bert::PyBertNormalizer;
pub(super) use sentencepiece::{PyNmt, PyPrecompiled, PySentencePiece};

use super::components::{get_state, index, no_such_index, plain_stages, repr, set_state, unpickled};
use super::errors::{OrRaise, exception};
use super::regex::PatternArgument;
use super::stage::{Stage, Staged};
use crate::normalizers::{Form, Normalizer};
use crate::structures::finder::Replacement;

impl Staged for Normalizer {
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

/// Base class of all normalizers.
#[pyclass(name = "Normalizer", module = "lexmill.normalizers", subclass, frozen, dict, weakref)]
pub(super) struct PyNormalizer {
    pub(super) stage: Arc<Stage<Normalizer>>,
}

impl PyNormalizer {
    fn of(value: Normalizer) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Self { stage: Stage::new(value) })
    }
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<Normalizer>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyNormalizer { stage });
    Ok(match kind {
        Normalizer::Unicode(Form::Nfc) => Py::new(py, base.add_subclass(PyNfc))?.into_any(),
        Normalizer::Unicode(Form::Nfd) => Py::new(py, base.add_subclass(PyNfd))?.into_any(),
        Normalizer::Unicode(Form::Nfkc) => Py::new(py, base.add_subclass(PyNfkc))?.into_any(),
        Normalizer::Unicode(Form::Nfkd) => Py::new(py, base.add_subclass(PyNfkd))?.into_any(),
        Normalizer::Lowercase => Py::new(py, base.add_subclass(PyLowercase))?.into_any(),
        Normalizer::Strip { .. } => Py::new(py, base.add_subclass(PyStrip))?.into_any(),
        Normalizer::StripAccents => Py::new(py, base.add_subclass(PyStripAccents))?.into_any(),
        Normalizer::Prepend(_) => Py::new(py, base.add_subclass(PyPrepend))?.into_any(),
        Normalizer::Nmt => Py::new(py, base.add_subclass(PyNmt))?.into_any(),
        Normalizer::Precompiled(_) => Py::new(py, base.add_subclass(PyPrecompiled))?.into_any(),
        Normalizer::Replace(_) => Py::new(py, base.add_subclass(PyReplace))?.into_any(),
        Normalizer::Bert(_) => Py::new(py, base.add_subclass(PyBertNormalizer))?.into_any(),
        Normalizer::SentencePiece(_) => Py::new(py, base.add_subclass(PySentencePiece))?.into_any(),
        Normalizer::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
    })
}

#[pymethods]
impl PyNormalizer {
    /// The normalized form of a text.
    fn normalize_str(&self, py: Python<'_>, sequence: &str) -> PyResult<String> {
        let normalizer = self.stage.get();
        py.detach(|| normalizer.normalize_str(sequence).map(Cow::into_owned)).or_raise(py)
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
    /// Takes combining marks out.
    "StripAccents" PyStripAccents => Normalizer::StripAccents;
}

/// Takes white space off the ends.
#[pyclass(name = "Strip", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyStrip;

fn strip_sides(this: &PyRef<'_, PyStrip>) -> (bool, bool) {
    match this.as_super().stage.get() {
        Normalizer::Strip { left, right } => (left, right),
        _ => (true, true),
    }
}

#[pymethods]
impl PyStrip {
    #[new]
    #[pyo3(signature = (left=true, right=true))]
    fn new(left: bool, right: bool) -> PyClassInitializer<Self> {
        PyNormalizer::of(Normalizer::Strip { left, right }).add_subclass(Self)
    }

    #[getter]
    fn get_left(this: PyRef<'_, Self>) -> bool {
        strip_sides(&this).0
    }

    #[setter]
    fn set_left(this: PyRef<'_, Self>, value: bool) {
        let right = strip_sides(&this).1;
        this.as_super().stage.set(Normalizer::Strip { left: value, right });
    }

    #[getter]
    fn get_right(this: PyRef<'_, Self>) -> bool {
        strip_sides(&this).1
    }

    #[setter]
    fn set_right(this: PyRef<'_, Self>, value: bool) {
        let left = strip_sides(&this).0;
        this.as_super().stage.set(Normalizer::Strip { left, right: value });
    }
}

/// Puts a text before every text that is not empty.
#[pyclass(name = "Prepend", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyPrepend;

#[pymethods]
impl PyPrepend {
    #[new]
    #[pyo3(signature = (prepend="\u{2581}".to_owned()), text_signature = "(prepend='\\u2581')")]
    fn new(prepend: String) -> PyClassInitializer<Self> {
        PyNormalizer::of(Normalizer::Prepend(prepend)).add_subclass(Self)
    }

    #[getter]
    fn get_prepend(this: PyRef<'_, Self>) -> String {
        match this.as_super().stage.get() {
            Normalizer::Prepend(prepend) => prepend,
            _ => String::new(),
        }
    }

    #[setter]
    fn set_prepend(this: PyRef<'_, Self>, value: String) {
        this.as_super().stage.set(Normalizer::Prepend(value));
    }
}

/// Puts one text in place of every match of a text or a regular expression.
#[pyclass(name = "Replace", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PyReplace;

fn replacement(this: &PyRef<'_, PyReplace>) -> PyResult<Arc<Replacement>> {
    match this.as_super().stage.get() {
        Normalizer::Replace(replacement) => Ok(replacement),
        _ => Err(unpickled("normalizer")),
    }
}

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
        Ok(replacement(&this)?.content().to_owned())
    }

    #[setter]
    fn set_content(this: PyRef<'_, Self>, value: String) -> PyResult<()> {
        let changed = replacement(&this)?.with_content(value);
        this.as_super().stage.set(Normalizer::Replace(Arc::new(changed)));
        Ok(())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, ["", ""])
    }
}

/// Normalizers one after the other.
#[pyclass(name = "Sequence", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(super) struct PySequence;

#[pymethods]
impl PySequence {
    #[new]
    fn new(normalizers: Vec<Bound<'_, PyNormalizer>>) -> PyClassInitializer<Self> {
        let stages = normalizers.iter().map(|normalizer| Arc::clone(&normalizer.get().stage)).collect();
        PyClassInitializer::from(PyNormalizer { stage: Stage::of_sequence(stages) }).add_subclass(Self)
    }

    fn __len__(this: PyRef<'_, Self>) -> usize {
        this.as_super().stage.len()
    }

    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        let stage = this.as_super().stage.element(index(at)?).ok_or_else(no_such_index)?;
        wrap(py, stage)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyNormalizer>) -> PyResult<()> {
        let was_set = this.as_super().stage.set_element(index(at)?, Arc::clone(&value.get().stage));
        if was_set { Ok(()) } else { Err(no_such_index()) }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [pyo3::types::PyList::empty(py)])
    }
}
