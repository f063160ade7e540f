//! `lexmill.decoders.CTC`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::decoders::{Ctc, Decoder};

/// From labels of letters, some of them repeated and some for gaps, to text.
#[pyclass(name = "CTC", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(in crate::bindings) struct PyCtc;

fn options(this: &PyRef<'_, PyCtc>) -> Ctc {
    match this.as_super().stage.get() {
        Decoder::Ctc(ctc) => ctc,
        _ => Ctc::default(),
    }
}

fn set(this: &PyRef<'_, PyCtc>, ctc: Ctc) {
    this.as_super().stage.set(Decoder::Ctc(ctc));
}

#[pymethods]
impl PyCtc {
    #[new]
    #[pyo3(signature = (pad_token="<pad>".to_owned(), word_delimiter_token="|".to_owned(), cleanup=true),
        text_signature = "(pad_token='<pad>', word_delimiter_token='|', cleanup=True)")]
    fn new(pad_token: String, word_delimiter_token: String, cleanup: bool) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::Ctc(Ctc { pad_token, word_delimiter_token, cleanup })).add_subclass(Self)
    }

    #[getter]
    fn get_pad_token(this: PyRef<'_, Self>) -> String {
        options(&this).pad_token
    }

    #[setter]
    fn set_pad_token(this: PyRef<'_, Self>, value: String) {
        set(&this, Ctc { pad_token: value, ..options(&this) });
    }

    #[getter]
    fn get_word_delimiter_token(this: PyRef<'_, Self>) -> String {
        options(&this).word_delimiter_token
    }

    #[setter]
    fn set_word_delimiter_token(this: PyRef<'_, Self>, value: String) {
        set(&this, Ctc { word_delimiter_token: value, ..options(&this) });
    }

    #[getter]
    fn get_cleanup(this: PyRef<'_, Self>) -> bool {
        options(&this).cleanup
    }

    #[setter]
    fn set_cleanup(this: PyRef<'_, Self>, value: bool) {
        set(&this, Ctc { cleanup: value, ..options(&this) });
    }
}
