use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::growth::Growth;
use crate::normalized::Normalized;
use crate::sentencepiece::Charsmap;

/// A trie under construction: its entries by position, and the positions in use.
#[derive(Default)]
struct Builder {
    entries: BTreeMap<u32, u32>,
    taken: BTreeSet<u32>,
}

impl Builder {
    fn place(&mut self, at: u32, keys: &[(&[u8], u32)]) {
        let is_leaf = keys.iter().any(|(key, _)| key.is_empty());
        let labels: BTreeSet<u8> = keys.iter().filter_map(|(key, _)| key.first().copied()).collect();
        let is_free = |place: u32| !self.taken.contains(&place);
        let fits = |&offset: &u32| {
            let base = at ^ offset;
            is_free(base) && labels.iter().all(|&label| is_free(base ^ u32::from(label)))
        };
        let offset = (1..1 << 20).find(fits).expect("room for a few keys");
        let base = at ^ offset;
        self.taken.extend([base]);
        *self.entries.entry(at).or_default() |= offset << 10 | u32::from(is_leaf) << 8;
        if let Some((_, value)) = keys.iter().find(|(key, _)| key.is_empty()) {
            self.entries.insert(base, value | 1 << 31);
        }
        for &label in &labels {
            self.taken.insert(base ^ u32::from(label));
            self.entries.insert(base ^ u32::from(label), u32::from(label));
        }
        for label in labels {
            let below: Vec<(&[u8], u32)> = keys
                .iter()
                .filter(|(key, _)| key.first() == Some(&label))
                .map(|&(key, value)| (&key[1..], value))
                .collect();
            self.place(base ^ u32::from(label), &below);
        }
    }
}

/// The table of `rules`.
pub(crate) fn charsmap(rules: &BTreeMap<String, String>) -> Charsmap {
    let (mut text, mut keys) = (Vec::new(), Vec::new());
    for (from, to) in rules {
        keys.push((from.as_bytes(), text.len() as u32));
        text.extend_from_slice(to.as_bytes());
        text.push(0);
    }
    let mut builder = Builder::default();
    builder.taken.insert(0);
    builder.place(0, &keys);
    let size = builder.entries.keys().last().map_or(0, |&last| last | 0xFF) + 1;
    let mut blob = (4 * size).to_le_bytes().to_vec();
    for at in 0..size {
        blob.extend(builder.entries.get(&at).copied().unwrap_or(0).to_le_bytes());
    }
    blob.extend(text);
    Charsmap::new(&blob).expect("a table")
}

fn normalize<'a>(charsmap: &Charsmap, text: &Normalized<'_>) -> Normalized<'a> {
    charsmap.normalize(text, Growth::of(text.text().len())).expect("it hardly grows")
}

fn rules(pairs: &[(&str, &str)]) -> Charsmap {
    charsmap(&pairs.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect())
}

/// Each new character with the range of the original that it stands for.
fn aligned(charsmap: &Charsmap, text: &str) -> Vec<(char, (u32, u32))> {
    let normalized = normalize(charsmap, &Normalized::new(text, 0, true));
    let range = |(at, c): (usize, char)| (c, normalized.original(at..at + c.len_utf8()));
    normalized.text().char_indices().map(range).collect()
}

proptest! {
    #[test]
    fn matches_are_those_of_a_map(
        rules in prop::collection::btree_map("[ab日é]{1,3}", "[xy]{0,2}", 1..12),
        text in "[ab日é]{0,5}",
    ) {
        let charsmap = charsmap(&rules);
        let prefixes = || (1..=text.len()).filter(|&len| text.is_char_boundary(len));
        let found = |len: usize| rules.get(&text[..len]).map(|to| (len, to.as_str()));
        prop_assert_eq!(charsmap.shortest(&text), prefixes().find_map(found).map(|(_, to)| to));
        prop_assert_eq!(charsmap.longest(&text), prefixes().rev().find_map(found));
    }

    #[test]
    fn any_bytes_are_read_or_refused(blob in prop::collection::vec(any::<u8>(), 0..80), text in "\\PC{0,8}|[a-c]{0,8}") {
        let size = (blob.len() / 2) as u32;
        for blob in [blob.clone(), [&size.to_le_bytes(), blob.as_slice()].concat()] {
            if let Ok(charsmap) = Charsmap::new(&blob) {
                normalize(&charsmap, &Normalized::new(&text, 0, true));
                charsmap.longest(&text);
                prop_assert_eq!(charsmap.blob(), blob);
            }
        }
    }

    // One mark at most, since a cluster of six bytes or more is looked up character by character.
    #[test]
    fn plain_text_is_left_alone_wherever_marks_follow(text in "[ab]{0,4}\u{301}?[ab\r\n]{0,4}é?[ab]{0,2}") {
        let charsmap = rules(&[("e\u{301}", "x"), ("\r\n", " "), ("a\u{301}", "á")]);
        let expected = text.replace("a\u{301}", "á").replace("\r\n", " ");
        prop_assert_eq!(charsmap.is_identity(&text), text == expected);
        prop_assert_eq!(normalize(&charsmap, &Normalized::new(&text, 0, false)).into_text(), expected);
    }
}

#[test]
fn a_rule_for_the_front_takes_the_marks_after_it() {
    assert_eq!(aligned(&rules(&[("a", "x")]), "a\u{301}b"), [('x', (0, 1)), ('b', (3, 4))]);
}

#[test]
fn more_characters_stand_for_the_last_one_replaced() {
    let charsmap = rules(&[("ﬃ", "ffi")]);
    assert_eq!(aligned(&charsmap, "aﬃ"), [('a', (0, 1)), ('f', (1, 4)), ('f', (1, 4)), ('i', (1, 4))]);
}

#[test]
fn what_goes_at_the_beginning_moves_all_that_follows() {
    let charsmap = rules(&[("\u{1}", "")]);
    assert_eq!(aligned(&charsmap, "\u{1}ab"), [('a', (0, 1)), ('b', (1, 2))]);
    assert_eq!(aligned(&charsmap, "a\u{1}b"), [('a', (0, 1)), ('b', (2, 3))]);
}

#[test]
fn a_table_that_is_cut_short_is_refused() {
    for (blob, message) in [
        (&b"abc"[..], "precompiled_charsmap: 3 bytes, but its size alone takes 4"),
        (b"\x09\0\0\0abcd", "precompiled_charsmap: the trie has 8 bytes, but only 4 are there"),
        (b"\0\0\0\0ab\xff", "precompiled_charsmap: replacements are not UTF-8 at byte 2"),
    ] {
        assert_eq!(Charsmap::new(blob).expect_err("no table").to_string(), message);
    }
}
