//! Quick check of a normalization form: finds the first character of a text that the form may change.
//!
//! A table has one byte for each character: the combining class of a character that only moves if it is out of order, or a
//! marker for a character that may decompose or compose. ASCII, and other characters whose lead byte says that they stay as
//! they are, are skipped without decoding, a block of bytes at a time.
//!
//! Source: Unicode Standard Annex 15, section 9 (detecting normalization forms), with the tables of `unicode_9`.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod table;

use std::ops::Range;
use std::sync::LazyLock;

#[cfg(target_arch = "x86_64")]
use avx512::Avx512;

use table::{STABLE_STARTER, Table, UNSTABLE_STARTER};

use super::form::Form;

/// Bytes of a segment from which any character that starts a run ends it, so that memory for its characters stays small.
const LONG_SEGMENT: usize = 1 << 10;

static NFC: LazyLock<QuickCheck> = LazyLock::new(|| QuickCheck::new(Form::Nfc));
static NFD: LazyLock<QuickCheck> = LazyLock::new(|| QuickCheck::new(Form::Nfd));
static NFKC: LazyLock<QuickCheck> = LazyLock::new(|| QuickCheck::new(Form::Nfkc));
static NFKD: LazyLock<QuickCheck> = LazyLock::new(|| QuickCheck::new(Form::Nfkd));

/// The quick check of one form.
pub(super) struct QuickCheck {
    table: Table,
    #[cfg(target_arch = "x86_64")]
    avx512: Option<Avx512>,
}

impl QuickCheck {
    /// The table of `form`, made once.
    pub(super) fn of(form: Form) -> &'static Self {
        match form {
            Form::Nfc => &NFC,
            Form::Nfd => &NFD,
            Form::Nfkc => &NFKC,
            Form::Nfkd => &NFKD,
        }
    }

    fn new(form: Form) -> Self {
        let table = Table::new(form);
        Self {
            #[cfg(target_arch = "x86_64")]
            avx512: Avx512::detect(&table.quiet),
            table,
        }
    }

    /// The shortest segment around the first character of `text`, from byte `from` on, that may change: from the last
    /// character that starts a run up to the next stable starter. All text before it, back to `from`, stays as it is, and
    /// the text after it is normalized by itself.
    ///
    /// Before `from` there is nothing, or a segment that an earlier call returned. Linear time in the bytes from `from` to
    /// the end of the segment.
    pub(super) fn next_segment(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.first_unstable(text, from)?;
        let starts_run = |c| matches!(self.table.entry(c), STABLE_STARTER | UNSTABLE_STARTER);
        let mut rest = text[found..].char_indices();
        let is_start = rest.next().is_some_and(|(_, c)| self.table.entry(c) == UNSTABLE_STARTER);
        let before = || text[from..found].rfind(starts_run).map_or(from, |start| from + start);
        let start = if is_start { found } else { before() };
        let is_end = |&(at, c): &(usize, char)| {
            self.table.entry(c) == STABLE_STARTER || at >= LONG_SEGMENT && starts_run(c)
        };
        Some(start..rest.find(is_end).map_or(text.len(), |(at, _)| found + at))
    }

    /// Position of the first character, from byte `from` on, that may decompose, compose with a character before it, or
    /// stand after a mark of a higher class.
    pub(super) fn first_unstable(&self, text: &str, from: usize) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = &self.avx512 {
            return isa.first_unstable(&self.table, text, from);
        }
        self.table.first_unstable_by(text, from, |window| self.table.marks(window))
    }

    /// The combining class of `c` if `c` neither decomposes nor composes with a character before it.
    #[inline]
    pub(super) fn class(&self, c: char) -> Option<u8> {
        Some(self.table.entry(c)).filter(|&entry| entry < UNSTABLE_STARTER)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unicode_9::combining_class;
    use super::*;
    use crate::testing::{cases, text_with_marks};

    /// The specification of [`QuickCheck::first_unstable`].
    fn first_unstable_naive(form: Form, text: &str) -> Option<usize> {
        let mut last = 0;
        let is_unstable = |&(_, c): &(usize, char)| {
            let is_descending = combining_class(c) != 0 && combining_class(c) < last;
            last = combining_class(c);
            is_descending || form.certain_class(c).is_none()
        };
        text.char_indices().find(is_unstable).map(|(at, _)| at)
    }

    /// The results of the best instructions of this processor, and of the portable code.
    fn first_unstable_each_way(form: Form, text: &str, from: usize) -> [Option<usize>; 2] {
        let check = QuickCheck::of(form);
        [
            check.first_unstable(text, from),
            check.table.first_unstable_by(text, from, |window| check.table.marks(window)),
        ]
    }

    #[test]
    fn every_character_alone_matches_naive() {
        for (form, _) in Form::NAMES {
            for c in (0..=char::MAX as u32).filter_map(char::from_u32) {
                let text = c.to_string();
                let expected = first_unstable_naive(form, &text);
                assert_eq!(first_unstable_each_way(form, &text, 0), [expected; 2], "{c:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn first_unstable_matches_naive(text in text_with_marks(), from in 0..80usize) {
            let from = text.floor_char_boundary(from);
            for (form, _) in Form::NAMES {
                let expected = first_unstable_naive(form, &text[from..]).map(|found| from + found);
                prop_assert_eq!(first_unstable_each_way(form, &text, from), [expected; 2]);
            }
        }
    }
}
