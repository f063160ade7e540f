//! A tokenizer in the terms of a `.model` file.

use crate::models::piece_kind::PieceKind;
use crate::{Error, Result};

/// The normalization options of the file.
#[derive(Debug)]
pub(super) struct Normalization<'a> {
    pub(super) charsmap: Vec<u8>,
    pub(super) dummy_prefix: bool,
    pub(super) extra_whitespaces: bool,
    pub(super) whitespace_as_suffix: bool,
    /// Texts that no rule touches, if the stage has them.
    pub(super) user_defined: Option<&'a [String]>,
    pub(super) input: Input,
}

/// The text that the model gets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Text,
    Words,
}

/// A model as the file stores it.
#[derive(Debug)]
pub(super) struct Content<'a> {
    pub(super) model_type: u64,
    pub(super) byte_fallback: bool,
    /// By id, without gaps.
    pub(super) pieces: Vec<(&'a str, f64, PieceKind)>,
}

/// True if a piece stands for a byte: `<0x`, two hexadecimal digits in capitals, `>`.
pub(super) fn is_byte(text: &str) -> bool {
    let digits = text.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    digits.is_some_and(|digits| digits.len() == 2 && digits.bytes().all(is_digit))
}

/// The error for a tokenizer that the file cannot hold.
pub(super) fn unsupported<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Unsupported(message.into()))
}
