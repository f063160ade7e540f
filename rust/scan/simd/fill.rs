//! The loop over blocks that all splitters and all back ends share.

use std::marker::PhantomData;

use super::masks::{BLOCK, Masks, Window, below};
use crate::scan::Scan;
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;

/// Below this many bytes a block costs more than a scalar scan.
pub(super) const SHORT: usize = 16;

/// The vector operations of a back end; everything else is arithmetic on 64-bit integers.
pub(crate) trait Isa: Copy {
    /// The masks of the block that `window` begins with, with classes at the first byte of each character alone.
    /// Without `has_classes`, the classes of non-ASCII bytes are arbitrary.
    fn masks(self, window: &Window, has_classes: bool) -> Masks;

    /// The kinds of the characters of a block, at their first bytes.
    type Kinds: Copy;

    /// The kinds of the characters of the block that `window` begins with.
    fn kinds(self, window: &Window, table: &CharTable) -> Self::Kinds;

    /// The mask of the first bytes of characters whose kind is in a set.
    fn are_in(self, kinds: Self::Kinds, set: Kinds) -> u64;

    /// Writes the indices of the set bits of `mask`, lowest first and each plus `base`, as many as `out` holds; returns
    /// how many.
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize;
}

/// A splitter's pattern as arithmetic on masks. A value holds the state that one block leaves to the next.
pub(super) trait Rules: Default {
    /// The same splitter, one span at a time.
    type Scalar: Scan;

    /// True if the rules read classes of non-ASCII characters.
    const HAS_CLASSES: bool = true;

    /// Two masks of the block `now`, which begins at `base` of `text`: where spans start, and where the arithmetic
    /// cannot decide. The second mask holds at least the first undecided position; the caller ignores starts from there
    /// on.
    ///
    /// The first block begins at a span boundary. The text is padded with blanks at its end.
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64);
}

/// A job that runs on any back end.
pub(crate) trait Job {
    /// Runs the job; returns the number of spans written.
    fn run<I: Isa>(self, isa: I) -> usize;
}

/// Writes the ends of the spans of `text` from the boundary `start` on.
pub(super) struct FillEnds<'a, R: Rules> {
    pub text: &'a str,
    pub start: usize,
    pub ends: &'a mut [u32],
    pub rules: PhantomData<R>,
}

impl<R: Rules> Job for FillEnds<'_, R> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        fill_ends::<I, R>(isa, self.text, self.start, self.ends)
    }
}

#[inline(always)]
fn fill_ends<I: Isa, R: Rules>(isa: I, text: &str, start: usize, ends: &mut [u32]) -> usize {
    let bytes = text.as_bytes();
    let (mut found, mut pos) = (0, start);
    while bytes.len() - pos >= SHORT && found < ends.len() {
        let mut rules = R::default();
        let mut base = pos;
        let mut next = load(isa, bytes, base, R::HAS_CLASSES, &Masks::default());
        // Where one span starts another ends, except at the given boundary.
        let mut counted = !1;
        let unclear = loop {
            let now = next;
            next = load(isa, bytes, base + BLOCK, R::HAS_CLASSES, &now);
            let (starts, unclear) = rules.starts(bytes, base, &now, &next);
            let left = bytes.len() - base;
            if left < BLOCK {
                counted &= below(left);
            }
            if unclear != 0 {
                counted &= below(unclear.trailing_zeros() as usize);
            }
            found += isa.positions(starts & counted, base, &mut ends[found..]);
            if found == ends.len() {
                return found;
            }
            if unclear != 0 {
                break base + unclear.trailing_zeros() as usize;
            }
            if left <= BLOCK {
                ends[found] = bytes.len() as u32;
                return found + 1;
            }
            counted = u64::MAX;
            base += BLOCK;
        };
        pos = if found > 0 { ends[found - 1] as usize } else { start };
        while pos <= unclear && found < ends.len() {
            pos = R::Scalar::advance(text, pos);
            ends[found] = pos as u32;
            found += 1;
        }
    }
    found + fill_ends_scalar::<R::Scalar>(text, pos, &mut ends[found..])
}

/// [`FillEnds`] without blocks: for short texts, and as the specification.
#[inline]
pub(super) fn fill_ends_scalar<S: Scan>(text: &str, mut pos: usize, ends: &mut [u32]) -> usize {
    let mut found = 0;
    for end in ends {
        if pos == text.len() {
            break;
        }
        pos = S::advance(text, pos);
        *end = pos as u32;
        found += 1;
    }
    found
}

/// The masks of the block at `at`; `before` holds the masks of the previous block, and `has_classes` is as in [`Isa::masks`].
#[inline(always)]
pub(crate) fn load<I: Isa>(isa: I, bytes: &[u8], at: usize, has_classes: bool, before: &Masks) -> Masks {
    let mut padded = None;
    let mut masks = isa.masks(window(bytes, at, &mut padded), has_classes);
    if has_classes && masks.wide != 0 {
        masks.spread(before);
    }
    masks
}

/// The window at `at`, in `padded` if the text ends before.
#[inline(always)]
pub(super) fn window<'a>(bytes: &'a [u8], at: usize, padded: &'a mut Option<Window>) -> &'a Window {
    match bytes.get(at..at + size_of::<Window>()) {
        Some(window) => window.first_chunk().expect("as long as it is"),
        None => padded.insert(pad(bytes, at)),
    }
}

/// The window at the end of a text, padded with blanks.
#[cold]
#[inline(never)]
fn pad(bytes: &[u8], at: usize) -> Window {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut window = [b' '; size_of::<Window>()];
    window[..rest.len()].copy_from_slice(rest);
    window
}
