//! The rules that cl100k and o200k share: symbols, lines, white space, digits, and the character that leads a word.

use super::gpt2::last_spaces;
use super::masks::{Masks, below, bits, down, flood, last, up};
use crate::scan::classes::SPACE;
use crate::scan::cursor::{is_newline, peek};

/// The state that a block leaves to the next: the last bits of its masks, and the number of digits in an unfinished
/// group.
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

/// Where spans start.
pub(super) struct Starts {
    /// All starts of spans.
    pub all: u64,
    /// Starts of runs of symbols without a blank before them.
    pub symbols: u64,
    /// Symbols that cannot lead a word. They are not starts.
    pub inner_symbols: u64,
}

impl<const MAX_DIGITS: usize, const SLASHES: bool> Runs<MAX_DIGITS, SLASHES> {
    /// The starts in `now`; `word` is the mask of the characters that words consist of.
    #[inline(always)]
    pub(super) fn starts(
        &mut self,
        text: &[u8],
        base: usize,
        word: u64,
        now: &Masks,
        next: &Masks,
    ) -> Starts {
        // Newlines (and slashes) after symbols belong to the symbols: `[^\s\p{L}\p{N}]+[\r\n/]*`. A slash among symbols
        // is a symbol; after a newline it is trailing.
        let symbol = !(word | now.number | now.space);
        let (trailer, trailed) =
            if SLASHES { (now.newline | now.slash, now.slash & self.trailing) } else { (now.newline, 0) };
        let trailing = flood(trailer, now.newline & up(symbol, self.trailable) | trailed);
        let plain = if SLASHES { symbol & !trailing } else { symbol };
        let before_inner = plain | now.blank;
        let symbols = plain & !up(before_inner, self.before_inner);
        // The first symbol of a run leads a word if letters follow. So does white space, and the last white space of a
        // run is always at a boundary.
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

    /// Starts of white space after the last newline of its run, where `\s*[\r\n]+` ended.
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
            // A line may hold white space alone, here or in the next block.
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
        // The common case: only short numbers, and none at the end of the block.
        if long & number << MAX_DIGITS | number & now.wide | number >> 63 | self.open_digits as u64 == 0 {
            return runs;
        }
        if number & now.wide != 0 {
            return self.wide_digits(runs, now);
        }
        // End of the group that the previous block began, if its digits continue that far.
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

    /// [`Self::digits`] one character at a time, for blocks with numbers of several bytes.
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

/// True if the white space from `pos` on holds a newline.
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
