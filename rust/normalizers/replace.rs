//! Replaces every match of a pattern by one text.

use std::ops::ControlFlow;

use crate::Result;
use crate::growth::Growth;
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
    let found = replacement.finder().for_each(text, &mut |found| {
        if is_same(&text[found]) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.is_ok_and(|end| end.is_continue())
}

/// True if each match that holds `c` is `c` alone, or two spaces or more that become one, visible or not.
pub(super) fn sees_alone(replacement: &Replacement, c: char) -> bool {
    match replacement.pattern() {
        TextPattern::Literal(pattern) => {
            pattern.chars().eq([c]) || !pattern.is_empty() && !pattern.contains(c)
        }
        TextPattern::Regex(_) => joined_space(replacement).is_some(),
    }
}

/// The space, visible or not, that replaces runs of spaces; `None` if the pattern or the content is another one.
pub(super) fn joined_space(replacement: &Replacement) -> Option<char> {
    let is_run = *replacement.pattern() == TextPattern::Regex(RUN_OF_SPACES.to_owned());
    [' ', VISIBLE_SPACE].into_iter().find(|&space| is_run && replacement.content().chars().eq([space]))
}

/// `text` with each match replaced; the replacement stands for the last character of the match.
///
/// The replacement of an empty match stands for the character before it.
pub(super) fn replace<'a>(
    replacement: &Replacement,
    text: &Normalized<'_>,
    growth: Growth,
) -> Result<Normalized<'a>> {
    let mut rewrite = text.rewrite();
    let (mut done, mut checked) = (0, Ok(()));
    let _ = replacement.finder().for_each(text.text(), &mut |found| {
        rewrite.copy(done..found.start);
        rewrite.push_after(replacement.content(), found.end);
        done = found.end;
        checked = growth.check(rewrite.len());
        if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    checked?;
    rewrite.copy(done..text.text().len());
    Ok(rewrite.finish())
}
