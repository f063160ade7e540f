//! `lexmill.normalizers.BertNormalizer`.

use pyo3::prelude::*;

use super::PyNormalizer;
use crate::bindings::stage_class::stage_fields;
use crate::normalizers::{Bert, Normalizer};

/// BERT's normalization: control characters, spaces around ideographs, accents, case.
///
/// Args:
///     `clean_text`: drops control characters and makes white space plain spaces.
///     `handle_chinese_chars`: puts spaces around ideographs.
///     `strip_accents`: drops combining marks; None means the same as `lowercase`.
///     `lowercase`: puts the text in lower case.
#[pyclass(name = "BertNormalizer", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PyBertNormalizer;

#[pymethods]
impl PyBertNormalizer {
    #[new]
    #[pyo3(signature = (clean_text=true, handle_chinese_chars=true, strip_accents=None, lowercase=true))]
    fn new(
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    ) -> PyClassInitializer<Self> {
        let bert = Bert { clean_text, handle_chinese_chars, strip_accents, lowercase };
        PyNormalizer::of(Normalizer::Bert(bert)).add_subclass(Self)
    }
}

stage_fields! { PyBertNormalizer: Normalizer::Bert(bert) => {
    clean_text set_clean_text: bool = bert.clean_text;
    handle_chinese_chars set_handle_chinese_chars: bool = bert.handle_chinese_chars;
    strip_accents set_strip_accents: Option<bool> = bert.strip_accents;
    lowercase set_lowercase: bool = bert.lowercase;
}}
