//! Characters of ASCII that become one character of ASCII each: a table, and the loop that maps runs of them.

use std::collections::BTreeMap;

use super::closed::{Matched, is_closed, sees_alone};
use super::output::Output;
use crate::normalizers::Normalizer;

/// Bytes that are mapped at a time.
const BLOCK: usize = 64;

/// Bytes that are mapped one by one before blocks of them are.
const SINGLES: usize = 8;

/// Ranges and pairs that a loop over a block compares bytes with; a normalizer with more of them takes the table.
const MOST: usize = 6;

/// How a byte may be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One byte, after any closed text.
    Start,
    /// One byte, unless a match may hold it and the character before it.
    Apart,
    /// Anything else.
    Stop,
}

/// A range of bytes, and by how much each changes.
#[derive(Clone, Copy, Debug)]
struct Shift {
    first: u8,
    len: u8,
    by: u8,
}

impl Shift {
    #[inline]
    fn holds(self, byte: u8) -> bool {
        byte.wrapping_sub(self.first) <= self.len
    }
}

/// Ranges and pairs for loops over blocks.
#[derive(Debug)]
struct Blocks {
    stops: Vec<Shift>,
    shifts: Vec<Shift>,
    joined: Vec<(Shift, Shift)>,
}

/// How each byte is mapped.
#[derive(Debug)]
pub(super) struct AsciiTable {
    kinds: [Kind; 256],
    made: [u8; 256],
    /// For each byte, a bit for each one of [`Kind::Apart`] that joins it.
    joins: Box<[u128; 128]>,
    /// A bit for each byte of [`Kind::Start`] that is visible, and stays so, at each stage.
    visible: u128,
    blocks: Option<Blocks>,
}

impl AsciiTable {
    /// Asks the stages, one after the other, for the rewrite of each byte.
    pub(super) fn new(stages: &[Normalizer]) -> Self {
        let (mut kinds, mut made) = ([Kind::Stop; 256], [0; 256]);
        let mut visible = 0;
        // By stage, the form in which the stage sees each byte.
        let mut seen: Vec<[u8; 128]> = vec![[0; 128]; stages.len()];
        for byte in 0..128u8 {
            let (mut c, mut is_start, mut is_visible) = (byte, true, byte.is_ascii_graphic());
            let is_plain = stages.iter().zip(&mut seen).all(|(stage, seen)| {
                seen[usize::from(byte)] = c;
                is_start &= is_closed(stage, char::from(c).encode_utf8(&mut [0; 4]));
                let made = single(stage, c);
                c = made.unwrap_or_default();
                is_visible &= c.is_ascii_graphic();
                made.is_some()
            });
            if is_plain {
                kinds[usize::from(byte)] = if is_start { Kind::Start } else { Kind::Apart };
                made[usize::from(byte)] = c;
                visible |= u128::from(is_visible && is_start) << byte;
            }
        }
        let mut joins = Box::new([0; 128]);
        let apart = |byte: &u8| kinds[usize::from(*byte)] == Kind::Apart;
        for right in (0..128).filter(apart) {
            for left in 0..128u8 {
                let joins_at = |(stage, seen): (&Normalizer, &[u8; 128])| {
                    let [left, right] = [left, right].map(|byte| char::from(seen[usize::from(byte)]));
                    matches!(stage, Normalizer::Replace(replacement)
                        if Matched::of(replacement).is_none_or(|matched| matched.may_join(left, right)))
                };
                let does_join = stages.iter().zip(&seen).any(joins_at);
                joins[usize::from(left)] |= u128::from(does_join) << right;
            }
        }
        let mut table = Self { kinds, made, joins, visible, blocks: None };
        table.blocks = table.for_blocks();
        table
    }

    fn for_blocks(&self) -> Option<Blocks> {
        let stops = ranges(|byte| (self.kind(byte) == Kind::Stop).then_some(0));
        let by = |byte: u8| self.made[usize::from(byte)].wrapping_sub(byte);
        let shifts = ranges(|byte| Some(by(byte)).filter(|&by| self.kind(byte) != Kind::Stop && by != 0));
        let is_plain = |byte: &u8| self.kind(*byte) != Kind::Stop;
        let lefts = (0..128).filter(is_plain);
        // Bytes that join the same bytes, together.
        let mut by_right: BTreeMap<u128, u128> = BTreeMap::new();
        for left in lefts {
            let joins = |right: &u8| self.do_join(left, *right);
            let rights = (0..128).filter(joins).fold(0, |set, right| set | 1 << right);
            *by_right.entry(rights).or_default() |= 1 << left;
        }
        let joined: Vec<(Shift, Shift)> = by_right
            .into_iter()
            .flat_map(|(rights, lefts)| {
                let [lefts, rights] = [lefts, rights]
                    .map(|set| ranges(|byte| (byte < 128 && set >> byte & 1 == 1).then_some(0)));
                lefts
                    .into_iter()
                    .flat_map(move |left| rights.clone().into_iter().map(move |right| (left, right)))
            })
            .collect();
        let is_short = stops.len() <= MOST && shifts.len() <= MOST && joined.len() <= MOST;
        is_short.then_some(Blocks { stops, shifts, joined })
    }

    fn kind(&self, byte: u8) -> Kind {
        self.kinds[usize::from(byte)]
    }

    /// True if `right` may not be mapped by itself after `left`. Both are plain.
    #[inline]
    pub(super) fn do_join(&self, left: u8, right: u8) -> bool {
        self.kind(right) == Kind::Apart && self.joins[usize::from(left & 127)] >> (right & 127) & 1 == 1
    }

