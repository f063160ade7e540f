//! Lower case, character by character.

use crate::normalized::Normalized;

/// Whether each character is its own lower case.
pub(super) fn is_lowercase(text: &str) -> bool {
    let is_same = |c: char| {
        let mut lower = c.to_lowercase();
        lower.next() == Some(c) && lower.next().is_none()
    };
    text.chars().all(|c| if c.is_ascii() { !c.is_ascii_uppercase() } else { is_same(c) })
}

/// `text` in lower case; each character stands for what it was made from.
///
/// Neighbours do not matter: a capital sigma at a word's end becomes the one of its middle.
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
