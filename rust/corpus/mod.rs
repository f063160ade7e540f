//! The only reader of text files, for encoding and for training.
//!
//! | file | holds |
//! |---|---|
//! | `utf8_errors` | the handling of bytes that are not UTF-8 |
//! | `file_size` | the size of a file |
//! | `text_file` | a file as text, decoded a part at a time |
//! | `lines` | blocks of whole lines |
//! | `blocks` | blocks of whole documents, or of shards of documents, that are encoded |
//! | `documents` | whole files, where all documents are needed at once |
//! | `files` | files encoded, or their tokens counted |
//! | `bounded_counting` | words counted in bounded memory |
//! | `checkpoint` | words counted part by part, which a killed process has finished |
//! | `inputs` | the files of all sources in order, from any record on |
//! | `sources` | texts in files of several formats, plain or compressed |

mod blocks;
#[cfg(feature = "sources")]
mod bounded_counting;
#[cfg(feature = "sources")]
mod checkpoint;
mod documents;
mod file_size;
pub mod files;
#[cfg(feature = "sources")]
pub mod inputs;
#[cfg(feature = "sources")]
mod lines;
#[cfg(feature = "sources")]
pub mod remote;
#[cfg(feature = "sources")]
pub mod sources;
mod text_file;
mod utf8_errors;

#[cfg(feature = "sources")]
pub use bounded_counting::BoundedCounting;
#[cfg(feature = "sources")]
pub use checkpoint::{Checkpoint, CountingJob};
pub use utf8_errors::Utf8Errors;
