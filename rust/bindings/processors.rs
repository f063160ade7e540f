//! `lexmill.processors`.

mod bert;

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

pub(super) use bert::PyBertProcessing;

use super::components::{get_state, index, no_such_index, repr, set_state};
use super::encoding::PyEncoding;
use super::errors::{OrRaise, exception};
use super::stage::{Stage, Staged};
use crate::encoding::Symbol;
use crate::processors::{PostProcessor, Roberta, Template, TemplatePiece, TemplateSequence, TemplateToken};

impl Staged for PostProcessor {
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

/// Base class of all post-processors.
#[pyclass(name = "PostProcessor", module = "lexmill.processors", subclass, frozen, dict, weakref)]
pub(super) struct PyPostProcessor {
    pub(super) stage: Arc<Stage<PostProcessor>>,
}

impl PyPostProcessor {
    fn of(value: PostProcessor) -> Self {
        Self { stage: Stage::new(value) }
    }
}

/// The Python object of the right class for a shared stage.
pub(super) fn wrap(py: Python<'_>, stage: Arc<Stage<PostProcessor>>) -> PyResult<Py<PyAny>> {
    let kind = stage.get();
    let base = PyClassInitializer::from(PyPostProcessor { stage });
    Ok(match kind {
        PostProcessor::ByteLevel { .. } => Py::new(py, base.add_subclass(PyByteLevel))?.into_any(),
        PostProcessor::Template(_) => Py::new(py, base.add_subclass(PyTemplateProcessing))?.into_any(),
        PostProcessor::Roberta(_) => Py::new(py, base.add_subclass(PyRobertaProcessing))?.into_any(),
        PostProcessor::Bert(_) => Py::new(py, base.add_subclass(PyBertProcessing))?.into_any(),
        PostProcessor::Sequence(_) => Py::new(py, base.add_subclass(PySequence))?.into_any(),
    })
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

/// Trims spaces from offsets.
#[pyclass(name = "ByteLevel", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(super) struct PyByteLevel;

/// `add_prefix_space`, `trim_offsets` and `use_regex`.
fn flags(this: &PyRef<'_, PyByteLevel>) -> (bool, bool, bool) {
    match this.as_super().stage.get() {
        PostProcessor::ByteLevel { add_prefix_space, trim_offsets, use_regex } => {
            (add_prefix_space, trim_offsets, use_regex)
        }
        _ => (true, true, true),
    }
}

fn set_flags(this: &PyRef<'_, PyByteLevel>, (add_prefix_space, trim_offsets, use_regex): (bool, bool, bool)) {
    let changed = PostProcessor::ByteLevel { add_prefix_space, trim_offsets, use_regex };
    this.as_super().stage.set(changed);
}

#[pymethods]
impl PyByteLevel {
    #[new]
    #[pyo3(signature = (add_prefix_space=None, trim_offsets=None, use_regex=None))]
    fn new(
        add_prefix_space: Option<bool>,
        trim_offsets: Option<bool>,
        use_regex: Option<bool>,
    ) -> PyClassInitializer<Self> {
        let processor = PostProcessor::ByteLevel {
            add_prefix_space: add_prefix_space.unwrap_or(true),
            trim_offsets: trim_offsets.unwrap_or(true),
            use_regex: use_regex.unwrap_or(true),
        };
        PyClassInitializer::from(PyPostProcessor::of(processor)).add_subclass(Self)
    }

    #[getter]
    fn get_add_prefix_space(this: PyRef<'_, Self>) -> bool {
        flags(&this).0
    }

    #[setter]
    fn set_add_prefix_space(this: PyRef<'_, Self>, value: bool) {
        let (_, trim_offsets, use_regex) = flags(&this);
        set_flags(&this, (value, trim_offsets, use_regex));
    }

    #[getter]
    fn get_trim_offsets(this: PyRef<'_, Self>) -> bool {
        flags(&this).1
    }

    #[setter]
    fn set_trim_offsets(this: PyRef<'_, Self>, value: bool) {
        let (add_prefix_space, _, use_regex) = flags(&this);
        set_flags(&this, (add_prefix_space, value, use_regex));
    }

    #[getter]
    fn get_use_regex(this: PyRef<'_, Self>) -> bool {
        flags(&this).2
    }

    #[setter]
    fn set_use_regex(this: PyRef<'_, Self>, value: bool) {
        let (add_prefix_space, trim_offsets, _) = flags(&this);
        set_flags(&this, (add_prefix_space, trim_offsets, value));
    }
}

/// RoBERTa's arrangement: `<s> A </s>` and `<s> A </s></s> B </s>`.
#[pyclass(name = "RobertaProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(super) struct PyRobertaProcessing;

fn roberta(this: &PyRef<'_, PyRobertaProcessing>) -> PyResult<Roberta> {
    match this.as_super().stage.get() {
        PostProcessor::Roberta(roberta) => Ok(roberta),
        _ => Err(PyValueError::new_err("this object was unpickled from another post-processor's state")),
    }
}

fn set_roberta(this: &PyRef<'_, PyRobertaProcessing>, change: impl FnOnce(&mut Roberta)) -> PyResult<()> {
    let mut changed = roberta(this)?;
    change(&mut changed);
    this.as_super().stage.set(PostProcessor::Roberta(changed));
    Ok(())
}

fn symbol((text, id): (String, u32)) -> Symbol {
    Symbol { id, text: text.into() }
}

#[pymethods]
impl PyRobertaProcessing {
    #[new]
    #[pyo3(signature = (sep, cls_token, trim_offsets=true, add_prefix_space=true))]
    fn new(
        sep: (String, u32),
        cls_token: (String, u32),
        trim_offsets: bool,
        add_prefix_space: bool,
    ) -> PyClassInitializer<Self> {
        let roberta = Roberta { sep: symbol(sep), cls: symbol(cls_token), trim_offsets, add_prefix_space };
        PyClassInitializer::from(PyPostProcessor::of(PostProcessor::Roberta(roberta))).add_subclass(Self)
    }

    #[getter]
    fn get_sep(this: PyRef<'_, Self>) -> PyResult<(String, u32)> {
        roberta(&this).map(|roberta| (roberta.sep.text.to_string(), roberta.sep.id))
    }

    #[setter]
    fn set_sep(this: PyRef<'_, Self>, value: (String, u32)) -> PyResult<()> {
        set_roberta(&this, |roberta| roberta.sep = symbol(value))
    }

    #[getter]
    fn get_cls(this: PyRef<'_, Self>) -> PyResult<(String, u32)> {
        roberta(&this).map(|roberta| (roberta.cls.text.to_string(), roberta.cls.id))
    }

    #[setter]
    fn set_cls(this: PyRef<'_, Self>, value: (String, u32)) -> PyResult<()> {
        set_roberta(&this, |roberta| roberta.cls = symbol(value))
    }

    #[getter]
    fn get_trim_offsets(this: PyRef<'_, Self>) -> PyResult<bool> {
        roberta(&this).map(|roberta| roberta.trim_offsets)
    }

    #[setter]
    fn set_trim_offsets(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_roberta(&this, |roberta| roberta.trim_offsets = value)
    }

    #[getter]
    fn get_add_prefix_space(this: PyRef<'_, Self>) -> PyResult<bool> {
        roberta(&this).map(|roberta| roberta.add_prefix_space)
    }

    #[setter]
    fn set_add_prefix_space(this: PyRef<'_, Self>, value: bool) -> PyResult<()> {
        set_roberta(&this, |roberta| roberta.add_prefix_space = value)
    }

    fn __getnewargs__(&self) -> ((String, u32), (String, u32)) {
        ((String::new(), 0), (String::new(), 0))
    }
}

/// Special tokens and sequences arranged by a template.
#[pyclass(name = "TemplateProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(super) struct PyTemplateProcessing;

/// One piece of a template string: `$A`, `$B:1`, `$0`, `[CLS]`, `[SEP]:1`.
fn template_piece(text: &str) -> Option<TemplatePiece> {
    let (name, given_type) = match text.split(':').collect::<Vec<_>>().as_slice() {
        [name] => (*name, None),
        [name, type_id] => (*name, Some(type_id.parse::<u32>().ok()?)),
        _ => return None,
    };
    let Some(sequence) = name.strip_prefix('$') else {
        return Some(TemplatePiece::Special { id: name.to_owned(), type_id: given_type.unwrap_or(0) });
    };
    let (id, own_type) = match sequence {
        "" | "A" | "a" => (TemplateSequence::A, 0),
        "B" | "b" => (TemplateSequence::B, 0),
        number => (TemplateSequence::A, number.parse().ok()?),
    };
    Some(TemplatePiece::Sequence { id, type_id: given_type.unwrap_or(own_type) })
}

/// A template as one string, cut at spaces, or as a list of pieces.
fn template(argument: &Bound<'_, PyAny>) -> PyResult<Vec<TemplatePiece>> {
    let pieces: Vec<String> = if let Ok(text) = argument.cast::<PyString>() {
        text.to_str()?.split(' ').map(str::to_owned).collect()
    } else {
        argument.extract().map_err(|_| PyTypeError::new_err("Expected Union[str, List[str]]"))?
    };
    let piece = |text: &String| {
        let message = || format!("template piece is {text:?} but must be like $A, $B:1, [CLS] or [SEP]:1");
        template_piece(text).ok_or_else(|| exception(argument.py(), "OptionError", message()))
    };
    pieces.iter().map(piece).collect()
}

fn template_token(item: &Bound<'_, PyAny>) -> PyResult<TemplateToken> {
    if let Ok((text, id)) = item.extract::<(String, u32)>() {
        return Ok(TemplateToken { id: text.clone(), symbols: vec![symbol((text, id))] });
    }
    if let Ok((id, text)) = item.extract::<(u32, String)>() {
        return Ok(TemplateToken { id: text.clone(), symbols: vec![symbol((text, id))] });
    }
    let Ok(spec) = item.cast::<PyDict>() else {
        return Err(PyTypeError::new_err("Expected Union[Tuple[str, int], Tuple[int, str], dict]"));
    };
    let get = |key: &str| {
        let missing = || PyValueError::new_err(format!("`{key}` must be specified"));
        spec.get_item(key)?.ok_or_else(missing)
    };
    let ids: Vec<u32> = get("ids")?.extract()?;
    let texts: Vec<String> = get("tokens")?.extract()?;
    if ids.len() != texts.len() {
        let message = format!("special token has {} ids but {} tokens", ids.len(), texts.len());
        return Err(exception(item.py(), "OptionError", message));
    }
    let symbols = texts.into_iter().zip(ids).map(symbol).collect();
    Ok(TemplateToken { id: get("id")?.extract()?, symbols })
}

#[pymethods]
impl PyTemplateProcessing {
    #[new]
    #[pyo3(signature = (single=None, pair=None, special_tokens=None))]
    fn new(
        py: Python<'_>,
        single: Option<&Bound<'_, PyAny>>,
        pair: Option<&Bound<'_, PyAny>>,
        special_tokens: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let sequence = |id, type_id| TemplatePiece::Sequence { id, type_id };
        let single = single.map_or_else(|| Ok(vec![sequence(TemplateSequence::A, 0)]), template)?;
        let default_pair = || Ok(vec![sequence(TemplateSequence::A, 0), sequence(TemplateSequence::B, 1)]);
        let pair = pair.map_or_else(default_pair, template)?;
        let tokens = special_tokens.unwrap_or_default();
        let tokens = tokens.iter().map(template_token).collect::<PyResult<Vec<_>>>()?;
        let template = Template::new(single, pair, tokens).or_raise(py)?;
        Ok(PyClassInitializer::from(PyPostProcessor::of(PostProcessor::Template(template)))
            .add_subclass(Self))
    }

    #[getter]
    fn get_single(this: PyRef<'_, Self>) -> String {
        let pieces = match this.as_super().stage.get() {
            PostProcessor::Template(template) => template.single().to_vec(),
            _ => Vec::new(),
        };
        let shown = pieces.iter().map(|piece| match piece {
            TemplatePiece::Sequence { id, type_id } => {
                format!("Sequence {{ id: {id:?}, type_id: {type_id} }}")
            }
            TemplatePiece::Special { id, type_id } => {
                format!("SpecialToken {{ id: {id:?}, type_id: {type_id} }}")
            }
        });
        format!("Template([{}])", shown.collect::<Vec<_>>().join(", "))
    }

    #[setter]
    fn set_single(this: PyRef<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let PostProcessor::Template(current) = this.as_super().stage.get() else { return Ok(()) };
        let changed = Template::new(template(value)?, current.pair().to_vec(), current.tokens().to_vec());
        this.as_super().stage.set(PostProcessor::Template(changed.or_raise(this.py())?));
        Ok(())
    }
}

/// Post-processors one after the other.
#[pyclass(name = "Sequence", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(super) struct PySequence;

#[pymethods]
impl PySequence {
    #[new]
    fn new(processors: Vec<Bound<'_, PyPostProcessor>>) -> PyClassInitializer<Self> {
        let stages = processors.iter().map(|stage| Arc::clone(&stage.get().stage)).collect();
        PyClassInitializer::from(PyPostProcessor { stage: Stage::of_sequence(stages) }).add_subclass(Self)
    }

    fn __getitem__(this: PyRef<'_, Self>, py: Python<'_>, at: i64) -> PyResult<Py<PyAny>> {
        let stage = this.as_super().stage.element(index(at)?).ok_or_else(no_such_index)?;
        wrap(py, stage)
    }

    fn __setitem__(this: PyRef<'_, Self>, at: i64, value: &Bound<'_, PyPostProcessor>) -> PyResult<()> {
        let was_set = this.as_super().stage.set_element(index(at)?, Arc::clone(&value.get().stage));
        if was_set { Ok(()) } else { Err(no_such_index()) }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [PyList::empty(py)])
    }
}
