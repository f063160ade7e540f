//! AVX-512 with byte permutations and compression (VBMI, VBMI2): Ice Lake, Zen 4 and later.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmple_epu8_mask, _mm512_cmplt_epi8_mask, _mm512_cvtepu8_epi32, _mm512_mask_cmpeq_epi8_mask,
    _mm512_mask_permutexvar_epi8, _mm512_mask_storeu_epi32, _mm512_mask_test_epi8_mask,
    _mm512_maskz_compress_epi8, _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_shuffle_i32x4, _mm512_sub_epi8,
    _mm512_test_epi8_mask,
};

use zerocopy::transmute;

use super::fill::{Isa, Job};
use super::masks::{BLOCK, IDEOGRAPHS, Masks, STOP_RANGES, SYLLABLES, Window, below};
use crate::scan::classes::{ASCII, Class, LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, UPPER, WORD, page};
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;
use crate::structures::on_processor::on_processor;

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
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

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn run<J: Job>(isa: Avx512, job: J) -> usize {
    job.run(isa)
}

impl Isa for Avx512 {
    #[inline(always)]
    fn masks(self, window: &Window, has_classes: bool) -> Masks {
        on_processor!(masks(window, has_classes))
    }

    type Kinds = __m512i;

    #[inline(always)]
    fn kinds(self, window: &Window, table: &CharTable) -> __m512i {
        on_processor!(kinds(window, table))
    }

    #[inline(always)]
    fn are_in(self, kinds: __m512i, set: Kinds) -> u64 {
        on_processor!(are_in(kinds, set))
    }

    #[inline(always)]
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize {
        on_processor!(positions(mask, base, out))
    }
}

/// Marks an entry of [`LEADS`] whose characters differ in class. As a class, the bit is
/// [`NUMERIC`](crate::scan::classes::NUMERIC), which no splitter reads from masks.
const MIXED: u8 = 1 << 7;

/// By the lower six bits of a lead byte: the class of all characters that begin with this byte, or [`MIXED`].
static LEADS: [u8; 64] = classes_of_leads();

const fn classes_of_leads() -> [u8; 64] {
    let mut classes = [MIXED; 64];
    // A lead byte of three-byte characters has 4096 characters.
    let mut lead = 0xe1;
    while lead < 0xf0 {
        let first = (lead & 0x0f) << 12;
        let mut code = first;
        while code < first + 0x1000 && Class::of_code(code).bits() == Class::of_code(first).bits() {
            code += 1;
        }
        if code == first + 0x1000 {
            classes[lead & 0x3f] = Class::of_code(first).bits() & !MIXED;
        }
        lead += 1;
    }
    classes
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn masks(window: &Window, has_classes: bool) -> Masks {
    let bytes = load(window.first_chunk::<BLOCK>().expect("a window is longer"));
    let [low, high] = ASCII.as_chunks::<64>().0 else { unreachable!() };
    let mut classes = _mm512_permutex2var_epi8(load(low), bytes, load(high));
    let wide = _mm512_movepi8_mask(bytes);
    if has_classes && wide != 0 {
        let leads = leads(bytes);
        classes = _mm512_maskz_mov_epi8(!wide, classes);
        classes = _mm512_mask_permutexvar_epi8(classes, leads, bytes, load(&LEADS));
        let mixed = _mm512_mask_test_epi8_mask(leads, classes, _mm512_set1_epi8(MIXED as i8));
        classes = look_up(window, bytes, mixed, classes, page);
    }
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let between = |first: u8, last: u8| {
        let offsets = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
        _mm512_cmple_epu8_mask(offsets, _mm512_set1_epi8((last - first) as i8))
    };
    let class = |class: Class| _mm512_test_epi8_mask(classes, _mm512_set1_epi8(class.bits() as i8));
    Masks {
        letter: class(LETTER),
        upper: class(UPPER),
        lower: class(LOWER),
        number: class(NUMBER),
        space: class(SPACE),
        word: class(WORD),
        punctuation: class(PUNCTUATION),
        blank: equal(b' '),
        newline: equal(b'\n') | equal(b'\r'),
        tab: equal(b'\t'),
        apostrophe: equal(b'\''),
        slash: equal(b'/'),
        stop: STOP_RANGES.iter().fold(equal(b'?'), |stops, &(first, last)| stops | between(first, last)),
        wide,
        // As signed numbers, the bytes 0x80 to 0xBF are the numbers below -64.
        tail: _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64)),
        ideograph: between(IDEOGRAPHS.0, IDEOGRAPHS.1),
        syllable: between(SYLLABLES.0, SYLLABLES.1),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn kinds(window: &Window, table: &CharTable) -> __m512i {
    let bytes = load(window.first_chunk::<BLOCK>().expect("a window is longer"));
    let [low, high] = table.ascii().as_chunks::<64>().0 else { unreachable!() };
    let kinds = _mm512_permutex2var_epi8(load(low), bytes, load(high));
    let wide = _mm512_movepi8_mask(bytes);
    if wide == 0 {
        return kinds;
    }
    let (leads, (of_leads, mixed)) = (leads(bytes), table.leads());
    let kinds = _mm512_maskz_mov_epi8(!wide, kinds);
    let kinds = _mm512_mask_permutexvar_epi8(kinds, leads, bytes, load(of_leads));
    let mixed = _mm512_permutexvar_epi8(bytes, load(mixed));
    let mixed = _mm512_mask_test_epi8_mask(leads, mixed, mixed);
    look_up(window, bytes, mixed, kinds, |number| table.page(number))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn are_in(kinds: __m512i, set: Kinds) -> u64 {
    _mm512_test_epi8_mask(kinds, _mm512_set1_epi8(set.cast_signed()))
}

/// The first bytes of characters of several bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn leads(bytes: __m512i) -> u64 {
    _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xc0_u8 as i8))
}