    /// True if `byte` becomes one byte after any closed text.
    #[inline]
    pub(super) fn is_start(&self, byte: u8) -> bool {
        self.kind(byte) == Kind::Start
    }

    /// True if `byte` becomes one byte, unless a match may hold it and the character before it.
    #[inline]
    pub(super) fn is_plain(&self, byte: u8) -> bool {
        self.kind(byte) != Kind::Stop
    }

    /// True if `byte` is visible, and stays so, at each stage, after any closed text.
    pub(super) fn is_visible(&self, byte: u8) -> bool {
        byte.is_ascii() && self.visible >> (byte & 127) & 1 == 1
    }

    /// Maps the bytes of `text` from `at` on, up to the first that does not become one byte by itself; returns the end of this run. The
    /// byte at `at` joins no text before it. Calls `at_block` with the start of each block.
    #[inline]
    pub(super) fn map_run<'t>(
        &self,
        text: &'t [u8],
        at: usize,
        out: &mut Output<'t>,
        mut at_block: impl FnMut(usize, &Output<'t>),
    ) -> usize {
        let mut end = self.map_singles(text, at, at, SINGLES, out);
        if end < at + SINGLES {
            return end;
        }
        let Some(blocks) = &self.blocks else {
            at_block(end, out);
            return self.map_singles(text, at, end, text.len(), out);
        };
        while end < text.len() {
            at_block(end, out);
            // The byte before the block, and the block; after the end of the text, a byte that stops a run.
            let mut padded = [u8::MAX; BLOCK + 1];
            let window = text[end - 1..].first_chunk().unwrap_or_else(|| {
                padded[..=text.len() - end].copy_from_slice(&text[end - 1..]);
                &padded
            });
            let (made, count) = blocks.map(window);
            out.put_ascii(end, &window[1..=count], &made[..count]);
            end += count;
            if count < BLOCK {
                break;
            }
        }
        end
    }

    /// Writes the rewrite of a whole text to `out` if each of its bytes becomes one by itself; false if not.
    #[inline]
    pub(super) fn map_whole(&self, text: &str, out: &mut String) -> bool {
        let mut before = None;
        out.clear();
        text.bytes().all(|byte| {
            let is_joined = || before.is_some_and(|before| self.do_join(before, byte));
            let is_mapped = self.is_plain(byte) && !is_joined();
            if is_mapped {
                out.push(char::from(self.made[usize::from(byte)]));
            }
            before = Some(byte);
            is_mapped
        })
    }

    /// Maps up to `most` bytes from `end` on, in a run that begins at `start`; returns where that ends.
    fn map_singles<'t>(
        &self,
        text: &'t [u8],
        start: usize,
        mut end: usize,
        most: usize,
        out: &mut Output<'t>,
    ) -> usize {
        for &byte in text[end..].iter().take(most) {
            let is_joined = || end > start && self.do_join(text[end - 1], byte);
            let kind = self.kind(byte);
            if kind == Kind::Stop || kind == Kind::Apart && is_joined() {
                break;
            }
            out.put_ascii(end, &[byte], &[self.made[usize::from(byte)]]);
            end += 1;
        }
        end
    }
}

impl Blocks {
    /// The rewrites of the bytes of a window after the first, and the number of bytes up to the first that does not become one byte by
    /// itself. Loops without branches, for the vectors of the processor.
    #[inline]
    fn map(&self, window: &[u8; BLOCK + 1]) -> ([u8; BLOCK], usize) {
        let (before, block) = (&window[..BLOCK], &window[1..]);
        let mut stops = [0; BLOCK];
        for range in &self.stops {
            for (stop, &byte) in stops.iter_mut().zip(block) {
                *stop |= u8::from(range.holds(byte));
            }
        }
        for &(left, right) in &self.joined {
            for ((stop, &byte), &before) in stops.iter_mut().zip(block).zip(before) {
                *stop |= u8::from(left.holds(before)) & u8::from(right.holds(byte));
            }
        }
        let mut made = [0; BLOCK];
        made.copy_from_slice(block);
        for range in &self.shifts {
            for (made, &byte) in made.iter_mut().zip(block) {
                *made = made.wrapping_add(if range.holds(byte) { range.by } else { 0 });
            }
        }
        let mut count = 0;
        for eight in stops.as_chunks::<8>().0 {
            let stop = u64::from_le_bytes(*eight);
            if stop != 0 {
                return (made, count + stop.trailing_zeros() as usize / 8);
            }
            count += 8;
        }
        (made, count)
    }
}

/// The byte that `stage` makes of a byte between any others that it does not match together with that one; none if it makes
/// something else.
fn single(stage: &Normalizer, byte: u8) -> Option<u8> {
    let (c, mut text) = (char::from(byte), [0; 4]);
    let made = stage.normalize_str(c.encode_utf8(&mut text)).ok().filter(|_| sees_alone(stage, c))?;
    match *made.as_bytes() {
        [made] if made.is_ascii() => Some(made),
        _ => None,
    }
}

/// The ranges of neighbouring bytes with the same answer; bytes without one are left out.
fn ranges(answer: impl Fn(u8) -> Option<u8>) -> Vec<Shift> {
    let mut ranges: Vec<Shift> = Vec::new();
    for byte in 0..=u8::MAX {
        let Some(by) = answer(byte) else { continue };
        match ranges.last_mut() {
            Some(last) if last.by == by && last.first + last.len + 1 == byte => last.len += 1,
            _ => ranges.push(Shift { first: byte, len: 0, by }),
        }
    }
    ranges
}
