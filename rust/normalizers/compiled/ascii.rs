//! Characters of ASCII that become one character of ASCII each: a table, and the loop that maps runs of them.

use super::closed::{Matched, is_closed, sees_alone};
use super::output::Output;
use crate::normalizers::Normalizer;

/// Bytes that are mapped at a time.
const BLOCK: usize = 64;

/// Bytes that are mapped one by one before blocks of them are.
const SINGLES: usize = 16;

/// Ranges and pairs that a loop over a block compares bytes with; a normalizer with more of them takes the table.
const MOST: usize = 6;

/// What becomes of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One byte, whatever stands before it.
    Start,
    /// One byte, unless it joins the byte before it, or what is before it is no such byte.
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
    joined: Vec<(u8, u8)>,
}

/// What becomes of each byte.
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
    /// Asks the stages what each makes of what the one before made.
    pub(super) fn new(stages: &[Normalizer]) -> Self {
        let (mut kinds, mut made) = ([Kind::Stop; 256], [0; 256]);
        let mut visible = 0;
        // By stage, what each byte is when the stage sees it.
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
        let joined: Vec<(u8, u8)> = lefts
            .flat_map(|left| (0..128).map(move |right| (left, right)))
            .filter(|&(left, right)| self.do_join(left, right))
            .collect();
        let is_short = stops.len() <= MOST && shifts.len() <= MOST && joined.len() <= MOST;
        is_short.then_some(Blocks { stops, shifts, joined })
    }

    fn kind(&self, byte: u8) -> Kind {
        self.kinds[usize::from(byte)]
    }

    /// Whether `right`, after `left`, may not be mapped by itself. Both are plain.
    #[inline]
    pub(super) fn do_join(&self, left: u8, right: u8) -> bool {
        self.kind(right) == Kind::Apart && self.joins[usize::from(left & 127)] >> (right & 127) & 1 == 1
    }

    /// Whether `byte` becomes one byte, whatever closed text stands before it.
    #[inline]
    pub(super) fn is_start(&self, byte: u8) -> bool {
        self.kind(byte) == Kind::Start
    }

    /// Whether `byte` becomes one byte, unless a match may hold it and what is before it.
    #[inline]
    pub(super) fn is_plain(&self, byte: u8) -> bool {
        self.kind(byte) != Kind::Stop
    }

    /// Whether `byte` is visible, and stays so, at each stage, whatever closed text stands before it.
    pub(super) fn is_visible(&self, byte: u8) -> bool {
        byte.is_ascii() && self.visible >> (byte & 127) & 1 == 1
    }

    /// Maps bytes of `text` from `at` on, where a border is; returns the end of the run, where a byte does not become one byte by
    /// itself. Calls `at_block` with the start of each block.
    #[inline]
    pub(super) fn map_run<'t>(
        &self,
        text: &'t [u8],
        at: usize,
        out: &mut Output<'t>,
        mut at_block: impl FnMut(usize, &Output<'t>),
    ) -> usize {
        let mut end = self.map_singles(text, at, SINGLES, None, out);
        if end < at + SINGLES {
            return end;
        }
        if let Some(blocks) = &self.blocks {
            while let Some(block) = text.get(end..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
                at_block(end, out);
                let before: &[u8; BLOCK] = text[end - 1..].first_chunk().unwrap_or(block);
                let Some(made) = blocks.map(before, block) else { break };
                out.put_ascii(end, block, &made);
                end += BLOCK;
            }
        } else {
            at_block(end, out);
        }
        let most = if self.blocks.is_some() { BLOCK } else { text.len() };
        self.map_singles(text, end, most, Some(text[end - 1]), out)
    }

    fn map_singles<'t>(
        &self,
        text: &'t [u8],
        at: usize,
        most: usize,
        mut before: Option<u8>,
        out: &mut Output<'t>,
    ) -> usize {
        let mut end = at;
        for &byte in text[at..].iter().take(most) {
            let is_joined = || before.is_some_and(|before| self.do_join(before, byte));
            let kind = self.kind(byte);
            if kind == Kind::Stop || kind == Kind::Apart && is_joined() {
                break;
            }
            out.put_ascii(end, &[byte], &[self.made[usize::from(byte)]]);
            before = Some(byte);
            end += 1;
        }
        end
    }
}

impl Blocks {
    /// What a block becomes, if each byte becomes one by itself; `before` is the bytes one further left. Loops without branches,
    /// for the vectors of the processor.
    #[inline]
    fn map(&self, before: &[u8; BLOCK], block: &[u8; BLOCK]) -> Option<[u8; BLOCK]> {
        let mut stops = [false; BLOCK];
        for stop in &self.stops {
            for (is_stop, &byte) in stops.iter_mut().zip(block) {
                *is_stop |= stop.holds(byte);
            }
        }
        for &(left, right) in &self.joined {
            for ((is_stop, &byte), &before) in stops.iter_mut().zip(block).zip(before) {
                *is_stop |= (before == left) & (byte == right);
            }
        }
        if stops.iter().fold(false, |any, &stop| any | stop) {
            return None;
        }
        let mut made = *block;
        for shift in &self.shifts {
            for (made, &byte) in made.iter_mut().zip(block) {
                *made = made.wrapping_add(if shift.holds(byte) { shift.by } else { 0 });
            }
        }
        Some(made)
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
