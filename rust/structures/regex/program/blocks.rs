//! The borders of a text, 64 bytes at a time: where spans, matches and gaps, begin.
//!
//! The characters of a block that need no step have their borders in a mask (`junctions`). From each other character on, the
//! chain takes steps until it stands in the row of a class again. Where the chain is stuck, a single search finds the border,
//! and the blocks begin again there.

#![expect(clippy::inline_always, reason = "only inlined code is compiled for its caller's processor")]

use super::chain::Chain;
use super::junctions::{Junctions, NONE};
use super::{DeadEnds, Program, ROOM};
use crate::scan::simd::fill::{Isa, Job, load};
use crate::scan::simd::masks::{BLOCK, Masks, below};

/// Steps in a block above which masks do not pay, and blocks without masks after such a one.
const MANY_STEPS: usize = 16;
const PLAIN_BLOCKS: usize = 32;

/// A search for all borders of a text.
pub(super) struct Borders<'a> {
    program: &'a Program,
    junctions: &'a Junctions,
    text: &'a str,
    /// The last border found.
    last: usize,
    /// Where the next block begins, and the row before it.
    base: usize,
    row: u16,
    /// The group of the character before the block, if the search stands in the group's row.
    group: u8,
    /// The masks of the block before, whose last character may end in the next.
    before: Masks,
    /// Blocks that are left to do without masks.
    plain: usize,
    /// Bytes that were read beyond matches in which the chain got stuck.
    wasted: usize,
    dead_ends: DeadEnds,
}

/// Writes borders while there is room for one more block.
pub(super) struct Fill<'a, 'b> {
    pub(super) search: &'a mut Borders<'b>,
    pub(super) borders: &'a mut [u32],
}

impl Job for Fill<'_, '_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let Self { search, borders } = self;
        let mut count = 0;
        while search.last < search.text.len() && borders.len() - count > BLOCK {
            let out = &mut borders[count..];
            count += if search.wasted > search.last + ROOM {
                search.find_one(out)
            } else if search.base == search.text.len() {
                search.finish(out)
            } else if search.plain > 0 {
                search.plain_block(isa, out)
            } else {
                search.block(isa, out)
            };
        }
        count
    }
}

impl<'a> Borders<'a> {
    pub(super) fn new(program: &'a Program, junctions: &'a Junctions, text: &'a str) -> Self {
        Self {
            program,
            junctions,
            text,
            last: 0,
            base: 0,
            row: program.first_row(),
            group: NONE,
            before: Masks::default(),
            plain: 0,
            wasted: 0,
            dead_ends: DeadEnds::default(),
        }
    }

