//! Sixty-four bytes as one bit per byte and class.
//!
//! Bit `i` of each mask is byte `i` of a block. All bytes of a character get its class. So neighbouring bytes belong to
//! neighbouring characters, and shifts that are right for ASCII are right for all text.

use crate::scan::classes::{LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, UPPER, WORD};
use crate::scan::cursor::class_at;
use crate::structures::char_table::CharTable;

/// Bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// [`PUNCTUATION_KEPT_APART`](crate::scan::spaces::PUNCTUATION_KEPT_APART) without `?`, as closed ranges of bytes.
pub(super) const STOP_RANGES: [(u8, u8); 4] = [(b'!', b'"'), (b'(', b')'), (b',', b'.'), (b':', b';')];

/// Closed range of the lead bytes whose characters are all ideographs: U+5000 to U+9FFF.
pub(super) const IDEOGRAPHS: (u8, u8) = (0xe5, 0xe9);

/// Closed range of the lead bytes whose characters are all Hangul syllables: U+B000 to U+CFFF. Characters of both
/// ranges have the classes of `中`, so they need no table lookup.
pub(super) const SYLLABLES: (u8, u8) = (0xeb, 0xec);

/// A block with the bytes after it, so that any character that begins in the block ends in the window.
pub(crate) type Window = [u8; BLOCK + 8];

/// The masks of a block, one per class. A back end fills in all fields; the compiler drops the fields that a splitter
/// never reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// Bytes of `\p{L}`.
    pub letter: u64,
    /// Bytes of characters that may stand in the upper-case half of a word.
    pub upper: u64,
    /// Bytes of characters that may stand in the lower-case half of a word.
    pub lower: u64,
    /// Bytes of `\p{N}`.
    pub number: u64,
    /// Bytes of `\s`.
    pub space: u64,
    /// Bytes of `\w` as the `Whitespace` pre-tokenizer reads it.
    pub word: u64,
    /// Bytes of characters that the `Punctuation` pre-tokenizer splits off.
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
    /// Bytes of non-ASCII characters.
    pub wide: u64,
    /// Bytes of non-ASCII characters, without the first byte of each.
    pub tail: u64,
    /// First bytes of [`IDEOGRAPHS`].
    pub ideograph: u64,
    /// First bytes of [`SYLLABLES`].
    pub syllable: u64,
}

impl Masks {
    /// First bytes of non-ASCII characters.
    #[inline(always)]
    pub(super) fn leads(&self) -> u64 {
        self.wide & !self.tail
    }

    /// Extends the classes from the first byte of each character to its other bytes. `before` is the previous block,
    /// whose last character may continue in this one.
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

/// Returns `bits` and hides its origin from the compiler.
///
/// Otherwise the compiler would pack several masks into one vector, whose elements then have to be moved back and
/// forth. Or it would look through the move from a vector to an integer and split the arithmetic on masks into single
/// bits.
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
    // SAFETY: the assembly holds no instruction; the register keeps its value.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// The last bit of a mask, which [`up`] carries into the next block.
#[inline(always)]
pub(super) fn last(mask: u64) -> u64 {
    opaque(mask >> 63)
}

/// Extends each bit of `seeds`, all of which lie in `area`, upwards to the end of its run in `area`.
///
/// The sum carries from the lowest seed of a run to the end of the run, and leaves a bit at every further seed.
#[inline(always)]
pub(super) fn flood(area: u64, seeds: u64) -> u64 {
    (area.wrapping_add(seeds) ^ area | seeds) & area
}

/// `mask` moved up by one byte; `carry`, 0 or 1, is the last bit of the block before.
#[inline(always)]
pub(super) fn up(mask: u64, carry: u64) -> u64 {
    mask << 1 | carry
}

/// `mask` moved down by one byte; the first bit of `next`, the next block, becomes the last.
#[inline(always)]
pub(super) fn down(mask: u64, next: u64) -> u64 {
    // One rotation, since a shift through two registers is slow on some processors.
    (mask & !1 | next & 1).rotate_right(1)
}

/// The bits below `bit`, which is at most 64.
#[inline(always)]
pub(crate) fn below(bit: usize) -> u64 {
    if bit < 64 { (1 << bit) - 1 } else { u64::MAX }
}

/// The indices of the set bits, lowest first.
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

/// The class bytes of the characters that begin at `leads`, zeros elsewhere.
///
/// For back ends that cannot look up many classes at a time.
#[inline(never)]
pub(super) fn wide_classes(window: &Window, leads: u64) -> [u8; BLOCK] {
    let mut classes = [0; BLOCK];
    for lead in bits(leads) {
        classes[lead] = class_at(window, lead).0.bits();
    }
    classes
}

/// Adds the classes of non-ASCII characters to `masks`. `bit_of` returns the mask of the class bytes that have a given
/// bit set.
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

/// The kinds of the characters of a block at their first bytes, for back ends that cannot look up many at a time.
#[inline(always)]
pub(super) fn kinds(window: &Window, table: &CharTable) -> [u8; BLOCK] {
    let ascii = table.ascii();
    let mut kinds: [u8; BLOCK] =
        std::array::from_fn(|at| if window[at] < 0x80 { ascii[usize::from(window[at])] } else { 0 });
    let leads =
        window[..BLOCK].iter().zip(0..).fold(0, |all, (&byte, at)| all | u64::from(byte >= 0xc0) << at);
    if leads != 0 {
        add_wide_kinds(window, table, leads, &mut kinds);
    }
    kinds
}

/// Adds the kinds of the characters that begin at `leads`.
#[inline(never)]
pub(super) fn add_wide_kinds(window: &Window, table: &CharTable, leads: u64, kinds: &mut [u8; BLOCK]) {
    for at in bits(leads) {
        kinds[at] = table.at(window, at).0;
    }
}

/// Writes the indices of the set bits of `mask`, each plus `base`, as many as `out` holds; returns how many.
#[inline(always)]
pub(super) fn positions(mut mask: u64, base: usize, out: &mut [u32]) -> usize {
    let count = (mask.count_ones() as usize).min(out.len());
    // Eight at a time, mostly too many: that is cheaper than an unpredictable branch.
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
