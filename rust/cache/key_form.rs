//! How the bytes of a key spell the text of the model.

use crate::metaspace::VISIBLE_SPACE;

/// How the bytes of a chunk spell the text that the model sees, once the stages before the model are through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// The text that the model sees.
    Text,
    /// Raw bytes, which the model sees in the byte-level alphabet.
    Bytes,
    /// Text in which the model sees U+2581 in place of each space.
    Spaced,
    /// Text before which the model sees a U+2581 that stands for the first character, unless the chunk begins with U+2581; the
    /// model sees none before a chunk in context.
    Prefixed,
}

impl KeyForm {
    /// Bytes of a chunk that `token` covers.
    pub fn len_of(self, token: &str) -> usize {
        match self {
            Self::Text => token.len(),
            Self::Bytes => token.chars().count(),
            Self::Spaced => {
                let visible = token.matches(VISIBLE_SPACE).count();
                token.len() - visible * (VISIBLE_SPACE.len_utf8() - 1)
            }
            Self::Prefixed => token.strip_prefix(VISIBLE_SPACE).unwrap_or(token).len(),
        }
    }
}
