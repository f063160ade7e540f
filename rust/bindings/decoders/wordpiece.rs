//! `lexmill.decoders.WordPiece`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::decoders::Decoder;

/// Takes the prefix off what continues a word, and puts a space before all else.
#[pyclass(name = "WordPiece", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(in crate::bindings) struct PyWordPiece;

fn options(this: &PyRef<'_, PyWordPiece>) -> (String, bool) {
    match this.as_super().stage.get() {
        Decoder::WordPiece { prefix, cleanup } => (prefix, cleanup),
        _ => (String::new(), false),
    }
}

#[pymethods]
impl PyWordPiece {
    #[new]
    #[pyo3(signature = (prefix="##".to_owned(), cleanup=true), text_signature = "(prefix='##', cleanup=True)")]
    fn new(prefix: String, cleanup: bool) -> PyClassInitializer<Self> {
        PyDecoder::of(Decoder::WordPiece { prefix, cleanup }).add_subclass(Self)
    }

    #[getter]
    fn get_prefix(this: PyRef<'_, Self>) -> String {
        options(&this).0
    }

    #[setter]
    fn set_prefix(this: PyRef<'_, Self>, value: String) {
        let cleanup = options(&this).1;
        this.as_super().stage.set(Decoder::WordPiece { prefix: value, cleanup });
    }

    #[getter]
    fn get_cleanup(this: PyRef<'_, Self>) -> bool {
        options(&this).1
    }

    #[setter]
    fn set_cleanup(this: PyRef<'_, Self>, value: bool) {
        let prefix = options(&this).0;
        this.as_super().stage.set(Decoder::WordPiece { prefix, cleanup: value });
    }
}
