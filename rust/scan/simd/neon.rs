//! NEON, which every 64-bit ARM processor has: four vectors per block.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcleq_u8, vdupq_n_u8, vgetq_lane_u64, vmaxvq_u8, vorrq_u8, vpaddq_u8,
    vreinterpretq_u64_u8, vsubq_u8, vtstq_u8,
};

use zerocopy::transmute;

use super::fill::Isa;
use super::masks::{BLOCK, IDEOGRAPHS, Masks, STOP_RANGES, SYLLABLES, Window, add_wide, kinds, positions};
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;
use crate::structures::on_processor::on_processor;

/// The back end of 64-bit ARM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon;

impl Isa for Neon {
    #[inline(always)]
    fn masks(self, window: &Window, has_classes: bool) -> Masks {
        on_processor!(masks(window, has_classes))
    }

    type Kinds = [u8; BLOCK];

    #[inline(always)]
    fn kinds(self, window: &Window, table: &CharTable) -> [u8; BLOCK] {
        kinds(window, table)
    }

    #[inline(always)]
    fn are_in(self, kinds: [u8; BLOCK], set: Kinds) -> u64 {
        on_processor!(are_in(kinds, set))
    }

    #[inline(always)]
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize {
        positions(mask, base, out)
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn masks(window: &Window, has_classes: bool) -> Masks {
    let block = quarters(window.first_chunk().expect("a window is longer"));
    let equal = |byte: u8| gather(block, |bytes| vceqq_u8(bytes, vdupq_n_u8(byte)));
    let between = |first: u8, last: u8| gather(block, |bytes| within(bytes, first, last));
    let (upper, lower, digit) = (between(b'A', b'Z'), between(b'a', b'z'), between(b'0', b'9'));
    // One pass for both cases: most splitters that read `letter` read neither `upper` nor `lower`.
    let letter = gather(block, |bytes| within(vorrq_u8(bytes, vdupq_n_u8(0x20)), b'a', b'z'));
    let blank = equal(b' ');
    let mut masks = Masks {
        letter,
        upper,
        lower,
        number: digit,
        space: blank | between(b'\t', b'\r'),
        word: letter | digit | equal(b'_'),
        punctuation: between(b'!', b'~') & !(letter | digit),
        blank,
        newline: gather(block, |bytes| {
            vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(b'\n')), vceqq_u8(bytes, vdupq_n_u8(b'\r')))
        }),
        tab: equal(b'\t'),
        apostrophe: equal(b'\''),
        slash: equal(b'/'),
        stop: STOP_RANGES.iter().fold(equal(b'?'), |stops, &(first, last)| stops | between(first, last)),
        // Computed below, since most blocks have no non-ASCII bytes.
        wide: 0,
        tail: 0,
        ideograph: 0,
        syllable: 0,
    };
    let [first, second, third, fourth] = block;
    let any = vorrq_u8(vorrq_u8(first, second), vorrq_u8(third, fourth));
    if vmaxvq_u8(any) >= 0x80 {
        masks.wide = gather(block, |bytes| vtstq_u8(bytes, vdupq_n_u8(0x80)));
        masks.tail = gather(block, |bytes| within(bytes, 0x80, 0xbf));
        masks.ideograph = between(IDEOGRAPHS.0, IDEOGRAPHS.1);
        masks.syllable = between(SYLLABLES.0, SYLLABLES.1);
        if has_classes {
            add_wide(&mut masks, window, |classes, bit| with_bit(classes, bit));
        }
    }
    masks
}

#[inline]
#[target_feature(enable = "neon")]
fn are_in(kinds: [u8; BLOCK], set: Kinds) -> u64 {
    with_bit(&kinds, set)
}

/// The mask of the bytes that have a bit of `bits` set.
#[inline]
#[target_feature(enable = "neon")]
fn with_bit(bytes: &[u8; BLOCK], bits: u8) -> u64 {
    gather(quarters(bytes), |quarter| vtstq_u8(quarter, vdupq_n_u8(bits)))
}

/// One bit per byte, from the all-ones or all-zero bytes that `test` returns.
#[inline]
#[target_feature(enable = "neon")]
fn gather(block: [uint8x16_t; 4], test: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
    // Each byte keeps the bit of its index among eight; three pairwise additions collect eight such bits in a byte.
    let weights = quarters(&WEIGHTS)[0];
    let [first, second, third, fourth] = block.map(|bytes| vandq_u8(test(bytes), weights));
    let halves = vpaddq_u8(vpaddq_u8(first, second), vpaddq_u8(third, fourth));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
}

static WEIGHTS: [u8; BLOCK] = {
    let mut weights = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        weights[at] = 1 << (at % 8);
        at += 1;
    }
    weights
};

/// All ones in the bytes from `first` to `last`.
#[inline]
#[target_feature(enable = "neon")]
fn within(bytes: uint8x16_t, first: u8, last: u8) -> uint8x16_t {
    vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(last - first))
}

#[inline]
#[target_feature(enable = "neon")]
fn quarters(bytes: &[u8; BLOCK]) -> [uint8x16_t; 4] {
    transmute!(*bytes)
}
