//! Pre-tokens whose entries are on their way from memory.

use std::ops::Range;

/// In keys: what is looked for may have other tokens than what else has these bytes. It is a part of a pre-token, or, where whole
/// parts of the text have keys, a pre-token or a unit that goes on.
pub(super) const CONTEXT: u128 = 1 << CONTEXT_BIT;

/// The place of [`CONTEXT`].
pub(super) const CONTEXT_BIT: u32 = 127;

/// In the place of a hash: the key is that of a long pre-token.
pub(super) const LONG: u32 = 0;

/// In the place of a hash: there is nothing to look for, since the caller knows the ids.
const RESOLVED: u32 = 1;

/// A pre-token whose entry is on its way from memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// A hash without a length for a long pre-token.
    pub(super) key: u128,
    /// As many bits as the largest table has places; without a key, [`LONG`] or [`RESOLVED`].
    pub(super) hash: u32,
    /// First byte of the pre-token in its text; of ids that are known, the place of the first one.
    pub start: u32,
    pub(super) end: u32,
    /// Number of the pre-token in its text.
    pub word: u32,
}

impl Lookup {
    /// What takes the place of pre-tokens whose ids the caller knows, which are at `ids` among the caller's.
    pub fn known(ids: Range<usize>, word: u32) -> Self {
        Self { key: 0, hash: RESOLVED, start: ids.start as u32, end: ids.end as u32, word }
    }

    /// Adds `ids` to those that the caller knows, if these end where the new ones begin; answers whether they do.
    #[inline]
    pub fn extend_resolved(&mut self, ids: &Range<usize>) -> bool {
        let is_continuation = self.resolved_ids().is_some_and(|known| known.end == ids.start);
        if is_continuation {
            self.end = ids.end as u32;
        }
        is_continuation
    }

    /// Where the ids are, if the caller knows them.
    #[inline]
    pub fn resolved_ids(self) -> Option<Range<usize>> {
        (self.is_long() && self.hash == RESOLVED).then_some(self.start as usize..self.end as usize)
    }

    /// Whether the pre-token is too long for a key.
    #[inline]
    pub(super) fn is_long(self) -> bool {
        (self.key & !CONTEXT) >> 120 == 0
    }

    /// Whether this is a part of a pre-token that differs from a pre-token of the same bytes.
    pub fn in_context(self) -> bool {
        self.key & CONTEXT != 0
    }
}
