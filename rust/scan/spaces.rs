//! Splitters of SentencePiece-style tokenizers, which make spaces visible and cut nothing.
//!
//! Where no token of the vocabulary holds a visible space behind another character, text may be cut before every run of
//! spaces; where none holds a letter beside a symbol of ASCII, also between these.

use super::Scan;
use super::classes::{Class, LETTER};

/// A run of spaces with all up to the next one: ` *[^ ]+| +`.
#[derive(Clone, Copy, Debug)]
pub struct Spaces;

impl Scan for Spaces {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = &text.as_bytes()[pos..];
        let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
        memchr::memchr(b' ', &rest[spaces..]).map_or(text.len(), |word| pos + spaces + word)
    }
}

/// As [`Spaces`], and cut where a letter and an [`is_ascii_symbol`] meet.
#[derive(Clone, Copy, Debug)]
pub struct SpacedWords;

impl Scan for SpacedWords {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = text[pos..].trim_start_matches(' ');
        let (mut was_letter, mut was_symbol) = (false, false);
        for (at, c) in rest.char_indices() {
            let (is_letter, is_symbol) = (Class::of(c).is(LETTER), is_ascii_symbol(c));
            if c == ' ' || was_letter && is_symbol || was_symbol && is_letter {
                return text.len() - rest.len() + at;
            }
            (was_letter, was_symbol) = (is_letter, is_symbol);
        }
        text.len()
    }
}

/// Whether a character of ASCII is neither a letter, nor a digit, nor a space.
#[inline]
pub fn is_ascii_symbol(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && c != ' '
}
