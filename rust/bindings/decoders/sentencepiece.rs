//! `lexmill.decoders.SentencePiece`.

use pyo3::prelude::*;

use super::PyDecoder;
use crate::bindings::errors::OrRaise;
use crate::bindings::stage_class::stage_fields;
use crate::decoders::{Decoder, SentencePieceDecoder};
use crate::sentencepiece::{Charsmap, SentencePiece, SentencePieceOptions};

/// All of SentencePiece's decoding at once, as `Tokenizer.from_spm` sets it up.
///
/// The unknown token is shown even where special tokens are left out.
///
/// Args:
///     `unk_token`: the unknown token; None if there is none.
///     `unk_surface`: the text of the unknown token.
///     `byte_fallback`: tokens such as `<0xE2>` are bytes. Bytes that are not UTF-8 become U+FFFD, one each.
///     `add_dummy_prefix`: takes one space off the beginning of the text.
///     `remove_extra_whitespaces`: takes one space off each of the first tokens, until there is text.
///     `precompiled_charsmap`: compiled rules that rewrite the text in the end (rules of denormalization), of which the
///         longest that matches is applied; None for no rules.
///
/// Raises:
///     `FormatError`: `precompiled_charsmap` is malformed.
#[pyclass(name = "SentencePiece", module = "lexmill.decoders", extends = PyDecoder, frozen)]
pub(in crate::bindings) struct PySentencePiece;

#[pymethods]
impl PySentencePiece {
    #[new]
    #[pyo3(signature = (
        unk_token=Some("<unk>".to_owned()), unk_surface=SentencePieceDecoder::UNK_SURFACE.to_owned(), *,
        byte_fallback=false, add_dummy_prefix=true, remove_extra_whitespaces=true, precompiled_charsmap=None,
    ), text_signature = "(unk_token='<unk>', unk_surface=' \\u2047 ', *, byte_fallback=False, add_dummy_prefix=True, \
        remove_extra_whitespaces=True, precompiled_charsmap=None)")]
    fn new(
        py: Python<'_>,
        unk_token: Option<String>,
        unk_surface: String,
        byte_fallback: bool,
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        precompiled_charsmap: Option<&[u8]>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let rules = |blob: &[u8]| {
            SentencePiece::new(SentencePieceOptions {
                charsmap: Some(Charsmap::new(blob)?.longest_first()),
                add_dummy_prefix: false,
                remove_extra_whitespaces: false,
                escape_whitespaces: false,
                ..SentencePieceOptions::default()
            })
        };
        let denormalizer = precompiled_charsmap.map(rules).transpose().or_raise(py)?;
        let stage = SentencePieceDecoder {
            unk_token,
            unk_surface,
            byte_fallback,
            add_dummy_prefix,
            remove_extra_whitespaces,
            denormalizer,
        };
        Ok(PyDecoder::of(Decoder::SentencePiece(stage)).add_subclass(Self))
    }
}

stage_fields! { PySentencePiece: Decoder::SentencePiece(stage) => {
    unk_token set_unk_token: Option<String> = stage.unk_token;
    unk_surface set_unk_surface: String = stage.unk_surface;
    byte_fallback set_byte_fallback: bool = stage.byte_fallback;
    add_dummy_prefix set_add_dummy_prefix: bool = stage.add_dummy_prefix;
    remove_extra_whitespaces set_remove_extra_whitespaces: bool = stage.remove_extra_whitespaces;
}}
