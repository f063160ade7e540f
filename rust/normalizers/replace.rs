//! Replaces every match of a pattern by one text.

use std::ops::ControlFlow;

use crate::Result;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};

/// True if every match equals the replacement; false if the pattern gives up on `text`.
pub(super) fn is_identity(replacement: &Replacement, text: &str) -> bool {
    let content = replacement.content();
    let mut chars = content.chars();
    let is_one = chars.next().is_some() && chars.next().is_none();
    // Several characters would all stand for the last character of the match, even if they spell the same text.
    let is_same = |found: &str| is_one && found == content;
    let found = replacement.finder().for_each(text, |found| {
        if is_same(&text[found]) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.is_ok_and(|end| end.is_continue())
}

/// True if no match joins a space, tab or line end with other text: the pattern has none of them, is a single tab, or
/// is a run of spaces that becomes one space, visible or not.
pub(super) fn leaves_spaces(replacement: &Replacement) -> bool {
    match replacement.pattern() {
        TextPattern::Literal(pattern) => {
            // Each tab is its own match, whatever stands beside it.
            pattern == "\t"
                || !pattern.is_empty() && !pattern.contains([' ', '\t', '\r', '\n', VISIBLE_SPACE])
        }
        TextPattern::Regex(pattern) => {
            pattern == RUN_OF_SPACES
                && (replacement.content() == " " || replacement.content().chars().eq([VISIBLE_SPACE]))
        }
    }
}

/// `text` with each match replaced; the replacement stands for the last character of the match.
///
/// The replacement of an empty match stands for the character before it.
pub(super) fn replace<'a>(replacement: &Replacement, text: &Normalized<'_>) -> Result<Normalized<'a>> {
    let mut rewrite = text.rewrite();
    let mut done = 0;
    let _ = replacement.finder().for_each(text.text(), |found| {
        rewrite.copy(done..found.start);
        rewrite.push_after(replacement.content(), found.end);
        done = found.end;
        ControlFlow::Continue(())
    })?;
    rewrite.copy(done..text.text().len());
    Ok(rewrite.finish())
}
