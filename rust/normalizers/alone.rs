//! What becomes of characters whatever stands beside them.
//!
//! A stage looks at a character alone, at one with the marks behind it, or at a cluster. So where what goes into each stage
//! begins and ends at borders that no stage reaches across, what comes out of the last is the same beside any
//! neighbours of which that is true as well. What the stages then make of one such group of characters is tried.

use super::Normalizer;
use super::bert::Bert;
use super::clusters::{is_group, stands_alone};
use super::unicode::Form;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::{ByteRange, Normalized};
use crate::structures::finder::{RUN_OF_SPACES, TextPattern};

/// Longer groups are not tried.
const LONGEST: usize = 32;

/// What becomes of a group of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Never empty. Where it is the group itself, each character stands for itself.
    pub text: String,
    /// Bytes of the group, from its beginning, that all of a changed text stands for.
    pub source: usize,
}

fn is_text(c: char) -> bool {
    !c.is_whitespace() && c != VISIBLE_SPACE
}

impl Normalizer {
    /// What becomes of `group` at either end of a text, behind a space, and beside any groups that have an answer too; no
    /// white space and no U+2581.
    ///
    /// None where that is not known.
    pub fn alone(&self, group: &str) -> Option<Made> {
        let unchanged = || Some(Made { text: group.to_owned(), source: group.len() });
        if group.len() > LONGEST
            || !is_group(group)
            || !group.starts_with(stands_alone)
            || !group.chars().all(is_text)
        {
            return None;
        }
        let mut chars = group.chars();
        if chars.next().is_some_and(|c| self.stays(c)) && chars.next().is_none() {
            return unchanged();
        }
        let text = self.made_alone(group.to_owned())?;
        if !text.chars().all(is_text) {
            return None;
        }
        let twice = [group, group].concat();
        let normalized = self.normalize(Normalized::new(&twice, 0, true)).ok()?;
        made_twice(&normalized, group, text, "")
    }

    /// What becomes of `text`, if that is the same beside groups.
    fn made_alone(&self, text: String) -> Option<String> {
        let stays = match self {
            Self::Sequence(stages) => {
                return stages.iter().try_fold(text, |text, stage| stage.made_alone(text));
            }
            Self::Lowercase | Self::StripAccents | Self::Nmt => false,
            Self::Unicode(form) if starts_run(*form, &text) => false,
            Self::Precompiled(charsmap) if !charsmap.is_longest_first() && is_group(&text) => false,
            Self::Strip { .. } if !text.contains(char::is_whitespace) => true,
            Self::Replace(replacement) => {
                let is_possible = match replacement.pattern() {
                    TextPattern::Literal(pattern) => {
                        pattern.is_empty() || text.contains(|c| pattern.contains(c))
                    }
                    TextPattern::Regex(pattern) => pattern != RUN_OF_SPACES || text.contains(' '),
                };
                if is_possible {
                    return None;
                }
                true
            }
            Self::Unicode(_)
            | Self::Precompiled(_)
            | Self::Strip { .. }
            | Self::Prepend(_)
            | Self::Bert(_)
            | Self::SentencePiece(_) => return None,
        };
        let made = if stays { text } else { self.normalize_str(&text).ok()?.into_owned() };
        (!made.is_empty()).then_some(made)
    }
}

/// Whether nothing at the front of `text` composes with what is before it or moves among marks there.
fn starts_run(form: Form, text: &str) -> bool {
    text.chars().next().is_some_and(|c| form.starts_run(c))
}

impl Bert {
    /// As [`Normalizer::alone`], within a pre-token of the original text: without the blanks around an ideograph.
    pub fn alone(self, group: &str) -> Option<Made> {
        let is_possible =
            group.len() <= LONGEST && group.starts_with(stands_alone) && starts_run(Form::Nfd, group);
        if !is_possible || !group.chars().all(is_text) {
            return None;
        }
        // Blanks are all that an ideograph gets.
        let stays = Self { handle_chinese_chars: false, ..self }.is_identity(group);
        if stays && group.chars().nth(1).is_none() {
            return Some(Made { text: group.to_owned(), source: group.len() });
        }
        let twice = [group, group].concat();
        let normalized = self.normalize(Normalized::new(&twice, 0, true));
        let alone = self.normalize(Normalized::new(group, 0, false));
        let text = alone.text().trim_matches(' ');
        if text.is_empty() || !text.chars().all(is_text) {
            return None;
        }
        let blank = if text.len() < alone.text().len() { " " } else { "" };
        made_twice(&normalized, group, text.to_owned(), blank)
    }
}

/// What became of a group, `text` with a `blank` before and behind it, if it came twice of two such groups, with places
/// that [`Made`] can tell.
fn made_twice(normalized: &Normalized<'_>, group: &str, text: String, blank: &str) -> Option<Made> {
    let len = group.len();
    if normalized.text() != [blank, &text, blank, blank, &text, blank].concat() {
        return None;
    }
    let places = |start: usize, shift: usize| -> Vec<ByteRange> {
        let place = |(at, c): (usize, char)| {
            let (from, to) = normalized.original(start + at..start + at + c.len_utf8());
            (from.wrapping_sub(shift as u32), to.wrapping_sub(shift as u32))
        };
        text.char_indices().map(place).collect()
    };
    let first = places(blank.len(), 0);
    if first != places(3 * blank.len() + text.len(), len) {
        return None;
    }
    let source = if text == group {
        let own = group.char_indices().map(|(at, c)| (at as u32, (at + c.len_utf8()) as u32));
        first.iter().copied().eq(own).then_some(len)
    } else {
        let (start, end) = *first.first()?;
        (start == 0 && first.iter().all(|&place| place == (start, end))).then_some(end as usize)
    };
    source.map(|source| Made { text, source })
}
