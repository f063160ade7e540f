//! `lexmill.processors.BertProcessing` and `RobertaProcessing`.

use pyo3::prelude::*;

use super::PyPostProcessor;
use crate::bindings::properties::symbol;
use crate::bindings::stage_class::stage_fields;
use crate::encoding::Symbol;
use crate::processors::{Bert, PostProcessor, Roberta};

/// BERT's arrangement: `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.
///
/// Args:
///     `sep`: text and id of the token after each sequence.
///     `cls_token`: text and id of the first token.
#[pyclass(name = "BertProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(in crate::bindings) struct PyBertProcessing;

#[pymethods]
impl PyBertProcessing {
    #[new]
    #[pyo3(signature = (sep, cls_token))]
    fn new(sep: (String, u32), cls_token: (String, u32)) -> PyClassInitializer<Self> {
        let bert = Bert { sep: symbol(sep), cls: symbol(cls_token) };
        PyPostProcessor::of(PostProcessor::Bert(bert)).add_subclass(Self)
    }

    fn __getnewargs__(&self) -> ((&'static str, u32), (&'static str, u32)) {
        (("", 0), ("", 0))
    }
}

stage_fields! { PyBertProcessing: PostProcessor::Bert(bert) => {
    sep set_sep: Symbol = bert.sep;
    cls set_cls: Symbol = bert.cls;
}}

/// RoBERTa's arrangement: `<s> A </s>` and `<s> A </s></s> B </s>`.
///
/// Args:
///     `sep`: text and id of the token around sequences.
///     `cls_token`: text and id of the first token.
///     `trim_offsets`: takes spaces out of offsets.
///     `add_prefix_space`: leaves alone the offsets of a space that the pre-tokenizer put before the text.
#[pyclass(name = "RobertaProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(in crate::bindings) struct PyRobertaProcessing;

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
        PyPostProcessor::of(PostProcessor::Roberta(roberta)).add_subclass(Self)
    }

    fn __getnewargs__(&self) -> ((&'static str, u32), (&'static str, u32)) {
        (("", 0), ("", 0))
    }
}

stage_fields! { PyRobertaProcessing: PostProcessor::Roberta(roberta) => {
    sep set_sep: Symbol = roberta.sep;
    cls set_cls: Symbol = roberta.cls;
    trim_offsets set_trim_offsets: bool = roberta.trim_offsets;
    add_prefix_space set_add_prefix_space: bool = roberta.add_prefix_space;
}}
