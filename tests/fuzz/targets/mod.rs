//! What the fuzz targets do with bytes.
//!
//! A target panics if a law is broken. `fuzz_targets/` runs the targets under libFuzzer, and the integration tests run them on all
//! seeds and finds.

mod bytes;
mod compose;
pub(crate) mod encode_decode;
mod laws;
pub(crate) mod regex;
pub(crate) mod sentencepiece_model;
pub(crate) mod tiktoken_file;
pub(crate) mod tokenizer_json;
pub(crate) mod vocab_files;
