//! `lexmill.decoders.WordPiece`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::bindings::stage_class::stage_fields;
use crate::decoders::Decoder;

/// Takes the prefix off tokens inside a word, and puts a space before all other tokens but the first.
///
/// Args:
///     `prefix`: the prefix of tokens inside a word.
///     `cleanup`: takes spaces out before punctuation and in English contractions.
#[pyclass(name = "WordPiece", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(in crate::bindings) struct PyWordPiece;

#[pymethods]
impl PyWordPiece {
    #[new]
    #[pyo3(signature = (prefix="##".to_owned(), cleanup=true), text_signature = "(prefix='##', cleanup=True)")]
    fn new(prefix: String, cleanup: bool) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::WordPiece { prefix, cleanup }).add_subclass(Self)
    }
}

stage_fields! { PyWordPiece: Decoder::WordPiece { prefix, cleanup } => {
    prefix set_prefix: String = *prefix;
    cleanup set_cleanup: bool = *cleanup;
}}
