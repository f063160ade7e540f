//! Parts of a tokenizer that version 2.0 cannot hold.

use crate::{Error, Result};

/// The error for a part without which ids may change.
pub(super) fn unsupported(part: impl std::fmt::Display) -> Error {
    Error::Unsupported(format!("version 2.0 of tokenizer.json cannot hold {part}; write version 1.0"))
}

/// Parts of a tokenizer that this version cannot hold. Ids do not depend on them, but for the random choices of dropout.
#[derive(Default)]
pub(in crate::formats::tokenizer_json) struct Losses(
    pub(in crate::formats::tokenizer_json) Vec<&'static str>,
);

impl Losses {
    pub(super) fn note(&mut self, is_lost: bool, part: &'static str) {
        if is_lost {
            self.0.push(part);
        }
    }

    /// # Errors
    /// [`Error::Unsupported`] if there are any.
    pub(in crate::formats::tokenizer_json) fn refuse(&self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "version 2.0 of tokenizer.json cannot hold {}; write version 1.0, or leave that out (lossy)",
            self.0.join(" and ")
        )))
    }
}