    fn chain(&self) -> &'a Chain {
        &self.program.0.chain
    }

    /// Writes the borders of the next block; returns how many.
    #[inline(always)]
    fn block<I: Isa>(&mut self, isa: I, out: &mut [u32]) -> usize {
        let (bytes, base, junctions) = (self.text.as_bytes(), self.base, self.junctions);
        let masks = load(isa, bytes, base, true, &self.before);
        let end = BLOCK.min(bytes.len() - base);
        let begun = masks.tail.trailing_ones() as usize;
        let mut groups = junctions.group_masks(&masks);
        if self.group == NONE {
            // The search does not stand in the row of the character that ends here.
            for group in &mut groups {
                *group &= !below(begun);
            }
        }
        let (known, mut begins) = junctions.ask(&groups, self.group);
        begins &= below(end) & !masks.tail;
        let mut unknown = !(known | masks.tail) & below(end);
        let (mut at, mut row, mut group, mut steps) = (begun, self.row, self.group, 0);
        while unknown != 0 {
            let first = unknown.trailing_zeros() as usize;
            if first > at
                && let Some(before) = junctions.group_at(&groups, first - 1)
            {
                row = junctions.row(before);
            }
            at = first;
            loop {
                let Some((next, is_border, width)) = self.step(row, base + at) else {
                    return self.leave_stuck(isa, begins, at, out);
                };
                row = next;
                begins = begins & !(1 << at) | u64::from(is_border) << at;
                group = junctions.group_of_row(self.chain().row_number(row));
                let is_known = group != NONE && groups[usize::from(group)] >> at & 1 == 1;
                (at, steps) = (at + width, steps + 1);
                if !is_known {
                    group = NONE;
                }
                if is_known || at >= end {
                    break;
                }
            }
            unknown &= !below(at);
        }
        if at < end
            && let Some(last) = junctions.group_at(&groups, end - 1)
        {
            (row, group) = (junctions.row(last), last);
        }
        self.plain = if steps > MANY_STEPS { PLAIN_BLOCKS } else { 0 };
        (self.base, self.row, self.group, self.before) = (base + end, row, group, masks);
        self.write(isa, begins, base, out)
    }

    /// As [`Self::block`], without masks.
    #[inline(always)]
    fn plain_block<I: Isa>(&mut self, isa: I, out: &mut [u32]) -> usize {
        let (bytes, base) = (self.text.as_bytes(), self.base);
        let end = BLOCK.min(bytes.len() - base);
        let is_tail = |at: usize| bytes[base + at] & 0xc0 == 0x80;
        let (mut at, mut begins) = (0, 0);
        while at < end && is_tail(at) {
            at += 1;
        }
        while at < end {
            let Some((next, is_border, width)) = self.step(self.row, base + at) else {
                return self.leave_stuck(isa, begins, at, out);
            };
            self.row = next;
            begins |= u64::from(is_border) << at;
            at += width;
        }
        self.plain -= 1;
        (self.base, self.group, self.before) = (base + end, NONE, Masks::default());
        self.write(isa, begins, base, out)
    }

    /// The row after the character at `pos`, whether a span begins there, and its width; none if the chain is stuck.
    #[inline(always)]
    fn step(&self, row: u16, pos: usize) -> Option<(u16, bool, usize)> {
        let (atom, width) = self.program.0.atoms.at(self.text.as_bytes(), pos);
        let (next, is_border) = self.chain().next(row, atom)?;
        Some((next, is_border, width))
    }

    /// Writes the borders of a mask.
    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, mut begins: u64, base: usize, out: &mut [u32]) -> usize {
        // A block may begin at a border that is known.
        begins &= !u64::from(base == self.last);
        let count = isa.positions(begins, base, out);
        if let Some(&last) = out[..count].last() {
            self.last = last as usize;
        }
        count
    }

    /// Writes the borders before bit `at`, where the chain is stuck, and the border that a single search finds.
    #[inline(never)]
    fn leave_stuck<I: Isa>(&mut self, isa: I, begins: u64, at: usize, out: &mut [u32]) -> usize {
        let base = self.base;
        let count = self.write(isa, begins & below(at), base, out);
        let found = self.find_one(&mut out[count..]);
        self.wasted += (base + at).saturating_sub(self.last);
        count + found
    }

    /// Writes the end of the text, or a border before it if the last match ends there.
    #[inline(never)]
    fn finish(&mut self, out: &mut [u32]) -> usize {
        let (chain, states, end) = (self.chain(), &self.program.0.states, self.program.0.atoms.len());
        if chain.is_gap(self.row) || states.step(chain.state(self.row), end).is_match {
            self.last = self.text.len();
            out[0] = self.last as u32;
            return 1;
        }
        let found = self.find_one(out);
        self.wasted += self.text.len() - self.last;
        found
    }

    /// Writes the border after the last one, found by a single search; the next block begins there.
    #[inline(never)]
    fn find_one(&mut self, out: &mut [u32]) -> usize {
        let (bytes, last) = (self.text.as_bytes(), self.last);
        let kind = self.program.kind_before(self.text, last);
        self.last = match self.program.find(bytes, (last, kind), Some(last), &mut self.dead_ends) {
            Some((start, end)) if start == last => end,
            Some((start, _)) => start,
            None => bytes.len(),
        };
        out[0] = self.last as u32;
        self.base = self.last;
        self.row = self.chain().gap_row(self.program.kind_before(self.text, self.last));
        (self.group, self.before) = (NONE, Masks::default());
        1
    }
}
