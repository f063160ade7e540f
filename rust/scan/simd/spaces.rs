//! The splitters of SentencePiece-style tokenizers on masks.

use super::fill::Rules;
use super::masks::{Masks, last, up};
use crate::scan::spaces::{Blanks, SpacedWords, Spaces};

/// A span starts at a blank that no blank is before.
#[derive(Default)]
pub(super) struct SpacesRules {
    blank: u64,
}

impl Rules for SpacesRules {
    type Scalar = Spaces;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        let starts = now.blank & !up(now.blank, self.blank);
        self.blank = last(now.blank);
        (starts, 0)
    }
}

/// A span starts at a blank or a line end that none of these is before.
#[derive(Default)]
pub(super) struct BlanksRules {
    blank: u64,
}

impl Rules for BlanksRules {
    type Scalar = Blanks;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        let blank = now.blank | now.newline;
        let starts = blank & !up(blank, self.blank);
        self.blank = last(blank);
        (starts, 0)
    }
}

/// A span starts at a blank, and at a letter behind a symbol of ASCII and the other way round.
#[derive(Default)]
pub(super) struct SpacedWordsRules {
    spaces: SpacesRules,
    letter: u64,
    symbol: u64,
}

impl Rules for SpacedWordsRules {
    type Scalar = SpacedWords;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        let symbol = !(now.letter | now.number | now.blank | now.wide);
        let borders = symbol & up(now.letter, self.letter) | now.letter & up(symbol, self.symbol);
        self.letter = last(now.letter);
        self.symbol = last(symbol);
        (self.spaces.starts(text, base, now, next).0 | borders, 0)
    }
}
