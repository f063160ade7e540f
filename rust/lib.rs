//! Trains and runs subword tokenizers.

pub mod added_tokens;
pub mod byte_level;
pub mod corpus;
pub mod decoders;
pub mod encoding;
pub mod engine;
pub mod error;
pub mod formats;
pub mod models;
pub mod normalized;
pub mod normalizers;
pub mod pre_tokenizers;
pub mod processors;
pub mod scan;
pub mod structures;
pub mod tokenizer;
pub mod trainers;
pub mod vocab;

#[cfg(feature = "python")]
#[expect(
    clippy::needless_pass_by_value,
    clippy::unused_self,
    reason = "pyo3 hands arguments and receivers over by value, and methods of Python's protocols take theirs"
)]
mod bindings;

pub use error::{Error, Result};
