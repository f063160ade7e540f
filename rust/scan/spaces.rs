//! Splitters for SentencePiece-style tokenizers, whose own pre-tokenizers make spaces visible and cut little or
//! nothing.
//!
//! These splitters cut the original text where no token of the vocabulary crosses, so that the chunks can be encoded
//! one by one:
//!
//! * [`Spaces`] cuts before every run of spaces, for a vocabulary without a visible space after another character.
//! * [`SingleSpaces`] cuts before every space.
//! * [`SpacedWords`] and [`SingleSpacedWords`] also cut between letters and ASCII symbols, if no token holds a letter beside an ASCII symbol.
//! * [`Blanks`] and [`BlankSplit`] cut at every run of spaces, tabs and line ends, for tokenizers that turn all of
//!   these into spaces, or drop them.
//! * [`SpaceFragments`], [`BlankFragments`] and [`BlankSplitFragments`] also cut between letters and [`PUNCTUATION_KEPT_APART`], if the
//!   vocabulary allows it.

use super::classes::{Class, LETTER};
use super::cursor::is_newline;
use super::scanner::{Scan, ScanWithGaps};

/// A run of spaces with everything up to the next run: ` *[^ ]+| +`.
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

/// A space, if there is one, with everything up to the next space: ` [^ ]*|[^ ]+`.
#[derive(Clone, Copy, Debug)]
pub struct SingleSpaces;

impl Scan for SingleSpaces {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        // The byte at `pos` belongs to the span, even if it is a space.
        memchr::memchr(b' ', &text.as_bytes()[pos + 1..]).map_or(text.len(), |next| pos + 1 + next)
    }
}

/// As [`Spaces`], but also cut between a letter and an [`is_ascii_symbol`].
#[derive(Clone, Copy, Debug)]
pub struct SpacedWords;

impl Scan for SpacedWords {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = text[pos..].trim_start_matches(' ');
        text.len() - rest.len() + word_len(rest)
    }
}

/// As [`SingleSpaces`], but also cut between a letter and an [`is_ascii_symbol`].
#[derive(Clone, Copy, Debug)]
pub struct SingleSpacedWords;

impl Scan for SingleSpacedWords {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = &text[pos..];
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        text.len() - rest.len() + word_len(rest)
    }
}

/// Length of the first word of `text`: up to a space, or to the place between a letter and an [`is_ascii_symbol`].
fn word_len(text: &str) -> usize {
    let (mut was_letter, mut was_symbol) = (false, false);
    for (at, c) in text.char_indices() {
        let (is_letter, is_symbol) = (Class::of(c).is(LETTER), is_ascii_symbol(c));
        if c == ' ' || was_letter && is_symbol || was_symbol && is_letter {
            return at;
        }
        (was_letter, was_symbol) = (is_letter, is_symbol);
    }
    text.len()
}

/// True for a blank: a space, a tab, a carriage return or a line feed.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t') || is_newline(byte)
}

/// A run of blanks with everything up to the next run: `[ \t\r\n]*[^ \t\r\n]+|[ \t\r\n]+`.
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

/// Punctuation that vocabularies commonly keep apart from letters.
pub const PUNCTUATION_KEPT_APART: &[u8] = b"!\"(),-.:;?";

/// True if one of two neighbouring bytes is an ASCII letter and the other one of [`PUNCTUATION_KEPT_APART`].
#[inline]
pub fn is_punctuation_boundary(left: u8, right: u8) -> bool {
    left.is_ascii_alphabetic() && PUNCTUATION_KEPT_APART.contains(&right)
        || PUNCTUATION_KEPT_APART.contains(&left) && right.is_ascii_alphabetic()
}

/// Length of the first fragment of `text`, which starts within or at a word: up to a blank or a boundary.
///
/// A boundary lies between a letter and one of [`PUNCTUATION_KEPT_APART`], if the characters around the two are visible
/// ASCII, blanks, or the ends of `text`. A non-ASCII character could join the one at the boundary, and a control
/// character could vanish.
fn fragment_len(text: &[u8], is_blank: impl Fn(u8) -> bool) -> usize {
    let is_visible = |at: usize| text.get(at).is_none_or(|&byte| byte.is_ascii_graphic() || is_blank(byte));
    let is_end = |&at: &usize| {
        let is_boundary = || is_punctuation_boundary(text[at - 1], text[at]);
        is_blank(text[at]) || is_boundary() && is_visible(at + 1) && (at == 1 || is_visible(at - 2))
    };
    (1..text.len()).find(is_end).unwrap_or(text.len())
}

/// True if the fragment at `start` continues the word before it, that is, no blank separates the two. The scan began at
/// `base`; a fragment that starts there continues nothing.
// Branch-free, since the outcome is unpredictable.
#[inline]
pub fn is_continuation(text: &[u8], base: usize, start: usize) -> bool {
    let is_visible = |at: usize| text.get(at).is_some_and(|&byte| byte > b' ');
    (start > base) & is_visible(start) & is_visible(start.wrapping_sub(1))
}

/// True if the word at `start`, after at most one blank, begins with a non-ASCII character.
#[inline]
pub fn begins_non_ascii(text: &[u8], start: usize) -> bool {
    let first = start + usize::from(text[start] <= b' ');
    text.get(first).is_some_and(|byte| !byte.is_ascii())
}

/// As [`Spaces`], but also cut between a letter and one of [`PUNCTUATION_KEPT_APART`].
#[derive(Clone, Copy, Debug)]
pub struct SpaceFragments;

impl Scan for SpaceFragments {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let rest = &text.as_bytes()[pos..];
        let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
        pos + spaces + fragment_len(&rest[spaces..], |byte| byte == b' ')
    }
}

/// As [`Blanks`], but also cut between a letter and one of [`PUNCTUATION_KEPT_APART`].
#[derive(Clone, Copy, Debug)]
pub struct BlankFragments;

impl Scan for BlankFragments {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        BlankSplitFragments::next_span(text, pos).map_or(text.len(), |(_, end)| end)
    }
}

/// As [`BlankSplit`], but also cut between a letter and one of [`PUNCTUATION_KEPT_APART`].
#[derive(Clone, Copy, Debug)]
pub struct BlankSplitFragments;

impl ScanWithGaps for BlankSplitFragments {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let rest = &text.as_bytes()[pos..];
        let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
        let len = fragment_len(&rest[blanks..], is_blank);
        (len > 0).then_some((pos + blanks, pos + blanks + len))
    }
}

/// True for an ASCII character that is neither a letter, nor a digit, nor a space.
#[inline]
pub fn is_ascii_symbol(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && c != ' '
}
