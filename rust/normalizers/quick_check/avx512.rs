//! The marks of a block with AVX-512 and byte permutations (VBMI): Ice Lake, Zen 4 and later.

use std::arch::x86_64::{
    __m512i, _mm512_cmpge_epu8_mask, _mm512_mask_cmpeq_epi8_mask, _mm512_mask_cmpge_epu8_mask,
    _mm512_mask_test_epi8_mask, _mm512_permutexvar_epi8, _mm512_set1_epi8,
};

use zerocopy::transmute;

use super::table::{BLOCK, Marks, QUIET_RANGES, Table, UNSTABLE_STARTER, Window};
use crate::structures::on_processor::on_processor;

/// Proof that this processor has the instructions, with a table for them.
pub(super) struct Avx512 {
    /// By the lower six bits of a lead byte: 1 if the byte is not quiet.
    loud_leads: [u8; 64],
}

impl Avx512 {
    pub(super) fn detect(quiet: &[(u8, u8); QUIET_RANGES]) -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("bmi1");
        let is_quiet = |byte: u8| quiet.iter().any(|&(first, len)| byte.wrapping_sub(first) < len);
        has_all.then(|| Self { loud_leads: std::array::from_fn(|low| u8::from(!is_quiet(0xC0 | low as u8))) })
    }

    /// Position of the first unstable character from byte `from` on.
    pub(super) fn first_unstable(&self, table: &Table, text: &str, from: usize) -> Option<usize> {
        on_processor!(first_unstable(self, table, text, from))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1")]
fn first_unstable(isa: &Avx512, table: &Table, text: &str, from: usize) -> Option<usize> {
    table.first_unstable_by(text, from, |window| marks(isa, table, window))
}

/// Characters that differ in the last byte alone have their entries in 64 bytes of the table (a page), so one lookup serves
/// all of them. The loop takes one step for each page in the block, and text in one script has few pages.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1")]
fn marks(isa: &Avx512, table: &Table, window: &Window) -> Marks {
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    let bytes = load(window, 0);
    let leads = _mm512_cmpge_epu8_mask(bytes, all(0xC0));
    let is_loud = _mm512_permutexvar_epi8(bytes, load(&isa.loud_leads, 0));
    let mut loud = _mm512_mask_test_epi8_mask(leads, is_loud, all(1));
    let (mut marks, mut unstable_marks) = (0, 0);
    while loud != 0 {
        let at = loud.trailing_zeros() as usize % BLOCK;
        let [first, second, third] = [window[at], window[at + 1], window[at + 2]];
        let low = |byte: u8| usize::from(byte & 0x3F);
        let mut same = _mm512_mask_cmpeq_epi8_mask(loud, bytes, all(first));
        let (page, lasts) = if first < 0xE0 {
            (low(first) & 0x1F, load(window, 1))
        } else {
            let seconds = load(window, 1);
            same = _mm512_mask_cmpeq_epi8_mask(same, seconds, all(second));
            if first < 0xF0 {
                (low(first & 0xF) << 6 | low(second), load(window, 2))
            } else {
                same = _mm512_mask_cmpeq_epi8_mask(same, load(window, 2), all(third));
                (low(first & 0x7) << 12 | low(second) << 6 | low(third), load(window, 3))
            }
        };
        // Beyond the table the caller asks for each character.
        let mut entries = all(UNSTABLE_STARTER);
        if let Some(page) = table.entries.as_chunks::<BLOCK>().0.get(page) {
            entries = _mm512_permutexvar_epi8(lasts, load(page, 0));
        }
        marks |= _mm512_mask_test_epi8_mask(same, entries, entries);
        unstable_marks |= _mm512_mask_cmpge_epu8_mask(same, entries, all(UNSTABLE_STARTER));
        loud &= !same;
    }
    Marks { marks, unstable_marks }
}

/// The 64 bytes from `start` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const N: usize>(bytes: &[u8; N], start: usize) -> __m512i {
    let bytes: &[u8; BLOCK] = bytes[start..].first_chunk().unwrap_or(&[0; BLOCK]);
    transmute!(*bytes)
}
