//! Masks for the splitter of o200k.
//!
//! In a run of letters and marks, a word starts at an upper-case letter after a lower-case one. A character in both
//! sets (a letter without case, a mark) belongs to any word before it. Two positions are left to the scalar scanner:
//!
//! * upper case after *both*: the word continues only if lower case or another *both* follows somewhere in the run, and
//!   only if no lower case came before;
//! * a mark after a symbol that leads no word: such a mark is a symbol too, and the run of symbols continues.
//!
//! Both are rare: the first needs two scripts in one word, the second a mark without a base letter (or an emoji).
//! Elsewhere a mark without a letter counts as *both*, as if it were a letter: leading a word or being its first
//! character makes no difference.

use super::contractions::Contractions;
use super::fill::Rules;
use super::masks::{Masks, down, last, up};
use super::runs::Runs;
use crate::scan::cursor::folded_contraction;
use crate::scan::o200k::O200k;

/// Runs, the last bits of the case masks, and contractions after words.
#[derive(Default)]
pub(super) struct O200kRules {
    runs: Runs<3, true>,
    word: u64,
    only_lower: u64,
    both: u64,
    inner_symbol: u64,
    contractions: Contractions<true>,
}

impl Rules for O200kRules {
    type Scalar = O200k;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        let Masks { upper, lower, .. } = *now;
        let word = upper | lower;
        let (only_upper, only_lower, both) = (upper & !lower, lower & !upper, upper & lower);
        let runs = self.runs.starts(text, base, word, now, next);
        let starts = runs.all | only_upper & up(only_lower, self.only_lower);
        let after_word = up(word, self.word);
        let unclear =
            only_upper & up(both, self.both) | both & !now.letter & up(runs.inner_symbols, self.inner_symbol);
        let apostrophes = now.apostrophe & after_word & down(now.letter, next.letter);
        let suffix = |at| folded_contraction(text, at);
        let starts = self.contractions.cut(starts, base, apostrophes, suffix);
        self.word = last(word);
        self.only_lower = last(only_lower);
        self.both = last(both);
        self.inner_symbol = last(runs.inner_symbols);
        (starts, unclear)
    }
}
