//! What is read and written: text files, cut into documents.

pub mod documents;
