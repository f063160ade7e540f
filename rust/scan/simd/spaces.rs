//! Masks for the splitters of SentencePiece-style tokenizers.

use super::fill::Rules;
use super::masks::{BLOCK, Masks, down, last, up};
use crate::scan::spaces::{
    BlankFragments, Blanks, SingleSpacedWords, SingleSpaces, SpaceFragments, SpacedWords, Spaces, is_blank,
};

/// A span starts at a space that does not follow a space.
#[derive(Default)]
pub(super) struct SpacesRules {
    blank: u64,
}

impl Rules for SpacesRules {
    type Scalar = Spaces;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        let starts = now.blank & !up(now.blank, self.blank);
        self.blank = last(now.blank);
        (starts, 0)
    }
}

/// A span starts at every space.
#[derive(Default)]
pub(super) struct SingleSpacesRules;

impl Rules for SingleSpacesRules {
    type Scalar = SingleSpaces;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        (now.blank, 0)
    }
}

/// The blanks of a block: spaces, tabs and line ends.
#[inline(always)]
pub(super) fn blanks(now: &Masks) -> u64 {
    now.blank | now.tab | now.newline
}

/// A span starts at a blank that does not follow a blank.
#[derive(Default)]
pub(super) struct BlanksRules {
    blank: u64,
}

impl Rules for BlanksRules {
    type Scalar = Blanks;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        let blank = blanks(now);
        let starts = blank & !up(blank, self.blank);
        self.blank = last(blank);
        (starts, 0)
    }
}

/// Boundaries between an ASCII letter and one of
/// [`PUNCTUATION_KEPT_APART`](crate::scan::spaces::PUNCTUATION_KEPT_APART), whose outer neighbours can neither join the
/// two nor vanish. Blanks are spaces, and with `LINES` also tabs and line ends.
#[derive(Default)]
pub(super) struct PunctuationBoundaries<const LINES: bool> {
    letter: u64,
    stop: u64,
    /// The last two bits of the mask of characters that prevent a boundary beside them.
    odd: u64,
}

impl<const LINES: bool> PunctuationBoundaries<LINES> {
    /// The boundaries in the block `now`, which begins at `base` of `text`.
    #[inline(always)]
    pub(super) fn starts(&mut self, text: &[u8], base: usize, now: &Masks) -> u64 {
        let letter = now.letter & !now.wide;
        let boundaries = now.stop & up(letter, self.letter) | letter & up(now.stop, self.stop);
        let blanks = if LINES { blanks(now) } else { now.blank };
        let odd = now.wide | !(now.letter | now.number | now.punctuation | blanks);
        let is_blank = |byte| byte == b' ' || LINES && is_blank(byte);
        let next_is_odd =
            text.get(base + BLOCK).is_some_and(|&next| !next.is_ascii_graphic() && !is_blank(next));
        let is_clear = !(odd << 2 | self.odd | down(odd, u64::from(next_is_odd)));
        (self.letter, self.stop, self.odd) = (last(letter), last(now.stop), odd >> (BLOCK - 2));
        boundaries & is_clear
    }
}

/// A span starts at a space that does not follow a space, and at every boundary.
#[derive(Default)]
pub(super) struct SpaceFragmentsRules {
    spaces: SpacesRules,
    boundaries: PunctuationBoundaries<false>,
}

impl Rules for SpaceFragmentsRules {
    type Scalar = SpaceFragments;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        (self.spaces.starts(text, base, now, next).0 | self.boundaries.starts(text, base, now), 0)
    }
}

/// A span starts at a blank that does not follow a blank, and at every boundary.
#[derive(Default)]
pub(super) struct BlankFragmentsRules {
    blanks: BlanksRules,
    boundaries: PunctuationBoundaries<true>,
}

impl Rules for BlankFragmentsRules {
    type Scalar = BlankFragments;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        (self.blanks.starts(text, base, now, next).0 | self.boundaries.starts(text, base, now), 0)
    }
}

/// Boundaries between a letter and an ASCII symbol.
#[derive(Default)]
struct WordBoundaries {
    letter: u64,
    symbol: u64,
}

impl WordBoundaries {
    #[inline(always)]
    fn starts(&mut self, now: &Masks) -> u64 {
        let symbol = !(now.letter | now.number | now.blank | now.wide);
        let boundaries = symbol & up(now.letter, self.letter) | now.letter & up(symbol, self.symbol);
        self.letter = last(now.letter);
        self.symbol = last(symbol);
        boundaries
    }
}

/// A span starts at a space that does not follow a space, and between a letter and an ASCII symbol.
#[derive(Default)]
pub(super) struct SpacedWordsRules {
    spaces: SpacesRules,
    words: WordBoundaries,
}

impl Rules for SpacedWordsRules {
    type Scalar = SpacedWords;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], base: usize, now: &Masks, next: &Masks) -> (u64, u64) {
        (self.spaces.starts(text, base, now, next).0 | self.words.starts(now), 0)
    }
}

/// A span starts at every space, and between a letter and an ASCII symbol.
#[derive(Default)]
pub(super) struct SingleSpacedWordsRules(WordBoundaries);

impl Rules for SingleSpacedWordsRules {
    type Scalar = SingleSpacedWords;

    #[inline(always)]
    fn starts(&mut self, _: &[u8], _: usize, now: &Masks, _: &Masks) -> (u64, u64) {
        (now.blank | self.0.starts(now), 0)
    }
}
