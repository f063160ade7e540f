//! The splitter of o200k on masks.
//!
//! In a run of letters and marks a word starts at upper case behind lower case. What stands in both sets (letters
//! without case, marks) goes with the word before it, whatever that is. Two places are left to the scalar scanner:
//!
//! * upper case behind *both*: the word goes on only if lower case or another *both* follows somewhere in the run, and
//!   only if no lower case came before;
//! * a mark that no letter or mark precedes, which leads a word, is a word or is a symbol.
//!
//! Both are rare: the first needs two scripts in one word, the second has nothing for the mark to stand on (or an
//! emoji).

use super::contractions::Contractions;
use super::fill::Rules;
use super::masks::{Masks, down, up};
use super::runs::Runs;
use crate::scan::cursor::folded_contraction;
use crate::scan::o200k::O200k;

/// Runs, the last bits of masks of cases, and contractions behind words.
#[derive(Default)]
pub(super) struct O200kRules {
    runs: Runs<3, true>,
    word: u64,
    only_lower: u64,
    both: u64,
    contractions: Contractions<true>,
}

impl Rules for O200kRules {
    type Scalar = O200k;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        let Masks { upper, lower, .. } = *now;
        let word = upper | lower;
        let (only_upper, only_lower, both) = (upper & !lower, lower & !upper, upper & lower);
        let starts =
            self.runs.starts(text, base, word, now, next).all | only_upper & up(only_lower, self.only_lower);
        let behind_word = up(word, self.word);
        let mut unclear = only_upper & up(both, self.both) | both & !now.letter & !behind_word;

        let apostrophes = now.apostrophe & behind_word & down(now.letter, next.letter);
        let suffix = |at: usize| {
            let end = folded_contraction(text, at)?;
            // What follows may be a mark, which has lost the letter that it stood on.
            if text.get(end).is_some_and(|&byte| byte >= 0x80) {
                unclear |= 1 << (at - base);
            }
            Some(end)
        };
        let starts = self.contractions.cut(starts, base, apostrophes, suffix);
        self.word = word >> 63;
        self.only_lower = only_lower >> 63;
        self.both = both >> 63;
        (starts, unclear)
    }
}
