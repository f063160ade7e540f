//! The tokens of many texts, column by column.

use std::ops::Range;
use std::sync::Arc;

use super::Trim;
use super::char_offsets::char_offsets;
use crate::vocab::Vocab;

/// In place of a word id: the token belongs to no word.
pub(crate) const NO_WORD: u32 = u32::MAX;

/// The texts of ids.
#[derive(Clone, Debug)]
pub enum TokenNames {
    /// The vocabulary's text. An added token has its own text: the part of the input that it matched.
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
    texts: OwnTexts,
    names: TokenNames,
}

/// Texts of tokens that are not the texts of their ids.
#[derive(Clone, Debug, Default)]
struct OwnTexts {
    /// The texts, concatenated.
    text: String,
    /// Indices of the tokens, ascending, and the ends of their texts.
    ends: Vec<(u32, usize)>,
}

impl OwnTexts {
    fn push(&mut self, at: usize, text: &str) {
        self.text.push_str(text);
        self.ends.push((at as u32, self.text.len()));
    }

    /// The text of the token at `at`, if it has its own.
    fn get(&self, at: usize) -> Option<&str> {
        let found = match self.ends.get(at) {
            // Where all tokens have their own texts, the text of a token stands at its index.
            Some(&(place, _)) if place as usize == at => at,
            _ => self.ends.binary_search_by_key(&at, |&(place, _)| place as usize).ok()?,
        };
        let start = if found == 0 { 0 } else { self.ends[found - 1].1 };
        Some(&self.text[start..self.ends[found].1])
    }
}

/// Neighbouring tokens that a search compares without branches.
pub(super) const SEARCHED: usize = 64;

impl Columns {
    /// Word ids of the tokens `range`, [`NO_WORD`] for none.
    pub(super) fn words(&self, range: Range<usize>) -> &[u32] {
        &self.words[range]
    }

    /// The tokens of `range` whose offsets before any trim have `position` in them.
    pub(super) fn holding(&self, range: Range<usize>, position: u32) -> impl Iterator<Item = usize> {
        let (starts, ends) = (&self.starts[range.clone()], &self.ends[range.clone()]);
        #[expect(
            clippy::needless_bitwise_bool,
            reason = "a comparison without branches takes many tokens at once"
        )]
        let holds = move |(&start, &end): (&u32, &u32)| (start <= position) & (position < end);
        let blocks = starts.chunks(SEARCHED).zip(ends.chunks(SEARCHED)).zip(range.step_by(SEARCHED));
        let holding = blocks.filter(move |((starts, ends), _)| {
            starts.iter().zip(*ends).fold(false, |found, offsets| found | holds(offsets))
        });
        holding.flat_map(move |((starts, ends), at)| {
            (at..).zip(starts.iter().zip(ends)).filter(move |&(_, offsets)| holds(offsets)).map(|(at, _)| at)
        })
    }

    pub(crate) fn word(&self, at: usize) -> Option<u32> {
        Some(self.words[at]).filter(|&word| word != NO_WORD)
    }

    pub(crate) fn token(&self, at: usize) -> &str {
        self.texts.get(at).unwrap_or_else(|| self.names.token(self.ids[at]))
    }

    pub(crate) fn offsets(&self, at: usize, trims: &[Trim]) -> (u32, u32) {
        let (mut start, mut end) = (self.starts[at], self.ends[at]);
        for trim in trims {
            let shifted = (start.saturating_add(trim.shift), end.saturating_add(trim.shift));
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
    /// The numbers of spaces around `token`.
    pub(crate) fn of(token: &str) -> Self {
        let leading = token.chars().take_while(|&c| is_space(c)).count() as u32;
        let trailing = token.chars().rev().take_while(|&c| is_space(c)).count() as u32;
        Self { leading, trailing }
    }

    /// The offsets of a token without its spaces; `is_first` is true if the token counts as the first of its text.
    #[inline]
    pub(crate) fn trim(self, (start, end): (u32, u32), is_first: bool, add_prefix_space: bool) -> (u32, u32) {
        let Self { mut leading, trailing } = self;
        let mut offsets = (start, end);
        if leading > 0 {
            // A single space may be the one that the pre-tokenizer added; several spaces were in the text.
            if leading == 1 && add_prefix_space && (is_first || start == 0) {
                leading = 0;
            }
            offsets.0 = start.saturating_add(leading).min(end);
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
    texts: OwnTexts,
}

impl ColumnsBuilder {
    /// Empty columns with capacity for `tokens` tokens.
    pub fn with_room(tokens: usize) -> Self {
        let column = || Vec::with_capacity(tokens);
        Self { ids: column(), starts: column(), ends: column(), words: column(), texts: OwnTexts::default() }
    }

    /// Appends a token.
    pub fn push(&mut self, id: u32, (start, end): (u32, u32), word: Option<u32>) {
        self.ids.push(id);
        self.starts.push(start);
        self.ends.push(end);
        self.words.push(word.unwrap_or(NO_WORD));
    }

    /// Appends a token with a text of its own, in place of the text of its id.
    pub fn push_with_text(&mut self, id: u32, text: &str, offsets: (u32, u32), word: Option<u32>) {
        self.texts.push(self.ids.len(), text);
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

#[cfg(test)]
mod tests {
    use super::*;

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
