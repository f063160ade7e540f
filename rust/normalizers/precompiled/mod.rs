//! SentencePiece's normalization rules, compiled into one table and applied as Hugging Face applies them.
//!
//! Hugging Face looks up each user-perceived character (extended grapheme cluster) of fewer than six bytes. If no rule
//! matches, or the cluster is longer, it looks up each character of the cluster. The shortest rule that matches at the
//! front replaces the whole cluster, so marks after the match are lost. The alignment does not record the characters
//! that a rule removes at the very beginning of the text, so everything after them stands for a character further left.

pub mod clusters;
#[cfg(test)]
pub(super) mod tests;

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use clusters::{is_simple_grapheme, joins_next};

use crate::Result;
use crate::growth::Growth;
use crate::normalized::{Normalized, Rewrite};
use crate::sentencepiece::Charsmap;

/// Clusters of this many bytes or more are looked up character by character.
const LONG: usize = 6;

/// One step of a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Old text that stays unchanged.
    Copy(Range<usize>),
    /// A character that replaces the next old character and `gone` more.
    Replace { c: char, gone: usize },
    /// A character inserted after the last old one.
    Insert(char),
}

impl Charsmap {
    /// True if no rule matches `c`, a cluster by itself, together with marks after it.
    pub(super) fn sees_alone(&self, c: char) -> bool {
        let mut text = [0; 4];
        let text = &*c.encode_utf8(&mut text);
        !self.is_longest_first() && (self.shortest(text).is_some() || !self.has_rules_of(text))
    }

    /// True if no rule begins with a character that [joins the next](joins_next): only such a rule reaches across the
    /// start of a space or U+2581.
    pub(super) fn leaves_starts(&self) -> bool {
        let begins_rule = |c: char| self.has_rules_of(c.encode_utf8(&mut [0; 4]));
        !('\u{600}'..='\u{11F02}').any(|c| joins_next(c) && begins_rule(c))
    }

    /// True if no rule matches.
    pub(super) fn is_identity(&self, text: &str) -> bool {
        self.edits(text, |_, _| false)
    }

    /// `text` after all rules.
    ///
    /// # Errors
    /// [`crate::Error::TextGrown`].
    pub(super) fn normalize<'a>(&self, text: &Normalized<'_>, growth: Growth) -> Result<Normalized<'a>> {
        let old = text.text();
        let mut steps = Vec::new();
        let (mut done, mut made, mut checked) = (0, 0, Ok(()));
        self.edits(old, |range, new| {
            if done < range.start {
                steps.push(Step::Copy(done..range.start));
            }
            push_replacement(&old[range.clone()], new, old, &mut steps);
            done = range.end;
            made += new.len();
            checked = growth.check(made);
            checked.is_ok()
        });
        checked?;
        if done < old.len() {
            steps.push(Step::Copy(done..old.len()));
        }
        let mut rewrite = text.rewrite();
        apply(&steps, old, &mut rewrite);
        Ok(rewrite.finish())
    }

    /// Calls `each` with the range of every match and its replacement, until `each` returns false; true if it reached
    /// the end of `text`.
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

/// Appends the steps that replace `part` by `new`.
///
/// The characters of `new` replace the characters of `part` in order. Surplus new characters are inserted. If there are fewer
/// new characters, the last character written so far also replaces the remaining old ones, even if another rule wrote
/// it.
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
        // The inserted character now replaces the first of the remaining old characters.
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
    // Position of the next old character. It differs from the start of copied text once a removal at the beginning has
    // gone unrecorded.
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
