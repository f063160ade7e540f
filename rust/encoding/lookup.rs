//! Maps between characters, words and tokens of an encoding.

use std::cmp::Ordering;
use std::ops::Range;

use super::columns::{NO_WORD, SEARCHED};
use super::{Columns, Content, Encoding, Trim};

/// Tokens of a text, one after the other.
struct Run<'a> {
    columns: &'a Columns,
    trims: &'a [Trim],
    /// The run's places in the columns.
    range: Range<usize>,
    /// Index of the first token in the encoding.
    at: usize,
    /// Added to all offsets.
    shift: u32,
}

impl Encoding {
    /// The tokens of `range` that come from texts.
    fn runs(&self, range: Range<usize>) -> impl Iterator<Item = Run<'_>> {
        self.ranges_in(range.clone()).filter_map(move |(piece, tokens)| {
            let Content::Text { columns, start, trims } = &piece.content else { return None };
            let (from, to) = (range.start.max(tokens.start), range.end.min(tokens.end));
            let place = |at: usize| start + at - tokens.start;
            Some(Run { columns, trims, range: place(from)..place(to), at: from, shift: piece.shift })
        })
    }

    /// Token range of input sequence `sequence`; all tokens if there is no such sequence.
    pub(super) fn sequence_range(&self, sequence: usize) -> Range<usize> {
        let found = self.sequences.iter().find(|&&(known, _)| known == sequence);
        found.map_or_else(|| 0..self.len(), |(_, range)| range.clone())
    }

    /// The input sequence of token `token`.
    ///
    /// If no sequence was ever set, it is 0, even for the index after the last token, as in Hugging Face.
    pub fn token_to_sequence(&self, token: usize) -> Option<usize> {
        if self.sequences.is_empty() {
            return (token <= self.len()).then_some(0);
        }
        self.sequences.iter().find(|(_, range)| range.contains(&token)).map(|&(sequence, _)| sequence)
    }

    /// Range of the tokens of word `word`.
    pub fn word_to_tokens(&self, word: u32, sequence: usize) -> Option<(usize, usize)> {
        if word == NO_WORD {
            return None;
        }
        let mut found: Option<(usize, usize)> = None;
        for Run { columns, range, at, .. } in self.runs(self.sequence_range(sequence)) {
            let words = columns.words(range);
            let skipped = if found.is_none() { first_from(words, word) } else { 0 };
            let words = (at + skipped..).zip(&words[skipped..]).filter(|&(_, &of)| of != NO_WORD);
            for (at, &of) in words {
                match of.cmp(&word) {
                    Ordering::Less => {}
                    Ordering::Equal => found = Some((found.map_or(at, |(start, _)| start), at + 1)),
                    Ordering::Greater => return found,
                }
            }
        }
        found
    }

    /// Character range of word `word`.
    pub fn word_to_chars(&self, word: u32, sequence: usize) -> Option<(u32, u32)> {
        let (start, end) = self.word_to_tokens(word, sequence)?;
        Some((self.get(start)?.offsets().0, self.get(end - 1)?.offsets().1))
    }

    /// Character range of token `token`, with its input sequence.
    pub fn token_to_chars(&self, token: usize) -> Option<(usize, (u32, u32))> {
        let sequence = self.token_to_sequence(token)?;
        Some((sequence, self.get(token)?.offsets()))
    }

    /// Word id of token `token`, with its input sequence.
    pub fn token_to_word(&self, token: usize) -> Option<(usize, u32)> {
        let sequence = self.token_to_sequence(token)?;
        Some((sequence, self.get(token)?.word()?))
    }

    /// The token that holds character `position`.
    pub fn char_to_token(&self, position: u32, sequence: usize) -> Option<usize> {
        self.runs(self.sequence_range(sequence)).find_map(|Run { columns, trims, range, at, shift }| {
            let (start, position) = (range.start, position.checked_sub(shift)?);
            // A trim only takes away from the offsets of a token.
            let is_kept = |&token: &usize| {
                let (start, end) = columns.offsets(token, trims);
                (start..end).contains(&position)
            };
            columns.holding(range, position).find(is_kept).map(|token| at + token - start)
        })
    }

    /// Word id of the token that holds character `position`.
    pub fn char_to_word(&self, position: u32, sequence: usize) -> Option<u32> {
        let token = self.char_to_token(position, sequence)?;
        self.token_to_word(token).map(|(_, word)| word)
    }
}

