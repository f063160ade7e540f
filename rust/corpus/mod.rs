//! What is read and written: text files, cut into documents.

mod blocks;
mod documents;
pub mod files;
mod text_file;
