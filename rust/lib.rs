//! Trains and runs subword tokenizers.

pub mod error;
pub mod scan;
pub mod structures;
pub mod trainers;

#[cfg(feature = "python")]
mod bindings;

pub use error::{Error, Result};
