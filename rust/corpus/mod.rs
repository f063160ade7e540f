//! The only reader of text files, for encoding and for training.
//!
//! | file | holds |
//! |---|---|
//! | `text_file` | a file as text, decoded a part at a time |
//! | `lines` | blocks of whole lines, whose words are counted for training |
//! | `blocks` | blocks of whole documents, or of shards of documents, that are encoded |
//! | `documents` | whole files, where all documents are needed at once |
//! | `files` | files encoded, or their tokens counted |
//! | `sources` | texts in files of several formats, plain or compressed |

mod blocks;
mod documents;
pub mod files;
mod lines;
#[cfg(feature = "sources")]
pub mod sources;
mod text_file;

pub use lines::count_words;
pub use text_file::Utf8Errors;
