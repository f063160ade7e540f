//! Prepends fixed text.

use crate::normalized::Normalized;

/// `prefix` before `text`, unless `text` is empty; the prefix stands for the first character.
///
/// With an empty prefix the first character stands for the empty range before it, as in Hugging Face.
pub(super) fn prepend<'a>(prefix: &str, text: Normalized<'a>) -> Normalized<'a> {
    let Some(first) = text.text().chars().next() else { return text };
    let mut rewrite = text.rewrite();
    if prefix.is_empty() {
        rewrite.push_after(first.encode_utf8(&mut [0; 4]), 0);
    } else {
        rewrite.push_all(prefix.chars().chain([first]), 0..first.len_utf8());
    }
    rewrite.copy(first.len_utf8()..text.text().len());
    rewrite.finish()
}
