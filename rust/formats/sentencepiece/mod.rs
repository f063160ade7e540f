//! SentencePiece's `.model` files, and its `.spm.fb` files.
//!
//! A tokenizer read from such a file gives the same ids as SentencePiece. Of its normalization rules the longest match
//! wins, sums of scores have 32 bits, and unknown, control, byte and unused pieces are never found in text. Special
//! tokens in text go to the model (`encode_special_tokens`), as in SentencePiece. Field numbers are from
//! `sentencepiece_model.proto`.

mod checks;
mod content;
mod fields;
mod lite;
mod lite_write;
mod read;
mod write;

use std::path::Path;

pub use read::read;
pub use write::{write, write_lite};

use super::foreign::refuse_foreign;
use super::vocab_files;
use crate::tokenizer::Components;
use crate::{Error, Result};

/// Reads a `.model` or a `.spm.fb` file.
///
/// # Errors
/// The errors of [`read()`], [`Error::Io`], and [`Error::Format`] for a file of another kind.
pub fn read_file(path: &Path) -> Result<Components> {
    let (bytes, name) = (vocab_files::read_bytes(path)?, path.display().to_string());
    let wrong = |message: &str| Err(Error::Format { path: name.clone(), message: message.to_owned() });
    if !lite::is_lite(&bytes) {
        refuse_foreign(&bytes, &name)?;
    }
    if bytes.is_empty() {
        return wrong("there is nothing in it");
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        return wrong("this is JSON; read a tokenizer.json with Tokenizer.from_file");
    }
    read(&bytes).map_err(|error| error.in_file(&name))
}

/// True for the name of a `.spm.fb` file: its ending is `.fb`.
pub fn is_lite_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fb"))
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

/// Fields of the model in a `.spm.fb` file.
mod lite_model {
    pub(super) const PIECES: usize = 0;
    pub(super) const SCORES: usize = 1;
    pub(super) const INT_SCORES: usize = 2;
    pub(super) const TYPES: usize = 3;
    pub(super) const UNK_ID: usize = 4;
    pub(super) const UNK_SURFACE: usize = 5;
    pub(super) const MODEL_TYPE: usize = 6;
    pub(super) const NORMALIZER: usize = 7;
    pub(super) const PIECES_TRIE: usize = 8;
    pub(super) const PREFIX_TRIE: usize = 9;
    pub(super) const NEIGHBOURS_TRIE: usize = 10;
    pub(super) const HAS_DIRECT: usize = 11;
    pub(super) const IS_DIRECT: usize = 12;
    pub(super) const BOS_ID: usize = 13;
    pub(super) const EOS_ID: usize = 14;
    pub(super) const PAD_ID: usize = 15;
}

/// Fields of the normalization options in a `.spm.fb` file.
mod lite_normalizer {
    pub(super) const NAME: usize = 0;
    pub(super) const CHARSMAP: usize = 1;
    pub(super) const DUMMY_PREFIX: usize = 2;
    pub(super) const EXTRA_WHITESPACES: usize = 3;
    pub(super) const ESCAPE: usize = 4;
    pub(super) const WHITESPACE_AS_SUFFIX: usize = 5;
}

/// The name of rules that are written.
const NAME: &str = "user_defined";

/// The visible space.
const SPACE: &str = "\u{2581}";

/// Patterns of the `Replace` stages that remove extra spaces: runs of spaces, and spaces at the ends.
///
/// The second removes a visible space at the end as well, since SentencePiece takes it for a space.
const RUNS: &str = " {2,}";
const ENDS: &str = r"\A +|[ ▁]+\z";
