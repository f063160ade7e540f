//! The table of one form, and the walk over the blocks of a text.

use std::ops::Range;

use crate::normalizers::form::Form;

/// Entry of a starter that stays as it is beside any neighbours.
pub(super) const STABLE_STARTER: u8 = 0;

/// Entry of a character that may change, but neither composes with a character before it nor changes places with marks there.
/// Entries below are combining classes, of which 240 is the highest.
pub(super) const UNSTABLE_STARTER: u8 = 254;

/// Entry of any other character that may change.
const UNSTABLE: u8 = 255;

/// Characters below have an entry in the table: the scripts in use, and emoji.
const TABLE_LEN: usize = 0x2_0000;

/// Bytes that are inspected at a time.
pub(super) const BLOCK: usize = 64;

/// Bytes after a block that may belong to its last character.
const AFTER: usize = 3;

/// A block with the bytes after it; zeros after the end of the text.
pub(super) type Window = [u8; BLOCK + AFTER];

/// Masks of the characters of a block that may not be stable starters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// The first bytes of all these characters.
    pub(super) marks: u64,
    /// The first bytes of the characters that may be unstable without regard to the text before them.
    pub(super) unstable_marks: u64,
}

/// Ranges of quiet bytes: the one that begins with ASCII, and the longest others.
pub(super) const QUIET_RANGES: usize = 5;

/// The entries of one form.
pub(super) struct Table {
    form: Form,
    pub(super) entries: Box<[u8]>,
    /// First byte and length of ranges of *quiet* bytes: ASCII, continuation bytes, and lead bytes of stable starters only.
    pub(super) quiet: [(u8, u8); QUIET_RANGES],
}

impl Table {
    pub(super) fn new(form: Form) -> Self {
        // Surrogates are no characters, so their entries never matter.
        let entry = |code| char::from_u32(code).map_or(STABLE_STARTER, |c| entry_of(form, c));
        let entries: Box<[u8]> = (0..TABLE_LEN as u32).map(entry).collect();
        let quiet = quiet_ranges(&entries);
        Self { form, entries, quiet }
    }

    /// Position of the first unstable character from byte `from` on; `marks` gives the marks of each block.
    #[expect(
        clippy::inline_always,
        reason = "the loop has to be compiled with the instructions of its caller"
    )]
    #[inline(always)]
    pub(super) fn first_unstable_by(
        &self,
        text: &str,
        from: usize,
        marks: impl Fn(&Window) -> Marks,
    ) -> Option<usize> {
        // Marks among the last four bytes of the block before.
        let (mut at, mut carry) = (from, 0);
        while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
            let mut padded = [0; BLOCK + AFTER];
            let window = rest.first_chunk().unwrap_or_else(|| {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            });
            let Marks { marks, unstable_marks } = marks(window);
            // Two characters beside one another begin two to four bytes apart.
            let near = |by: u32| marks << by | carry >> (4 - by);
            let suspects = marks & (near(2) | near(3) | near(4)) | unstable_marks;
            if suspects != 0
                && let Some(found) = self.first_unstable_of(text, from, at, suspects)
            {
                return Some(found);
            }
            carry = marks >> (BLOCK - 4);
            at += BLOCK;
        }
        None
    }

    /// Position of the first unstable character of the block at byte `at`. `suspects` has a bit for the first byte of each character to check.
    fn first_unstable_of(&self, text: &str, from: usize, at: usize, mut suspects: u64) -> Option<usize> {
        while suspects != 0 {
            let start = at + suspects.trailing_zeros() as usize;
            suspects &= suspects - 1;
            let class = self.entry(text.get(start..)?.chars().next()?);
            let is_descending = || {
                let before = text[from..start].chars().next_back();
                class != STABLE_STARTER && before.is_some_and(|before| class < self.entry(before))
            };
            if class >= UNSTABLE_STARTER || is_descending() {
                return Some(start);
            }
        }
        None
    }

    /// The marks of a block.
    pub(super) fn marks(&self, window: &Window) -> Marks {
        let mut loud = self.loud_bytes(window);
        let (mut marks, mut unstable_marks) = (0, 0);
        while loud != 0 {
            let at = loud.trailing_zeros() as usize;
            let bit = loud & loud.wrapping_neg();
            loud ^= bit;
            let [lead, second, third, _] = [0, 1, 2, 3].map(|by| window[at % BLOCK + by]);
            let low = |byte: u8| usize::from(byte & 0x3F);
            if lead >= 0xF0 {
                (marks, unstable_marks) = (marks | bit, unstable_marks | bit);
                continue;
            }
            // Two bytes or three, without a branch.
            let of_two = usize::from(lead & 0x1F) << 6 | low(second);
            let of_three = usize::from(lead & 0xF) << 12 | low(second) << 6 | low(third);
            let entry = self.entries[if lead >= 0xE0 { of_three } else { of_two }];
            marks |= if entry == STABLE_STARTER { 0 } else { bit };
            unstable_marks |= if entry < UNSTABLE_STARTER { 0 } else { bit };
        }
        Marks { marks, unstable_marks }
    }

    #[inline]
    pub(super) fn entry(&self, c: char) -> u8 {
        self.entries.get(c as usize).copied().unwrap_or_else(|| entry_of(self.form, c))
    }

    /// Mask of the bytes of a block that are not quiet.
    #[inline]
    fn loud_bytes(&self, window: &Window) -> u64 {
        let mut flags = [0; BLOCK];
        for (flag, &byte) in flags.iter_mut().zip(window) {
            let is_in = |quiet, &(first, len): &(u8, u8)| quiet | (byte.wrapping_sub(first) < len);
            *flag = u8::from(!self.quiet.iter().fold(false, is_in));
        }
        let (words, _) = flags.as_chunks::<8>();
        // The product has the lowest bits of all eight bytes in its top byte.
        let bits = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        words.iter().rev().fold(0, |mask, word| mask << 8 | bits(word))
    }
}

