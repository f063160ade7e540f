use super::*;

#[test]
fn a_cut_character_counts_whole() {
    let text = Normalized::new("aé", 10, true);
    assert_eq!(text.original(0..1), (10, 11));
    assert_eq!(text.original(1..2), (11, 13));
    assert_eq!(text.original(2..3), (11, 13));
}

#[test]
fn a_rewrite_keeps_the_original_ranges() {
    let text = Normalized::new("éx", 4, true);
    let mut rewrite = text.rewrite();
    rewrite.push_all("Ã©".chars(), 0..2);
    rewrite.push('y', 2..3);
    let changed = rewrite.finish();
    assert_eq!(changed.text(), "Ã©y");
    assert_eq!(changed.original(0..2), (4, 6));
    assert_eq!(changed.original(2..5), (4, 7));
    assert_eq!(changed.slice(4..5).original(0..1), (6, 7));
}

#[test]
fn what_is_put_at_the_beginning_stands_for_the_empty_place_there() {
    let text = Normalized::new("ab", 7, true);
    let mut rewrite = text.rewrite();
    rewrite.push_after("x", 0);
    rewrite.copy(0..1);
    rewrite.push_after("é", 1);
    rewrite.copy(1..2);
    let changed = rewrite.finish();
    assert_eq!(changed.text(), "xaéb");
    let ranges = [0..1, 1..2, 2..4, 4..5].map(|range| changed.original(range));
    assert_eq!(ranges, [(7, 7), (7, 8), (7, 8), (8, 9)]);
}

#[test]
fn without_offsets_only_the_beginning_is_known() {
    let text = Normalized::new("  ab", 0, false);
    let mut rewrite = text.rewrite();
    rewrite.push_all("▁".chars(), 0..1);
    rewrite.copy(0..4);
    let changed = rewrite.finish();
    assert_eq!(changed.original(0..4), (0, 0));
    assert!(changed.is_at_beginning(3) && !changed.is_at_beginning(4));
    assert!(!changed.slice(4..7).is_at_beginning(0));
    assert!(!Normalized::new("a", 1, false).is_at_beginning(0));
}

#[test]
fn an_unchanged_range_costs_one_run_however_it_is_written() {
    let words = "héllo wörld ".repeat(1000);
    let text = Normalized::new(&words, 0, true);
    let mut rewrite = text.rewrite();
    for (at, c) in words.char_indices() {
        rewrite.push(c, at..at + c.len_utf8());
    }
    let once = rewrite.finish();
    let mut rewrite = once.rewrite();
    rewrite.copy(0..14);
    rewrite.copy(14..words.len());
    match rewrite.finish().alignment {
        Alignment::Runs(runs) => assert_eq!(runs.len(), 1),
        other => panic!("{other:?}"),
    }
}

mod naive {
    use std::ops::Range;

    use super::super::{ByteRange, Normalized, Rewrite};

    /// A step of a rewrite, in characters of the old text.
    #[derive(Clone, Debug)]
    pub(super) enum Step {
        Copy(usize),
        Skip(usize),
        Push(char),
        PushAll(&'static str),
        PushAfter(&'static str),
    }

    /// A text with the original range of each character.
    #[derive(Clone, Debug)]
    pub(super) struct Ranges {
        pub(super) chars: Vec<(char, ByteRange)>,
        pub(super) origin: u32,
    }

    impl Ranges {
        pub(super) fn new(text: &str, start: u32) -> Self {
            let range = |at: usize, c: char| (start + at as u32, start + (at + c.len_utf8()) as u32);
            Self { chars: text.char_indices().map(|(at, c)| (c, range(at, c))).collect(), origin: start }
        }

        /// Applies the same steps to this model and to `rewrite`.
        pub(super) fn rewrite(
            &self,
            old: &Normalized<'_>,
            steps: &[Step],
            rewrite: &mut Rewrite<'_>,
        ) -> Self {
            let mut chars: Vec<(char, ByteRange)> = Vec::new();
            let mut at = 0;
            let byte =
                |at: usize| old.text().char_indices().nth(at).map_or(old.text().len(), |(byte, _)| byte);
            let bytes = |range: Range<usize>| byte(range.start)..byte(range.end);
            for step in steps {
                match *step {
                    Step::Copy(count) => {
                        let end = (at + count).min(self.chars.len());
                        chars.extend(&self.chars[at..end]);
                        rewrite.copy(bytes(at..end));
                        at = end;
                    }
                    Step::Skip(count) => at = (at + count).min(self.chars.len()),
                    Step::Push(c) if at < self.chars.len() => {
                        chars.push((c, self.chars[at].1));
                        rewrite.push(c, bytes(at..at + 1));
                        at += 1;
                    }
                    Step::PushAll(text) if at < self.chars.len() => {
                        chars.extend(text.chars().map(|c| (c, self.chars[at].1)));
                        rewrite.push_all(text.chars(), bytes(at..at + 1));
                        at += 1;
                    }
                    Step::PushAfter(text) => {
                        let range =
                            at.checked_sub(1).map_or((self.origin, self.origin), |last| self.chars[last].1);
                        chars.extend(text.chars().map(|c| (c, range)));
                        rewrite.push_after(text, byte(at));
                    }
                    Step::Push(_) | Step::PushAll(_) => {}
                }
            }
            Self { chars, origin: self.origin }
        }
    }
}

mod law {
    use proptest::prelude::*;

