//! What SentencePiece's normalizer and its decoder share: rules compiled into one table, and the rewriting of text by
//! them. (Before text is encoded it is normalized, after it is decoded it is denormalized.)

mod charsmap;
mod rewrite;

pub use charsmap::Charsmap;
pub use rewrite::{SentencePiece, SentencePieceOptions};