/// Puts a table's byte for each character that begins at `mixed` into `found`, at the first byte of the character.
///
/// Characters that differ in the last byte alone lie in one vector of the table (a page), so one lookup
/// serves all of them. The loop takes one step per page in the block, and text in one script has few pages. Ideographs
/// and Hangul have many, but their lead byte alone decides.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up<'a>(
    window: &Window,
    bytes: __m512i,
    mut mixed: u64,
    mut found: __m512i,
    page: impl Fn(usize) -> &'a [u8; BLOCK],
) -> __m512i {
    let shifted = |by: usize| load(window[by..].first_chunk::<BLOCK>().expect("a window is longer"));
    let seconds = shifted(1);
    while mixed != 0 {
        let at = mixed.trailing_zeros() as usize;
        let [first, second, third, ..] = *window[at..].first_chunk::<4>().expect("a window is longer");
        let low = |byte: u8| usize::from(byte & 0x3f);
        let mut same = _mm512_mask_cmpeq_epi8_mask(mixed, bytes, _mm512_set1_epi8(first as i8));
        let (number, lasts) = if first < 0xe0 {
            (low(first) & 0x1f, seconds)
        } else {
            same = _mm512_mask_cmpeq_epi8_mask(same, seconds, _mm512_set1_epi8(second as i8));
            let thirds = shifted(2);
            if first < 0xf0 {
                (low(first & 0x0f) << 6 | low(second), thirds)
            } else {
                same = _mm512_mask_cmpeq_epi8_mask(same, thirds, _mm512_set1_epi8(third as i8));
                (low(first & 0x07) << 12 | low(second) << 6 | low(third), shifted(3))
            }
        };
        found = _mm512_mask_permutexvar_epi8(found, same, lasts, load(page(number)));
        mixed &= !same;
    }
    found
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,popcnt")]
fn positions(mask: u64, base: usize, out: &mut [u32]) -> usize {
    let count = (mask.count_ones() as usize).min(out.len());
    let places = _mm512_maskz_compress_epi8(mask, load(&IOTA));
    // Most blocks of most texts have between 1 and 32 spans, so two stores suffice without a branch.
    store::<0>(places, base, count, out);
    store::<1>(places, base, count, out);
    if count > 32 {
        store::<2>(places, base, count, out);
        store::<3>(places, base, count, out);
    }
    count
}

static IOTA: [u8; 64] = {
    let mut iota = [0; 64];
    let mut at = 0;
    while at < 64 {
        iota[at] = at as u8;
        at += 1;
    }
    iota
};

/// Writes one quarter of `places`, each plus `base`, as far as it belongs to the first `count` of all `places`.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "a store under a mask has no safe form")]
fn store<const QUARTER: i32>(places: __m512i, base: usize, count: usize, out: &mut [u32]) {
    let quarter = _mm512_castsi512_si128(_mm512_shuffle_i32x4::<QUARTER>(places, places));
    let places = _mm512_add_epi32(_mm512_cvtepu8_epi32(quarter), _mm512_set1_epi32(base as i32));
    let first = 16 * QUARTER as usize;
    let lanes = (below(count.min(out.len())) >> first) as u16;
    // SAFETY: the mask selects only lanes that are elements of `out`; other lanes are not written.
    unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr().wrapping_add(first).cast(), lanes, places) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    transmute!(*bytes)
}
