//! The tokens of many texts, column by column.

use std::sync::Arc;

use super::Trim;
use crate::vocab::Vocab;

/// In place of a word id: the token belongs to no word.
pub(crate) const NO_WORD: u32 = u32::MAX;

/// The texts of ids.
#[derive(Clone, Debug)]
pub enum TokenNames {
    /// The vocabulary's text. An added token has its own text: what was matched in the input.
    Vocab(Arc<Vocab>),
    /// Each token of the columns has its own text, as in an encoding read from a pickle.
    Own,
}

impl TokenNames {
    fn token(&self, id: u32) -> &str {
        match self {
            Self::Vocab(vocab) => vocab.token(id).unwrap_or_default(),
            Self::Own => "",
        }
    }
}

/// Ids, offsets and word ids of the tokens of one or more texts: 16 bytes a token.
#[derive(Clone, Debug)]
pub struct Columns {
    pub(crate) ids: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    words: Vec<u32>,
    /// Tokens whose text is not that of their id, by ascending index.
    texts: Vec<(u32, Box<str>)>,
    names: TokenNames,
}

impl Columns {
    pub(crate) fn word(&self, at: usize) -> Option<u32> {
        Some(self.words[at]).filter(|&word| word != NO_WORD)
    }

    pub(crate) fn token(&self, at: usize) -> &str {
        match self.texts.binary_search_by_key(&at, |&(place, _)| place as usize) {
            Ok(found) => &self.texts[found].1,
            Err(_) => self.names.token(self.ids[at]),
        }
    }

    pub(crate) fn offsets(&self, at: usize, trims: &[Trim]) -> (u32, u32) {
        let (mut start, mut end) = (self.starts[at], self.ends[at]);
        for trim in trims {
            let shifted = (start + trim.shift, end + trim.shift);
            let offsets = trimmed(
                shifted,
                self.token(at),
                trim.first.is_some_and(|first| first as usize == at),
                trim.add_prefix_space,
            );
            (start, end) = (offsets.0 - trim.shift, offsets.1 - trim.shift);
        }
        (start, end)
    }

    /// Start and end of each token in characters, without trims and shifts.
    pub fn raw_offsets(&self) -> (&[u32], &[u32]) {
        (&self.starts, &self.ends)
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True if there is no token.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

fn is_space(c: char) -> bool {
    c == 'Ġ' || c.is_whitespace()
}

fn trimmed(offsets: (u32, u32), token: &str, is_first: bool, add_prefix_space: bool) -> (u32, u32) {
    SpacesAround::of(token).trim(offsets, is_first, add_prefix_space)
}

/// Number of spaces at the start and at the end of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpacesAround {
    leading: u32,
    trailing: u32,
}

impl SpacesAround {
    /// Those of `token`.
    pub(crate) fn of(token: &str) -> Self {
        let leading = token.chars().take_while(|&c| is_space(c)).count() as u32;
        let trailing = token.chars().rev().take_while(|&c| is_space(c)).count() as u32;
        Self { leading, trailing }
    }

    /// The offsets of a token without its spaces; `is_first` says whether it counts as the first of its text.
    #[inline]
    pub(crate) fn trim(self, (start, end): (u32, u32), is_first: bool, add_prefix_space: bool) -> (u32, u32) {
        let Self { mut leading, trailing } = self;
        let mut offsets = (start, end);
        if leading > 0 {
            // A single space may be the one that the pre-tokenizer added; several spaces were in the text.
            if leading == 1 && add_prefix_space && (is_first || start == 0) {
                leading = 0;
            }
            offsets.0 = (start + leading).min(end);
        }
        if trailing > 0 && end >= trailing {
            offsets.1 = (end - trailing).max(offsets.0);
        }
        offsets
    }
}

/// Columns under construction.
#[derive(Clone, Debug, Default)]
pub struct ColumnsBuilder {
    /// Token ids.
    pub ids: Vec<u32>,
    /// Start of each token.
    pub starts: Vec<u32>,
    /// End of each token.
    pub ends: Vec<u32>,
    /// Word id of each token, or `u32::MAX`.
    pub words: Vec<u32>,
    texts: Vec<(u32, Box<str>)>,
}

impl ColumnsBuilder {
    /// Empty columns with capacity for `tokens` tokens.
    pub fn with_room(tokens: usize) -> Self {
        let column = || Vec::with_capacity(tokens);
        Self { ids: column(), starts: column(), ends: column(), words: column(), texts: Vec::new() }
    }

    /// Appends a token.
    pub fn push(&mut self, id: u32, (start, end): (u32, u32), word: Option<u32>) {
        self.ids.push(id);
        self.starts.push(start);
        self.ends.push(end);
        self.words.push(word.unwrap_or(NO_WORD));
    }

    /// Appends a token whose text is not that of its id.
    pub fn push_with_text(&mut self, id: u32, text: &str, offsets: (u32, u32), word: Option<u32>) {
        self.texts.push((self.ids.len() as u32, text.into()));
        self.push(id, offsets, word);
    }

