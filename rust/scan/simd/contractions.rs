//! English contractions, the one alternative that masks cannot decide.

use super::masks::bits;

/// The state that the contractions of a block leave to the next. With `SUFFIX` a contraction belongs to the word before
/// it, otherwise it is its own span.
#[derive(Default)]
pub(super) struct Contractions<const SUFFIX: bool> {
    /// Positions that are starts in any case.
    starts: u64,
    /// Positions that are not starts.
    inner: u64,
    /// Where the last contraction ended.
    end: usize,
}

impl<const SUFFIX: bool> Contractions<SUFFIX> {
    /// Removes the positions inside contractions from `starts` and adds the position after each.
    ///
    /// `apostrophes` are the positions to check; `end_of` returns the end of the contraction at such a position, if
    /// there is one.
    #[inline(always)]
    pub(super) fn cut(
        &mut self,
        starts: u64,
        base: usize,
        apostrophes: u64,
        end_of: impl Fn(usize) -> Option<usize>,
    ) -> u64 {
        let mut starts = starts & !self.inner | self.starts;
        (self.starts, self.inner) = (0, 0);
        for bit in bits(apostrophes) {
            let at = base + bit;
            // A word has one suffix: an apostrophe after that begins the next word.
            if SUFFIX && at == self.end {
                continue;
            }
            if let Some(end) = end_of(at) {
                self.end = end;
                let after = 1_u128 << (end - base);
                let inner = after - (if SUFFIX { 1 } else { 2 } << bit);
                starts = starts & !(inner as u64) | after as u64;
                self.starts |= (after >> 64) as u64;
                self.inner |= (inner >> 64) as u64;
            }
        }
        starts
    }
}
