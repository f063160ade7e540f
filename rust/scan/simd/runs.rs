//! What cl100k and o200k have in common: symbols, lines, white space, digits, and the character that leads a word.

use super::gpt2::last_spaces;
use super::masks::{Masks, below, bits, down, flood, last, up};
use crate::scan::classes::SPACE;
use crate::scan::cursor::{is_newline, peek};

/// What a block leaves to the next: the last bits of its masks, and the digits of an unfinished group.
#[derive(Default)]
pub(super) struct Runs<const MAX_DIGITS: usize, const SLASHES: bool> {
    trailable: u64,
    trailing: u64,
    before_inner: u64,
    first: u64,
    leading: u64,
    white: u64,
    line: u64,
    open_digits: usize,
}

/// Where spans start, by what starts them.
pub(super) struct Starts {
    /// All of those below and the white space.
    pub all: u64,
    /// Runs of symbols without a blank before them.
    pub symbols: u64,
    /// Symbols that lead no word, whatever follows.
    pub inner_symbols: u64,
}

impl<const MAX_DIGITS: usize, const SLASHES: bool> Runs<MAX_DIGITS, SLASHES> {
    /// The starts in `now`, where `word` are the characters that words are made of.
    #[inline(always)]
    pub(super) fn starts(
        &mut self,
        text: &[u8],
        base: usize,
        word: u64,
        now: &Masks,
        next: &Masks,
    ) -> Starts {
        // Newlines (and slashes) after symbols belong to them: `[^\s\p{L}\p{N}]+[\r\n/]*`. A slash among the symbols
        // is one of them, after a newline it is trailing.
        let symbol = !(word | now.number | now.space);
        let (trailer, trailed) =
            if SLASHES { (now.newline | now.slash, now.slash & self.trailing) } else { (now.newline, 0) };
        let trailing = flood(trailer, now.newline & up(symbol, self.trailable) | trailed);
        let plain = if SLASHES { symbol & !trailing } else { symbol };
        let before_inner = plain | now.blank;
        let symbols = plain & !up(before_inner, self.before_inner);
        // The first of a run of symbols leads a word if one follows; so does white space, which is at a boundary
        // wherever it comes last in its run.
        let mut first = symbols;
        if now.wide != 0 {
            first |= flood(now.tail, up(symbols, self.first) & now.tail);
        }
        let white = now.space & !trailing;
        let flat = white & !now.newline;
        let leading = word | flat | first;
        let words = word & !up(leading, self.leading);
        let spaces = white & !up(white, self.white)
            | last_spaces(now, next) & !now.newline
            | self.line_starts(text, base, white, now, next);
        let digits = self.digits(now);

        self.trailable = last(symbol | trailing);
        if SLASHES {
            self.trailing = last(trailing);
        }
        self.before_inner = last(before_inner);
        self.first = last(first);
        self.leading = last(leading);
        self.white = last(white);
        Starts { all: symbols | words | spaces | digits, symbols, inner_symbols: plain & !first }
    }

    /// White space after the last newline of its run: `\s*[\r\n]+` ended there.
    #[inline(always)]
    fn line_starts(&mut self, text: &[u8], base: usize, white: u64, now: &Masks, next: &Masks) -> u64 {
        let line = white & now.newline;
        let flat = white & !now.newline;
        let mut starts = flat & up(line, self.line);
        self.line = last(line);
        if starts == 0 {
            return 0;
        }
        let ends = flood(flat, starts) & (down(now.newline, next.newline) | 1 << 63);
        if ends != 0 {
            // Some line holds white space alone, or may do so in the next block.
            for bit in bits(starts) {
                if newline_ahead(text, base + bit) {
                    starts &= !(1 << bit);
                }
            }
        }
        starts
    }

    /// First bytes of groups of up to `MAX_DIGITS` digits.
    #[inline(always)]
    fn digits(&mut self, now: &Masks) -> u64 {
        let number = now.number;
        let runs = number & !up(number, u64::from(self.open_digits > 0));
        let mut long = number;
        for before in 1..MAX_DIGITS {
            long &= number << before;
        }
        // Most numbers are short, and most ends of blocks are none.
        if long & number << MAX_DIGITS | number & now.wide | number >> 63 | self.open_digits as u64 == 0 {
            return runs;
        }
        if number & now.wide != 0 {
            return self.wide_digits(runs, now);
        }
        // Where the group that the block before began is full, if digits go on until there.
        let full = MAX_DIGITS - self.open_digits;
        let mut starts = runs | (u64::from(below(full + 1) & !number == 0) << full);
        let mut groups = starts << MAX_DIGITS & long;
        while groups != 0 {
            starts |= groups;
            groups = groups << MAX_DIGITS & long;
        }
        self.open_digits = if number >> 63 == 0 { 0 } else { starts.leading_zeros() as usize + 1 };
        starts
    }

    /// [`Self::digits`] by characters, where not all of them are bytes.
    #[cold]
    #[inline(never)]
    fn wide_digits(&mut self, runs: u64, now: &Masks) -> u64 {
        let mut starts = 0;
        for bit in bits(now.number & !now.tail) {
            if runs >> bit & 1 == 1 || self.open_digits == MAX_DIGITS {
                self.open_digits = 0;
            }
            if self.open_digits == 0 {
                starts |= 1 << bit;
            }
            self.open_digits += 1;
        }
        if now.number >> 63 == 0 {
            self.open_digits = 0;
        }
        starts
    }
}

/// Whether a newline is in the white space from `pos` on.
fn newline_ahead(text: &[u8], mut pos: usize) -> bool {
    while let Some((class, width)) = peek(text, pos)
        && class.is(SPACE)
    {
        if is_newline(text[pos]) {
            return true;
        }
        pos += width;
    }
    false
}
