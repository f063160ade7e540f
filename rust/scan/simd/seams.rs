//! Masks for seams.

use super::fill::{Isa, Job, window};
use super::masks::{BLOCK, below, flood, last, up};
use crate::scan::seam_rules::{Context, Kinds, MOST_RULES, Open, Rule, Seams};

/// Writes the ends of the chunks of `text` from `start` on.
pub(in crate::scan) struct FillSeams<'a> {
    pub(in crate::scan) seams: &'a Seams,
    pub(in crate::scan) text: &'a str,
    pub(in crate::scan) start: usize,
    pub(in crate::scan) ends: &'a mut [u32],
}

/// The state that one block leaves to the next.
struct Carry {
    open: OpenCarry,
    ink: Spread,
    /// Characters after anything but ink.
    after_other: After,
    rules: [RuleCarry; MOST_RULES],
    /// 1 if there is a seam at the last byte, which is not written yet.
    waiting: u64,
}

#[derive(Clone, Copy, Default)]
struct RuleCarry {
    left: Spread,
    /// 1 if the last byte may stand to the left of a seam.
    is_left: u64,
    /// 1 if the last byte is a space that may stand to the right of a seam.
    is_blank: u64,
}

/// All bytes of the characters of some kinds. A value holds the state that one block leaves to the next.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl Spread {
    /// All bytes of the characters whose first bytes are `first`.
    #[inline(always)]
    fn next(&mut self, first: u64, tail: u64) -> u64 {
        let all = first | flood(tail, up(first, self.0) & tail);
        self.0 = last(all);
        all
    }
}

/// Characters that follow one of a mask. A value holds the state that one block leaves to the next.
#[derive(Default)]
struct After {
    mask: u64,
    found: Spread,
}

impl After {
    /// All bytes of the characters that follow one of `mask`.
    #[inline(always)]
    fn next(&mut self, mask: u64, tail: u64) -> u64 {
        let first = up(mask, self.mask) & !tail;
        self.mask = last(mask);
        self.found.next(first, tail)
    }
}

impl Carry {
    fn new() -> Self {
        let rules = [RuleCarry::default(); MOST_RULES];
        Self {
            open: OpenCarry::new(),
            ink: Spread::default(),
            after_other: After::default(),
            rules,
            waiting: 0,
        }
    }

    /// Two masks of the next block of `bytes`: the first bytes of characters that begin a chunk, and the first bytes of characters before whose
    /// space a chunk begins. The lowest bit of the second is about the last byte of the block before.
    #[inline(always)]
    fn seams<I: Isa>(&mut self, isa: I, seams: &Seams, bytes: &[u8], base: usize) -> (u64, u64) {
        let mut padded = None;
        let window = window(bytes, base, &mut padded);
        let (masks, kinds) = (isa.masks(window, false), isa.kinds(window, &seams.table));
        let of = |set: Kinds| isa.are_in(kinds, set);
        // A match, not a closure: code for one processor is not put into other functions.
        let barred = match seams.open {
            Some(open) => {
                let first = !masks.tail & below(bytes.len() - base);
                let after = seams.chars_before_open(open, bytes, base + BLOCK);
                self.open.next(open, of, (first, masks.tail), after)
            }
            None => Barred::default(),
        };
        let mut after_ink = 0;
        if seams.asks_for_ink {
            let ink = self.ink.next(of(seams.ink) & !barred.left, masks.tail);
            after_ink = !self.after_other.next(!ink, masks.tail);
        }
        let (mut found, mut before) = (0, 0);
        for (&Rule { left, right, context }, carry) in seams.rules.iter().zip(&mut self.rules) {
            let mut left = carry.left.next(of(left) & !barred.left, masks.tail);
            if context == Context::AfterInk {
                left &= after_ink;
            }
            let after_left = up(left, carry.is_left);
            carry.is_left = last(left);
            if context == Context::AcrossSpace {
                let blank = after_left & masks.blank & !barred.open;
                before |= up(blank, carry.is_blank) & of(right);
                carry.is_blank = last(blank);
            } else {
                found |= after_left & of(right);
            }
        }
        (found & !masks.tail & !barred.right, before & !masks.tail & !barred.right)
    }
}

