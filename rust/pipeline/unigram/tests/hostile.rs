//! Normalizers that see a blank, or a character that becomes a blank, together with its neighbours.

use proptest::prelude::*;

use super::{model, pipeline_of, precompiled_of, replace};
use crate::metaspace::PrependScheme;
use crate::normalizers::{Form, Normalizer};
use crate::pipeline::Plan;
use crate::pipeline::testing::{ids, tokens};
use crate::structures::finder::{RUN_OF_SPACES, TextPattern};
use crate::testing::cases;

/// Texts that rules replace: blanks, characters that blanks may become, and characters that may stand beside them.
const FROM: &[&str] = &[
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u{a0}",
    "\u{3000}",
    "_",
    "+",
    "x",
    "▁",
    "7",
    "#",
    "\u{1}",
    "\u{301}",
    "\u{600}",
    "\u{600} \u{301}",
    "\u{600}▁",
    "\u{600}_",
    "▁\u{301}",
    ",\u{301}",
    "x\u{301}",
];

/// Replacements; most are the beginning of a text that a rule above replaces.
const TO: &[&str] =
    &[" ", " ", " ", " ", "", "  ", "\n", "\r", "_", "+", "▁", "x", "r ", " q", "b", "\u{301}", "\u{a0}"];

/// Sequences of stages among which many see blanks, before or after these become spaces.
fn stages() -> impl Strategy<Value = Vec<Normalizer>> {
    let select = prop::sample::select::<&str>;
    let rules = prop::collection::vec((select(FROM), select(TO)), 1..4);
    let blanks = prop::sample::select(vec![&[][..], &[("\t", " "), ("\n", " "), ("\r", " ")]]);
    let spaces = prop::sample::select(vec![&[][..], &[("_", " "), ("x", " "), ("▁", " ")]]);
    let precompiled = (rules, blanks, spaces)
        .prop_map(|(rules, blanks, spaces)| precompiled_of(&[&rules, blanks, spaces].concat()))
        .prop_map(Normalizer::Precompiled);
    let patterns = ["\t", "_", "x", "b_", "__", "_+", "bx", "b\u{a0}", "d\u{a0}", "b\t", "▁▁", "q"];
    let literal = (
        prop::sample::select(patterns.to_vec()),
        select(&[" ", "\"", "x", "\r", "_", "d\u{a0}", "a", "\u{301}"]),
    )
        .prop_map(|(pattern, content)| replace(TextPattern::Literal(pattern.to_owned()), content));
    let run = select(&[" ", "▁"])
        .prop_map(|content| replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), content));
    let other = prop::sample::select(vec![
        Normalizer::Nmt,
        Normalizer::Unicode(Form::Nfc),
        Normalizer::Unicode(Form::Nfkc),
        Normalizer::StripAccents,
        Normalizer::Strip { left: false, right: true },
    ]);
    let stage = prop_oneof![3 => precompiled, 1 => literal, 2 => run, 2 => other];
    prop::collection::vec(stage, 1..6)
}

/// Blanks, characters that rules make of them or see with them, and the letters of pieces.
const PIECES: &[&str] = &[
    " ", " ", " ", "  ", "\n", "\t", "\r", "\r\n", "\u{a0}", "\u{3000}", "\u{600}", "\u{301}", "_", "+", "x",
    "▁", "7", "#", "\u{1}", "a", "b", "ab", "é", "語", "日", ",", "(", "aba,a", "語日",
];

