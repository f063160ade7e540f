//! Writes every byte as a printable character, as GPT-2's alphabet does.

use crate::byte_level::BYTE_TO_CHAR;
use crate::normalized::Normalized;

/// True if each byte of `text` is its own character.
pub(super) fn is_identity(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The bytes of `text` as characters, each of which stands for the character that the byte belongs to.
pub(super) fn normalize<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    for (at, c) in text.text().char_indices() {
        let source = at..at + c.len_utf8();
        let bytes = text.text().as_bytes()[source.clone()].iter();
        rewrite.push_all(bytes.map(|&byte| BYTE_TO_CHAR[usize::from(byte)]), source);
    }
    rewrite.finish()
}
