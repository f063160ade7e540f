//! Masks for seams.

use super::fill::{Isa, Job, load};
use super::masks::{BLOCK, Masks, below, flood, last, up};
use crate::scan::seams::{BLANK, MOST_RULES, NEWLINE, SIGN, SMALL, STOP, Seams, WIDE_OTHER, WIDE_STOP};

/// Writes the ends of the parts of `text` from `start` on.
pub(in crate::scan) struct FillSeams<'a> {
    pub(in crate::scan) seams: &'a Seams,
    pub(in crate::scan) text: &'a str,
    pub(in crate::scan) start: usize,
    pub(in crate::scan) ends: &'a mut [u32],
}

/// One mask for each kind.
#[inline(always)]
fn kind_masks(masks: &Masks) -> [u64; ROOM] {
    let Masks {
        upper,
        lower,
        letter,
        number,
        space,
        blank,
        newline,
        punctuation,
        apostrophe,
        stop,
        wide,
        ..
    } = *masks;
    let (small, capital, other) = (lower & !upper, upper & !lower, !(upper | lower | number | space));
    let wide_other = other & wide;
    [
        small & !wide,
        small & wide,
        capital & !wide,
        capital & wide,
        letter & upper & lower,
        number & !wide,
        blank,
        newline,
        stop,
        wide_other & punctuation,
        wide_other & !punctuation,
        apostrophe,
        upper & lower & !letter,
        punctuation & !(wide | apostrophe | stop),
        0,
        0,
    ]
}

/// The state that one block leaves to the next.
struct Carry {
    masks: Masks,
    /// By rule, whether the last byte may stand to the left of its seams.
    left: [u64; MOST_RULES],
    /// Characters after anything but ink.
    after_other: After,
}

/// Characters that follow one of a mask. A value holds the state that one block leaves to the next.
#[derive(Default)]
struct After {
    mask: u64,
    found: u64,
}

impl After {
    /// All bytes of the characters that follow one of `mask`; those of one character are neighbours.
    #[inline(always)]
    fn next(&mut self, mask: u64, tail: u64) -> u64 {
        let first = up(mask, self.mask) & !tail;
        let found = first | flood(tail, up(first, self.found) & tail);
        (self.mask, self.found) = (last(mask), last(found));
        found
    }
}

/// Room for the masks of all kinds; a power of two, so that an index needs no check.
const ROOM: usize = 16;

/// The union of the masks of some kinds.
#[inline(always)]
fn union(masks: &[u64; ROOM], mut kinds: u16) -> u64 {
    let mut all = 0;
    while kinds != 0 {
        all |= masks[kinds.trailing_zeros() as usize % ROOM];
        kinds &= kinds - 1;
    }
    all
}

impl Carry {
    fn new() -> Self {
        Self { masks: Masks::default(), left: [0; MOST_RULES], after_other: After::default() }
    }

    /// The seams of the next block of `bytes`.
    #[inline(always)]
    fn seams<I: Isa>(&mut self, isa: I, seams: &Seams, bytes: &[u8], base: usize) -> u64 {
        let masks = load(isa, bytes, base, true, &self.masks);
        let mut kinds = kind_masks(&masks);
        let ink = kinds.iter().fold(0, |all, mask| all | mask) & !(kinds[BLANK] | kinds[NEWLINE]);
        if seams.joins_letters {
            kinds[SMALL] = masks.letter;
        }
        if seams.joins_stops {
            kinds[STOP] |= kinds[WIDE_STOP] | kinds[WIDE_OTHER] | kinds[SIGN];
        }
        let after_ink = !self.after_other.next(!ink, masks.tail);
        let mut found = 0;
        for (rule, carry) in seams.rules.iter().zip(&mut self.left) {
            let mut left = union(&kinds, rule.left);
            if rule.after_ink {
                left &= after_ink;
            }
            found |= up(left, *carry) & union(&kinds, rule.right);
            *carry = left >> (BLOCK - 1);
        }
        self.masks = masks;
        found & !masks.tail
    }
}

impl Job for FillSeams<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let Self { seams, text, start, ends } = self;
        let (bytes, mut carry) = (text.as_bytes(), Carry::new());
        let (mut base, mut found) = (start, 0);
        // A part ends where the next begins, but for the first one.
        let mut counted = !1;
        while base < bytes.len() && found < ends.len() {
            let begins = carry.seams(isa, seams, bytes, base) & counted & below(bytes.len() - base);
            found += isa.positions(begins, base, &mut ends[found..]);
            (base, counted) = (base + BLOCK, u64::MAX);
        }
        if base >= bytes.len() && start < bytes.len() && found < ends.len() {
            ends[found] = bytes.len() as u32;
            found += 1;
        }
        found
    }
}

/// The kinds of the first character of a text, one bit each.
#[cfg(test)]
pub(in crate::scan) fn kinds_of(text: &str) -> u16 {
    struct Kinds<'a>(&'a str);
    impl Job for Kinds<'_> {
        fn run<I: Isa>(self, isa: I) -> usize {
            let masks = load(isa, self.0.as_bytes(), 0, true, &Masks::default());
            (0..).zip(kind_masks(&masks)).fold(0, |kinds, (kind, mask)| kinds | ((mask & 1) as usize) << kind)
        }
    }
    super::Backend::best().run(Kinds(text)) as u16
}
