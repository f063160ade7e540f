//! Puts one text in place of every match of a pattern.

use std::ops::ControlFlow;

use crate::Result;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};

/// Whether nothing is found but the content itself; a pattern that gives up on `text` answers no.
pub(super) fn is_identity(replacement: &Replacement, text: &str) -> bool {
    let content = replacement.content();
    let mut chars = content.chars();
    let is_one = chars.next().is_some() && chars.next().is_none();
    // Several characters would all stand for the last one of the match, even where they spell the same.
    let is_same = |found: &str| is_one && found == content;
    let found = replacement.finder().for_each(text, |found| {
        if is_same(&text[found]) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.is_ok_and(|end| end.is_continue())
}

/// Whether spaces, tabs and line ends are seen by themselves, but for runs of spaces that become one, visible or not.
pub(super) fn leaves_spaces(replacement: &Replacement) -> bool {
    match replacement.pattern() {
        TextPattern::Literal(pattern) => {
            // A tab alone becomes a space or no blank.
            pattern == "\t"
                || !pattern.is_empty() && !pattern.contains([' ', '\t', '\r', '\n', VISIBLE_SPACE])
        }
        TextPattern::Regex(pattern) => {
            pattern == RUN_OF_SPACES
                && (replacement.content() == " " || replacement.content().chars().eq([VISIBLE_SPACE]))
        }
    }
}

/// `text` with the content in place of each match, standing for the match's last character.
///
/// In place of an empty match it stands for the character before.
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
