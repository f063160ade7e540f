//! ASCII words, sixteen bytes at a time, in plain integer arithmetic.
//!
//! Most spans of most texts are a space and a word of ASCII letters. Words are short and their length is unpredictable,
//! so a loop over bytes mispredicts its exit at almost every word, and each step waits for the step before. Here the
//! length comes from one load and a dozen operations on two 64-bit integers, without a branch on the letters.
//!
//! Below, a *mask* has the top bit of each byte set or clear, and all other bits clear.

/// The top bit of each byte.
const TOPS: u64 = spread(0x80);

/// End of ` ?[A-Za-z]+` at `pos`; `pos` itself if it does not match there.
#[inline]
pub(super) fn spaced_letters(bytes: &[u8], pos: usize) -> usize {
    spaced_word::<false>(bytes, pos)
}

/// End of ` ?(?:[A-Z]*[a-z]+|[A-Z]+)` at `pos`; `pos` itself if it does not match there.
#[inline]
pub(super) fn spaced_cased_word(bytes: &[u8], pos: usize) -> usize {
    spaced_word::<true>(bytes, pos)
}

/// End of `[A-Za-z]*` from `pos` on.
#[inline]
pub(super) fn letters(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(chunk) = bytes[pos..].first_chunk::<8>() {
        let stops = !letter_mask(u64::from_le_bytes(*chunk)) & TOPS;
        if stops != 0 {
            return pos + first_byte(stops);
        }
        pos += 8;
    }
    while bytes.get(pos).is_some_and(u8::is_ascii_alphabetic) {
        pos += 1;
    }
    pos
}

#[inline]
fn spaced_word<const CASED: bool>(bytes: &[u8], pos: usize) -> usize {
    let Some(chunk) = bytes[pos..].first_chunk::<16>() else {
        return spaced_word_by_bytes::<CASED>(bytes, pos);
    };
    let both = u128::from_le_bytes(*chunk);
    let (low, high) = (both as u64, (both >> 64) as u64);
    let space = low & 0xff == u64::from(b' ');
    let (mut stops_low, mut stops_high) = (!letter_mask(low) & TOPS, !letter_mask(high) & TOPS);
    if CASED {
        // A word ends before a capital that follows a small letter. The byte to the left of a capital is the next lower
        // byte.
        let (small_low, small_high) = (small_bits(low) & !stops_low, small_bits(high) & !stops_high);
        stops_low |= TOPS & !small_bits(low) & (small_low << 8);
        stops_high |= TOPS & !small_bits(high) & (small_high << 8 | small_low >> 56);
    }
    stops_low &= !(u64::from(space) << 7);
    let length = if stops_low == 0 { 8 + first_byte(stops_high) } else { first_byte(stops_low) };
    if length <= usize::from(space) {
        return pos;
    }
    if length == 16 {
        return spaced_word_by_bytes::<CASED>(bytes, pos);
    }
    pos + length
}

/// As [`spaced_word`], for words longer than sixteen bytes and for the end of the text.
fn spaced_word_by_bytes<const CASED: bool>(bytes: &[u8], pos: usize) -> usize {
    let start = pos + usize::from(bytes[pos] == b' ');
    let end = if CASED {
        let mut end = start;
        while bytes.get(end).is_some_and(u8::is_ascii_uppercase) {
            end += 1;
        }
        while bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
            end += 1;
        }
        end
    } else {
        letters(bytes, start)
    };
    if end > start { end } else { pos }
}

/// `byte` in each of the eight bytes.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The mask of the ASCII letters.
#[inline]
fn letter_mask(word: u64) -> u64 {
    let folded = (word | spread(0x20)) & !TOPS;
    // Each sum stays below 256, so no byte carries into the next. The top bits mean `>= a` and `> z`.
    let from_a = folded + spread(0x80 - b'a');
    let past_z = folded + spread(0x7f - b'z');
    from_a & !past_z & !word & TOPS
}

/// A mask: the bits of small letters are set, the bits of capitals are clear, and the bits of other bytes are arbitrary.
#[inline]
fn small_bits(word: u64) -> u64 {
    word << 2 & TOPS
}

/// The index of the lowest byte in a mask, 8 if there is none.
#[inline]
fn first_byte(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod naive {
    pub(super) fn spaced_letters(bytes: &[u8], pos: usize) -> usize {
        let start = pos + usize::from(bytes[pos] == b' ');
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if length > 0 { start + length } else { pos }
    }

    pub(super) fn spaced_cased_word(bytes: &[u8], pos: usize) -> usize {
        let start = pos + usize::from(bytes[pos] == b' ');
        let capitals = bytes[start..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let small = bytes[start + capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if capitals + small > 0 { start + capitals + small } else { pos }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![12 => b'a'..=b'z', 4 => b'A'..=b'Z', 1 => Just(b' '), 1 => any::<u8>()];
        prop::collection::vec(byte, 0..60)
    }

    proptest! {
        #[test]
        fn letters_matches_naive(bytes in bytes()) {
            for pos in 0..=bytes.len() {
                let naive = bytes[pos..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                prop_assert_eq!(letters(&bytes, pos), pos + naive);
            }
        }

        #[test]
        fn spaced_letters_matches_naive(bytes in bytes()) {
            for pos in 0..bytes.len() {
                prop_assert_eq!(spaced_letters(&bytes, pos), naive::spaced_letters(&bytes, pos));
            }
        }

        #[test]
        fn spaced_cased_word_matches_naive(bytes in bytes()) {
            for pos in 0..bytes.len() {
                prop_assert_eq!(spaced_cased_word(&bytes, pos), naive::spaced_cased_word(&bytes, pos));
            }
        }
    }

    #[test]
    fn every_pair_of_bytes_agrees_with_naive() {
        for first in 0..=255 {
            for second in 0..=255 {
                let mut bytes = [b'a'; 20];
                (bytes[0], bytes[1]) = (first, second);
                assert_eq!(spaced_letters(&bytes, 0), naive::spaced_letters(&bytes, 0));
                assert_eq!(spaced_cased_word(&bytes, 0), naive::spaced_cased_word(&bytes, 0));
            }
        }
    }
}
