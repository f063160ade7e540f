//! Maps between characters, words and tokens of an encoding.

use std::ops::Range;

use super::Encoding;

impl Encoding {
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

    /// Word id of token `token`, with its input sequence.
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

    /// Word id of the token that holds character `position`.
    pub fn char_to_word(&self, position: u32, sequence: usize) -> Option<u32> {
        let token = self.char_to_token(position, sequence)?;
        self.token_to_word(token).map(|(_, word)| word)
    }
}
