use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::inner::ASKING_ALL;
use super::*;
use crate::normalizers::{Bert, Form, charsmap};
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};
use crate::testing::cases;

/// Each stage has something to do with some of these, often beside another.
const PIECES: &[&str] = &[
    "a",
    "b",
    "A",
    "e",
    "x",
    "``",
    "`",
    "''",
    "'",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "é",
    "É",
    "e\u{301}",
    "\u{301}",
    "\u{323}",
    "\u{338}",
    "<",
    "=",
    "≠",
    "\u{345}",
    "\u{344}",
    "İ",
    "ı",
    "ß",
    "\u{1E9E}",
    "ẛ\u{323}",
    "\u{FDFA}",
    "ﬁ",
    "ﬀ",
    "Ω",
    "Ꭰ",
    "ꭰ",
    "ж",
    "Ж",
    "が",
    "か\u{3099}",
    "ｶﾞ",
    "한",
    "하",
    "\u{1112}",
    "\u{1161}",
    "\u{11AB}",
    "中",
    "\u{f900}",
    "\u{2b820}",
    "𝄞",
    "\u{1d15e}",
    "\u{600}",
    "\u{110BD}",
    "\u{200B}",
    "\u{200C}",
    "\u{200D}",
    "👩\u{200d}👧",
    "👍🏽",
    "🇦",
    "\u{2581}",
    "\u{FEFF}",
    "\u{FFFD}",
    "\u{3000}",
    "ক\u{9cd}ষ",
    "\u{9be}",
    "\u{9c7}",
    "\u{1b44}",
    "\u{f71}\u{f72}",
    "，",
    "Q",
    "q",
    ".",
    ",",
    "-",
    "b日",
    "日",
    "plain words",
    "LONG RUN of plain ASCII text, more than a block of it, with two of them ",
    "wordswithoutanyspaces",
    "русские слова в тексте",
    "中文文本没有空格",
    "Tiếng Việt",
    "हिन्दी",
    "ไทยกำ",
    "и\u{306}",
    "か\u{3099}",
    "하\u{11ab}",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        10 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => (prop::sample::select(PIECES), 1..40usize).prop_map(|(piece, count)| piece.repeat(count)),
        1 => any::<char>().prop_map(String::from),
        1 => "[ a-zA-Z`']{0,40}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn replace(pattern: TextPattern, content: &str) -> Normalizer {
    Normalizer::Replace(Arc::new(Replacement::new(pattern, content.to_owned()).expect("a plain pattern")))
}

fn precompiled() -> Normalizer {
    let rules = [
        ("，", ","),
        ("ﬀ", "ff"),
        ("e\u{301}", "é"),
        ("и\u{306}", "й"),
        ("Q", " q"),
        ("\u{1}", ""),
        ("a", "aa"),
        ("\t", " "),
        ("\u{a0}", " "),
        ("\u{200B}", ""),
        ("\u{600}", "\u{600}"),
        ("\r", "\r\r"),
        ("日", "\u{301}"),
        ("x", "\u{200d}"),
    ];
    let rules: BTreeMap<String, String> =
        rules.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect();
    Normalizer::Precompiled(charsmap(&rules))
}

pub(crate) fn stage() -> impl Strategy<Value = Normalizer> {
    let literal =
        |(pattern, content): (&str, &str)| replace(TextPattern::Literal(pattern.to_owned()), content);
    let literals = [
        ("``", "\""),
        ("''", "\""),
        (" ", "\u{2581}"),
        ("b日", "x"),
        ("ab", ""),
        ("a", "\u{301}"),
        ("e", "é "),
        ("aab", "a"),
        ("  ", " "),
        ("x", "abcdefghijklmnopqrstuvwxyz"),
        ("\u{301}", "e"),
        ("éb", "``"),
        (" a", "a  "),
        ("日", ""),
        ("-", "\u{600}"),
    ];
    let flags = (any::<bool>(), any::<bool>(), prop::option::of(any::<bool>()), any::<bool>());
    let bert = flags.prop_map(|(clean_text, handle_chinese_chars, strip_accents, lowercase)| {
        Normalizer::Bert(Bert { clean_text, handle_chinese_chars, strip_accents, lowercase })
    });
    prop_oneof![
        4 => prop::sample::select(Form::NAMES.map(|(form, _)| Normalizer::Unicode(form)).to_vec()),
        2 => Just(Normalizer::Lowercase),
        2 => Just(Normalizer::StripAccents),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(left, right)| Normalizer::Strip { left, right }),
        1 => prop::sample::select(vec!["\u{2581}", " x", "", "\u{301}", "`"]).prop_map(|text| Normalizer::Prepend(text.to_owned())),
        1 => Just(Normalizer::Nmt),
        1 => Just(Normalizer::ByteLevel),
        3 => bert,
        4 => prop::sample::select(literals.map(literal).to_vec()),
        2 => prop::sample::select(vec![" ", "\u{2581}", "", "a"])
            .prop_map(|content| replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), content)),
        2 => (prop::sample::select(vec![r"\s+", r"\s", "[ab]+|``?", r"[\p{L}&&[^a]]{2}", "e\u{301}|a*b", " +?"]), prop::sample::select(vec![" ", "", "``", "\u{301}"]))
            .prop_map(|(pattern, content)| replace(TextPattern::Regex(pattern.to_owned()), content)),
        2 => Just(precompiled()),
    ]
}

