//! BERT's normalizer: removes control characters, puts spaces around ideographs, strips accents, lowercases.
//!
//! Source: Devlin et al. 2018, released code. The character tables are pinned to Hugging Face's.

use super::bert_ranges::{DROPPED, MARKS};
use super::form::Form;
use super::lowercase::lowercase;
use super::strip::remove;
use crate::normalized::Normalized;
use crate::scan::bert::is_ideograph;

/// The steps of `BertNormalizer` in their order. Names and defaults are Hugging Face's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bert {
    /// Removes control characters and turns every white-space character into a blank.
    pub clean_text: bool,
    /// Puts a blank before and after each ideograph.
    pub handle_chinese_chars: bool,
    /// Decomposes characters and removes marks; `None` means the value of `lowercase`.
    pub strip_accents: Option<bool>,
    /// Lowercases character by character.
    pub lowercase: bool,
}

impl Default for Bert {
    fn default() -> Self {
        Self { clean_text: true, handle_chinese_chars: true, strip_accents: None, lowercase: true }
    }
}

fn is_in(ranges: &[(u32, u32)], c: char) -> bool {
    let at = ranges.partition_point(|&(_, last)| last < c as u32);
    ranges.get(at).is_some_and(|&(first, _)| first <= c as u32)
}

/// True if `clean_text` removes `c`.
fn is_dropped(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r') } else { is_in(&DROPPED, c) }
}

/// True if stripping accents removes `c`.
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_in(&MARKS, c)
}

fn is_same_lower(c: char) -> bool {
    let mut lower = c.to_lowercase();
    lower.next() == Some(c) && lower.next().is_none()
}

impl Bert {
    /// True if accents are stripped.
    pub fn strips_accents(self) -> bool {
        self.strip_accents.unwrap_or(self.lowercase)
    }

    /// True if `text` certainly stays unchanged.
    pub(super) fn is_identity(self, text: &str) -> bool {
        let leaves_unchanged = |c: char| {
            if c.is_ascii() {
                return !(self.clean_text && c.is_ascii_control()
                    || self.lowercase && c.is_ascii_uppercase());
            }
            !(self.clean_text && (c.is_whitespace() || is_dropped(c))
                || self.handle_chinese_chars && is_ideograph(c)
                || self.strips_accents() && is_mark(c)
                || self.lowercase && !is_same_lower(c))
        };
        text.chars().all(leaves_unchanged) && (!self.strips_accents() || Form::Nfd.is_certain(text))
    }

    pub(crate) fn normalize(self, mut text: Normalized<'_>) -> Normalized<'_> {
        if self.clean_text && text.text().chars().any(|c| is_dropped(c) || is_odd_space(c)) {
            text = clean(&text);
        }
        if self.handle_chinese_chars && text.text().chars().any(is_ideograph) {
            text = space_ideographs(&text);
        }
        if self.strips_accents() && !text.text().is_ascii() {
            text = remove(&Form::Nfd.normalize(text), is_mark);
        }
        if self.lowercase { lowercase(&text) } else { text }
    }
}

fn is_odd_space(c: char) -> bool {
    c != ' ' && c.is_whitespace()
}

fn clean<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    for (at, c) in text.text().char_indices().filter(|&(_, c)| !is_dropped(c)) {
        rewrite.push(if c.is_whitespace() { ' ' } else { c }, at..at + c.len_utf8());
    }
    rewrite.finish()
}

/// Puts a blank before and after each ideograph; both stand for the ideograph in the alignment.
fn space_ideographs<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    let mut done = 0;
    for (at, found) in text.text().match_indices(is_ideograph) {
        rewrite.copy(done..at);
        done = at + found.len();
        for part in [" ", found, " "] {
            part.chars().for_each(|c| rewrite.push(c, at..done));
        }
    }
    rewrite.copy(done..text.text().len());
    rewrite.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalized(bert: Bert, text: &str) -> Vec<(String, (u32, u32))> {
        let normalized = bert.normalize(Normalized::new(text, 0, true));
        let of = |(at, c): (usize, char)| (c.to_string(), normalized.original(at..at + c.len_utf8()));
        normalized.text().char_indices().map(of).collect()
    }

    fn parts(parts: &[(&str, (u32, u32))]) -> Vec<(String, (u32, u32))> {
        parts.iter().map(|&(text, range)| (text.to_owned(), range)).collect()
    }

    #[test]
    fn blanks_stand_for_the_ideograph_between_them() {
        let expected = parts(&[("a", (0, 1)), (" ", (1, 4)), ("中", (1, 4)), (" ", (1, 4))]);
        assert_eq!(normalized(Bert::default(), "A中"), expected);
    }

    #[test]
    fn what_is_dropped_leaves_no_gap_but_in_the_original() {
        let expected = parts(&[("a", (1, 2)), (" ", (3, 4)), ("e", (4, 6))]);
        assert_eq!(normalized(Bert::default(), "\0A\u{8}\nÉ\u{200b}"), expected);
    }

    #[test]
    fn case_decides_about_accents_where_nothing_else_does() {
        let cased = Bert { lowercase: false, ..Bert::default() };
        assert_eq!(normalized(cased, "É"), parts(&[("É", (0, 2))]));
        let kept = Bert { strip_accents: Some(false), ..Bert::default() };
        assert_eq!(normalized(kept, "É"), parts(&[("é", (0, 2))]));
        // The dot comes from lowercasing, which happens after marks have been removed.
        assert_eq!(normalized(kept, "İ"), parts(&[("i", (0, 2)), ("\u{307}", (0, 2))]));
    }

    fn steps() -> impl Strategy<Value = Bert> {
        let flags = (any::<bool>(), any::<bool>(), prop::option::of(any::<bool>()), any::<bool>());
        flags.prop_map(|(clean_text, handle_chinese_chars, strip_accents, lowercase)| Bert {
            clean_text,
            handle_chinese_chars,
            strip_accents,
            lowercase,
        })
    }

    proptest! {
        #[test]
        fn an_identity_changes_nothing(bert in steps(), text in "[a-zA-Z \n\0é中\u{301}\u{8d4}Жı\u{200b}]{0,6}|.{0,4}") {
            let after = bert.normalize(Normalized::new(&text, 0, false));
            prop_assert!(!bert.is_identity(&text) || after.text() == text);
        }
    }
}
