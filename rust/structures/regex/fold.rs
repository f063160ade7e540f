//! Case folds from one character to several, which Oniguruma honours and Rust's engines do not.
//!
//! 104 characters fold to two or three: `ß` to `ss`, `ﬁ` to `fi`, `ΐ` to `ι` with two marks. Under `(?i)` such a
//! character matches its fold; and its fold, as plain text of the pattern, matches the character. All other case
//! folding is simple (one to one) and the same in both engines.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Folds of several characters, each with the characters that fold to it.
static SOURCES: LazyLock<BTreeMap<Vec<char>, Vec<char>>> = LazyLock::new(|| {
    let mut sources: BTreeMap<Vec<char>, Vec<char>> = BTreeMap::new();
    // No character above the Basic Multilingual Plane folds to several.
    for character in '\u{80}'..='\u{ffff}' {
        let fold = full_fold(character);
        if fold.len() > 1 {
            sources.entry(fold).or_default().push(character);
        }
    }
    sources
});

/// The full case fold of `character`.
///
/// The standard library has no case folding. But lowercasing the upper case of the lower case gives the same for every
/// character that takes part in a fold to several, except the dotless `ı`, which folds to itself.
fn full_fold(character: char) -> Vec<char> {
    if character == 'ı' || character.is_ascii() {
        return vec![character.to_ascii_lowercase()];
    }
    let upper = character.to_lowercase().flat_map(char::to_uppercase);
    // The lower case of `İ` is `i` and a dot; uppercasing these would not preserve the fold.
    if character == 'İ' {
        character.to_lowercase().collect()
    } else {
        upper.flat_map(char::to_lowercase).collect()
    }
}

/// One or more characters of a case-insensitive pattern that are matched together.
pub(super) enum FoldItem {
    /// One character, matched in any case.
    Single(char),
    /// A fold of several characters, which also matches each of the characters that fold to it.
    Several(Vec<char>, &'static [char]),
}

/// Cuts `text` into items, from left to right: the longest fold at each position, else one character.
pub(super) fn fold_items(text: &[char]) -> Vec<FoldItem> {
    let folded: Vec<Vec<char>> = text.iter().map(|&character| full_fold(character)).collect();
    let mut items = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(item) = source_item(text[at]) {
            items.push(item);
            at += 1;
            continue;
        }
        let here = (2..=3).rev().find_map(|length| {
            let candidate: Vec<char> = folded.get(at..at + length)?.iter().flatten().copied().collect();
            let (fold, sources) = SOURCES.get_key_value(&candidate)?;
            Some((length, FoldItem::Several(fold.clone(), sources)))
        });
        let (length, item) = here.unwrap_or((1, FoldItem::Single(text[at])));
        items.push(item);
        at += length;
    }
    items
}

/// The item of a character that folds to several.
pub(super) fn source_item(character: char) -> Option<FoldItem> {
    let (fold, sources) = SOURCES.get_key_value(&full_fold(character))?;
    Some(FoldItem::Several(fold.clone(), sources))
}

/// All folds of several characters, each with the characters that fold to it.
pub(super) fn folds() -> impl Iterator<Item = (&'static [char], &'static [char])> {
    SOURCES.iter().map(|(fold, sources)| (fold.as_slice(), sources.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_folds_as_in_unicode() {
        assert_eq!(folds().map(|(_, sources)| sources.len()).sum::<usize>(), 104);
        assert_eq!(SOURCES[&vec!['s', 's']], ['ß', 'ẞ']);
        assert_eq!(SOURCES[&vec!['s', 't']], ['ﬅ', 'ﬆ']);
        assert_eq!(SOURCES[&vec!['i', '\u{307}']], ['İ']);
    }

    #[test]
    fn longest_fold_from_the_left() {
        let shape = |text: &str| {
            let text: Vec<char> = text.chars().collect();
            let length = |item: &FoldItem| if let FoldItem::Several(fold, _) = item { fold.len() } else { 1 };
            fold_items(&text).iter().map(length).collect::<Vec<_>>()
        };
        assert_eq!(shape("ffi"), [3]);
        assert_eq!(shape("FffI"), [2, 2]);
        assert_eq!(shape("sst"), [2, 1]);
        assert_eq!(shape("ſtSs"), [2, 2]);
        assert_eq!(shape("ßs"), [2, 1]);
        assert_eq!(shape("fı"), [1, 1]);
    }
}
