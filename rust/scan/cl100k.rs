//! The splitter of cl100k (GPT-4), Llama 3 and Qwen 2.
//!
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//! ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
//!
//! | alternative | takes |
//! |---|---|
//! | `(?i:'s` … `'d)` | an English contraction in either case |
//! | `[^\r\n\p{L}\p{N}]?\p{L}+` | letters, with one character before them that is neither letter, number nor newline |
//! | `\p{N}{1,3}` | up to three digits; Qwen 2 takes one |
//! | ` ?[^\s\p{L}\p{N}]+[\r\n]*` | punctuation and symbols, with a space before and the newlines after |
//! | `\s*[\r\n]+` | white space up to and including its last newline |
//! | `\s+(?!\S)`, `\s+` | other white space, as in GPT-2 |
//!
//! The order matters in two places. A contraction comes before letters, so `'tis` is `'t`, `is`. And a character may
//! lead letters only if no earlier span took it: `!!a` is `!!`, `a`, because no letter follows the first `!`, and the
//! punctuation run then takes both. So the alternative depends only on the class of one character and on whether a
//! letter follows it; the rest of each alternative is one greedy run.

use super::ascii::{letters, spaced_letters};
use super::classes::{LETTER, NUMBER, SPACE};
use super::cursor::{
    class_at, digits, finish_letters, folded_contraction, is_newline, lines_or_spaces, peek, run_in,
    run_outside,
};
use super::scanner::Scan;

/// The pattern with `\p{N}{1,MAX_DIGITS}`.
#[derive(Clone, Copy, Debug)]
pub struct Cl100k<const MAX_DIGITS: usize>;

impl<const MAX_DIGITS: usize> Scan for Cl100k<MAX_DIGITS> {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let bytes = text.as_bytes();
        let end = spaced_letters(bytes, pos);
        if end > pos {
            return finish_letters(bytes, end);
        }
        let first = bytes[pos];
        if let Some(end) = folded_contraction(bytes, pos) {
            return end;
        }
        let (class, width) = class_at(bytes, pos);
        let next = pos + width;
        if class.is(LETTER) {
            return run_in(bytes, next, LETTER);
        }
        if class.is(NUMBER) {
            return digits::<MAX_DIGITS>(bytes, pos);
        }
        let follower = peek(bytes, next);
        if let Some((class, width)) = follower
            && class.is(LETTER)
            && !is_newline(first)
        {
            let next = next + width;
            return if width == 1 {
                finish_letters(bytes, letters(bytes, next))
            } else {
                run_in(bytes, next, LETTER)
            };
        }
        if !class.is(SPACE) {
            return symbols(bytes, next);
        }
        match follower {
            Some((class, width)) if first == b' ' && !class.is(SPACE.or(NUMBER)) => {
                symbols(bytes, next + width)
            }
            _ => lines_or_spaces(bytes, pos),
        }
    }
}

/// End of `[^\s\p{L}\p{N}]*[\r\n]*` from `pos` on.
#[inline]
fn symbols(bytes: &[u8], pos: usize) -> usize {
    let mut end = run_outside(bytes, pos, SPACE.or(LETTER).or(NUMBER));
    while bytes.get(end).is_some_and(|&byte| is_newline(byte)) {
        end += 1;
    }
    end
}