/// The state of open characters that one block leaves to the next.
struct OpenCarry {
    /// Characters after which no match goes on.
    closed: Spread,
    is_closed: u64,
    /// Characters after an open one.
    after_open: After,
    open: Spread,
}

/// First bytes of characters that no seam may have beside them.
#[derive(Clone, Copy, Default)]
struct Barred {
    /// Open characters.
    open: u64,
    /// Characters that no seam may have to the right of them.
    left: u64,
    /// Characters that no seam may have to the left of them.
    right: u64,
}

impl OpenCarry {
    fn new() -> Self {
        let (closed, open) = (Spread::default(), Spread::default());
        // Nothing goes on before the text.
        Self { closed, is_closed: 1, after_open: After::default(), open }
    }

    /// The characters of a block, of which `first` are the first bytes and `tail` the others beyond ASCII; `after` characters after the block
    /// are not open.
    #[inline(always)]
    fn next(
        &mut self,
        open: Open,
        of: impl Fn(Kinds) -> u64,
        (first, tail): (u64, u64),
        after: usize,
    ) -> Barred {
        let Open { may_continue, may_go_on, ahead, before } = open;
        let known = of(Kinds::MAX);
        let mut mask = first & !known;
        if may_continue != 0 {
            let closed = self.closed.next(known & !of(may_go_on), tail);
            mask |= first & of(may_continue) & !up(closed, self.is_closed);
            self.is_closed = last(closed);
        }
        let mut barred = Barred { open: mask, left: mask, right: mask };
        if before {
            let all = self.open.next(mask, tail);
            barred.left |= first & self.after_open.next(all, tail);
        }
        if mask != 0 || after < ahead {
            for distance in 0..ahead {
                barred.right = mask | char_before(barred.right, u64::from(after <= distance), tail);
            }
        }
        barred
    }
}

/// The first bytes of the characters before characters of a mask; `next` is 1 if the first character of the next block belongs to the mask.
#[inline(always)]
fn char_before(mask: u64, next: u64, tail: u64) -> u64 {
    let mut found = mask >> 1 | next << (BLOCK - 1);
    for _ in 0..3 {
        found = found & !tail | (found & tail) >> 1;
    }
    found & !tail
}

impl Job for FillSeams<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let Self { seams, text, start, ends } = self;
        let (bytes, mut carry) = (text.as_bytes(), Carry::new());
        let (mut base, mut found) = (start, 0);
        // A chunk ends where the next begins, but for the first one.
        let (mut counted, mut counted_before) = (!1, !3);
        while base < bytes.len() && found < ends.len() {
            let (mut begins, before) = carry.seams(isa, seams, bytes, base);
            begins &= counted & below(bytes.len() - base);
            if seams.asks_for_next {
                // The seam at the last byte waits for the next block.
                let before = before & counted_before & below(bytes.len() - base);
                if carry.waiting | before & 1 != 0 {
                    ends[found] = (base - 1) as u32;
                    found += 1;
                }
                carry.waiting = last(begins);
                begins = begins & !(1 << (BLOCK - 1)) | before >> 1;
            }
            found += isa.positions(begins, base, &mut ends[found..]);
            (base, counted, counted_before) = (base + BLOCK, u64::MAX, u64::MAX);
        }
        if base >= bytes.len() && carry.waiting != 0 && found < ends.len() {
            ends[found] = (base - 1) as u32;
            found += 1;
        }
        if base >= bytes.len() && start < bytes.len() && found < ends.len() {
            ends[found] = bytes.len() as u32;
            found += 1;
        }
        found
    }
}
