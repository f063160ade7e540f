//! AVX2: two vectors per block.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8,
};

use super::fill::{Isa, Job};
use super::masks::{BLOCK, IDEOGRAPHS, Masks, STOP_RANGES, SYLLABLES, Window, add_wide, opaque, positions};

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

    #[expect(unsafe_code, reason = "calls code for a processor that was asked for")]
    pub(super) fn run<J: Job>(self, job: J) -> usize {
        // SAFETY: a value of this type exists only where `detect` found these features.
        unsafe { run(self, job) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<J: Job>(isa: Avx2, job: J) -> usize {
    job.run(isa)
}

impl Isa for Avx2 {
    #[inline(always)]
    #[expect(unsafe_code, reason = "calls code for a processor that was asked for")]
    fn masks(self, window: &Window, has_classes: bool) -> Masks {
        // SAFETY: a value of this type exists only where `detect` found these features.
        unsafe { masks(window, has_classes) }
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
#[expect(unsafe_code, reason = "loads from a pointer")]
fn halves(bytes: &[u8; BLOCK]) -> [__m256i; 2] {
    let pointer = bytes.as_ptr();
    // SAFETY: the two loads cover the 64 bytes of the reference and need no alignment.
    unsafe { [_mm256_loadu_si256(pointer.cast()), _mm256_loadu_si256(pointer.add(32).cast())] }
}
