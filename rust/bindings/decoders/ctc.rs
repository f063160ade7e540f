//! `lexmill.decoders.CTC`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::bindings::stage_class::stage_fields;
use crate::decoders::{Ctc, Decoder};

/// Turns the labels of a CTC model into text: repeated labels count once, and gaps are left out.
///
/// Args:
///     `pad_token`: the label for a gap, which also stands between equal letters.
///     `word_delimiter_token`: the label between words.
///     `cleanup`: puts spaces between words, and takes them out before punctuation and in English contractions.
#[pyclass(name = "CTC", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(in crate::bindings) struct PyCtc;

#[pymethods]
impl PyCtc {
    #[new]
    #[pyo3(signature = (pad_token="<pad>".to_owned(), word_delimiter_token="|".to_owned(), cleanup=true),
        text_signature = "(pad_token='<pad>', word_delimiter_token='|', cleanup=True)")]
    fn new(pad_token: String, word_delimiter_token: String, cleanup: bool) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::Ctc(Ctc { pad_token, word_delimiter_token, cleanup })).add_subclass(Self)
    }
}

stage_fields! { PyCtc: Decoder::Ctc(ctc) => {
    pad_token set_pad_token: String = ctc.pad_token;
    word_delimiter_token set_word_delimiter_token: String = ctc.word_delimiter_token;
    cleanup set_cleanup: bool = ctc.cleanup;
}}
