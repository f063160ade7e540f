//! `lexmill.processors.BertProcessing`.

use pyo3::prelude::*;

use super::{PyPostProcessor, symbol};
use crate::bindings::components::unpickled;
use crate::processors::{Bert, PostProcessor};

/// BERT's arrangement: `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.
#[pyclass(name = "BertProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(in crate::bindings) struct PyBertProcessing;

fn bert(this: &PyRef<'_, PyBertProcessing>) -> PyResult<Bert> {
    match this.as_super().stage.get() {
        PostProcessor::Bert(bert) => Ok(bert),
        _ => Err(unpickled("post-processor")),
    }
}

fn set_bert(this: &PyRef<'_, PyBertProcessing>, change: impl FnOnce(&mut Bert)) -> PyResult<()> {
    let mut changed = bert(this)?;
    change(&mut changed);
    this.as_super().stage.set(PostProcessor::Bert(changed));
    Ok(())
}

#[pymethods]
impl PyBertProcessing {
    #[new]
    #[pyo3(signature = (sep, cls_token))]
    fn new(sep: (String, u32), cls_token: (String, u32)) -> PyClassInitializer<Self> {
        let bert = Bert { sep: symbol(sep), cls: symbol(cls_token) };
        PyClassInitializer::from(PyPostProcessor::of(PostProcessor::Bert(bert))).add_subclass(Self)
    }

    #[getter]
    fn get_sep(this: PyRef<'_, Self>) -> PyResult<(String, u32)> {
        bert(&this).map(|bert| (bert.sep.text.to_string(), bert.sep.id))
    }

    #[setter]
    fn set_sep(this: PyRef<'_, Self>, value: (String, u32)) -> PyResult<()> {
        set_bert(&this, |bert| bert.sep = symbol(value))
    }

    #[getter]
    fn get_cls(this: PyRef<'_, Self>) -> PyResult<(String, u32)> {
        bert(&this).map(|bert| (bert.cls.text.to_string(), bert.cls.id))
    }

    #[setter]
    fn set_cls(this: PyRef<'_, Self>, value: (String, u32)) -> PyResult<()> {
        set_bert(&this, |bert| bert.cls = symbol(value))
    }

    fn __getnewargs__(&self) -> ((&'static str, u32), (&'static str, u32)) {
        (("", 0), ("", 0))
    }
}
