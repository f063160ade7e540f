//! Helpers that the tests of several modules share.

use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::trainers::forbidden::Forbidden;

/// At least `least` random cases; more if `PROPTEST_CASES` asks for more.
pub(crate) fn cases(least: u32) -> Config {
    let asked = Config::default();
    Config { cases: asked.cases.max(least), ..asked }
}

const BERT_TEXTS: &[&str] = &[
    "a",
    "b",
    "A",
    "AB",
    "e",
    "é",
    "É",
    "e\u{301}",
    "\u{301}",
    "\u{323}\u{307}",
    "\u{8d4}",
    "\u{200b}",
    "\0",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\u{a0}",
    "\u{3000}",
    "中",
    "\u{f900}",
    "≠",
    "\u{338}",
    "\u{1fef}",
    "\u{37e}",
    ".",
    "!?",
    "[X]",
    "İ",
    "ж",
    "Ж",
    "\u{fffd}",
    "\u{1100}\u{1161}",
    "가",
    "\u{2b820}",
    "sixteenletterwords",
    "👍🏽",
    "_",
    "ſ",
    "K",
    "\u{e000}",
    "ক\u{9cd}ষ",
    "\u{1b44}",
    "\u{200c}",
];

/// Text in which each step of BERT's normalizer and splitter has something to do, often beside something else.
pub(crate) fn bert_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(BERT_TEXTS), 0..60).prop_map(|pieces| pieces.concat())
}

/// Pieces of text that normalization forms change, or nearly: several scripts, composed and decomposed.
const NORMALIZED_TEXTS: &[&str] = &[
    "plain ASCII text, long enough for a block of it",
    "a",
    "e",
    " ",
    "\r\n",
    "'s",
    "1",
    "é",
    "ﬁ",
    "ẛ̣",
    "ệ",
    "e\u{323}\u{302}",
    "ê\u{323}",
    "Tiếng Việt",
    "Tie\u{302}\u{301}ng Vie\u{323}\u{302}t",
    "\u{301}",
    "\u{323}",
    "\u{338}",
    "\u{344}",
    "\u{345}",
    "\u{1abf}",
    "Ω",
    "\u{2126}",
    "\u{212b}",
    "\u{37e}",
    "ά",
    "ά",
    "русский текст",
    "и\u{306}",
    "й",
    "中文文本",
    "\u{f900}",
    "かばん",
    "は\u{309a}",
    "ガ",
    "ｶﾞ",
    "한국어",
    "\u{1100}",
    "\u{1161}",
    "\u{11a8}",
    "가",
    "각",
    "\u{64b}\u{651}",
    "\u{651}\u{64b}",
    "العربية",
    "ا\u{653}",
    "ש\u{5c1}\u{5bc}",
    "\u{fb2a}",
    "हिन्दी",
    "क\u{93c}",
    "\u{958}",
    "न\u{93c}",
    "\u{929}",
    "\u{93c}\u{94d}",
    "\u{94d}\u{93c}",
    "\u{9c7}",
    "\u{9be}",
    "\u{9d7}",
    "\u{f71}\u{f72}",
    "\u{f73}",
    "ไทย",
    "กำ",
    "\u{e38}\u{e48}",
    "\u{200c}",
    "\u{200d}",
    "“",
    "…",
    "²",
    "Ａ",
    "👍🏽",
    "👩\u{200d}👧",
    "\u{1d15e}",
    "\u{11099}\u{110ba}",
    "\u{1109a}",
    "\u{1f100}",
    "\u{2f800}",
    "\u{2b820}",
];

/// Text in many scripts with marks in and out of order, composed and decomposed.
pub(crate) fn text_with_marks() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(NORMALIZED_TEXTS).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
        1 => "[\u{300}-\u{345}\u{591}-\u{5bd}\u{64b}-\u{65f}\u{3099}\u{309a}\u{1100}-\u{11c2}]{1,4}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Patterns for tokens of small letters; half of the time none.
pub(crate) fn patterns() -> impl Strategy<Value = Forbidden> {
    let pattern = prop::sample::select(vec!["aa", "^b", "c$", "a.b", "[bc]{2}", "^..$", "(?=a)b"]);
    prop_oneof![Just(Vec::new()), prop::collection::vec(pattern, 1..3)]
        .prop_map(|patterns| Forbidden::new(&patterns).expect("the patterns are valid"))
}
