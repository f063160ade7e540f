//! Sixty-four bytes as one bit per byte and class.
//!
//! Bit `i` of each mask is the byte `i` of a block. A class belongs to all bytes of its character, so that neighbours
//! among bytes are neighbours among characters, and whatever holds of ASCII by shifting holds of all text.

use crate::scan::classes::{LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, UPPER, WORD};
use crate::scan::cursor::class_at;

/// Bytes in a block.
pub(super) const BLOCK: usize = 64;

/// [`PUNCTUATION_KEPT_APART`](crate::scan::spaces::PUNCTUATION_KEPT_APART) but for `?`, from each first to each last byte.
pub(super) const STOP_RANGES: [(u8, u8); 4] = [(b'!', b'"'), (b'(', b')'), (b',', b'.'), (b':', b';')];

/// The first bytes, from first to last, of characters that are all ideographs: U+5000 to U+9FFF.
pub(super) const IDEOGRAPHS: (u8, u8) = (0xe5, 0xe9);

/// The same of Hangul syllables: U+B000 to U+CFFF. All of both are in the classes of `中`, so no table is asked.
pub(super) const SYLLABLES: (u8, u8) = (0xeb, 0xec);

/// A block and what follows: any character that begins in the block ends in the window.
pub(super) type Window = [u8; BLOCK + 8];

/// Which bytes of a block are what. A back end fills in all of it; what a splitter never asks is never computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Bytes of `\p{L}`.
    pub letter: u64,
    /// Bytes of what may stand in the upper-case part of a word.
    pub upper: u64,
    /// Bytes of what may stand in the lower-case part of a word.
    pub lower: u64,
    /// Bytes of `\p{N}`.
    pub number: u64,
    /// Bytes of `\s`.
    pub space: u64,
    /// Bytes of `\w` as the `Whitespace` pre-tokenizer reads it.
    pub word: u64,
    /// Bytes of what the `Punctuation` pre-tokenizer splits off.
    pub punctuation: u64,
    /// The byte `0x20`.
    pub blank: u64,
    /// Carriage returns and line feeds.
    pub newline: u64,
    /// The byte `0x09`.
    pub tab: u64,
    /// The byte `'`.
    pub apostrophe: u64,
    /// The byte `/`.
    pub slash: u64,
    /// The bytes of [`PUNCTUATION_KEPT_APART`](crate::scan::spaces::PUNCTUATION_KEPT_APART).
    pub stop: u64,
    /// Bytes beyond ASCII.
    pub wide: u64,
    /// Bytes beyond ASCII but the first of each character.
    pub tail: u64,
    /// First bytes of [`IDEOGRAPHS`].
    pub ideograph: u64,
    /// First bytes of [`SYLLABLES`].
    pub syllable: u64,
}

impl Masks {
    /// First bytes of characters beyond ASCII.
    #[inline(always)]
    pub(super) fn leads(&self) -> u64 {
        self.wide & !self.tail
    }

    /// Gives the classes, so far those of first bytes, to the other bytes of each character; `before` is the block
    /// before, whose last character may go on in this one.
    #[inline(always)]
    pub(super) fn spread(&mut self, before: &Self) {
        let spread =
            |mask: u64, before: u64| opaque(mask | flood(self.tail, up(mask, last(before)) & self.tail));
        self.letter = spread(self.letter, before.letter);
        self.upper = spread(self.upper, before.upper);
        self.lower = spread(self.lower, before.lower);
        self.number = spread(self.number, before.number);
        self.space = spread(self.space, before.space);
        self.word = spread(self.word, before.word);
        self.punctuation = spread(self.punctuation, before.punctuation);
    }
}

/// `bits`, of which the compiler knows no longer where they come from.
///
/// It would put several masks into one vector, whose elements then have to be moved back and forth, or look through the
/// move from a vector to an integer and take the arithmetic on masks apart, a bit at a time.
#[inline(always)]
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "assembly, without an instruction")
)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_mut, reason = "no assembly")
)]
pub(super) fn opaque(mut bits: u64) -> u64 {
    // SAFETY: no instruction is there; the register keeps its value.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// The last bit of a mask: what [`up`] carries into the next block.
#[inline(always)]
pub(super) fn last(mask: u64) -> u64 {
    opaque(mask >> 63)
}

/// From each bit of `seeds`, all of them in `area`, the run of `area` from there upwards.
///
/// The sum carries from the lowest seed of a run through to the end of it, and leaves a bit at each seed above.
#[inline(always)]
pub(super) fn flood(area: u64, seeds: u64) -> u64 {
    (area.wrapping_add(seeds) ^ area | seeds) & area
}

/// `mask` moved up by one byte; the last of the block before comes in as `carry`, 0 or 1.
#[inline(always)]
pub(super) fn up(mask: u64, carry: u64) -> u64 {
    mask << 1 | carry
}

/// `mask` moved down by one byte; the first of the next block comes in.
#[inline(always)]
pub(super) fn down(mask: u64, next: u64) -> u64 {
    // One rotation; a shift through two registers is slow on some processors.
    (mask & !1 | next & 1).rotate_right(1)
}

/// The bits below `bit`, which is at most 64.
#[inline(always)]
pub(super) fn below(bit: usize) -> u64 {
    if bit < 64 { (1 << bit) - 1 } else { u64::MAX }
}

/// The bits that are set, from the lowest on.
#[inline(always)]
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}

/// The class bytes of the characters that begin at `leads`, and zeros.
///
/// For back ends that cannot look up classes many at a time.
#[inline(never)]
pub(super) fn wide_classes(window: &Window, leads: u64) -> [u8; BLOCK] {
    let mut classes = [0; BLOCK];
    for lead in bits(leads) {
        classes[lead] = class_at(window, lead).0.bits();
    }
    classes
}

/// Adds to `masks` the classes of characters beyond ASCII, where `bit_of` tells which class bytes have a bit set.
#[inline(always)]
pub(super) fn add_wide(masks: &mut Masks, window: &Window, bit_of: impl Fn(&[u8; BLOCK], u8) -> u64) {
    let alike = masks.ideograph | masks.syllable;
    let classes = wide_classes(window, masks.leads() & !alike);
    masks.letter |= bit_of(&classes, LETTER.bits()) | alike;
    masks.upper |= bit_of(&classes, UPPER.bits()) | alike;
    masks.lower |= bit_of(&classes, LOWER.bits()) | alike;
    masks.number |= bit_of(&classes, NUMBER.bits());
    masks.space |= bit_of(&classes, SPACE.bits());
    masks.word |= bit_of(&classes, WORD.bits()) | alike;
    masks.punctuation |= bit_of(&classes, PUNCTUATION.bits());
}

/// The places of the bits of `mask`, each plus `base`, as many as `out` holds; returns how many.
#[inline(always)]
pub(super) fn positions(mut mask: u64, base: usize, out: &mut [u32]) -> usize {
    let count = (mask.count_ones() as usize).min(out.len());
    // Eight at a time, too many mostly: cheaper than a branch that nothing predicts.
    let (mut eights, mut done) = (out.as_chunks_mut::<8>().0.iter_mut(), 0);
    while done < count
        && let Some(eight) = eights.next()
    {
        for place in eight {
            *place = (base + mask.trailing_zeros() as usize) as u32;
            mask &= mask.wrapping_sub(1);
        }
        done += 8;
    }
    for (place, bit) in out[done.min(count)..count].iter_mut().zip(bits(mask)) {
        *place = (base + bit) as u32;
    }
    count
}
