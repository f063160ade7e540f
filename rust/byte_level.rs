//! The byte-level alphabet: each byte as one printable character.
//!
//! Printable Latin-1 bytes stand for themselves; the other 68 bytes map to U+0100 onwards in byte order. Source:
//! Radford et al. 2019 (GPT-2), `bytes_to_unicode`.

/// The character of each byte.
pub const BYTE_TO_CHAR: [char; 256] = byte_to_char();

/// One more than the largest character of the alphabet, U+0143.
const CHAR_BOUND: usize = 0x144;

const CHAR_TO_BYTE: [u16; CHAR_BOUND] = char_to_byte();

/// The UTF-8 of each byte's character, and its length.
static BYTE_TO_UTF8: [([u8; 2], u8); 256] = byte_to_utf8();

/// Bytes mapped at a time.
const CHUNK: usize = 32;

/// In place of a byte: the character is not in the alphabet.
const NONE: u16 = 256;

const fn is_printable(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

const fn byte_to_char() -> [char; 256] {
    let mut table = ['\0'; 256];
    let mut next = 0x100_u32;
    let mut byte = 0;
    while byte < 256 {
        if is_printable(byte as u8) {
            table[byte] = byte as u8 as char;
        } else {
            table[byte] = match char::from_u32(next) {
                Some(c) => c,
                None => unreachable!(),
            };
            next += 1;
        }
        byte += 1;
    }
    table
}

const fn char_to_byte() -> [u16; CHAR_BOUND] {
    let chars = byte_to_char();
    let mut table = [NONE; CHAR_BOUND];
    let mut byte = 0;
    while byte < 256 {
        table[chars[byte] as usize] = byte as u16;
        byte += 1;
    }
    table
}

const fn byte_to_utf8() -> [([u8; 2], u8); 256] {
    let chars = byte_to_char();
    let mut table = [([0; 2], 1); 256];
    let mut byte = 0;
    while byte < 256 {
        // No character of the alphabet needs more than two bytes.
        table[byte].1 = chars[byte].encode_utf8(&mut table[byte].0).len() as u8;
        byte += 1;
    }
    table
}

/// The byte that `c` stands for, if it belongs to the alphabet.
pub fn char_to_byte_of(c: char) -> Option<u8> {
    CHAR_TO_BYTE.get(c as usize).and_then(|&byte| u8::try_from(byte).ok())
}

/// Appends the characters of `bytes` to `out`.
pub fn push_mapped(bytes: &[u8], out: &mut String) {
    for bytes in bytes.chunks(CHUNK) {
        let (mut mapped, mut len) = ([0; 2 * CHUNK], 0);
        for &byte in bytes {
            let (utf8, width) = BYTE_TO_UTF8[byte as usize];
            // Always copies two bytes; the next character overwrites the second if this one has a single byte.
            mapped[len..len + 2].copy_from_slice(&utf8);
            len += usize::from(width);
        }
        // The buffer holds whole characters, so it is valid UTF-8.
        out.push_str(std::str::from_utf8(&mapped[..len]).unwrap_or_default());
    }
}

/// The characters of the bytes of `text`.
pub fn mapped(text: &str) -> String {
    let mut mapped = String::new();
    push_mapped(text.as_bytes(), &mut mapped);
    mapped
}

/// True if [`push_unmapped`] gives other bytes for `text` than its own UTF-8.
pub fn is_ambiguous(text: &str) -> bool {
    !text.is_ascii() && text.chars().all(|c| char_to_byte_of(c).is_some())
}

/// Appends the bytes that `token` stands for, or its own UTF-8 if it has a character outside the alphabet.
pub fn push_unmapped(token: &str, out: &mut Vec<u8>) {
    let start = out.len();
    for c in token.chars() {
        let Some(byte) = char_to_byte_of(c) else {
            out.truncate(start);
            out.extend_from_slice(token.as_bytes());
            return;
        };
        out.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character() {
        let mut bytes = Vec::new();
        for byte in 0..=255u8 {
            let mut mapped = String::new();
            push_mapped(&[byte], &mut mapped);
            push_unmapped(&mapped, &mut bytes);
        }
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
        assert_eq!(BYTE_TO_CHAR[b' ' as usize], 'Ġ');
        assert_eq!(BYTE_TO_CHAR[b'\n' as usize], 'Ċ');
    }

    mod naive {
        pub(super) fn map(bytes: &[u8]) -> String {
            bytes.iter().map(|&byte| super::BYTE_TO_CHAR[byte as usize]).collect()
        }
    }

    proptest::proptest! {
        #[test]
        fn push_mapped_matches_naive(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..3 * CHUNK)) {
            let mut mapped = String::new();
            push_mapped(&bytes, &mut mapped);
            proptest::prop_assert_eq!(mapped, naive::map(&bytes));
        }
    }

    #[test]
    fn a_foreign_character_keeps_the_whole_token_as_text() {
        let mut bytes = Vec::new();
        push_unmapped("Ġ一", &mut bytes);
        assert_eq!(bytes, "Ġ一".as_bytes());
    }
}
