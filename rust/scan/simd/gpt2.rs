//! GPT-2's splitter on masks.
//!
//! A span starts at every character that is neither white space, nor of the same class as the one before, nor after a
//! blank; and at white space that begins a run, or ends one before something else. Contractions are then looked for
//! after each apostrophe that starts a span: `'s` ends after its letters, whatever follows.

use super::contractions::Contractions;
use super::fill::Rules;
use super::masks::{Masks, down, last, up};
use crate::scan::gpt2::{Gpt2, contraction};

/// The last bit of each mask of the block before.
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

/// First bytes of white space before something else: `\s+(?!\S)` leaves that character to the next span.
#[inline(always)]
pub(super) fn last_spaces(now: &Masks, next: &Masks) -> u64 {
    let last_bytes = now.space & !down(now.space, next.space);
    if now.space & now.wide == 0 {
        return last_bytes;
    }
    // White space beyond ASCII has two or three bytes, the last of which may be in the next block.
    let next_last_bytes = next.space & !(next.space >> 1) & next.wide;
    let wide = last_bytes & now.wide;
    last_bytes & !now.wide
        | (wide >> 1 | next_last_bytes << 63 | wide >> 2 | next_last_bytes << 62) & now.leads()
}
