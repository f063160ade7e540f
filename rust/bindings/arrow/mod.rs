//! Arrow's C interface, by the crate `arrow-array`: columns of texts in, columns of tokens and counted words out.

mod capsule;
mod counted_words;
mod export;
mod import;
mod stream;

pub(super) use counted_words::counted_words_stream;
pub(super) use export::{ArrowColumn, Values, export};
pub(super) use import::{Column, Imported};
pub(super) use stream::taken_stream;
