//! Data structures without any knowledge of tokenizers.

pub mod progress;
pub mod regex;
