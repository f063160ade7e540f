//! Cuts text every so many characters.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::{Error, Result};

/// Checks a length, which must be at least 1.
///
/// # Errors
/// [`Error::InvalidOption`] for 0.
pub fn checked(length: usize) -> Result<NonZeroUsize> {
    NonZeroUsize::new(length).ok_or_else(|| Error::InvalidOption {
        name: "length",
        value: length.to_string(),
        expected: "at least 1".to_owned(),
    })
}

pub(super) fn for_each_span(piece: &str, length: NonZeroUsize, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    for (at, _) in piece.char_indices().step_by(length.get()).skip(1) {
        found(start..at);
        start = at;
    }
    found(start..piece.len());
}
