//! SentencePiece's `.model` files.
//!
//! A tokenizer read from such a file gives the same ids as SentencePiece. Of its normalization rules the longest match
//! wins, sums of scores have 32 bits, and unknown, control, byte and unused pieces are never found in text. Special
//! tokens in text go to the model (`encode_special_tokens`), as in SentencePiece. Field numbers are from
//! `sentencepiece_model.proto`.

mod checks;
mod content;
mod read;
mod write;

use std::path::Path;

pub use read::read;
pub use write::write;

use super::foreign::refuse_foreign;
use super::vocab_files;
use crate::tokenizer::Components;
use crate::{Error, Result};

/// Reads a `.model` file.
///
/// # Errors
/// The errors of [`read()`], [`Error::Io`], and [`Error::Format`] for a file of another kind.
pub fn read_file(path: &Path) -> Result<Components> {
    let (bytes, name) = (vocab_files::read_bytes(path)?, path.display().to_string());
    let wrong = |message: &str| Err(Error::Format { path: name.clone(), message: message.to_owned() });
    refuse_foreign(&bytes, &name)?;
    if bytes.is_empty() {
        return wrong("there is nothing in it");
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        return wrong("this is JSON; read a tokenizer.json with Tokenizer.from_file");
    }
    read(&bytes).map_err(|error| error.in_file(&name))
}

/// Fields of the model.
mod model {
    pub(super) const PIECES: u64 = 1;
    pub(super) const TRAINER: u64 = 2;
    pub(super) const NORMALIZER: u64 = 3;
    pub(super) const DENORMALIZER: u64 = 5;
}

/// Fields of a piece.
mod piece {
    pub(super) const TEXT: u64 = 1;
    pub(super) const SCORE: u64 = 2;
    pub(super) const KIND: u64 = 3;
}

/// Fields of the training options.
mod trainer {
    pub(super) const MODEL_TYPE: u64 = 3;
    pub(super) const VOCAB_SIZE: u64 = 4;
    pub(super) const WHITESPACE_AS_SUFFIX: u64 = 24;
    pub(super) const BYTE_FALLBACK: u64 = 35;
    pub(super) const UNK_ID: u64 = 40;
    pub(super) const BOS_ID: u64 = 41;
    pub(super) const EOS_ID: u64 = 42;
    pub(super) const PAD_ID: u64 = 43;
    pub(super) const UNK_SURFACE: u64 = 44;
    pub(super) const UNK_PIECE: u64 = 45;
}

/// Model types.
mod model_type {
    pub(super) const UNIGRAM: u64 = 1;
    pub(super) const BPE: u64 = 2;
    pub(super) const WORD: u64 = 3;
    pub(super) const CHAR: u64 = 4;
}

/// Fields of the normalization options.
mod normalizer {
    pub(super) const NAME: u64 = 1;
    pub(super) const CHARSMAP: u64 = 2;
    pub(super) const DUMMY_PREFIX: u64 = 3;
    pub(super) const EXTRA_WHITESPACES: u64 = 4;
    pub(super) const ESCAPE: u64 = 5;
}

/// The visible space.
const SPACE: &str = "\u{2581}";

/// Patterns of the `Replace` stages that remove extra spaces: runs of spaces, and spaces at the ends.
///
/// The second removes a visible space at the end as well, since SentencePiece takes it for a space.
const RUNS: &str = " {2,}";
const ENDS: &str = r"\A +|[ ▁]+\z";
