//! One byte per code point: everything that a splitter asks about a character.
//!
//! These scanners replace regular expressions run by Oniguruma, and pre-tokenizers that call the Rust standard library
//! or an older Unicode table. Each of these has its own version of Unicode. So the classes are not computed but pinned:
//! `generate_classes.py` queried the library itself for every code point and wrote `class_ranges.rs`. A new compiler or
//! a new crate version therefore never moves a token boundary.
//!
//! The bits are chosen so that a scanner tests one mask per character:
//!
//! | bit | members | used by |
//! |---|---|---|
//! | [`LETTER`] | `\p{L}` | GPT-2, cl100k, o200k |
//! | [`UPPER`] | `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: may stand in the upper-case half of a word | o200k |
//! | [`LOWER`] | `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: may stand in the lower-case half | o200k |
//! | [`NUMBER`] | `\p{N}` | GPT-2, cl100k, o200k |
//! | [`SPACE`] | `\s`; also `char::is_whitespace` | all |
//! | [`WORD`] | `\w` as the `Whitespace` pre-tokenizer reads it (with marks and joiners) | `Whitespace` |
//! | [`PUNCTUATION`] | the `Punctuation` pre-tokenizer: ASCII punctuation and `\p{P}` of Unicode 9 | `Punctuation`, BERT |
//! | [`NUMERIC`] | `char::is_numeric` of Unicode 17 | `Digits` |
//!
//! A mark is [`UPPER`] and [`LOWER`] but not [`LETTER`]. A title-case letter counts as upper case. Modifier letters and
//! letters without case are both. Newlines are ASCII and compared as bytes.
//!
//! The table has two stages: the upper bits of a code point choose a block of 64 classes, the lower six bits a class in
//! that block. Blocks of 64 fit UTF-8, where the last byte of a character holds just these six bits. Blocks with one
//! class throughout are stored once, which keeps the whole table in the second-level cache.

use super::class_ranges::RANGES;

/// A set of the bits below: the class of one character, or a mask to test a class with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

/// `\p{L}`.
pub const LETTER: Class = Class(1);
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
pub const UPPER: Class = Class(1 << 1);
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
pub const LOWER: Class = Class(1 << 2);
/// `\p{N}`.
pub const NUMBER: Class = Class(1 << 3);
/// `\s`.
pub const SPACE: Class = Class(1 << 4);
/// `\w` of the `Whitespace` pre-tokenizer.
pub const WORD: Class = Class(1 << 5);
/// Characters that the `Punctuation` pre-tokenizer splits off.
pub const PUNCTUATION: Class = Class(1 << 6);
/// Characters that the `Digits` pre-tokenizer splits off.
pub const NUMERIC: Class = Class(1 << 7);

impl Class {
    /// The class of `character`.
    #[inline]
    pub const fn of(character: char) -> Self {
        Self::of_code(character as usize)
    }

    /// True if the two sets share a bit.
    #[inline]
    pub const fn is(self, mask: Self) -> bool {
        self.0 & mask.0 != 0
    }

    /// The union of both sets.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) const fn of_code(code: usize) -> Self {
        Self(TABLE.classes[(TABLE.block_of[code >> BLOCK_BITS] as usize) << BLOCK_BITS | code & (BLOCK - 1)])
    }

    #[inline]
    pub(super) fn of_ascii(byte: u8) -> Self {
        Self(ASCII[usize::from(byte & 0x7f)])
    }

    /// The bits as a byte, for vectors of classes.
    #[inline]
    pub(super) const fn bits(self) -> u8 {
        self.0
    }
}

/// The classes of the 64 characters whose code points share the upper bits `page`. In UTF-8 these characters differ in
/// the last byte alone.
#[inline]
pub(super) fn page(page: usize) -> &'static [u8; BLOCK] {
    &TABLE.classes.as_chunks().0[usize::from(TABLE.block_of[page.min(NUM_BLOCKS - 1)])]
}

/// The number of the page that holds the classes of a block of 64 code points; equal blocks may share one.
pub(crate) fn page_number(block: usize) -> u16 {
    TABLE.block_of[block]
}

