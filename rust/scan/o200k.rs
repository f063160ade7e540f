//! The splitter of o200k (GPT-4o) and of Llama 4.
//!
//! With `Upper` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `Lower` for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` and `Suffix` for
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`, the alternatives are
//!
//! | alternative | takes |
//! |---|---|
//! | `[^\r\n\p{L}\p{N}]?Upper*Lower+Suffix` | a word that ends in lower case: `Word`, `word`, `iPhone`'s `i` |
//! | `[^\r\n\p{L}\p{N}]?Upper+Lower*Suffix` | a word without lower case: `WORD` |
//! | `\p{N}{1,3}` | up to three digits |
//! | ` ?[^\s\p{L}\p{N}]+[\r\n/]*` | punctuation and symbols, with the newlines and slashes after them |
//! | `\s*[\r\n]+`, `\s+(?!\S)`, `\s+` | white space, as in cl100k |
//!
//! # The two word alternatives as one scan
//!
//! Letters without case (CJK, Arabic), modifier letters and marks are in both sets; call them *both*. `Upper*` is
//! greedy: it passes all of them until a lower-case letter or the end of the word, at `u`.
//!
//! * If a lower-case letter follows at `u`, `Lower+` continues from there, and the word ends after the run of `Lower`.
//! * Otherwise `Upper*` gives back until the next character is in `Lower`, which is the last *both* before `u`.
//!   `Lower+` takes that one alone, since upper case or nothing follows it: the word ends after the last *both*.
//! * If there is no *both* either, the first alternative fails, and the second takes everything up to `u`. Its `Lower*`
//!   matches nothing, for the same reason that the first alternative failed.
//!
//! A mark is not a letter, so it can be the character *before* the word as well, and that is tried first. If that
//! fails, because only upper case or no letter at all follows, the mark is the word itself: it is the last *both*.
//! Hence a mark never reaches the second alternative.
//!
//! The text cut off after a *both* is scanned once more and is then one span, so time stays linear.

use super::ascii::spaced_cased_word;
use super::classes::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::cursor::{
    class_at, digits, folded_contraction, is_newline, lines_or_spaces, peek, run_in, run_outside,
};
use super::scanner::Scan;

/// GPT-4o's pattern.
#[derive(Clone, Copy, Debug)]
pub struct O200k;

impl Scan for O200k {
    #[inline]
    fn advance(text: &str, pos: usize) -> usize {
        let bytes = text.as_bytes();
        let end = spaced_cased_word(bytes, pos);
        // A non-ASCII byte may continue the word.
        if end > pos && bytes.get(end).is_none_or(u8::is_ascii) {
            return with_suffix(bytes, end);
        }
        let first = bytes[pos];
        let (class, width) = class_at(bytes, pos);
        let next = pos + width;
        if class.is(LETTER) {
            let (Word::Lower(end) | Word::Upper(end)) = word(bytes, pos);
            return with_suffix(bytes, end);
        }
        if class.is(NUMBER) {
            return digits::<3>(bytes, pos);
        }
        if !is_newline(first) {
            match word(bytes, next) {
                Word::Lower(end) => return with_suffix(bytes, end),
                Word::Upper(_) if class.is(UPPER) => return with_suffix(bytes, next),
                Word::Upper(end) if end > next => return with_suffix(bytes, end),
                Word::Upper(_) => {}
            }
        }
        if !class.is(SPACE) {
            return symbols(bytes, next);
        }
        match peek(bytes, next) {
            Some((class, width)) if first == b' ' && !class.is(SPACE.or(NUMBER)) => {
                symbols(bytes, next + width)
            }
            _ => lines_or_spaces(bytes, pos),
        }
    }
}

/// The end of a word, and the alternative that matches it.
enum Word {
    /// `Upper*Lower+` ends here.
    Lower(usize),
    /// Only `Upper*` matches, up to here; the start itself if there is no word.
    Upper(usize),
}

/// The word that starts at `pos`.
#[inline]
fn word(bytes: &[u8], pos: usize) -> Word {
    let (mut end, mut after_both) = (pos, pos);
    while let Some((class, width)) = peek(bytes, end) {
        if !class.is(UPPER) {
            if class.is(LOWER) {
                return Word::Lower(run_in(bytes, end + width, LOWER));
            }
            break;
        }
        end += width;
        if class.is(LOWER) {
            after_both = end;
        }
    }
    if after_both > pos { Word::Lower(after_both) } else { Word::Upper(end) }
}

/// The end of a word that ends at `end`, with the contraction after it, if there is one.
#[inline]
fn with_suffix(bytes: &[u8], end: usize) -> usize {
    folded_contraction(bytes, end).unwrap_or(end)
}

/// End of `[^\s\p{L}\p{N}]*[\r\n/]*` from `pos` on.
#[inline]
fn symbols(bytes: &[u8], pos: usize) -> usize {
    let mut end = run_outside(bytes, pos, SPACE.or(LETTER).or(NUMBER));
    while bytes.get(end).is_some_and(|&byte| is_newline(byte) || byte == b'/') {
        end += 1;
    }
    end
}