    use super::super::{ByteRange, Normalized};
    use super::naive::{Ranges, Step};
    use crate::testing::cases;

    fn any_steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..6usize).prop_map(Step::Copy),
            (0..3usize).prop_map(Step::Skip),
            prop::sample::select(vec!['a', 'é', '▁', '👧']).prop_map(Step::Push),
            prop::sample::select(vec!["", "x", "é", "ab", "▁▁"]).prop_map(Step::PushAll),
            prop::sample::select(vec!["", "x", "é", "ab", "▁▁"]).prop_map(Step::PushAfter),
        ];
        prop::collection::vec(step, 0..30)
    }

    fn check(expected: &[(char, ByteRange)], text: &Normalized<'_>, untracked: &Normalized<'_>) {
        let at: Vec<(usize, char)> = text.text().char_indices().collect();
        assert_eq!(expected.iter().map(|&(c, _)| c).collect::<String>(), text.text());
        // From left to right as tokens ask, then from right to left.
        for index in (0..at.len()).chain((0..at.len()).rev()) {
            let (start, c) = at[index];
            assert_eq!(text.original(start..start + c.len_utf8()), expected[index].1);
            assert_eq!(text.original(start..start + 1), expected[index].1);
            assert_eq!(text.original(0..start + 1), (expected[0].1.0, expected[index].1.1));
            assert_eq!(untracked.is_at_beginning(start), expected[index].1.0 == 0);
            assert_eq!(text.is_at_beginning(start), expected[index].1.0 == 0);
        }
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn runs_match_naive(
            original in "[a-cé▁👧 ]{0,12}",
            start in prop::sample::select(vec![0u32, 5]),
            rounds in prop::collection::vec(any_steps(), 1..4),
            cut in 0..40usize,
        ) {
            let mut expected = Ranges::new(&original, start);
            let mut text = Normalized::new(&original, start as usize, true);
            let mut untracked = Normalized::new(&original, start as usize, false);
            for steps in &rounds {
                let (mut rewrite, mut other) = (text.rewrite(), untracked.rewrite());
                expected.rewrite(&untracked, steps, &mut other);
                expected = expected.rewrite(&text, steps, &mut rewrite);
                (text, untracked) = (rewrite.finish(), other.finish());
                prop_assert_eq!(text.text(), untracked.text());
            }
            check(&expected.chars, &text, &untracked);
            let from = text.text().floor_char_boundary(cut.min(text.text().len()));
            let skipped = text.text()[..from].chars().count();
            let (part, other) = (text.slice(from..text.text().len()), untracked.slice(from..text.text().len()));
            check(&expected.chars[skipped..], &part, &other);
        }
    }
}

/// Puts every character in lower case, and `<` before the first one.
fn lowercased(text: &mut NormalizedString) {
    text.rewrite(|old, rewrite| {
        rewrite.push_after("<", 0);
        for (at, c) in old.char_indices() {
            rewrite.push_all(c.to_lowercase(), at..at + c.len_utf8());
        }
    });
}

#[test]
fn a_part_of_a_string_has_its_part_of_the_original() {
    let mut text = NormalizedString::new("éİb", 5);
    lowercased(&mut text);
    assert_eq!(text.normalized(), "<éi\u{307}b");
    let part = text.slice(1..6);
    assert_eq!((part.normalized(), part.original(), part.original_range()), ("éi\u{307}", "éİ", 5..9));
    let nothing = text.slice(3..3);
    assert_eq!((nothing.normalized(), nothing.original()), ("", ""));
    assert_eq!(part.as_normalized().original(2..3), (7, 9));
}

#[test]
fn characters_of_a_string_become_bytes() {
    let text = NormalizedString::new("aéb", 0);
    let backwards = Range { start: 2, end: 1 };
    let cases =
        [(0..2, Some(0..3)), (1..9, Some(1..4)), (backwards, Some(3..4)), (3..4, None), (0..0, Some(0..0))];
    for (chars, bytes) in cases {
        assert_eq!(text.bytes_of_chars(chars.clone()), bytes, "{chars:?}");
    }
}

#[test]
fn splits_with_tokens_stay() {
    let mut text = PreTokenizedString::new(NormalizedString::new("a b", 0));
    let halves = |_, text: &NormalizedString| {
        let len = text.normalized().len();
        Ok(vec![text.slice(0..len / 2), text.slice(len / 2..len), text.slice(0..0)])
    };
    text.split(halves).expect("nothing fails");
    text.tokenize(|text| Ok(vec![StringToken { id: 7, value: text.to_owned(), span: (0, 1) }]))
        .expect("nothing fails");
    text.split(halves).expect("nothing fails");
    text.normalize(|_| unreachable!("all splits have tokens")).expect("nothing is called");
    assert_eq!(text.splits().len(), 2);
    assert_eq!(text.byte_ranges(true), [0..1, 1..3]);
}

#[test]
fn ranges_beyond_a_text_have_characters_too() {
    let chars = CharOffsets::new("aéb");
    for (bytes, expected) in
        [(0..4, 0..3), (1..3, 1..2), (2..4, 1..3), (3..9, 2..4), (4..5, 4..5), (0..9, 0..2)]
    {
        assert_eq!(chars.convert(bytes.clone()), expected, "{bytes:?}");
    }
}
