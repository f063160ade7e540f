//! The scripts of characters, as ranges from which a caller builds a table.

use std::collections::BTreeMap;

use unicode_script::{Script, UnicodeScript};

/// First character, last character and the name of their script in Unicode (`Latin`, `Common`), ascending and without gaps.
///
/// The characters beside a surrogate are neighbours here.
pub fn script_ranges() -> Vec<(char, char, &'static str)> {
    let mut ranges: Vec<(char, char, &'static str)> = Vec::new();
    for c in '\0'..=char::MAX {
        let name = c.script().full_name();
        match ranges.last_mut() {
            Some((_, last, known)) if *known == name => *last = c,
            _ => ranges.push((c, c, name)),
        }
    }
    ranges
}

/// The name of each script that has characters (`Latin`) by its code of ISO 15924 (`Latn`).
pub fn script_codes() -> BTreeMap<&'static str, &'static str> {
    let names = script_ranges().into_iter().filter_map(|(_, _, name)| Script::from_full_name(name));
    names.map(|script| (script.short_name(), script.full_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_codes() {
        let codes = script_codes();
        assert_eq!((codes.get("Latn"), codes.get("Zyyy")), (Some(&"Latin"), Some(&"Common")));
        assert!(codes.keys().all(|code| code.len() == 4));
    }

    #[test]
    fn every_character_has_its_script() {
        let ranges = script_ranges();
        assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1), ('\0', char::MAX));
        for c in ['a', 'ß', 'Ж', 'α', '中', 'の', 'ア', 'ก', '1', ' ', '\u{301}', '\u{e000}', '\u{d7ff}']
        {
            let found = ranges.iter().find(|&&(first, last, _)| first <= c && c <= last);
            assert_eq!(found.map(|range| range.2), Some(c.script().full_name()), "{c:?}");
        }
    }
}
