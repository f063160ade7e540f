//! Masks for GPT-2's splitter.
//!
//! A span starts at a character that is not white space, has another class than the character before it, and does not
//! follow a blank. A span also starts at white space that begins a run, or that ends a run before something else. Then
//! every apostrophe that starts a span is checked for a contraction: `'s` ends after its letters, even before another letter.

use super::contractions::Contractions;
use super::fill::Rules;
use super::masks::{Masks, down, last, up};
use crate::scan::gpt2::{Gpt2, contraction};

/// The last bit of each mask of the previous block.
#[derive(Default)]
pub(super) struct Gpt2Rules {
    letter: u64,
    number: u64,
    symbol: u64,
    space: u64,
    blank: u64,
    contractions: Contractions<false>,
}

impl Rules for Gpt2Rules {
    type Scalar = Gpt2;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        let Masks { letter, number, space, blank, .. } = *now;
        let symbol = !(letter | number | space);
        let same = letter & up(letter, self.letter)
            | number & up(number, self.number)
            | symbol & up(symbol, self.symbol);
        let mut starts =
            !space & !same & !up(blank, self.blank) | space & !up(space, self.space) | last_spaces(now, next);
        let apostrophes = starts & now.apostrophe & down(letter, next.letter);
        starts = self.contractions.cut(starts, base, apostrophes, |at| contraction(text, at));
        self.letter = last(letter);
        self.number = last(number);
        self.symbol = last(symbol);
        self.space = last(space);
        self.blank = last(blank);
        (starts, 0)
    }
}

/// First bytes of the white-space characters that stand before something else: `\s+(?!\S)` leaves such a character to
/// the next span.
#[inline(always)]
pub(super) fn last_spaces(now: &Masks, next: &Masks) -> u64 {
    let last_bytes = now.space & !down(now.space, next.space);
    if now.space & now.wide == 0 {
        return last_bytes;
    }
    // Non-ASCII white space has two or three bytes, the last of which may be in the next block.
    let next_last_bytes = next.space & !(next.space >> 1) & next.wide;
    let wide = last_bytes & now.wide;
    last_bytes & !now.wide
        | (wide >> 1 | next_last_bytes << 63 | wide >> 2 | next_last_bytes << 62) & now.leads()
}
