//! Steps over UTF-8 that all scanners share: the class at a place, and where a run of one class ends.
//!
//! Everything works on bytes of a `&str` and on positions that are character boundaries. Runs start with ASCII, eight
//! bytes at a time where the class is a range of letters, and go on by table for everything else.

use super::classes::{Class, LETTER, LOWER, SPACE};

/// Class and length in bytes of the character at `pos`, which must be a character boundary below the length.
#[inline]
pub(super) fn class_at(bytes: &[u8], pos: usize) -> (Class, usize) {
    let first = bytes[pos];
    if first < 0x80 {
        (Class::of_ascii(first), 1)
    } else {
        wide_class_at(bytes, pos)
    }
}

/// [`class_at`] for a character of two to four bytes.
#[inline]
pub(super) fn wide_class_at(bytes: &[u8], pos: usize) -> (Class, usize) {
    let low = |at: usize| usize::from(bytes[pos + at] & 0x3f);
    let first = usize::from(bytes[pos]);
    if first < 0xe0 {
        (Class::of_code((first & 0x1f) << 6 | low(1)), 2)
    } else if first < 0xf0 {
        (
            Class::of_code((first & 0x0f) << 12 | low(1) << 6 | low(2)),
            3,
        )
    } else {
        // A lead byte holds three bits here, and the table ends at 0x10FFFF: masking to 21 bits alone would not do.
        (
            Class::of_code(
                ((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)).min(0x10_ffff),
            ),
            4,
        )
    }
}

/// Like [`class_at`], or `None` at the end of the text.
#[inline]
pub(super) fn peek(bytes: &[u8], pos: usize) -> Option<(Class, usize)> {
    (pos < bytes.len()).then(|| class_at(bytes, pos))
}

/// End of the run of characters in `mask` that starts at `pos`; `pos` itself if there is none.
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

/// End of `\p{L}*` from `pos` on, where the ASCII letters have been passed.
#[inline]
pub(super) fn finish_letters(bytes: &[u8], pos: usize) -> usize {
    if bytes.get(pos).is_some_and(|&byte| byte >= 0x80) {
        run_in(bytes, pos, LETTER)
    } else {
        pos
    }
}

/// End of `[A-Za-z]*` from `pos` on.
#[inline]
pub(super) fn ascii_letters(bytes: &[u8], pos: usize) -> usize {
    run_by_words::<0x20>(bytes, pos)
}

/// End of `[a-z]*` from `pos` on.
#[inline]
pub(super) fn ascii_lower(bytes: &[u8], pos: usize) -> usize {
    run_by_words::<0>(bytes, pos)
}

/// End of the run of bytes that are in `a..=z` once the bits of `FOLD` are set.
///
/// Words are short and of unpredictable length, so a loop over bytes mispredicts its exit at almost every word; one
/// test of eight bytes does not.
#[inline]
fn run_by_words<const FOLD: u8>(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(chunk) = bytes[pos..].first_chunk::<8>() {
        let length = lower_prefix(u64::from_le_bytes(*chunk) | spread(FOLD));
        pos += length;
        if length < 8 {
            return pos;
        }
    }
    while bytes
        .get(pos)
        .is_some_and(|byte| (byte | FOLD).is_ascii_lowercase())
    {
        pos += 1;
    }
    pos
}

/// `byte` in each of the eight bytes.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// How many of the eight bytes of `word`, the lowest first, are in `a..=z` before the first that is not.
#[inline]
fn lower_prefix(word: u64) -> usize {
    let high = spread(0x80);
    let low = word & !high;
    // Each sum stays below 256, so no byte carries into the next; its top bit says `>= a`, and `> z`.
    let from_a = low + spread(0x80 - b'a');
    let past_z = low + spread(0x7f - b'z');
    let stops = !(from_a & !past_z & !word) & high;
    (stops.trailing_zeros() / 8) as usize
}

/// End of what `\s+(?!\S)|\s+` matches at `pos`, where a white-space character stands.
///
/// `\s+` takes the whole run, then has to stop before white space or at the end of the text: a run that is followed by
/// something else gives back its last character, unless it has no other.
#[inline]
pub(super) fn spaces(bytes: &[u8], pos: usize) -> usize {
    let (mut last, mut end) = (pos, pos);
    while let Some((class, width)) = peek(bytes, end)
        && class.is(SPACE)
    {
        last = end;
        end += width;
    }
    if end == bytes.len() || last == pos {
        end
    } else {
        last
    }
}

/// End of what `\s*[\r\n]+|\s+(?!\S)|\s+` matches at `pos`, where a white-space character stands.
///
/// `\s*` takes the whole run and gives back until a newline follows, so the span ends behind the run's last newline.
/// What stands behind that newline is scanned again, but holds no newline and is one or two spans: a white-space
/// character is looked at three times at most.
#[inline]
pub(super) fn lines_or_spaces(bytes: &[u8], pos: usize) -> usize {
    let (mut last, mut end, mut behind_newline) = (pos, pos, pos);
    while let Some((class, width)) = peek(bytes, end)
        && class.is(SPACE)
    {
        last = end;
        end += width;
        if is_newline(bytes[last]) {
            behind_newline = end;
        }
    }
    if behind_newline > pos {
        behind_newline
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
            Some((class, width)) if class.is(super::classes::NUMBER) => pos += width,
            _ => break,
        }
    }
    pos
}

/// End of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `pos`, if it matches there.
///
/// Case folds as Oniguruma folds it: the long s `ſ` is an `s`. No other letter of the pattern has a relative outside
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
mod naive {
    use super::{Class, LOWER};

    pub(super) fn run_by_words(bytes: &[u8], pos: usize, fold: u8) -> usize {
        let length = bytes[pos..]
            .iter()
            .take_while(|&&byte| (byte | fold).is_ascii_lowercase())
            .count();
        pos + length
    }

    pub(super) fn lower(text: &str) -> usize {
        text.chars()
            .take_while(|&character| Class::of(character).is(LOWER))
            .map(char::len_utf8)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn run_by_words_matches_naive(bytes in prop::collection::vec(prop_oneof![8 => 0x60..0x7cu8, 1 => any::<u8>()], 0..40)) {
            for pos in 0..=bytes.len() {
                prop_assert_eq!(ascii_lower(&bytes, pos), naive::run_by_words(&bytes, pos, 0));
                prop_assert_eq!(ascii_letters(&bytes, pos), naive::run_by_words(&bytes, pos, 0x20));
            }
        }

        #[test]
        fn run_in_matches_naive(text in "[a-zß中ๆ́ A]{0,12}") {
            prop_assert_eq!(run_in(text.as_bytes(), 0, LOWER), naive::lower(&text));
        }
    }

    #[test]
    fn class_at_decodes_every_character() {
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(class_at(bytes, 0), (Class::of(character), bytes.len()));
        }
    }
}
