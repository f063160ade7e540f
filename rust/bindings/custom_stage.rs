//! Python objects as stages, made by `Normalizer.custom`, `PreTokenizer.custom` and `Decoder.custom`.
//!
//! A normalizer or a pre-tokenizer gets a copy of the text as an object. After the call, the changed copy replaces the text. A
//! decoder gets the tokens as a list and returns other tokens.

use std::fmt;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;

use super::normalized_string::PyNormalizedString;
use super::pre_tokenized_string::PyPreTokenizedString;
use crate::decoders::{CustomDecoder, Decoder};
use crate::normalized::{NormalizedString, PreTokenizedString};
use crate::normalizers::{CustomNormalizer, Normalizer};
use crate::pre_tokenizers::{CustomPreTokenizer, PreTokenizer};
use crate::{Error, Result};

/// A Python object whose method a stage calls.
pub(super) struct CustomStage(Py<PyAny>);

impl CustomStage {
    /// `object.normalize(text: NormalizedString)` as a normalizer.
    pub(super) fn normalizer(object: Py<PyAny>) -> Normalizer {
        Normalizer::Custom(Arc::new(Self(object)))
    }

    /// `object.pre_tokenize(text: PreTokenizedString)` as a pre-tokenizer.
    pub(super) fn pre_tokenizer(object: Py<PyAny>) -> PreTokenizer {
        PreTokenizer::Custom(Arc::new(Self(object)))
    }

    /// `object.decode_chain(tokens: list[str]) -> list[str]` as a decoder.
    pub(super) fn decoder(object: Py<PyAny>) -> Decoder {
        Decoder::Custom(Arc::new(Self(object)))
    }

    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| call(self.0.bind(py)).map_err(|error| Error::Custom(Box::new(error))))
    }
}

impl fmt::Debug for CustomStage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "CustomStage({:?})", self.0.as_ptr())
    }
}

impl CustomNormalizer for CustomStage {
    fn normalize(&self, text: &mut NormalizedString) -> Result<()> {
        self.call(|object| {
            let shown = Bound::new(object.py(), PyNormalizedString::of(text.clone()))?;
            object.call_method1(intern!(object.py(), "normalize"), (&shown,))?;
            *text = shown.get().get();
            Ok(())
        })
    }
}

impl CustomPreTokenizer for CustomStage {
    fn pre_tokenize(&self, text: &mut PreTokenizedString) -> Result<()> {
        self.call(|object| {
            let shown = Bound::new(object.py(), PyPreTokenizedString::of(text.clone()))?;
            object.call_method1(intern!(object.py(), "pre_tokenize"), (&shown,))?;
            *text = shown.get().get();
            Ok(())
        })
    }
}

impl CustomDecoder for CustomStage {
    fn decode_chain(&self, tokens: Vec<String>) -> Result<Vec<String>> {
        self.call(|object| object.call_method1(intern!(object.py(), "decode_chain"), (tokens,))?.extract())
    }
}
