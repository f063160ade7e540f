//! The substrings that may be seeds.

use std::collections::BTreeSet;

use super::corpus::Corpus;
use crate::Result;
use crate::trainers::forbidden::Forbidden;

/// Which substrings may be seeds.
#[derive(Clone, Copy)]
pub(super) struct SeedFilter<'a> {
    /// Special tokens, which are none.
    pub(super) excluded: &'a BTreeSet<&'a str>,
    /// Patterns of pieces that are never chosen.
    pub(super) forbid: &'a Forbidden,
    /// True if characters stand for bytes.
    pub(super) is_byte_level: bool,
}

impl SeedFilter<'_> {
    /// True if no pattern forbids the substring.
    ///
    /// # Errors
    /// The errors of [`Forbidden::holds`].
    #[inline]
    pub(super) fn allows(self, corpus: &Corpus, codes: &[u32]) -> Result<bool> {
        Ok(self.forbid.is_empty() || !self.forbid.holds(&corpus.text(codes), self.is_byte_level)?)
    }
}
