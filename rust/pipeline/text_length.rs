//! The limit on the length of a text.

use crate::{Error, Result};

/// Bytes of the longest text: offsets have 32 bits, of which one is left free.
pub const LONGEST_TEXT: usize = u32::MAX as usize / 2;

/// Refuses a text of more than [`LONGEST_TEXT`] bytes.
pub(crate) fn check_length(bytes: usize) -> Result<()> {
    if bytes > LONGEST_TEXT {
        return Err(Error::TextTooLong { bytes, limit: LONGEST_TEXT });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_have_2_gib_less_one_byte() {
        assert!(check_length((1 << 31) - 1).is_ok());
        let error = check_length(1 << 31).expect_err("one byte too many");
        assert!(matches!(error, Error::TextTooLong { bytes: 0x8000_0000, limit: 0x7fff_ffff }));
    }
}
