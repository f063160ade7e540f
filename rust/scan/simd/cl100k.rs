//! Masks for the splitters of cl100k, Llama 3 and Qwen 2.

use super::contractions::Contractions;
use super::fill::Rules;
use super::masks::{Masks, down};
use super::runs::Runs;
use crate::scan::cl100k::Cl100k;
use crate::scan::cursor::folded_contraction;

/// Runs, and contractions where an apostrophe starts a span.
#[derive(Default)]
pub(super) struct Cl100kRules<const MAX_DIGITS: usize> {
    runs: Runs<MAX_DIGITS, false>,
    contractions: Contractions<false>,
}

impl<const MAX_DIGITS: usize> Rules for Cl100kRules<MAX_DIGITS> {
    type Scalar = Cl100k<MAX_DIGITS>;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        let starts = self.runs.starts(text, base, now.letter, now, next);
        let apostrophes = starts.symbols & now.apostrophe & down(now.letter, next.letter);
        let contraction = |at| folded_contraction(text, at);
        (self.contractions.cut(starts.all, base, apostrophes, contraction), 0)
    }
}
