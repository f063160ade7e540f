//! A limit for text that stages make longer.
//!
//! A few stages that each double a text make gigabytes of a few characters, so a file of some hundred bytes could take all
//! memory. No published tokenizer makes more than some ten times its input.

use crate::{Error, Result};

/// Bytes that stages may always make of a text.
const ALWAYS: usize = 16 << 20;

/// How many times as long as the text may be what stages make of a long one.
const TIMES: usize = 64;

/// What stages may make of one text.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    bytes: usize,
    limit: usize,
}

impl Growth {
    /// The limit for a text of `bytes` bytes: 16 MiB, or 64 times the text if that is more, but less than 4 GiB, since
    /// offsets have 32 bits.
    pub fn of(bytes: usize) -> Self {
        Self { bytes, limit: bytes.saturating_mul(TIMES).clamp(ALWAYS, u32::MAX as usize) }
    }

    /// Refuses more than the limit.
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
