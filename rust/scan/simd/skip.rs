//! Runs of characters of some kinds.

use super::fill::{Isa, Job, window};
use super::masks::{BLOCK, below};
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;

/// Finds where a run of characters of some kinds ends that begins at `start`.
pub(crate) struct SkipRun<'a> {
    pub(crate) table: &'a CharTable,
    pub(crate) kinds: Kinds,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl SkipRun<'_> {
    /// The same, character by character: the obvious twin.
    #[cfg(test)]
    fn naive(&self) -> usize {
        let is_in = |&at: &usize| self.table.at(self.text.as_bytes(), at).0 & self.kinds == 0;
        let starts = self.text[self.start..].char_indices().map(|(at, _)| self.start + at);
        starts.into_iter().find(is_in).unwrap_or(self.text.len())
    }
}

impl Job for SkipRun<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let (bytes, mut base) = (self.text.as_bytes(), self.start);
        while base < bytes.len() {
            let mut padded = None;
            let window = window(bytes, base, &mut padded);
            let first = !isa.masks(window, false).tail & below(bytes.len() - base);
            let others = first & !isa.are_in(isa.kinds(window, self.table), self.kinds);
            if others != 0 {
                return base + others.trailing_zeros() as usize;
            }
            base += BLOCK;
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::classes::Class;
    use crate::scan::simd::Backend;
    use crate::structures::char_table::{PAGE, PAGES};

    proptest! {
        #[test]
        fn skip_matches_naive(kinds: u8, text in "([a-zé日]{0,90}[.,É]?|\\PC{0,40}){0,4}", at in 0..200usize) {
            let byte = |code| Class::of_code(code).bits() | u8::from(code == 0xe9);
            let page = |page| std::array::from_fn(|at| byte(page * PAGE + at));
            let table = CharTable::new((0..PAGES as u16).collect(), (0..PAGES).map(page).collect());
            let start = text.floor_char_boundary(at.min(text.len()));
            let job = || SkipRun { table: &table, kinds, text: &text, start };
            for backend in Backend::available() {
                prop_assert_eq!(backend.run(job()), job().naive(), "{:?}", backend);
            }
        }
    }
}
