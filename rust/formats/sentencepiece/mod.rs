//! SentencePiece's `.model` files.
//!
//! A tokenizer read from one gives the ids of SentencePiece itself: the rules of normalization are applied longest
//! match first, sums of scores are kept in 32 bits, and the unknown, control, byte and unused pieces are never found in
//! text. Special tokens are left to the model (`encode_special_tokens`), as they are there. Field numbers are those of
//! `sentencepiece_model.proto`.

mod read;
mod write;

pub use read::read;
pub use write::write;

/// Fields of the model.
mod model {
    pub(super) const PIECES: u64 = 1;
    pub(super) const TRAINER: u64 = 2;
    pub(super) const NORMALIZER: u64 = 3;
}

/// Fields of a piece.
mod piece {
    pub(super) const TEXT: u64 = 1;
    pub(super) const SCORE: u64 = 2;
    pub(super) const KIND: u64 = 3;
}

/// Fields of the options of training.
mod trainer {
    pub(super) const MODEL_TYPE: u64 = 3;
    pub(super) const VOCAB_SIZE: u64 = 4;
    pub(super) const WHITESPACE_AS_SUFFIX: u64 = 24;
    pub(super) const BYTE_FALLBACK: u64 = 35;
    pub(super) const UNK_ID: u64 = 40;
    pub(super) const BOS_ID: u64 = 41;
    pub(super) const EOS_ID: u64 = 42;
    pub(super) const PAD_ID: u64 = 43;
    pub(super) const UNK_PIECE: u64 = 45;
}

/// Kinds of models.
mod model_type {
    pub(super) const UNIGRAM: u64 = 1;
    pub(super) const BPE: u64 = 2;
    pub(super) const WORD: u64 = 3;
    pub(super) const CHAR: u64 = 4;
}

/// Fields of the options of normalization.
mod normalizer {
    pub(super) const NAME: u64 = 1;
    pub(super) const CHARSMAP: u64 = 2;
    pub(super) const DUMMY_PREFIX: u64 = 3;
    pub(super) const EXTRA_WHITESPACES: u64 = 4;
    pub(super) const ESCAPE: u64 = 5;
}

/// The visible space.
const SPACE: &str = "\u{2581}";

/// What takes the place of runs of spaces, and of spaces at the ends, where extra ones go.
///
/// A visible space at the end goes too, since it is taken for one.
const RUNS: &str = " {2,}";
const ENDS: &str = r"\A +|[ ▁]+\z";
