//! No vectors: eight bytes at a time in 64-bit integers. The other back ends are tested against this one.

use super::fill::Isa;
use super::masks::{BLOCK, IDEOGRAPHS, Masks, STOP_RANGES, SYLLABLES, Window, add_wide, kinds, positions};
use crate::scan::seam_rules::Kinds;
use crate::structures::char_table::CharTable;

/// The back end for any processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Isa for Portable {
    #[inline(always)]
    fn masks(self, window: &Window, has_classes: bool) -> Masks {
        let block = window.first_chunk().expect("a window is longer");
        let (upper, lower) = (between(block, b'A', b'Z'), between(block, b'a', b'z'));
        let (digit, blank) = (between(block, b'0', b'9'), between(block, b' ', b' '));
        let wide = gather(block, |word| word & TOPS);
        let mut masks = Masks {
            letter: upper | lower,
            upper,
            lower,
            number: digit,
            space: blank | between(block, b'\t', b'\r'),
            word: upper | lower | digit | between(block, b'_', b'_'),
            punctuation: between(block, b'!', b'~') & !(upper | lower | digit),
            blank,
            newline: between(block, b'\n', b'\n') | between(block, b'\r', b'\r'),
            tab: between(block, b'\t', b'\t'),
            apostrophe: between(block, b'\'', b'\''),
            slash: between(block, b'/', b'/'),
            stop: STOP_RANGES.iter().fold(between(block, b'?', b'?'), |stops, &(first, last)| {
                stops | between(block, first, last)
            }),
            wide,
            tail: gather(block, |word| word & !(word << 1) & TOPS),
            ideograph: between_wide(block, IDEOGRAPHS),
            syllable: between_wide(block, SYLLABLES),
        };
        if has_classes && wide != 0 {
            add_wide(&mut masks, window, |bytes, bit| {
                gather(bytes, |word| word << (7 - bit.trailing_zeros()) & TOPS)
            });
        }
        masks
    }

    type Kinds = [u8; BLOCK];

    #[inline(always)]
    fn kinds(self, window: &Window, table: &CharTable) -> [u8; BLOCK] {
        kinds(window, table)
    }

    #[inline(always)]
    fn are_in(self, kinds: [u8; BLOCK], set: Kinds) -> u64 {
        // A byte of 1 to 127 sets its top bit in the sum, and a byte above has it in the word.
        gather(&kinds, |word| {
            let word = word & spread(set);
            (((word & !TOPS) + !TOPS) | word) & TOPS
        })
    }

    #[inline(always)]
    fn positions(self, mask: u64, base: usize, out: &mut [u32]) -> usize {
        positions(mask, base, out)
    }
}

/// The top bit of each byte.
const TOPS: u64 = spread(0x80);

/// `byte` in each of the eight bytes.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The mask of the bytes from `first` to `last`, both ASCII.
#[inline(always)]
fn between(block: &[u8; BLOCK], first: u8, last: u8) -> u64 {
    gather(block, |word| low_bits_between(word, first, last) & !word)
}

/// The mask of the bytes from `first` to `last`, both non-ASCII.
#[inline(always)]
fn between_wide(block: &[u8; BLOCK], (first, last): (u8, u8)) -> u64 {
    gather(block, |word| low_bits_between(word, first & 0x7f, last & 0x7f) & word)
}

/// The top bits of the bytes whose other seven bits are between `first` and `last`.
#[inline(always)]
fn low_bits_between(word: u64, first: u8, last: u8) -> u64 {
    // Each sum stays below 256, so no byte carries into the next.
    let low = word & !TOPS;
    (low + spread(0x80 - first)) & !(low + spread(0x7f - last)) & TOPS
}

/// One bit per byte: the top bits of the results of `test` on each eight bytes. `test` has to leave all other bits
/// clear.
#[inline(always)]
fn gather(block: &[u8; BLOCK], test: impl Fn(u64) -> u64) -> u64 {
    let mut mask = 0;
    for (at, bytes) in block.as_chunks().0.iter().enumerate() {
        // The product collects the eight bits in its top byte; each bit is shifted there from its own position.
        let tops = test(u64::from_le_bytes(*bytes)) >> 7;
        mask |= (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    mask
}
