//! Data structures without any knowledge of tokenizers.

pub mod atomic_file;
pub mod progress;
pub mod regex;
