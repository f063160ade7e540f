//! The stages between the ends of a text, compiled.

use super::ascii::AsciiTable;
use super::images::Images;
use super::rules::Rules;
use crate::normalizers::Normalizer;
use crate::structures::amortized_lazy::AmortizedLazy;
use crate::structures::char_table::CharTable;

/// The longest piece in bytes.
pub(super) const LONGEST: usize = 32;

/// Bytes of text that take as long as asking all characters for their images.
pub(super) const ASKING_ALL: usize = 1 << 20;

/// The stages that do not see the ends of a text, compiled.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) rules: Rules,
    pub(super) ascii: AsciiTable,
    /// Stages that see more than a character; at least 1.
    pub(super) reach: usize,
    /// Which characters are inert, once enough text was normalized.
    inert: AmortizedLazy<CharTable>,
}

impl Inner {
    pub(super) fn new(stages: Vec<Normalizer>, reach: usize) -> Self {
        Self { ascii: AsciiTable::new(&stages), rules: Rules(stages), reach, inert: AmortizedLazy::default() }
    }

    /// Which characters are inert, or none as long as it costs more to ask all characters than it saves in a text of `len` bytes.
    pub(super) fn inert(&self, len: usize) -> Option<&CharTable> {
        self.inert.get(len, ASKING_ALL, || Some(Images::of_rules(&self.rules).inert()))
    }
}
