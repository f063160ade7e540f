//! Lowercasing, character by character.

use crate::normalized::Normalized;

/// True if every character is its own lower case.
pub(super) fn is_lowercase(text: &str) -> bool {
    let is_same = |c: char| {
        let mut lower = c.to_lowercase();
        lower.next() == Some(c) && lower.next().is_none()
    };
    text.chars().all(|c| if c.is_ascii() { !c.is_ascii_uppercase() } else { is_same(c) })
}

/// `text` in lower case; each new character stands for the old one it was made from.
///
/// Context does not matter: a capital sigma at the end of a word becomes the medial small sigma.
pub(super) fn lowercase<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    for (at, c) in text.text().char_indices() {
        let source = at..at + c.len_utf8();
        if c.is_ascii() {
            rewrite.push(c.to_ascii_lowercase(), source);
        } else {
            rewrite.push_all(c.to_lowercase(), source);
        }
    }
    rewrite.finish()
}
