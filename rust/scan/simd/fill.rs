//! The loop over blocks that all splitters and all back ends share.

use std::marker::PhantomData;

use super::masks::{BLOCK, Masks, Window, below};
use crate::scan::Scan;

/// Bytes below which a block costs more than a scalar scan.
pub(super) const SHORT: usize = 16;

/// What a back end does with vectors; everything else is arithmetic on 64-bit integers.
pub(super) trait Isa: Copy {
    /// The masks of the block that `window` begins with; classes at the first byte of each character alone. Those of
    /// bytes beyond ASCII may be anything unless it `has_classes`.
    fn masks(self, window: &Window, has_classes: bool) -> Masks;

    /// Writes the places of the bits of `mask`, from the lowest on and each plus `base`, as many as `out` holds;
    /// returns how many.
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize;
}

/// A splitter's pattern as algebra on masks: a value is what it has to remember from one block to the next.
pub(super) trait Rules: Default {
    /// The same splitter, one span at a time.
    type Scalar: Scan;

    /// Whether it asks for classes of characters beyond ASCII.
    const HAS_CLASSES: bool = true;

    /// Where spans start in the block `now` that begins at `base` of `text`, and, of the places where the algebra cannot
    /// tell, at least the first: bits from there on do not count.
    ///
    /// The first block begins at a span boundary. After the end of the text are blanks.
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64);
}

/// Something to do with whatever back end there is.
pub(super) trait Job {
    /// How many spans were written.
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
        // Where spans start others end, except at the boundary that was given.
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

/// [`FillEnds`] without blocks: for short texts, and what it must equal.
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

/// The masks of the block at `at`, where `before` is the one before and what it `has_classes` for as in [`Isa::masks`].
#[inline(always)]
pub(super) fn load<I: Isa>(isa: I, bytes: &[u8], at: usize, has_classes: bool, before: &Masks) -> Masks {
    let padded;
    let window = if let Some(window) = bytes.get(at..at + size_of::<Window>()) {
        window.first_chunk().expect("as long as it is")
    } else {
        padded = pad(bytes, at);
        &padded
    };
    let mut masks = isa.masks(window, has_classes);
    if has_classes && masks.wide != 0 {
        masks.spread(before);
    }
    masks
}

/// The end of a text from `at` on, with blanks after it.
#[cold]
#[inline(never)]
fn pad(bytes: &[u8], at: usize) -> Window {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut window = [b' '; size_of::<Window>()];
    window[..rest.len()].copy_from_slice(rest);
    window
}
