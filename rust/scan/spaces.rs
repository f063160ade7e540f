//! Splitters of SentencePiece-style tokenizers, which make spaces visible and cut nothing.
//!
//! Where no token of the vocabulary holds a visible space behind another character, text may be cut before every run of
//! spaces; where none holds a letter beside a symbol of ASCII, also between these. Others make spaces of line ends too and
//! cut at all of them, and, where the vocabulary allows, between letters and [`STOPS`].

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

/// A space or the end of a line.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || is_newline(byte)
}

/// A run of blanks with all up to the next one: `[ \r\n]*[^ \r\n]+|[ \r\n]+`.
#[derive(Clone, Copy, Debug)]
pub struct Blanks;

impl Scan for Blanks {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        BlankSplit::next_span(text, pos).map_or(text.len(), |(_, end)| end)
    }
}

/// Everything between blanks, which are dropped: `[^ \r\n]+`.
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
pub const STOPS: &[u8] = b"!\"(),-.:;?";

/// Whether of two neighbours one is a letter of ASCII and the other one of [`STOPS`].
#[inline]
pub fn is_stop_border(left: u8, right: u8) -> bool {
    left.is_ascii_alphabetic() && STOPS.contains(&right)
        || STOPS.contains(&left) && right.is_ascii_alphabetic()
}

/// The end of the first unit of a word between blanks, which is not empty: where letters and [`STOPS`] meet, and neither
/// is beside a character that could join it or vanish, one beyond ASCII or a control character.
fn unit_end(word: &[u8]) -> usize {
    let is_plain = |at: usize| word.get(at).is_none_or(u8::is_ascii_graphic);
    let is_border = |&at: &usize| {
        is_stop_border(word[at - 1], word[at]) && is_plain(at + 1) && (at == 1 || is_plain(at - 2))
    };
    (1..word.len()).find(is_border).unwrap_or(word.len())
}

/// As [`Blanks`], and words are cut where letters and [`STOPS`] meet.
#[derive(Clone, Copy, Debug)]
pub struct BlankUnits;

impl Scan for BlankUnits {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        BlankSplitUnits::next_span(text, pos).map_or(text.len(), |(_, end)| end)
    }
}

/// As [`BlankSplit`], and cut where letters and [`STOPS`] meet.
#[derive(Clone, Copy, Debug)]
pub struct BlankSplitUnits;

impl ScanWithGaps for BlankSplitUnits {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let (start, end) = BlankSplit::next_span(text, pos)?;
        Some((start, start + unit_end(&text.as_bytes()[start..end])))
    }
}

/// Whether a character of ASCII is neither a letter, nor a digit, nor a space.
#[inline]
pub fn is_ascii_symbol(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && c != ' '
}
