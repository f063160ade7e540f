//! The splitter of GPT-2, `RoBERTa`, GPT-Neo, BLOOM and every `ByteLevel` pre-tokenizer.
//!
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
//!
//! | alternative | takes |
//! |---|---|
//! | `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d` | an English contraction, in lower case only |
//! | ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+` | a run of letters, numbers or other characters, with one space before |
//! | `\s+(?!\S)` | white space, but not its last character if something follows: that one may belong to the next word |
//! | `\s+` | that last character, if it is not a space or is the only one of its run |
//!
//! Every character is a letter, a number, white space or none of these. So the class of the first character (of the
//! second, after a space) chooses the alternative, and no alternative is ever tried in vain. Only white space looks one
//! character beyond its match.

use super::ascii::spaced_letters;
use super::classes::{LETTER, NUMBER, SPACE};
use super::cursor::{finish_letters, peek, run_in, run_outside, spaces};
use super::scanner::Scan;

/// GPT-2's pattern.
#[derive(Clone, Copy, Debug)]
pub struct Gpt2;

impl Scan for Gpt2 {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let bytes = text.as_bytes();
        let end = spaced_letters(bytes, pos);
        if end > pos {
            return finish_letters(bytes, end);
        }
        let first = bytes[pos];
        if first == b'\''
            && let Some(end) = contraction(bytes, pos)
        {
            return end;
        }
        let start = pos + usize::from(first == b' ');
        let Some((class, width)) = peek(bytes, start) else { return start };
        if class.is(SPACE) {
            spaces(bytes, pos)
        } else if class.is(LETTER) {
            run_in(bytes, start + width, LETTER)
        } else if class.is(NUMBER) {
            run_in(bytes, start + width, NUMBER)
        } else {
            run_outside(bytes, start + width, SPACE.or(LETTER).or(NUMBER))
        }
    }
}

/// End of `'s|'t|'re|'ve|'m|'ll|'d` at `pos`, where an apostrophe stands.
#[inline]
pub(super) fn contraction(bytes: &[u8], pos: usize) -> Option<usize> {
    match bytes[pos + 1..] {
        [b's' | b't' | b'm' | b'd', ..] => Some(pos + 2),
        [b'r' | b'v', b'e', ..] | [b'l', b'l', ..] => Some(pos + 3),
        _ => None,
    }
}
