//! Trains and runs subword tokenizers.

pub mod byte_level;
pub mod error;
pub mod models;
pub mod scan;
pub mod structures;
pub mod trainers;
pub mod vocab;

#[cfg(feature = "python")]
mod bindings;

pub use error::{Error, Result};