#[cold]
fn entry_of(form: Form, c: char) -> u8 {
    match form.certain_class(c) {
        Some(class) => class,
        None if form.starts_run(c) => UNSTABLE_STARTER,
        None => UNSTABLE,
    }
}

/// The ranges of quiet bytes that cover most characters.
fn quiet_ranges(entries: &[u8]) -> [(u8, u8); QUIET_RANGES] {
    let are_stable = |codes: Range<usize>| entries[codes].iter().all(|&entry| entry == STABLE_STARTER);
    // The code points that a byte may begin: itself, none, 64 of two bytes or up to 4096 of three.
    let codes = |byte: u8| match byte {
        0x00..0x80 => usize::from(byte)..usize::from(byte) + 1,
        0x80..0xC2 => 0..0,
        0xC2..0xE0 => usize::from(byte & 0x1F) << 6..usize::from((byte & 0x1F) + 1) << 6,
        // Bytes of 0xE0 below U+0800 begin no character.
        0xE0 => 0x800..0x1000,
        _ => usize::from(byte & 0xF) << 12..usize::from((byte & 0xF) + 1) << 12,
    };
    let is_quiet = |byte: &u8| are_stable(codes(*byte));
    let mut ranges: Vec<(usize, (u8, u8))> = Vec::new();
    let mut byte = 0;
    while byte < 0xF0 {
        let quiet = (byte..0xF0).take_while(is_quiet);
        let (len, covered) =
            quiet.fold((0, 0), |(len, covered), byte| (len + 1, covered + codes(byte).len()));
        ranges.push((covered, (byte, len)));
        byte += len + 1;
    }
    // ASCII begins the first range.
    if let Some(others) = ranges.get_mut(1..) {
        others.sort_by_key(|&(covered, _)| std::cmp::Reverse(covered));
    }
    let mut best = ranges.into_iter().map(|(_, range)| range);
    std::array::from_fn(|_| best.next().unwrap_or((0, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_scripts_are_quiet_in_nfc() {
        let check = Table::new(Form::Nfc);
        for text in ["naïve Straße, Łódź, œuvre; abc ", "Привет, мир", "中文文本"] {
            let window: Vec<u8> = text.bytes().cycle().take(BLOCK + AFTER).collect();
            assert_eq!(check.loud_bytes(&window.try_into().expect("a window")), 0, "{text}");
        }
    }
}
