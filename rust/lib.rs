//! Trains and runs subword tokenizers on the CPU.
//!
//! A text goes through the stages in this order. Each stage has a module of the same name, with one file per variant:
//!
//! ```text
//! added_tokens -> normalizers -> pre_tokenizers -> models -> processors        decoders: ids back to text
//! ```
//!
//! [`tokenizer`] composes the stages, [`pipeline`] is the fast path through them, [`trainers`] learn models, and
//! [`formats`] read and write files. `docs/architecture.md` explains how and why.
//!
//! ```
//! use std::sync::Arc;
//!
//! use lexmill::cache::KeyForm;
//! use lexmill::models::Model;
//! use lexmill::models::bpe::BpeOptions;
//! use lexmill::pre_tokenizers::PreTokenizer;
//! use lexmill::tokenizer::{EncodeInput, Components, Sequence, Tokenizer};
//! use lexmill::trainers::bpe::BpeTrainer;
//! use lexmill::trainers::word_counts::WordCounts;
//!
//! # fn main() -> lexmill::Result<()> {
//! // Train on counted words: `lo` is the most frequent pair, then `low`.
//! let mut words = WordCounts::new();
//! words.push("low", 5);
//! words.push("lower", 2);
//! let trainer = BpeTrainer { vocab_size: 7, ..BpeTrainer::default() };
//! let trained = trainer.train(words, &mut |_| Ok(()))?;
//! assert_eq!(trained.vocab, ["e", "l", "o", "r", "w", "lo", "low"]);
//!
//! // Encode with the trained model.
//! let model = Model::Bpe(trained.into_model(BpeOptions::default())?);
//! let components = Components { pre_tokenizer: Some(PreTokenizer::Whitespace), ..Components::of_model(Arc::new(model)) };
//! let tokenizer = Tokenizer::new(&components)?;
//! let input = EncodeInput { first: Sequence::Text("lower low"), second: None };
//! let encoding = tokenizer.encode(&input, true)?;
//! assert_eq!(encoding.tokens().collect::<Vec<_>>(), ["low", "e", "r", "low"]);
//! assert_eq!(encoding.offsets().last(), Some((6, 9)));
//! assert_eq!(tokenizer.pipeline().plan().key_form(), KeyForm::Text);
//! # Ok(())
//! # }
//! ```

pub mod added_tokens;
pub mod byte_level;
pub mod cache;
pub mod corpus;
pub mod counting;
pub mod decoders;
pub mod encoding;
pub mod error;
pub mod formats;
pub mod growth;
pub mod metaspace;
pub mod models;
pub mod normalized;
pub mod normalizers;
pub mod pipeline;
pub mod pre_tokenizers;
pub mod processors;
pub mod scan;
pub mod sentencepiece;
pub mod sinks;
pub mod structures;
#[cfg(test)]
mod testing;
#[cfg(feature = "sources")]
pub mod token_files;
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
