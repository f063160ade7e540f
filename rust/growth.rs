//! Bound on text that stages lengthen: a chain of stages that each double a text would fill memory from a few bytes.
//!
//! A `tokenizer.json` of a few hundred bytes can describe such a chain. No published tokenizer makes a text more than about
//! ten times as long.

use crate::{Error, Result};

/// Stages may lengthen any text to this many bytes.
const ALWAYS: usize = 16 << 20;

/// Stages may lengthen a long text to this many times its bytes.
pub(crate) const TIMES: usize = 64;

/// The bound for one text.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    bytes: usize,
    limit: usize,
}

impl Growth {
    /// The bound for a text of `bytes` bytes: 16 MiB, or 64 times the text if that is more. It is below 4 GiB, since
    /// offsets have 32 bits.
    pub fn of(bytes: usize) -> Self {
        Self { bytes, limit: bytes.saturating_mul(TIMES).clamp(ALWAYS, u32::MAX as usize) }
    }

    /// Refuses a text that stages have lengthened to `made` bytes, if that is beyond the bound.
    ///
    /// # Errors
    /// [`Error::TextGrown`].
    pub fn check(self, made: usize) -> Result<()> {
        if made <= self.limit {
            return Ok(());
        }
        Err(Error::TextGrown { bytes: self.bytes, limit: self.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_may_grow_by_its_length() {
        assert!(Growth::of(0).check(16 << 20).is_ok() && Growth::of(0).check((16 << 20) + 1).is_err());
        assert!(Growth::of(1 << 20).check(64 << 20).is_ok());
        let error = Growth::of(1 << 30).check(1 << 32).expect_err("offsets have 32 bits");
        let message = "the stages make more than 4294967295 bytes of a text of 1073741824 bytes";
        assert_eq!(error.to_string(), message);
    }
}
