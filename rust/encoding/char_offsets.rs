//! From byte positions in a text to positions in characters.
//!
//! A character has one byte that is not a continuation byte of UTF-8, so a position in characters is the byte position less the
//! number of continuation bytes before it. Tokens come mostly from left to right, and runs without continuation bytes are
//! long: a cursor keeps the run around the last position. Positions may come in any order; one that is far from the last takes a
//! bounded step from a table of counts. So a text costs time linear in its bytes and tokens.

use std::ops::Range;

/// A step from a known position reads at most about so many bytes.
const BLOCK: usize = 1 << 10;

/// Converts byte offsets of tokens into character offsets of `text`.
pub(crate) fn char_offsets<'a>(text: &str, offsets: impl Iterator<Item = (&'a mut u32, &'a mut u32)>) {
    if text.is_ascii() {
        return;
    }
    let mut cursor = CharCursor::new(text);
    // The byte tokens of an unknown run all have the range of the whole run, and there may be as many as bytes.
    let (mut bytes, mut chars) = ((0, 0), (0, 0));
    for (start, end) in offsets {
        if bytes != (*start, *end) {
            bytes = (*start, *end);
            chars = (cursor.chars_before(*start as usize), cursor.chars_up_to(*end as usize));
        }
        (*start, *end) = chars;
    }
}

/// True if a byte of UTF-8 is not the first byte of its character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_continuation(byte)).count()
}

/// Counts characters before byte positions of a text.
struct CharCursor<'a> {
    bytes: &'a [u8],
    /// A run around the last position without continuation bytes.
    plain: Range<usize>,
    /// Continuation bytes before the run.
    continued: usize,
    /// Continuation bytes before each block, as far as a distant position has asked for them.
    before_blocks: Vec<usize>,
    /// Bytes that were read.
    #[cfg(test)]
    read: usize,
}

impl<'a> CharCursor<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            plain: 0..0,
            continued: 0,
            before_blocks: Vec::new(),
            #[cfg(test)]
            read: 0,
        }
    }

    /// Number of characters before the one that holds `byte`.
    #[inline]
    fn chars_before(&mut self, byte: usize) -> u32 {
        let chars = self.chars_up_to(byte);
        chars
            - u32::from(self.plain.end <= byte && self.bytes.get(byte).copied().is_some_and(is_continuation))
    }

    /// Number of characters before `byte`, including a character that `byte` cuts.
    #[inline]
    fn chars_up_to(&mut self, byte: usize) -> u32 {
        if byte < self.plain.start || byte > self.plain.end {
            self.seek(byte);
        }
        (byte - self.continued) as u32
    }

    /// Moves the run to `byte`.
    #[inline(never)]
    fn seek(&mut self, byte: usize) {
        let Range { start, end } = self.plain;
        if byte < start && start - byte <= BLOCK {
            let continued = self.count(byte..start);
            self.continued -= continued;
            if continued == 0 {
                self.plain.start = byte;
                return;
            }
        } else if end < byte && byte - end <= BLOCK {
            self.continued += self.count(end..byte);
        } else {
            self.continued = self.continued_before(byte);
        }
        self.plain = byte..self.plain_end(byte);
    }

    /// The end of a run from `start` on without continuation bytes, or as far as a block reaches.
    #[inline]
    fn plain_end(&mut self, start: usize) -> usize {
        let (mut end, limit) = (start, self.bytes.len().min(start + BLOCK));
        for block in self.bytes[start..limit].chunks(32) {
            if block.iter().fold(false, |found, &byte| found | is_continuation(byte)) {
                break;
            }
            end += block.len();
        }
        #[cfg(test)]
        {
            self.read += end - start + 32;
        }
        end
    }

    /// Continuation bytes before `byte`, from the table.
    fn continued_before(&mut self, byte: usize) -> usize {
        let block = byte / BLOCK;
        if self.before_blocks.is_empty() {
            self.before_blocks.push(0);
        }
        while self.before_blocks.len() <= block {
            let known = self.before_blocks.len() - 1;
            let before = self.before_blocks[known] + self.count(known * BLOCK..(known + 1) * BLOCK);
            self.before_blocks.push(before);
        }
        self.before_blocks[block] + self.count(block * BLOCK..byte)
    }

    #[inline]
    fn count(&mut self, range: Range<usize>) -> usize {
        #[cfg(test)]
        {
            self.read += range.len();
        }
        count(&self.bytes[range])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn char_offsets_matches_naive(
            text in "[ -~]{0,80}|([ -~]{0,50}[éñ日😀]){0,6}|[aé日😀]{0,40}",
            copies in prop::sample::select(vec![1, 1, 2, 60]),
            places in prop::collection::vec((0..9000u32, 0..9u32), 0..30),
            ascending: bool,
        ) {
            let text = text.repeat(copies);
            let len = text.len() as u32;
            let mut offsets: Vec<(u32, u32)> =
                places.iter().map(|&(start, span)| (start % (len + 1), (start % (len + 1) + span).min(len))).collect();
            if ascending {
                offsets.sort_unstable();
            }
            let chars = |range: &str| range.chars().count() as u32;
            let naive: Vec<(u32, u32)> = offsets
                .iter()
                .map(|&(start, end)| {
                    let (start, end) = (text.floor_char_boundary(start as usize), text.ceil_char_boundary(end as usize));
                    (chars(&text[..start]), chars(&text[..end]))
                })
                .collect();
            char_offsets(&text, offsets.iter_mut().map(|(start, end)| (start, end)));
            prop_assert_eq!(offsets, naive);
        }
    }

    #[test]
    fn bytes_read_are_linear_in_positions_of_any_order() {
        let len = 1 << 18;
        let texts = [
            "a".repeat(len) + "é",
            "é".to_owned() + &"a".repeat(len),
            "é".repeat(len / 2),
            "aaaaaaaé".repeat(len / 9),
        ];
        let steps_back = (0..len / 2).flat_map(|at| [2 * at, 2 * at + 1, 2 * at, 2 * at + 2]);
        let from_both_ends = (0..1 << 12).flat_map(|at| [at, len - at]);
        for text in &texts {
            for (positions, most) in [
                (&mut steps_back.clone() as &mut dyn Iterator<Item = usize>, 128 * len),
                (&mut (0..len).rev(), 128 * len),
                (&mut from_both_ends.clone(), 2 * len + ((3 * BLOCK) << 13)),
            ] {
                let mut cursor = CharCursor::new(text);
                positions.filter(|&at| at <= text.len()).for_each(|at| {
                    cursor.chars_up_to(at);
                });
                assert!(cursor.read <= most, "{} bytes read", cursor.read);
            }
        }
    }
}
