//! BERT's splitter: white space is dropped, and each punctuation character is its own span.
//!
//! [`BertText`] cuts text that BERT's normalizer has not rewritten yet. It cuts where [`Bert`] will cut the rewritten
//! text, so each span can be normalized by itself. Ideographs are their own spans. Control characters, some of which
//! count as white space elsewhere, do not cut. Normalizing a span may give empty text.

use super::ascii::letters;
use super::classes::{Class, PUNCTUATION, SPACE};
use super::cursor::{class_at, run_in, run_outside};
use super::scanner::ScanWithGaps;

/// The `BertPreTokenizer`.
#[derive(Clone, Copy, Debug)]
pub struct Bert;

impl ScanWithGaps for Bert {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let start = run_in(bytes, pos, SPACE);
        if start == bytes.len() {
            return None;
        }
        let (class, width) = class_at(bytes, start);
        if class.is(PUNCTUATION) {
            return Some((start, start + width));
        }
        Some((start, run_outside(bytes, letters(bytes, start), PUNCTUATION.or(SPACE))))
    }
}

/// The `BertPreTokenizer` on text before BERT's normalizer. `ACCENTS`: the normalizer strips accents.
#[derive(Clone, Copy, Debug)]
pub struct BertText<const ACCENTS: bool>;

/// True if BERT's normalizer puts blanks around `c`.
pub fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B81F}'
            | '\u{2B920}'..='\u{2CEAF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}

/// True if `c` is punctuation without its accent, but not with it.
#[inline]
fn hides_punctuation(c: char) -> bool {
    matches!(c, '\u{1FEF}' | '≠' | '≮' | '≯')
}

/// True if the normalizer turns `c` into a blank. White space that it removes instead does not cut.
#[inline]
fn is_separator(c: char) -> bool {
    Class::of(c).is(SPACE) && !matches!(c, '\u{B}' | '\u{C}' | '\u{85}')
}

impl<const ACCENTS: bool> BertText<ACCENTS> {
    #[inline]
    fn is_alone(c: char) -> bool {
        Class::of(c).is(PUNCTUATION) || is_ideograph(c) || ACCENTS && hides_punctuation(c)
    }

    /// How the non-ASCII character at the front of `text` differs from its class.
    #[inline]
    pub(super) fn oddity(text: &[u8]) -> Oddity {
        let low = |byte: u8| u32::from(byte & 0x3F);
        // No odd character begins with another byte.
        let code = match *text {
            [0xC2, second, ..] => 2 << 6 | low(second),
            [first @ (0xE1..=0xE9 | 0xEF), second, third, ..] => {
                u32::from(first & 0x0F) << 12 | low(second) << 6 | low(third)
            }
            [0xF0, second, third, fourth, ..] => low(second) << 12 | low(third) << 6 | low(fourth),
            _ => return Oddity::None,
        };
        let Some(c) = char::from_u32(code) else { return Oddity::None };
        if is_ideograph(c) || ACCENTS && hides_punctuation(c) {
            Oddity::Alone(c.len_utf8())
        } else if c == '\u{85}' {
            Oddity::NoSpace(c.len_utf8())
        } else {
            Oddity::None
        }
    }
}

/// How a character differs from its class, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// It does not differ.
    None,
    /// It is its own span.
    Alone(usize),
    /// It is white space that does not cut.
    NoSpace(usize),
}

impl<const ACCENTS: bool> ScanWithGaps for BertText<ACCENTS> {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let rest = text[pos..].trim_start_matches(is_separator);
        let start = text.len() - rest.len();
        let first = rest.chars().next()?;
        let len = if Self::is_alone(first) {
            first.len_utf8()
        } else {
            rest.find(|c| is_separator(c) || Self::is_alone(c)).unwrap_or(rest.len())
        };
        Some((start, start + len))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::scan::Splitter;
    use crate::scan::classes::{Class, PUNCTUATION};
    use crate::scan::tests::{monotone_text, scanned, text};

    /// The rule as documented: first white space, then punctuation.
    fn naive(text: &str) -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let start_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        for word in text.split_whitespace() {
            let mut start = start_of(word);
            for (at, found) in word.match_indices(|c| Class::of(c).is(PUNCTUATION)) {
                let at = start_of(word) + at;
                spans.extend([(start, at), (at, at + found.len())]);
                start = at + found.len();
            }
            spans.push((start, start_of(word) + word.len()));
        }
        spans.retain(|(start, end)| start < end);
        spans
    }

    proptest! {
        #[test]
        fn bert_matches_naive(text in prop_oneof![text(), monotone_text()]) {
            prop_assert_eq!(scanned(Splitter::Bert, &text), naive(&text));
        }
    }

    #[test]
    fn every_character_is_split_as_naive() {
        let text: String = ('\0'..=char::MAX).flat_map(|c| ['a', c, 'b', ' ']).collect();
        assert_eq!(scanned(Splitter::Bert, &text), naive(&text));
    }
}
