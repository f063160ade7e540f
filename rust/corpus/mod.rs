//! The only reader of text files, for encoding and for training.
//!
//! | file | holds |
//! |---|---|
//! | `text_file` | a file as text, decoded a part at a time |
//! | `lines` | blocks of whole lines, whose words are counted for training |
//! | `blocks` | blocks of whole documents, or of shards of documents, that are encoded |
//! | `documents` | whole files, where all documents are needed at once |
//! | `files` | files encoded, or their tokens counted |
//! | `bounded_counting` | words counted in bounded memory |
//! | `sources` | texts in files of several formats, plain or compressed |

mod blocks;
#[cfg(feature = "sources")]
mod bounded_counting;
mod documents;
pub mod files;
mod lines;
#[cfg(feature = "sources")]
pub mod sources;
mod text_file;

#[cfg(feature = "sources")]
pub use bounded_counting::BoundedCounting;
pub use lines::count_words;
pub use text_file::Utf8Errors;
