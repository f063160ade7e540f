//! Case folds from one character to several, which Oniguruma honours and Rust's engines do not.
//!
//! 104 characters fold to two or three: `ß` to `ss`, `ﬁ` to `fi`, `ΐ` to `ι` with two marks. Under `(?i)` such a
//! character matches its fold, and the fold, where it stands in the pattern as plain text, matches the character.
//! Everything else about case is the simple, one-to-one folding that both engines share.

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

/// The characters that `character` folds to.
///
/// The standard library has no case folding, but lower case of upper case of lower case is the same thing for every
/// character that takes part in a fold to several, except for the dotless `ı`, which folds to itself.
fn full_fold(character: char) -> Vec<char> {
    if character == 'ı' || character.is_ascii() {
        return vec![character.to_ascii_lowercase()];
    }
    let upper = character.to_lowercase().flat_map(char::to_uppercase);
    // İ lowers to `i` and a dot, and must not be raised to one character again.
    if character == 'İ' {
        character.to_lowercase().collect()
    } else {
        upper.flat_map(char::to_lowercase).collect()
    }
}

/// A stretch of text in a case-insensitive pattern.
pub(super) enum Unit {
    /// One character, matched in any case.
    Single(char),
    /// Characters that are also matched by each of the others, which fold to them.
    Several(Vec<char>, &'static [char]),
}

/// Cuts `text` into units: from left to right, the longest fold that stands there, or else one character.
pub(super) fn units(text: &[char]) -> Vec<Unit> {
    let folded: Vec<Vec<char>> = text.iter().map(|&character| full_fold(character)).collect();
    let mut units = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(unit) = source_unit(text[at]) {
            units.push(unit);
            at += 1;
            continue;
        }
        let here = (2..=3).rev().find_map(|length| {
            let stretch: Vec<char> = folded.get(at..at + length)?.iter().flatten().copied().collect();
            let (fold, sources) = SOURCES.get_key_value(&stretch)?;
            Some((length, Unit::Several(fold.clone(), sources)))
        });
        let (length, unit) = here.unwrap_or((1, Unit::Single(text[at])));
        units.push(unit);
        at += length;
    }
    units
}

/// The unit of a character that folds to several.
pub(super) fn source_unit(character: char) -> Option<Unit> {
    let (fold, sources) = SOURCES.get_key_value(&full_fold(character))?;
    Some(Unit::Several(fold.clone(), sources))
}

/// All characters that fold to several, with their folds.
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
            let length = |unit: &Unit| if let Unit::Several(fold, _) = unit { fold.len() } else { 1 };
            units(&text).iter().map(length).collect::<Vec<_>>()
        };
        assert_eq!(shape("ffi"), [3]);
        assert_eq!(shape("FffI"), [2, 2]);
        assert_eq!(shape("sst"), [2, 1]);
        assert_eq!(shape("ſtSs"), [2, 2]);
        assert_eq!(shape("ßs"), [2, 1]);
        assert_eq!(shape("fı"), [1, 1]);
    }
}
