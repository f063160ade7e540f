//! The splitter before spaces on masks: a span starts at a blank that no blank is before.

use super::fill::Rules;
use super::masks::{Masks, last, up};
use crate::scan::spaces::Spaces;

/// The last bit of the block before.
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
