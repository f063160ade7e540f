//! Cut points: positions in a pre-token that no token of the vocabulary crosses.
//!
//! A merge joins two neighbours into a token of the vocabulary. If no token holds two characters side by side, nothing is
//! ever merged across the border between them, so the text on its left and the text on its right can be encoded apart.
//! Long runs of letters, as in text without spaces, fall into fragments of a few characters, which repeat often enough to
//! be cached.
//!
//! A token may begin or end inside a character. Around a border it then holds a suffix of the left character or a prefix of
//! the right one. Whole characters are compared exactly; of a partial character only the byte at the border counts. All
//! crossed borders are hashed into one bit set of 128 KiB: a collision hides a cut point and does no other harm.
//!
//! Finding cut points takes linear time.

const BITS: u32 = 20;

/// The set of borders that some token crosses.
#[derive(Clone, Debug)]
pub struct CutPoints {
    /// Pairs of ASCII characters, without hashing: for each left one, a bit for each right one.
    crossed_ascii: Box<[u128; 128]>,
    crossed: Vec<u64>,
    /// True if some token begins or ends inside a character.
    splits_chars: bool,
}

/// One side of a border, as a token holds it: a whole character, or the byte of a partial one at the border.
#[derive(Clone, Copy)]
enum Side {
    Whole(u32),
    Part(u8),
}

impl Side {
    fn code(self) -> u64 {
        match self {
            Self::Whole(bytes) => u64::from(bytes),
            // No whole character has a code of 0xFFFF_FF00 or more.
            Self::Part(byte) => 0xFFFF_FF00 | u64::from(byte),
        }
    }
}

fn place(left: Side, right: Side) -> (usize, u64) {
    let hash = (left.code() << 32 | right.code()).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS);
    (hash as usize / 64, 1 << (hash % 64))
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Length of the character that begins with `lead`; 1 if it is no lead byte.
fn width(lead: u8) -> usize {
    match lead {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    }
}

/// The bytes of a character as one number.
fn packed(bytes: &[u8]) -> u32 {
    match *bytes {
        [first, second, third, ..] => {
            let three = u32::from(first) << 16 | u32::from(second) << 8 | u32::from(third);
            bytes.get(3).map_or(three, |&fourth| three << 8 | u32::from(fourth))
        }
        [first, second] => u32::from(first) << 8 | u32::from(second),
        [first] => u32::from(first),
        [] => 0,
    }
}

impl CutPoints {
    /// The cut points of a vocabulary; `tokens` are the bytes of all of its tokens.
    pub fn new(tokens: impl Iterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut cuts = Self {
            crossed_ascii: Box::new([0; 128]),
            crossed: vec![0; (1 << BITS) / 64],
            splits_chars: false,
        };
        tokens.for_each(|token| cuts.add(token.as_ref()));
        cuts
    }

    fn add(&mut self, token: &[u8]) {
        for boundary in 1..token.len() {
            if is_continuation(token[boundary]) {
                continue;
            }
            if token[boundary - 1].is_ascii() && token[boundary].is_ascii() {
                self.crossed_ascii[usize::from(token[boundary - 1])] |= 1 << token[boundary];
                continue;
            }
            let start = (0..boundary).rev().find(|&at| !is_continuation(token[at]));
            let left = match start {
                Some(start) if start + width(token[start]) == boundary => {
                    Side::Whole(packed(&token[start..boundary]))
                }
                _ => Side::Part(token[boundary - 1]),
            };
            let right = match token.get(boundary..boundary + width(token[boundary])) {
                Some(whole) => Side::Whole(packed(whole)),
                None => Side::Part(token[boundary]),
            };
            self.splits_chars |= matches!(left, Side::Part(_)) || matches!(right, Side::Part(_));
            let (word, bit) = place(left, right);
            self.crossed[word] |= bit;
        }
    }

    fn is_crossed(&self, left: &[u8], right: &[u8]) -> bool {
        let (whole_left, part_left) = (Side::Whole(packed(left)), Side::Part(left[left.len() - 1]));
        let (whole_right, part_right) = (Side::Whole(packed(right)), Side::Part(right[0]));
        let is_set = |left, right| {
            let (word, bit) = place(left, right);
            self.crossed[word] & bit != 0
        };
        is_set(whole_left, whole_right)
            || self.splits_chars
                && (is_set(whole_left, part_right)
                    || is_set(part_left, whole_right)
                    || is_set(part_left, part_right))
    }

    /// The end of the fragment of `text[..end]` that starts at `start`: the first cut point after it, else `end`.
    ///
    /// `text[start..end]` must be UTF-8.
    pub fn fragment_end(&self, text: &[u8], start: usize, end: usize) -> usize {
        let mut left = start;
        loop {
            let boundary = left + width(text[left]);
            if boundary >= end {
                return end;
            }
            let (before, after) = (text[boundary - 1], text[boundary]);
            if before.is_ascii() && after.is_ascii() {
                if self.crossed_ascii[usize::from(before)] >> after & 1 == 0 {
                    return boundary;
                }
                left = boundary;
                continue;
            }
            let right = (boundary + width(after)).min(end);
            if !self.is_crossed(&text[left..boundary], &text[boundary..right]) {
                return boundary;
            }
            left = boundary;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// True if some token crosses `boundary` of `text`.
    fn is_crossed_naively(tokens: &[Vec<u8>], text: &[u8], boundary: usize) -> bool {
        tokens.iter().any(|token| {
            (1..token.len()).any(|at| {
                let (left, right) = token.split_at(at);
                text[..boundary].ends_with(left) && text[boundary..].starts_with(right)
            })
        })
    }

    proptest! {
        #[test]
        fn no_token_lies_across_a_cut_point(
            texts in prop::collection::vec("[abcб日本𝄞語]{1,12}", 1..8),
            slices in prop::collection::vec((any::<usize>(), any::<usize>(), any::<usize>()), 0..12),
        ) {
            // Tokens are byte strings taken from the texts; some begin or end inside a character.
            let slice = |&(text, start, len): &(usize, usize, usize)| {
                let bytes = texts[text % texts.len()].as_bytes();
                let start = start % bytes.len();
                bytes[start..bytes.len().min(start + 1 + len % 8)].to_vec()
            };
            let tokens: Vec<Vec<u8>> = slices.iter().map(slice).collect();
            let cuts = CutPoints::new(tokens.iter());
            for text in &texts {
                let (bytes, mut start) = (text.as_bytes(), 0);
                while start < bytes.len() {
                    let end = cuts.fragment_end(bytes, start, bytes.len());
                    prop_assert!(end > start && text.is_char_boundary(end));
                    prop_assert!(end == bytes.len() || !is_crossed_naively(&tokens, bytes, end));
                    start = end;
                }
            }
        }
    }

    #[test]
    fn text_without_tokens_falls_into_characters() {
        let cuts = CutPoints::new([b"ab"].into_iter());
        let text = "abc日本".as_bytes();
        let ends: Vec<usize> = std::iter::successors(Some(0), |&start| {
            (start < text.len()).then(|| cuts.fragment_end(text, start, text.len()))
        })
        .collect();
        assert_eq!(ends, [0, 2, 3, 6, 9]);
    }
}
