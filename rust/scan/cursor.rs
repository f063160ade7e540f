//! Steps over UTF-8 that all scanners share: the class at a position, and the end of a run of one class.
//!
//! All functions work on the bytes of a `&str` and on positions that are character boundaries.

use super::classes::{Class, LETTER, NUMBER, SPACE};
use crate::structures::char_table::wide_code_at;

/// Class and length in bytes of the character at `pos`, which must be a character boundary less than the length.
#[inline]
pub(super) fn class_at(bytes: &[u8], pos: usize) -> (Class, usize) {
    let first = bytes[pos];
    if first < 0x80 { (Class::of_ascii(first), 1) } else { wide_class_at(bytes, pos) }
}

/// [`class_at`] for a character of two to four bytes.
#[inline]
pub(super) fn wide_class_at(bytes: &[u8], pos: usize) -> (Class, usize) {
    let (code, len) = wide_code_at(bytes, pos);
    (Class::of_code(code.min(0x10_ffff)), len)
}

/// As [`class_at`]; `None` at the end of the text.
#[inline]
pub(super) fn peek(bytes: &[u8], pos: usize) -> Option<(Class, usize)> {
    (pos < bytes.len()).then(|| class_at(bytes, pos))
}

/// End of the run of characters in `mask` that starts at `pos`; `pos` if the run is empty.
#[inline]
pub(super) fn run_in(bytes: &[u8], mut pos: usize, mask: Class) -> usize {
    while let Some((class, width)) = peek(bytes, pos)
        && class.is(mask)
    {
        pos += width;
    }
    pos
}

/// End of the run of characters not in `mask` that starts at `pos`.
#[inline]
pub(super) fn run_outside(bytes: &[u8], mut pos: usize, mask: Class) -> usize {
    while let Some((class, width)) = peek(bytes, pos)
        && !class.is(mask)
    {
        pos += width;
    }
    pos
}

/// End of `\p{L}*` from `pos` on, after a run of ASCII letters.
#[inline]
pub(super) fn finish_letters(bytes: &[u8], pos: usize) -> usize {
    if bytes.get(pos).is_some_and(|&byte| byte >= 0x80) { run_in(bytes, pos, LETTER) } else { pos }
}

/// End of the match of `\s+(?!\S)|\s+` at `pos`, where a white-space character stands.
///
/// `\s+` takes the whole run, then has to stop before white space or at the end of the text. So a run with other text
/// after it gives back its last character, unless it has only one.
#[inline]
pub(super) fn spaces(bytes: &[u8], pos: usize) -> usize {
    let (mut last, mut end) = (pos, pos);
    while let Some((class, width)) = peek(bytes, end)
        && class.is(SPACE)
    {
        last = end;
        end += width;
    }
    if end == bytes.len() || last == pos { end } else { last }
}

/// End of the match of `\s*[\r\n]+|\s+(?!\S)|\s+` at `pos`, where a white-space character stands.
///
/// `\s*` takes the whole run and gives back until a newline follows, so the span ends after the last newline of the
/// run. The white space after that newline is scanned again, but holds no newline and gives one or two spans. So each
/// white-space character is read at most three times.
#[inline]
pub(super) fn lines_or_spaces(bytes: &[u8], pos: usize) -> usize {
    let (mut last, mut end, mut after_newline) = (pos, pos, pos);
    while let Some((class, width)) = peek(bytes, end)
        && class.is(SPACE)
    {
        last = end;
        end += width;
        if is_newline(bytes[last]) {
            after_newline = end;
        }
    }
    if after_newline > pos {
        after_newline
    } else if end == bytes.len() || last == pos {
        end
    } else {
        last
    }
}

/// `[\r\n]`.
#[inline]
pub(super) fn is_newline(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// End of `\p{N}{1,MAX}` at `pos`, where a number stands.
#[inline]
pub(super) fn digits<const MAX: usize>(bytes: &[u8], mut pos: usize) -> usize {
    for _ in 0..MAX {
        match peek(bytes, pos) {
            Some((class, width)) if class.is(NUMBER) => pos += width,
            _ => break,
        }
    }
    pos
}

/// End of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `pos`, if it matches there.
///
/// Case folds as in Oniguruma: the long s `ſ` is an `s`. No other letter of the pattern has a case variant outside
/// ASCII.
#[inline]
pub(super) fn folded_contraction(bytes: &[u8], pos: usize) -> Option<usize> {
    let [b'\'', rest @ ..] = &bytes[pos..] else {
        return None;
    };
    let (first, second) = (rest.first()? | 0x20, rest.get(1).map(|byte| byte | 0x20));
    match (first, second) {
        (b's' | b't' | b'm' | b'd', _) => Some(pos + 2),
        (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(pos + 3),
        _ if rest.starts_with("ſ".as_bytes()) => Some(pos + 3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_at_decodes_every_character() {
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(class_at(bytes, 0), (Class::of(character), bytes.len()));
        }
    }
}
