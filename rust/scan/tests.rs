//! Every scanner against the general engine, which runs the pattern that the scanner stands for.

use proptest::prelude::*;

use super::Splitter;
use crate::structures::regex::Pattern;

/// The patterns of `Whitespace` and `WhitespaceSplit` in the language of [`Pattern`], whose own `\w` differs.
const WHITESPACE: &str = r"[\w\u200C\u200D]+|[^\w\u200C\u200D\s]+";
const WHITESPACE_SPLIT: &str = r"\S+";

const SPACES: &str = " *[^ ]+| +";
const SPACED_WORDS: &str =
    r" *[^ ](?:(?!(?<=\p{L})[\x00-\x1F!-/:-@\[-`{-\x7F]|(?<=[\x00-\x1F!-/:-@\[-`{-\x7F])\p{L})[^ ])*| +";

const SINGLE_SPACED_WORDS: &str =
    r" ?[^ ](?:(?!(?<=\p{L})[\x00-\x1F!-/:-@\[-`{-\x7F]|(?<=[\x00-\x1F!-/:-@\[-`{-\x7F])\p{L})[^ ])*| ";

const SINGLE_SPACES: &str = r" [^ ]*|[^ ]+";
const BLANKS: &str = r"[ \t\r\n]*[^ \t\r\n]+|[ \t\r\n]+";
const BLANK_SPLIT: &str = r"[^ \t\r\n]+";

/// Fragments between blanks of a class. One half matches a boundary after the first character of a text, one any other boundary.
fn fragments(blanks: &str) -> String {
    let sides = |left: &str, right: &str| {
        format!(r"(?:(?<=\A[{left}])|(?<=[!-~{blanks}][{left}]))(?=[{right}](?:[!-~{blanks}]|\z))")
    };
    let (letters, stops) = ("A-Za-z", "!\"(),-.:;?");
    let boundary = format!("{}|{}", sides(letters, stops), sides(stops, letters));
    format!(r"[^{blanks}](?:(?!{boundary})[^{blanks}])*")
}

fn pattern_of(splitter: Splitter) -> Pattern {
    let known = Splitter::PATTERNS.iter().find(|(_, known)| *known == splitter);
    let pattern = match splitter {
        Splitter::Whitespace => WHITESPACE,
        Splitter::WhitespaceSplit => WHITESPACE_SPLIT,
        Splitter::Spaces => SPACES,
        Splitter::SingleSpaces => SINGLE_SPACES,
        Splitter::SingleSpacedWords => SINGLE_SPACED_WORDS,
        Splitter::SpacedWords => SPACED_WORDS,
        Splitter::Blanks => BLANKS,
        Splitter::BlankSplit => BLANK_SPLIT,
        Splitter::SpaceFragments => &format!(r" *{}| +", fragments(" ")),
        Splitter::BlankFragments => &format!(r"[ \t\r\n]*{}|[ \t\r\n]+", fragments(r" \t\r\n")),
        Splitter::BlankSplitFragments => &fragments(r" \t\r\n"),
        _ => known.expect("a pattern").0,
    };
    Pattern::new(pattern).expect("a valid pattern")
}

pub(super) fn scanned(splitter: Splitter, text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    splitter.for_each_span_scalar(text, &mut |start, end| spans.push((start, end)));
    spans
}

/// Characters and short strings that decide which alternative matches.
pub(super) fn text() -> impl Strategy<Value = String> {
    let pick = |choices: &'static [&'static str]| prop::sample::select(choices);
    let piece = prop_oneof![
        6 => pick(&["'", "'s", "'S", "'ſ", "'t", "'re", "'RE", "'Ve", "'m", "'ll", "'lL", "'d", "'l", "'r", "ſ"]),
        8 => pick(&["a", "b", "word", "A", "B", "WORD", "Word", "sixteenletterwords", "é", "É", "ß", "ж", "Ж"]),
        6 => pick(&[" ", "  ", "\n", "\r\n", "\r", "\t", "\u{a0}", "\u{85}", "\u{3000}", "\u{2028}", "\u{b}", "\u{200b}"]),
        3 => pick(&["0", "1", "12", "1234", "٣", "²", "½", "Ⅷ", "\u{1d7d8}"]),
        3 => pick(&["中", "文", "か", "한", "ก", "ǅ", "ᾈ", "ʰ", "ˈ", "ª", "\u{10400}", "\u{10428}"]),
        3 => pick(&["\u{301}", "\u{93f}", "\u{200d}", "\u{fe0f}", "👩\u{200d}👧", "🏽", "😀", "\u{e0100}"]),
        4 => pick(&["!", "?", ".", ",", "-", "_", "/", "//", "(", "\"", "$", "\0", "\u{10ffff}"]),
        1 => Just("\u{378}"),
    ];
    prop::collection::vec(piece, 0..200).prop_map(|pieces| pieces.concat())
}

