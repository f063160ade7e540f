//! Helpers that the tests of several modules share.

use proptest::prelude::*;
use proptest::test_runner::Config;

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
