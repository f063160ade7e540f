//! Readers and writers of file formats. No other module knows a file layout.

pub mod components;
mod fields;
mod flatbuffers;
mod foreign;
pub mod model_json;
pub(crate) mod protobuf;
pub mod sentencepiece;
mod splits;
pub mod tiktoken;
pub mod tokenizer_json;
mod version;
pub mod vocab_files;