/// Compares a compiled normalizer with its stages, at once or once it knows which characters are inert.
fn check(
    stages: Vec<Normalizer>,
    texts: &[String],
    knows_inert: bool,
) -> std::result::Result<(), TestCaseError> {
    let normalizer = Normalizer::Sequence(stages);
    let Some(compiled) = CompiledNormalizer::new(&normalizer) else { return Ok(()) };
    if knows_inert {
        compiled.inert(ASKING_ALL);
    }
    let (mut memo, mut buffer) = (PieceMemo::default(), String::new());
    for text in texts {
        if !compiled.sees_ends() {
            let made = compiled.rewrite_inner(text, &mut memo, &mut buffer);
            let naive = normalizer.normalize_str(text).expect("nothing grows too long");
            prop_assert!(made.is_none_or(|made| made == naive), "{:?} by {:?}", text, normalizer);
        }
        for start in 0..2 {
            let untracked = || Normalized::new(text, start, false);
            let made = compiled.normalize(untracked(), true, &mut memo).expect("nothing grows too long");
            let naive = normalizer.normalize(untracked()).expect("nothing grows too long");
            prop_assert_eq!(made.text(), naive.text(), "{:?} by {:?}", text, normalizer);
            let begins = |text: &Normalized<'_>| text.is_at_beginning(0) || text.is_at_beginning(1);
            prop_assert_eq!(begins(&made), begins(&naive), "{:?} by {:?}", text, normalizer);
        }
    }
    Ok(())
}

#[test]
fn text_that_is_replaced_by_itself_stands_for_no_beginning() {
    let regex = |pattern: &str, content| replace(TextPattern::Regex(pattern.to_owned()), content);
    let stages =
        [regex("[ab]+|``?", "``"), regex(r"\s+", " "), replace(TextPattern::Literal("x".to_owned()), "x")];
    for stage in stages {
        let texts = ["``", "``a", " a", " ", "x", "xa", "日"].map(str::to_owned);
        check(vec![stage, Normalizer::Lowercase], &texts, false).expect("the same as the stages");
    }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn compiled_normalizer_matches_naive(
        stages in prop::collection::vec(stage(), 1..5),
        texts in prop::collection::vec(text(), 1..4),
    ) {
        check(stages, &texts, false)?;
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn no_text_grows_beyond_the_bound(
        stages in prop::collection::vec(stage(), 1..5),
        text in prop_oneof![text(), any::<char>().prop_map(|c| c.to_string().repeat(40))],
    ) {
        let normalizer = Normalizer::Sequence(stages);
        if let Some(growth) = normalizer.most_growth() {
            let made = normalizer.normalize_str(&text).expect("short");
            // An empty match may come before the first character, too.
            prop_assert!(made.len() <= growth * (text.len() + 1), "{} of {:?}", made.len(), text);
        }
    }
}

proptest! {
    // To ask all characters takes some milliseconds.
    #![proptest_config(cases(500))]

    #[test]
    fn skipping_inert_characters_matches_naive(
        stages in prop::collection::vec(stage(), 1..5),
        texts in prop::collection::vec(text(), 1..32),
    ) {
        check(stages, &texts, true)?;
    }
}
