//! Decoders: from tokens back to text.

use crate::byte_level;

/// A decoder of any kind; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum Decoder {
    /// From the byte-level alphabet back to bytes; invalid UTF-8 becomes U+FFFD.
    ByteLevel {
        /// Without meaning here; kept because files have it.
        add_prefix_space: bool,
        /// Without meaning here; kept because files have it.
        trim_offsets: bool,
        /// Without meaning here; kept because files have it.
        use_regex: bool,
    },
}

impl Decoder {
    /// The text of a list of tokens.
    pub fn decode<'a>(&self, tokens: impl Iterator<Item = &'a str>) -> String {
        match self {
            Self::ByteLevel { .. } => {
                let mut bytes = Vec::new();
                tokens.for_each(|token| byte_level::push_unmapped(token, &mut bytes));
                match String::from_utf8(bytes) {
                    Ok(text) => text,
                    Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
                }
            }
        }
    }
}
