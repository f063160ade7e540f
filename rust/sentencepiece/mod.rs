//! Code for SentencePiece's normalizer and its decoder: rules compiled into one table, and the rewriting of text by the
//! rules. (Text is normalized before it is encoded, and denormalized after it is decoded.)

mod charsmap;
mod rewrite;

pub use charsmap::Charsmap;
pub use rewrite::{SentencePiece, SentencePieceOptions};
