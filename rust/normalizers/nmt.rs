//! SentencePiece's cleaning of text for translation: control characters go, and odd spaces become plain ones.

use crate::normalized::Normalized;

/// What becomes of a character.
enum MemoEntry {
    Stays,
    Goes,
    Space,
}

fn entry(c: char) -> MemoEntry {
    match c {
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}' => MemoEntry::Goes,
        '\t' | '\n' | '\u{C}' | '\r' | '\u{1680}' | '\u{200B}'..='\u{200F}' | '\u{2028}' | '\u{2029}' => {
            MemoEntry::Space
        }
        '\u{2581}' | '\u{FEFF}' | '\u{FFFD}' => MemoEntry::Space,
        _ => MemoEntry::Stays,
    }
}

/// Whether every character stays.
pub(super) fn is_identity(text: &str) -> bool {
    text.chars().all(|c| matches!(entry(c), MemoEntry::Stays))
}

/// `text` after cleaning; each space stands for the character in whose place it is.
pub(super) fn normalize<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    let mut done = 0;
    for (at, c) in text.text().char_indices() {
        let end = at + c.len_utf8();
        let entry = entry(c);
        if matches!(entry, MemoEntry::Stays) {
            continue;
        }
        rewrite.copy(done..at);
        if matches!(entry, MemoEntry::Space) {
            rewrite.push(' ', at..end);
        }
        done = end;
    }
    rewrite.copy(done..text.text().len());
    rewrite.finish()
}