/// Compares the tokens of chunks, if there is a plan of chunks, with the tokens of the stages.
fn check(stages: &[Normalizer], has_gaps: bool, texts: &[String]) -> Result<(), TestCaseError> {
    let pipeline = || {
        let normalizer = Some(Normalizer::Sequence(stages.to_vec()));
        pipeline_of(normalizer, has_gaps, PrependScheme::Always, model(true, true), 1 << 20)
    };
    let fast = pipeline();
    if fast.plan() == Plan::Staged {
        return Ok(());
    }
    let naive = pipeline().with_plan(Plan::Staged);
    for text in texts {
        prop_assert_eq!(ids(&fast, text), ids(&naive, text), "{:?} by {:?}", text, stages);
        prop_assert_eq!(tokens(&fast, text), tokens(&naive, text), "{:?} by {:?}", text, stages);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn chunks_of_hostile_stages_matches_naive(
        texts in prop::collection::vec(prop::collection::vec(prop::sample::select(PIECES), 1..12), 12),
        stages in stages(),
        has_gaps in any::<bool>(),
    ) {
        let texts: Vec<String> = texts.iter().map(|pieces| pieces.concat()).collect();
        check(&stages, has_gaps, &texts)?;
    }
}

#[test]
fn known_hostile_stages_matches_naive() {
    let run = |content| replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), content);
    let literal = |from: &str, to| replace(TextPattern::Literal(from.to_owned()), to);
    let rules = |rules: &[(&str, &str)]| Normalizer::Precompiled(precompiled_of(rules));
    let strip = || Normalizer::Strip { left: false, right: true };
    let lines = || rules(&[("\t", " "), ("\n", " "), ("\r", " ")]);
    let cases = [
        // A blank becomes a space by way of another character, which a pattern holds.
        (
            vec![rules(&[("\n", "_"), ("\t", " "), ("\r", " ")]), literal("b_", "a"), rules(&[("_", " ")])],
            "b\na",
        ),
        (vec![run("▁"), rules(&[("▁", "x")]), literal("bx", "q"), rules(&[("x", " ")])], "b  a"),
        // A rule reaches across the start of a blank.
        (vec![run("▁"), rules(&[("\u{600}▁", "q")])], "\u{600}  a"),
        (vec![rules(&[("\u{600} \u{301}", "q")])], "\u{600} \u{301}a"),
        (vec![rules(&[("\u{600}", "r "), ("\t", " "), ("\n", " "), ("\r", " ")]), strip()], "\u{600}\na"),
        // A carriage return and a line feed are one cluster.
        (vec![rules(&[("\n", " "), ("\r", " ")])], "é\r\n"),
        (vec![Normalizer::StripAccents, lines()], "\r\u{301}\n"),
        (vec![rules(&[("x", "\r")]), lines()], "bx\n"),
        (vec![literal("x", "\r"), lines()], "bx\n"),
        // A tab that is no blank vanishes, and the text after it moves.
        (vec![rules(&[("\t", "")])], "\t_ "),
        // Lines, or lines alone, become spaces after runs are joined.
        (vec![run(" "), lines()], "x  \n \na"),
        (vec![run("▁"), lines()], "a\n  b  \n"),
        (vec![rules(&[("\u{3000}", " ")]), run(" "), lines()], "x\n\u{3000}語"),
        (vec![Normalizer::StripAccents, run(" "), lines()], " \u{301}\n_"),
        (
            vec![
                rules(&[("\t", " "), ("\n", " "), ("\u{3000}", " ")]),
                run(" "),
                rules(&[("\r", " ")]),
                strip(),
            ],
            "x\u{3000}\rb",
        ),
        // A run that became visible is a word before white space that is no blank.
        (vec![lines(), strip(), run("▁")], "a   ▁b  \u{85}"),
        // Two stages join runs.
        (vec![run("▁"), lines(), run(" ")], "x  \na"),
        (vec![run("▁"), rules(&[("8", "r ")]), strip(), run(" ")], "8  a"),
        // Rules leave a mark after punctuation, which another stage sees.
        (vec![lines(), rules(&[("x", "\u{301}")]), rules(&[(",\u{301}", "b"), ("\u{301}", "y")])], "a,x"),
        (vec![lines(), rules(&[("x\u{301}", "\u{301}")]), rules(&[(",\u{301}", "b")])], "a,x\u{301}"),
        (vec![lines(), rules(&[("x\u{301}", "\u{301}")]), Normalizer::Unicode(Form::Nfc)], "(ax\u{301}"),
    ];
    let failed: Vec<_> = [false, true]
        .into_iter()
        .flat_map(|has_gaps| cases.iter().map(move |(stages, text)| (stages, has_gaps, text)))
        .filter(|(stages, has_gaps, text)| check(stages, *has_gaps, &[text.to_string()]).is_err())
        .map(|(_, has_gaps, text)| (text, has_gaps))
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}
