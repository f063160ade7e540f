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
mod bindings;

pub use error::{Error, Result};
