//! AVX2: two vectors per block.

use std::arch::x86_64::{
    __m128i, __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_cmpgt_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sub_epi8,
};

use zerocopy::transmute;

use super::fill::{Isa, Job};
use super::masks::{
    BLOCK, IDEOGRAPHS, Masks, STOP_RANGES, SYLLABLES, Window, add_wide, add_wide_kinds, opaque, positions,
};
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;
use crate::structures::on_processor::on_processor;

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    pub(super) fn run<J: Job>(self, job: J) -> usize {
        on_processor!(run(self, job))
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<J: Job>(isa: Avx2, job: J) -> usize {
    job.run(isa)
}

impl Isa for Avx2 {
    #[inline(always)]
    fn masks(self, window: &Window, has_classes: bool) -> Masks {
        on_processor!(masks(window, has_classes))
    }

    type Kinds = [__m256i; 2];

    #[inline(always)]
    fn kinds(self, window: &Window, table: &CharTable) -> [__m256i; 2] {
        on_processor!(kinds(window, table))
    }

    #[inline(always)]
    fn are_in(self, kinds: [__m256i; 2], set: Kinds) -> u64 {
        on_processor!(are_in(kinds, set))
    }

    #[inline(always)]
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize {
        positions(mask, base, out)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn masks(window: &Window, has_classes: bool) -> Masks {
    let block = halves(window.first_chunk().expect("a window is longer"));
    let equal = |byte: u8| gather(block, |half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8)));
    let between = |first: u8, last: u8| gather(block, |half| within(half, first, last));
    let (upper, lower, digit) = (between(b'A', b'Z'), between(b'a', b'z'), between(b'0', b'9'));
    // One pass for both cases: most splitters that read `letter` read neither `upper` nor `lower`.
    let letter = gather(block, |half| within(_mm256_or_si256(half, _mm256_set1_epi8(0x20)), b'a', b'z'));
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
        newline: equal(b'\n') | equal(b'\r'),
        tab: equal(b'\t'),
        apostrophe: equal(b'\''),
        slash: equal(b'/'),
        stop: STOP_RANGES.iter().fold(equal(b'?'), |stops, &(first, last)| stops | between(first, last)),
        wide: gather(block, |half| half),
        tail: gather(block, |half| _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), half)),
        ideograph: between(IDEOGRAPHS.0, IDEOGRAPHS.1),
        syllable: between(SYLLABLES.0, SYLLABLES.1),
    };
    if has_classes && masks.wide != 0 {
        add_wide(&mut masks, window, |classes, bit| with_bit(classes, bit));
    }
    masks
}

#[inline]
#[target_feature(enable = "avx2")]
fn kinds(window: &Window, table: &CharTable) -> [__m256i; 2] {
    let block = halves(window.first_chunk().expect("a window is longer"));
    let low_bits = _mm256_set1_epi8(0x0f);
    let mut kinds = [_mm256_setzero_si256(); 2];
    for (row, high) in table.ascii().as_chunks::<16>().0.iter().zip(0..) {
        // A byte from 0x80 on is in no row.
        let row = _mm256_broadcastsi128_si256(sixteen(row));
        let high = _mm256_set1_epi8(high << 4);
        for (kinds, half) in kinds.iter_mut().zip(block) {
            let is_here = _mm256_cmpeq_epi8(_mm256_andnot_si256(low_bits, half), high);
            *kinds = _mm256_or_si256(*kinds, _mm256_and_si256(_mm256_shuffle_epi8(row, half), is_here));
        }
    }
    let is_lead = |half| _mm256_and_si256(half, _mm256_cmpgt_epi8(half, _mm256_set1_epi8(-65)));
    let leads = gather(block, is_lead);
    if leads != 0 {
        let mut wide = [0; BLOCK];
        add_wide_kinds(window, table, leads, &mut wide);
        let [first, second] = halves(&wide);
        kinds = [_mm256_or_si256(kinds[0], first), _mm256_or_si256(kinds[1], second)];
    }
    kinds
}

#[inline]
#[target_feature(enable = "avx2")]
fn are_in(kinds: [__m256i; 2], set: Kinds) -> u64 {
    let set = _mm256_set1_epi8(set.cast_signed());
    !gather(kinds, |half| _mm256_cmpeq_epi8(_mm256_and_si256(half, set), _mm256_setzero_si256()))
}

#[inline]
#[target_feature(enable = "avx2")]
fn sixteen(bytes: &[u8; 16]) -> __m128i {
    transmute!(*bytes)
}

/// The mask of the bytes that have the single bit `bits` set.
#[inline]
#[target_feature(enable = "avx2")]
fn with_bit(bytes: &[u8; BLOCK], bits: u8) -> u64 {
    let bits = _mm256_set1_epi8(bits as i8);
    gather(halves(bytes), |half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bits), bits))
}

/// One bit per byte: the top bits of the results of `test` on both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn gather([low, high]: [__m256i; 2], test: impl Fn(__m256i) -> __m256i) -> u64 {
    let top_bits = |half| opaque(u64::from(_mm256_movemask_epi8(test(half)).cast_unsigned()));
    top_bits(low) | top_bits(high) << 32
}

/// All ones in the bytes from `first` to `last`.
#[inline]
#[target_feature(enable = "avx2")]
fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let offset = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
    _mm256_cmpeq_epi8(_mm256_min_epu8(offset, _mm256_set1_epi8((last - first) as i8)), offset)
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8; BLOCK]) -> [__m256i; 2] {
    transmute!(*bytes)
}
