//! Maps between characters, words and tokens of an encoding.

use std::ops::Range;

use super::Encoding;

impl Encoding {
    /// Tokens of input sequence `sequence`; all tokens where no sequence was set.
    pub(super) fn sequence_range(&self, sequence: usize) -> Range<usize> {
        let mut at = 0;
        let mut range = None;
        for piece in &self.pieces {
            if piece.sequence == Some(sequence) {
                let start = range.map_or(at, |found: (usize, usize)| found.0);
                range = Some((start, at + piece.len));
            }
            at += piece.len;
        }
        range.map_or(0..at, |(start, end)| start..end)
    }

    /// The input sequence of token `token`.
    pub fn token_to_sequence(&self, token: usize) -> Option<usize> {
        let len = self.len();
        let mut at = 0;
        for piece in &self.pieces {
            at += piece.len;
            if token < at && piece.sequence.is_some() {
                return piece.sequence;
            }
            if token < at {
                break;
            }
        }
        let is_unset = self.pieces.iter().all(|piece| piece.sequence.is_none());
        (token < len && is_unset).then_some(0)
    }

    /// First token of word `word` and one past its last.
    pub fn word_to_tokens(&self, word: u32, sequence: usize) -> Option<(usize, usize)> {
        let range = self.sequence_range(sequence);
        let words = self.word_ids().enumerate().skip(range.start).take(range.len());
        let mut found: Option<(usize, usize)> = None;
        for (at, of) in words.take_while(|&(_, of)| of.is_none_or(|of| of <= word)) {
            if of == Some(word) {
                let start = found.map_or(at, |(start, _)| start);
                found = Some((start, at + 1));
            }
        }
        found
    }

    /// Character range of word `word`.
    pub fn word_to_chars(&self, word: u32, sequence: usize) -> Option<(u32, u32)> {
        let (start, end) = self.word_to_tokens(word, sequence)?;
        Some((self.offsets().nth(start)?.0, self.offsets().nth(end.checked_sub(1)?)?.1))
    }

    /// Character range of token `token`, with its input sequence.
    pub fn token_to_chars(&self, token: usize) -> Option<(usize, (u32, u32))> {
        let sequence = self.token_to_sequence(token)?;
        Some((sequence, self.offsets().nth(token)?))
    }

    /// Word of token `token`, with its input sequence.
    pub fn token_to_word(&self, token: usize) -> Option<(usize, u32)> {
        let sequence = self.token_to_sequence(token)?;
        Some((sequence, self.word_ids().nth(token)??))
    }

    /// The token that holds character `position`.
    pub fn char_to_token(&self, position: u32, sequence: usize) -> Option<usize> {
        let range = self.sequence_range(sequence);
        let mut offsets = self.offsets().skip(range.start).take(range.len());
        let place = offsets.position(|(start, end)| start <= position && position < end)?;
        Some(range.start + place)
    }

    /// The word that holds character `position`.
    pub fn char_to_word(&self, position: u32, sequence: usize) -> Option<u32> {
        let token = self.char_to_token(position, sequence)?;
        self.token_to_word(token).map(|(_, word)| word)
    }
}
