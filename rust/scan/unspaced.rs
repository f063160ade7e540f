//! Scripts that put no spaces between words.

/// True if the word at `start`, after at most one blank, begins with a character of a script without spaces between words: Han,
/// kana, Thai, Lao, Burmese, Khmer, or with a character encoded beside these. The first two bytes of the character decide.
#[inline]
pub fn begins_unspaced(text: &[u8], start: usize) -> bool {
    let first = start + usize::from(text[start] <= b' ');
    let Some(&[lead, second]) = text.get(first..).and_then(|rest| rest.first_chunk()) else { return false };
    match lead {
        // U+3000 to U+9FFF and U+10000 to U+3FFFF: no Hangul syllables.
        0xE3..=0xE9 | 0xF0 => true,
        // Thai, Lao.
        0xE0 => (0xB8..=0xBB).contains(&second),
        // Burmese, Khmer.
        0xE1 => matches!(second, 0x80..=0x82 | 0x9E..=0x9F),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_spaces_are_told_by_their_first_character() {
        for word in ["日本", " ひ", "ไทย", " ລາວ", "မြန်မာ", "ខ្មែរ", "𠀀"]
        {
            assert!(begins_unspaced(word.as_bytes(), 0), "{word}");
        }
        for word in ["a", " a", "é", " русский", "한국어", "हिन्दी", "العربية", " ", "", "  日"]
        {
            assert!(word.is_empty() || !begins_unspaced(word.as_bytes(), 0), "{word}");
        }
    }
}
