//! Keys and hashes of chunks.

/// Chunks of up to this many bytes fit into a 128-bit key; `long_keys` finds longer ones by hash.
pub const SHORT: usize = 15;

/// The bytes of `text[start..end]` and, in the top byte, their number: 1 to [`SHORT`], so no key is 0. The top bit is left free
/// for the bit of context.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    debug_assert!((1..=SHORT).contains(&len), "a key holds 1 to 15 bytes, not {len}");
    let bytes = match text.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
        // One unaligned load, then a mask from a table: no branch on the length and no shift of two words.
        Some(bytes) => u128::from_le_bytes(*bytes) & MASKS[len & 15],
        None => key_at_end(text, start, end),
    };
    bytes | (len as u128) << 120
}

#[cold]
#[inline(never)]
fn key_at_end(text: &[u8], start: usize, end: usize) -> u128 {
    naive_key(&text[start..end])
}

/// By length: ones in that many low bytes.
static MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 0;
    while len < 16 {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

fn naive_key(word: &[u8]) -> u128 {
    word.iter().rev().fold(0, |key, &byte| key << 8 | u128::from(byte))
}

/// The bytes and the length that [`key`] was made of.
pub fn key_bytes(key: u128) -> ([u8; 16], usize) {
    (key.to_le_bytes(), (key >> 120) as usize)
}

/// A hash of a key: all output bits depend on all bytes.
#[inline]
pub fn hash_key(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xC2B2_AE3D_27D4_EB4F);
    product as u64 ^ (product >> 64) as u64
}

/// A hash of a chunk of any length.
pub fn hash_long(word: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn key_matches_naive(text in prop::collection::vec(any::<u8>(), 1..40), at in 0..40usize, len in 1..=SHORT) {
            let start = at % text.len();
            let end = (start + len).min(text.len());
            let made = key(&text, start, end);
            prop_assert_eq!(made, naive_key(&text[start..end]) | ((end - start) as u128) << 120);
            let (bytes, len) = key_bytes(made);
            prop_assert_eq!(&bytes[..len], &text[start..end]);
        }
    }
}
