//! SentencePiece's text normalization for machine translation: removes control characters and replaces unusual spaces
//! by plain ones.

use crate::normalized::Normalized;

/// The effect of normalization on a character.
enum Action {
    Keep,
    Remove,
    ToSpace,
}

fn action(c: char) -> Action {
    match c {
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}' => Action::Remove,
        '\t' | '\n' | '\u{C}' | '\r' | '\u{1680}' | '\u{200B}'..='\u{200F}' | '\u{2028}' | '\u{2029}' => {
            Action::ToSpace
        }
        '\u{2581}' | '\u{FEFF}' | '\u{FFFD}' => Action::ToSpace,
        _ => Action::Keep,
    }
}

/// True if every character is kept.
pub(super) fn is_identity(text: &str) -> bool {
    text.chars().all(|c| matches!(action(c), Action::Keep))
}

/// `text` after normalization; each new space stands for the character that it replaces.
pub(super) fn normalize<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut rewrite = text.rewrite();
    let mut done = 0;
    for (at, c) in text.text().char_indices() {
        let end = at + c.len_utf8();
        let action = action(c);
        if matches!(action, Action::Keep) {
            continue;
        }
        rewrite.copy(done..at);
        if matches!(action, Action::ToSpace) {
            rewrite.push(' ', at..end);
        }
        done = end;
    }
    rewrite.copy(done..text.text().len());
    rewrite.finish()
}
