//! Splitters of SentencePiece-style tokenizers, which make spaces visible and cut nothing.
//!
//! Where no token of the vocabulary holds a visible space after another character, text may be cut before every run of
//! spaces; where none holds a letter beside a symbol of ASCII, also between these. Others make spaces of tabs and line ends too and
//! cut at all of them, and, where the vocabulary allows, between letters and [`PUNCTUATION_KEPT_APART`].

use super::classes::{Class, LETTER};
use super::cursor::is_newline;
use super::{Scan, ScanWithGaps};

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

/// A space, a tab or the end of a line.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t') || is_newline(byte)
}

/// A run of blanks with all up to the next one: `[ \t\r\n]*[^ \t\r\n]+|[ \t\r\n]+`.
#[derive(Clone, Copy, Debug)]
pub struct Blanks;

impl Scan for Blanks {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        BlankSplit::next_span(text, pos).map_or(text.len(), |(_, end)| end)
    }
}

/// Everything between blanks, which are dropped: `[^ \t\r\n]+`.
#[derive(Clone, Copy, Debug)]
pub struct BlankSplit;

impl ScanWithGaps for BlankSplit {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let rest = &text.as_bytes()[pos..];
        let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
        let len = rest[blanks..].iter().take_while(|&&byte| !is_blank(byte)).count();
        (len > 0).then_some((pos + blanks, pos + blanks + len))
    }
}

/// Punctuation that vocabularies keep apart from letters.
pub const PUNCTUATION_KEPT_APART: &[u8] = b"!\"(),-.:;?";

/// Whether of two neighbours one is a letter of ASCII and the other one of [`PUNCTUATION_KEPT_APART`].
#[inline]
pub fn is_punctuation_boundary(left: u8, right: u8) -> bool {
    left.is_ascii_alphabetic() && PUNCTUATION_KEPT_APART.contains(&right)
        || PUNCTUATION_KEPT_APART.contains(&left) && right.is_ascii_alphabetic()
}

/// Bytes of the first unit of `text`, which begins with none or a part of a word: up to a blank, or to a place where a letter and
/// one of [`PUNCTUATION_KEPT_APART`] meet and the characters beside the two are visible ASCII, blanks or the end.
///
/// A character beyond ASCII could join what is at a border, and a control character vanish.
fn fragment_len(text: &[u8]) -> usize {
    let is_visible = |at: usize| text.get(at).is_none_or(|&byte| byte.is_ascii_graphic() || is_blank(byte));
    let is_end = |&at: &usize| {
        let is_boundary = || is_punctuation_boundary(text[at - 1], text[at]);
        is_blank(text[at]) || is_boundary() && is_visible(at + 1) && (at == 1 || is_visible(at - 2))
    };
    (1..text.len()).find(is_end).unwrap_or(text.len())
}

/// Whether the unit at `start` goes on with the word before it, in text that is looked at from `base` on.
// Without a branch, since nothing predicts it.
#[inline]
pub fn is_continuation(text: &[u8], base: usize, start: usize) -> bool {
    let is_visible = |at: usize| text.get(at).is_some_and(|&byte| byte > b' ');
    (start > base) & is_visible(start) & is_visible(start.wrapping_sub(1))
}

/// Whether the word at `start`, perhaps after a blank, begins beyond ASCII.
#[inline]
pub fn begins_non_ascii(text: &[u8], start: usize) -> bool {
    let first = start + usize::from(text[start] <= b' ');
    text.get(first).is_some_and(|byte| !byte.is_ascii())
}

/// As [`Blanks`], and words are cut where letters and [`PUNCTUATION_KEPT_APART`] meet.
#[derive(Clone, Copy, Debug)]
pub struct BlankFragments;

impl Scan for BlankFragments {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        BlankSplitFragments::next_span(text, pos).map_or(text.len(), |(_, end)| end)
    }
}

/// As [`BlankSplit`], and cut where letters and [`PUNCTUATION_KEPT_APART`] meet.
#[derive(Clone, Copy, Debug)]
pub struct BlankSplitFragments;

impl ScanWithGaps for BlankSplitFragments {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let rest = &text.as_bytes()[pos..];
        let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
        let len = fragment_len(&rest[blanks..]);
        (len > 0).then_some((pos + blanks, pos + blanks + len))
    }
}

/// Whether a character of ASCII is neither a letter, nor a digit, nor a space.
#[inline]
pub fn is_ascii_symbol(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && c != ' '
}
