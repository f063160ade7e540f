//! `lexmill.normalizers.BertNormalizer`.

use pyo3::prelude::*;

use super::PyNormalizer;
use crate::normalizers::{Bert, Normalizer};

/// BERT's clean-up: control characters, spaces around ideographs, accents, case.
#[pyclass(name = "BertNormalizer", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PyBertNormalizer;

fn options(this: &PyRef<'_, PyBertNormalizer>) -> Bert {
    match this.as_super().stage.get() {
        Normalizer::Bert(bert) => bert,
        _ => Bert::default(),
    }
}

fn set_options(this: &PyRef<'_, PyBertNormalizer>, change: impl FnOnce(&mut Bert)) {
    let mut changed = options(this);
    change(&mut changed);
    this.as_super().stage.set(Normalizer::Bert(changed));
}

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

    #[getter]
    fn get_clean_text(this: PyRef<'_, Self>) -> bool {
        options(&this).clean_text
    }

    #[setter]
    fn set_clean_text(this: PyRef<'_, Self>, value: bool) {
        set_options(&this, |bert| bert.clean_text = value);
    }

    #[getter]
    fn get_handle_chinese_chars(this: PyRef<'_, Self>) -> bool {
        options(&this).handle_chinese_chars
    }

    #[setter]
    fn set_handle_chinese_chars(this: PyRef<'_, Self>, value: bool) {
        set_options(&this, |bert| bert.handle_chinese_chars = value);
    }

    #[getter]
    fn get_strip_accents(this: PyRef<'_, Self>) -> Option<bool> {
        options(&this).strip_accents
    }

    #[setter]
    fn set_strip_accents(this: PyRef<'_, Self>, value: Option<bool>) {
        set_options(&this, |bert| bert.strip_accents = value);
    }

    #[getter]
    fn get_lowercase(this: PyRef<'_, Self>) -> bool {
        options(&this).lowercase
    }

    #[setter]
    fn set_lowercase(this: PyRef<'_, Self>, value: bool) {
        set_options(&this, |bert| bert.lowercase = value);
    }
}
