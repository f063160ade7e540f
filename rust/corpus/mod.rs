//! What is read and written: text files, cut into documents.

pub mod count;
pub mod documents;
mod text_file;
mod whole_file;
