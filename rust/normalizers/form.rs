//! Unicode's four normalization forms, and their facts of single characters.
//!
//! Source: Unicode Standard Annex 15, with the tables of `unicode_9`.

use std::iter;

use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfkc_quick};

use super::unicode_9::{combining_class, decompose};

/// A normalization form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Form {
    /// All forms with their names.
    pub const NAMES: [(Self, &'static str); 4] =
        [(Self::Nfc, "NFC"), (Self::Nfd, "NFD"), (Self::Nfkc, "NFKC"), (Self::Nfkd, "NFKD")];

    /// The form's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
            Self::Nfd => "NFD",
            Self::Nfkc => "NFKC",
            Self::Nfkd => "NFKD",
        }
    }

    pub(super) fn composes(self) -> bool {
        matches!(self, Self::Nfc | Self::Nfkc)
    }

    pub(super) fn is_compatible(self) -> bool {
        matches!(self, Self::Nfkc | Self::Nfkd)
    }

    /// The combining class of `c` if `c` neither decomposes nor composes with a character before it, so that at most it
    /// changes places with marks.
    pub(super) fn certain_class(self, c: char) -> Option<u8> {
        let is_certain = match self {
            Self::Nfc => is_nfc_quick(iter::once(c)) == IsNormalized::Yes,
            Self::Nfkc => is_nfkc_quick(iter::once(c)) == IsNormalized::Yes,
            Self::Nfd | Self::Nfkd => self.leaves(c),
        };
        is_certain.then(|| combining_class(c))
    }

    /// True if `c` does not decompose.
    fn leaves(self, c: char) -> bool {
        let mut is_same = true;
        decompose(c, self.is_compatible(), |part| is_same &= part == c);
        is_same
    }

    /// True if every part of `c` that may change places with marks vanishes.
    pub(super) fn has_no_order(self, c: char, vanishes: impl Fn(char) -> bool) -> bool {
        let mut has_none = true;
        decompose(c, self.is_compatible(), |part| has_none &= combining_class(part) == 0 || vanishes(part));
        has_none
    }

    /// True if all parts of `c` vanish.
    pub(super) fn vanishes(self, c: char, vanishes: impl Fn(char) -> bool) -> bool {
        let mut is_gone = true;
        decompose(c, self.is_compatible(), |part| is_gone &= vanishes(part));
        is_gone
    }

    /// True if `c` neither composes with a character before it nor changes places with marks there.
    pub(super) fn starts_run(self, c: char) -> bool {
        let mut first = None;
        decompose(c, self.is_compatible(), |part| first = first.or(Some(part)));
        first.is_some_and(|first| {
            let may_compose = self.composes() && Self::Nfc.certain_class(first).is_none();
            combining_class(first) == 0 && !may_compose
        })
    }
}