/// Index of the first of `words` that is at least `word`, or their number.
fn first_from(words: &[u32], word: u32) -> usize {
    // `NO_WORD`, the greatest number, becomes the bound, and a smaller word wraps around to the bound or beyond.
    let is_from = |&of: &u32| of.wrapping_sub(word) < NO_WORD - word;
    let has = |block: &&[u32]| block.iter().fold(false, |found, of| found | is_from(of));
    let blocks = words.chunks(SEARCHED).take_while(|block| !has(block)).count();
    let skipped = words.len().min(blocks * SEARCHED);
    skipped + words[skipped..].iter().position(is_from).unwrap_or(words.len() - skipped)
}

#[cfg(test)]
mod naive {
    use super::Encoding;

    pub(super) fn char_to_token(encoding: &Encoding, position: u32, sequence: usize) -> Option<usize> {
        let holds = |at: &usize| {
            encoding.offsets().nth(*at).is_some_and(|(start, end)| start <= position && position < end)
        };
        encoding.sequence_range(sequence).find(holds)
    }

    pub(super) fn word_to_tokens(encoding: &Encoding, word: u32, sequence: usize) -> Option<(usize, usize)> {
        let of = |at: &usize| encoding.word_ids().nth(*at).flatten();
        let upto = encoding.sequence_range(sequence).take_while(|at| of(at).is_none_or(|of| of <= word));
        let found: Vec<usize> = upto.filter(|at| of(at) == Some(word)).collect();
        Some((*found.first()?, *found.last()? + 1))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::encoding::{ColumnsBuilder, Direction, Padding, Symbol, TokenNames, TokenRef};

    /// Joined encodings of tokens with any offsets and words, trimmed, cut and padded.
    fn encodings() -> impl Strategy<Value = Encoding> {
        let token = ("(Ġ| )?[ab]?Ġ?", 0..30u32, 0..9u32, prop::option::weighted(0.9, 0..40u32));
        let tokens = prop::collection::vec((token, 1..50usize), 0..6);
        let made = (tokens, prop::option::of(any::<bool>()), prop::option::of(0..9usize), any::<bool>());
        let one = made.prop_map(|(tokens, trim, sequence, is_ascending)| {
            let mut columns = ColumnsBuilder::default();
            let repeated = tokens.iter().flat_map(|(token, times)| std::iter::repeat_n(token, *times));
            for (at, (text, start, len, word)) in (0..).zip(repeated) {
                let moved = if is_ascending { at } else { 0 };
                let (start, word) = (start % 3 + moved, word.map(|word| word / 9 + moved));
                columns.push_with_text(0, text, (start, start + len), word);
            }
            let columns = Arc::new(columns.finish(TokenNames::Own));
            let mut encoding = Encoding::from_columns(Arc::clone(&columns), 0..columns.len());
            if let Some(add_prefix_space) = trim {
                encoding.trim_offsets(add_prefix_space);
            }
            if let Some(sequence) = sequence {
                encoding.set_sequence(sequence % 3);
            }
            encoding
        });
        let padding = (0..200usize, any::<bool>());
        let cut = prop::option::of(1..60usize);
        (prop::collection::vec(one, 0..4), any::<bool>(), cut, padding).prop_map(
            |(encodings, growing, cut, (length, is_left))| {
                let symbol = Symbol { id: 7, text: "[PAD]".into() };
                let special = Encoding::special(&[symbol.clone(), symbol.clone()], 0);
                let with_special = encodings.into_iter().flat_map(|encoding| [encoding, special.clone()]);
                let mut made = Encoding::merge(with_special, growing).expect("nothing overflows");
                let direction = if is_left { Direction::Left } else { Direction::Right };
                if let Some(cut) = cut {
                    made.truncate(cut, 0, direction).expect("no stride");
                }
                made.pad(length, &Padding { symbol, type_id: 0, direction }).expect("short");
                made
            },
        )
    }

    proptest! {
        #[test]
        fn lookups_match_naive(encoding in encodings(), position in 0..200u32, sequence in 0..3usize) {
            let (found, expected) = (encoding.char_to_token(position, sequence), naive::char_to_token(&encoding, position, sequence));
            prop_assert_eq!(found, expected);
            let found = encoding.word_to_tokens(position, sequence);
            prop_assert_eq!(found, naive::word_to_tokens(&encoding, position, sequence));
            let at = position as usize;
            prop_assert_eq!(encoding.get(at).map(TokenRef::offsets), encoding.offsets().nth(at));
            prop_assert_eq!(encoding.get(at).map(TokenRef::text), encoding.tokens().nth(at));
            prop_assert_eq!(encoding.get(at).and_then(TokenRef::word), encoding.word_ids().nth(at).flatten());
            prop_assert_eq!(encoding.word_to_tokens(NO_WORD, sequence), None);
            for part in encoding.overflowing().iter().chain([&encoding]) {
                prop_assert_eq!(part.len(), part.iter().count());
                prop_assert!(part.get(part.len()).is_none());
            }
        }
    }
}