    /// Converts the byte offsets of the tokens from `from` on into character offsets of `text`.
    pub fn bytes_to_chars(&mut self, text: &str, from: usize) {
        char_offsets(text, self.starts[from..].iter_mut().zip(&mut self.ends[from..]));
    }

    /// The finished columns.
    pub fn finish(self, names: TokenNames) -> Columns {
        let Self { ids, starts, ends, words, texts } = self;
        Columns { ids, starts, ends, words, texts, names }
    }
}

/// Converts byte offsets of tokens into character offsets of `text`.
pub(crate) fn char_offsets<'a>(text: &str, offsets: impl Iterator<Item = (&'a mut u32, &'a mut u32)>) {
    if text.is_ascii() {
        return;
    }
    let mut cursor = CharCursor { bytes: text.as_bytes(), byte: 0, continued: 0, plain: 0 };
    // The byte tokens of an unknown run all have the range of the whole run, and there may be as many as bytes.
    let (mut bytes, mut chars) = ((0, 0), (0, 0));
    for (start, end) in offsets {
        if bytes != (*start, *end) {
            bytes = (*start, *end);
            chars = (cursor.chars_before(*start as usize), cursor.chars_up_to(*end as usize));
        }
        (*start, *end) = chars;
    }
}

/// Whether a byte of UTF-8 is one of a character, but not its first.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Counts characters up to byte positions that mostly ascend; steps back where they do not.
struct CharCursor<'a> {
    bytes: &'a [u8],
    /// The position.
    byte: usize,
    /// Continuation bytes before the position.
    continued: usize,
    /// Between the position and here there is no continuation byte.
    plain: usize,
}

impl CharCursor<'_> {
    /// Number of characters before the one that holds `byte`.
    #[inline]
    fn chars_before(&mut self, byte: usize) -> u32 {
        let chars = self.chars_up_to(byte);
        chars - u32::from(self.plain <= byte && self.bytes.get(byte).copied().is_some_and(is_continuation))
    }

    /// Number of characters before `byte`, including a character that `byte` cuts.
    #[inline]
    fn chars_up_to(&mut self, byte: usize) -> u32 {
        if byte < self.byte || byte > self.plain {
            self.seek(byte);
        }
        self.byte = byte;
        (byte - self.continued) as u32
    }

    #[inline(never)]
    fn seek(&mut self, byte: usize) {
        let count = |range: &[u8]| range.iter().filter(|&&byte| is_continuation(byte)).count();
        if byte < self.byte {
            self.continued -= count(&self.bytes[byte..self.byte]);
            self.plain = byte;
        } else {
            self.continued += count(&self.bytes[self.plain..byte]);
            self.plain = byte;
            for block in self.bytes[byte..].chunks(32) {
                if block.iter().fold(false, |found, &byte| found | is_continuation(byte)) {
                    break;
                }
                self.plain += block.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn char_offsets_matches_naive(
            text in "[ -~]{0,80}|([ -~]{0,50}[éñ日😀]){0,6}|[aé日😀]{0,40}",
            places in prop::collection::vec((0..1000u32, 0..9u32), 0..30),
            ascending: bool,
        ) {
            let len = text.len() as u32;
            let mut offsets: Vec<(u32, u32)> =
                places.iter().map(|&(start, span)| (start % (len + 1), (start % (len + 1) + span).min(len))).collect();
            if ascending {
                offsets.sort_unstable();
            }
            let chars = |range: &str| range.chars().count() as u32;
            let naive: Vec<(u32, u32)> = offsets
                .iter()
                .map(|&(start, end)| {
                    let (start, end) = (text.floor_char_boundary(start as usize), text.ceil_char_boundary(end as usize));
                    (chars(&text[..start]), chars(&text[..end]))
                })
                .collect();
            char_offsets(&text, offsets.iter_mut().map(|(start, end)| (start, end)));
            prop_assert_eq!(offsets, naive);
        }
    }

    #[test]
    fn byte_offsets_become_character_offsets() {
        let text = "aé中b";
        let mut builder = ColumnsBuilder::default();
        for bytes in [(0, 1), (1, 2), (2, 3), (3, 6), (6, 7), (0, 7)] {
            builder.push(0, bytes, None);
        }
        builder.bytes_to_chars(text, 0);
        let offsets: Vec<_> = builder.starts.into_iter().zip(builder.ends).collect();
        assert_eq!(offsets, [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (0, 4)]);
    }

    #[test]
    fn trimming_leaves_a_put_space_alone() {
        assert_eq!(trimmed((0, 3), "Ġab", true, true), (0, 3));
        assert_eq!(trimmed((3, 6), "Ġab", false, true), (4, 6));
        assert_eq!(trimmed((0, 3), "Ġab", true, false), (1, 3));
        assert_eq!(trimmed((0, 3), "ĠĠb", true, true), (2, 3));
        assert_eq!(trimmed((2, 4), "ĠĠ", false, false), (4, 4));
    }
}