/// A few characters over and over, for the long runs that a wide choice never produces.
pub(super) fn monotone_text() -> impl Strategy<Value = String> {
    (prop::collection::vec(any::<prop::sample::Index>(), 0..100), text()).prop_map(|(picks, source)| {
        let source: Vec<char> = source.chars().take(4).collect();
        if source.is_empty() {
            String::new()
        } else {
            picks.iter().map(|pick| source[pick.index(source.len())]).collect()
        }
    })
}

macro_rules! matches_regex {
    ($($name:ident: $splitter:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn on_random_text() {
                let pattern = pattern_of($splitter);
                proptest!(|(text in prop_oneof![text(), monotone_text()])| {
                    prop_assert_eq!(scanned($splitter, &text), pattern.find_iter(&text).expect("matches"));
                });
            }

            #[test]
            fn on_every_character() {
                every_character($splitter);
            }
        }
    )*};
}

matches_regex! {
    gpt2_matches_regex: Splitter::Gpt2;
    cl100k_matches_regex: Splitter::Cl100k;
    qwen2_matches_regex: Splitter::Qwen2;
    o200k_matches_regex: Splitter::O200k;
    whitespace_matches_regex: Splitter::Whitespace;
    whitespace_split_matches_regex: Splitter::WhitespaceSplit;
    spaces_matches_regex: Splitter::Spaces;
    single_spaces_matches_regex: Splitter::SingleSpaces;
    single_spaced_words_matches_regex: Splitter::SingleSpacedWords;
    spaced_words_matches_regex: Splitter::SpacedWords;
    blanks_matches_regex: Splitter::Blanks;
    blank_split_matches_regex: Splitter::BlankSplit;
    space_fragments_matches_regex: Splitter::SpaceFragments;
    blank_fragments_matches_regex: Splitter::BlankFragments;
    blank_split_fragments_matches_regex: Splitter::BlankSplitFragments;
}

/// Contexts in which a character's class matters, with `?` for the character. The test appends `\n\n;` to each, where
/// all splitters cut.
const CONTEXTS: [&str; 14] =
    ["a?b", " ?", "??", "'?", "'r?", "'?l", "1?2", "?\n", " ? ", "!?", "A?B", "\n?a", "中?A", "\u{301}?'s"];

fn every_character(splitter: Splitter) {
    let pattern = pattern_of(splitter);
    // From the ideographs on, classes come in long runs, so every 17th code point suffices.
    let rare = ('\u{3400}'..=char::MAX).step_by(17);
    let characters: Vec<char> = ('\0'..'\u{3400}').chain(rare).collect();
    for some in characters.chunks(512) {
        for context in CONTEXTS {
            let text: String =
                some.iter().map(|character| context.replace('?', &character.to_string()) + "\n\n;").collect();
            let expected = pattern.find_iter(&text).expect("matches");
            if scanned(splitter, &text) != expected {
                for character in some {
                    let text = context.replace('?', &character.to_string());
                    let expected = pattern.find_iter(&text).expect("matches");
                    assert_eq!(scanned(splitter, &text), expected, "{text:?}");
                }
                assert_eq!(scanned(splitter, &text), expected);
            }
        }
    }
}

#[test]
fn known_patterns_are_found() {
    for (pattern, splitter) in Splitter::PATTERNS {
        assert_eq!(Splitter::from_pattern(pattern), Some(splitter));
    }
    assert_eq!(Splitter::from_pattern(r"\w+|[^\w\s]+"), None);
    assert_eq!(Splitter::from_pattern(r"\s+"), None);
}

#[test]
fn gapless_spans_cover_the_text() {
    let text = "It's  10,000 o'clock\r\n\r\n  in 東京、Österreich\u{301}!!\n/ \u{3000}ok ";
    for (_, splitter) in Splitter::PATTERNS {
        assert!(splitter.is_gapless());
        let spans = scanned(splitter, text);
        assert!(spans.iter().all(|(start, end)| start < end));
        assert_eq!(spans.iter().map(|&(start, end)| &text[start..end]).collect::<String>(), text);
    }
}

#[test]
fn no_text_has_no_spans() {
    for splitter in [Splitter::Gpt2, Splitter::O200k, Splitter::Whitespace, Splitter::WhitespaceSplit] {
        assert_eq!(scanned(splitter, ""), []);
    }
    assert_eq!(scanned(Splitter::Whitespace, " \n"), []);
}
