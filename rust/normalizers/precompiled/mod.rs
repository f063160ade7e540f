//! SentencePiece's rules of normalization, compiled into one table, applied as Hugging Face applies them.
//!
//! There a rule is looked for at each user-perceived character (extended grapheme cluster) of less than six bytes,
//! then at each of its characters. The shortest rule that matches at the front replaces all of it: marks after the
//! match are lost. What a rule takes away at the very beginning is not noted, so that everything after it stands for
//! a character further left.

mod charsmap;
pub mod clusters;
#[cfg(test)]
pub(super) mod tests;

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

pub use charsmap::Charsmap;
use clusters::is_simple_grapheme;

use crate::normalized::{Normalized, Rewrite};

/// Clusters of this many bytes are taken character by character.
const LONG: usize = 6;

/// One step of a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Text that stays.
    Copy(Range<usize>),
    /// A character that takes the place of the next old one and of `gone` more.
    Replace { c: char, gone: usize },
    /// A character that comes after the old one before.
    Insert(char),
}

impl Charsmap {
    /// Whether no rule takes a space in, so that there is always a border before one but where a mark that goes before
    /// other characters makes one cluster of both.
    pub(super) fn leaves_spaces(&self) -> bool {
        !self.is_longest_first() && !self.has_rule_from(b' ')
    }

    /// Whether no rule matches.
    pub(super) fn is_identity(&self, text: &str) -> bool {
        self.edits(text, |_, _| false)
    }

    /// `text` after the rules.
    pub(super) fn normalize<'a>(&self, text: &Normalized<'_>) -> Normalized<'a> {
        let old = text.text();
        let mut steps = Vec::new();
        let mut done = 0;
        self.edits(old, |range, new| {
            if done < range.start {
                steps.push(Step::Copy(done..range.start));
            }
            push_replacement(&old[range.clone()], new, old, &mut steps);
            done = range.end;
            true
        });
        if done < old.len() {
            steps.push(Step::Copy(done..old.len()));
        }
        let mut rewrite = text.rewrite();
        apply(&steps, old, &mut rewrite);
        rewrite.finish()
    }

    /// Calls `each` with every place where a rule matches and what it makes of it, until told to stop; answers whether
    /// it came to the end.
    fn edits(&self, text: &str, mut each: impl FnMut(Range<usize>, &str) -> bool) -> bool {
        let mut start = 0;
        while start < text.len() {
            start += self.plain_prefix(&text.as_bytes()[start..]);
            let rest = &text[start..];
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { break };
            if self.is_longest_first() {
                let mut len = c.len_utf8();
                if let Some((matched, new)) =
                    self.longest(rest).filter(|&(len, _)| rest.is_char_boundary(len))
                {
                    len = matched;
                    if !each(start..start + len, new) {
                        return false;
                    }
                }
                start += len;
                continue;
            }
            if is_simple_grapheme(c) && chars.next().is_none_or(is_simple_grapheme) {
                let end = start + c.len_utf8();
                if let Some(new) = self.shortest(&text[start..end])
                    && !each(start..end, new)
                {
                    return false;
                }
                start = end;
                continue;
            }
            let Some(cluster) = rest.graphemes(true).next() else { break };
            let end = start + cluster.len();
            if let Some(new) = self.shortest(cluster).filter(|_| cluster.len() < LONG) {
                if !each(start..end, new) {
                    return false;
                }
            } else {
                for (at, c) in cluster.char_indices() {
                    let range = start + at..start + at + c.len_utf8();
                    if let Some(new) = self.shortest(&text[range.clone()])
                        && !each(range, new)
                    {
                        return false;
                    }
                }
            }
            start = end;
        }
        true
    }
}

/// Appends the steps that put `new` in place of `part`.
///
/// Characters replace one another in order. Those that are too many are inserted; where there are too few, the last
/// character so far takes the place of the rest, whether this rule made it or not.
fn push_replacement(part: &str, new: &str, old: &str, steps: &mut Vec<Step>) {
    let (before, after) = (part.chars().count(), new.chars().count());
    for (at, c) in new.chars().enumerate() {
        steps.push(if at < before { Step::Replace { c, gone: 0 } } else { Step::Insert(c) });
    }
    let too_few = before.saturating_sub(after);
    if too_few == 0 {
        return;
    }
    match steps.last_mut() {
        Some(Step::Replace { gone, .. }) => *gone += too_few,
        // It now stands for the first of the characters that go.
        Some(step @ Step::Insert(_)) => {
            if let Step::Insert(c) = *step {
                *step = Step::Replace { c, gone: too_few - 1 };
            }
        }
        Some(Step::Copy(range)) => {
            let last = old[range.clone()].chars().next_back();
            if let Some(c) = last {
                range.end -= c.len_utf8();
                if range.start == range.end {
                    steps.pop();
                }
                steps.push(Step::Replace { c, gone: too_few });
            }
        }
        None => {}
    }
}

fn apply(steps: &[Step], old: &str, rewrite: &mut Rewrite<'_>) {
    // Where the next old character is; after the text that is copied if something at the beginning went unnoticed.
    let mut at = 0;
    let next = |at: usize| old[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    for step in steps {
        match step {
            Step::Copy(range) if range.start == at => {
                rewrite.copy(range.clone());
                at = range.end;
            }
            Step::Copy(range) => {
                for c in old[range.clone()].chars() {
                    let end = next(at);
                    rewrite.push(c, at..end);
                    at = end;
                }
            }
            Step::Replace { c, gone } => {
                let mut end = next(at);
                rewrite.push(*c, at..end);
                for _ in 0..*gone {
                    end = next(end);
                }
                at = end;
            }
            Step::Insert(c) => rewrite.push_after(c.encode_utf8(&mut [0; 4]), at),
        }
    }
}
