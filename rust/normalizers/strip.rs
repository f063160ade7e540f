//! Strips white space from the ends of a text, and removes marks from all of it.

use super::unicode_9::is_mark;
use crate::normalized::Normalized;

/// The range of `text` that is left without white space at the given ends.
pub(super) fn stripped(text: &str, left: bool, right: bool) -> std::ops::Range<usize> {
    let rest = if left { text.trim_start() } else { text };
    let start = text.len() - rest.len();
    let rest = if right { rest.trim_end() } else { rest };
    start..start + rest.len()
}

/// `text` without white space at the given ends.
pub(super) fn strip<'a>(text: &Normalized<'_>, left: bool, right: bool) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    rewrite.copy(stripped(text.text(), left, right));
    rewrite.finish()
}

/// `text` without combining marks of any kind.
pub(super) fn strip_accents<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    remove(text, is_mark)
}

/// `text` without the characters for which `is_chosen` is true.
pub(super) fn remove<'a>(text: &Normalized<'_>, is_chosen: impl Fn(char) -> bool) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    let mut done = 0;
    for (at, found) in text.text().match_indices(is_chosen) {
        rewrite.copy(done..at);
        done = at + found.len();
    }
    rewrite.copy(done..text.text().len());
    rewrite.finish()
}