const BLOCK_BITS: usize = 6;
const BLOCK: usize = 1 << BLOCK_BITS;
const NUM_BLOCKS: usize = 0x11_0000 >> BLOCK_BITS;
const NO_BLOCK: u16 = u16::MAX;

struct Table {
    block_of: [u16; NUM_BLOCKS],
    classes: [u8; CLASSES],
}

static TABLE: Table = build();
pub(super) static ASCII: [u8; 128] = ascii();
const CLASSES: usize = stored_blocks() * BLOCK;

/// The class that all characters of `block` share, if they do. `range` is the index of the first range that ends in or
/// after `block`.
const fn uniform(block: usize, range: usize) -> Option<u8> {
    let (first, last) = (block * BLOCK, block * BLOCK + BLOCK - 1);
    if range == RANGES.len() || RANGES[range].0 as usize > last {
        return Some(0);
    }
    let (from, to, class) = RANGES[range];
    if from as usize <= first && last <= to as usize {
        return Some(class);
    }
    None
}

/// Index of the first range, from `range` on, that does not end before `code`.
const fn skip_ranges(mut range: usize, code: usize) -> usize {
    while range < RANGES.len() && (RANGES[range].1 as usize) < code {
        range += 1;
    }
    range
}

const fn stored_blocks() -> usize {
    let (mut block, mut range, mut stored) = (0, 0, 0);
    let mut seen = [false; 256];
    while block < NUM_BLOCKS {
        range = skip_ranges(range, block * BLOCK);
        match uniform(block, range) {
            Some(class) if seen[class as usize] => {}
            Some(class) => {
                seen[class as usize] = true;
                stored += 1;
            }
            None => stored += 1,
        }
        block += 1;
    }
    stored
}

#[expect(clippy::large_stack_arrays, reason = "evaluated by the compiler, which has no such stack")]
const fn build() -> Table {
    let mut table = Table { block_of: [0; NUM_BLOCKS], classes: [0; CLASSES] };
    let mut uniform_at = [NO_BLOCK; 256];
    let (mut block, mut range, mut stored) = (0, 0, 0);
    while block < NUM_BLOCKS {
        range = skip_ranges(range, block * BLOCK);
        let known = match uniform(block, range) {
            Some(class) => uniform_at[class as usize],
            None => NO_BLOCK,
        };
        if known == NO_BLOCK {
            if let Some(class) = uniform(block, range) {
                uniform_at[class as usize] = stored;
            }
            fill(&mut table, stored as usize, block, range);
            table.block_of[block] = stored;
            stored += 1;
        } else {
            table.block_of[block] = known;
        }
        block += 1;
    }
    table
}

const fn fill(table: &mut Table, stored: usize, block: usize, mut range: usize) {
    let mut index = 0;
    while index < BLOCK {
        let code = block * BLOCK + index;
        range = skip_ranges(range, code);
        if range < RANGES.len() && RANGES[range].0 as usize <= code {
            table.classes[stored * BLOCK + index] = RANGES[range].2;
        }
        index += 1;
    }
}

const fn ascii() -> [u8; 128] {
    let mut classes = [0; 128];
    let mut code = 0;
    while code < 128 {
        classes[code] = Class::of_code(code).0;
        code += 1;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_holds_the_ranges() {
        let mut expected = vec![0; 0x11_0000];
        for &(first, last, class) in RANGES {
            expected[first as usize..=last as usize].fill(class);
        }
        for character in '\0'..=char::MAX {
            assert_eq!(Class::of(character).0, expected[character as usize], "U+{:04X}", character as u32);
        }
    }

    #[test]
    fn classes_are_consistent() {
        for character in '\0'..=char::MAX {
            let class = Class::of(character);
            assert!(!class.is(SPACE) || class == SPACE, "U+{:04X}", character as u32);
            assert!(!class.is(LETTER) || class.is(UPPER.or(LOWER)), "U+{:04X}", character as u32);
            assert!(!(class.is(LETTER) && class.is(NUMBER)), "U+{:04X}", character as u32);
        }
    }
}
