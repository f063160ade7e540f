//! Chunks of the original text against the stages one by one.

mod hostile;

use std::sync::Arc;

use proptest::prelude::*;

use crate::added_tokens::{AddedToken, AddedTokens};
use crate::metaspace::{Metaspace, PrependScheme};
use crate::models::Model;
use crate::models::unigram::{Unigram, UnigramOptions};
use crate::normalizers::{Charsmap, Form, Normalizer, charsmap as precompiled};
use crate::pipeline::testing::{ids, tokens};
use crate::pipeline::{Pipeline, Plan, Rewrite};
use crate::pre_tokenizers::PreTokenizer;
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};
use crate::testing::cases;

/// A charsmap that makes spaces of line ends and odd ones, takes some characters away, and has rules that leave
/// spaces at either end.
fn charsmap(has_lines: bool, has_marks: bool) -> Charsmap {
    let rules: &[(&str, &str)] = &[
        ("\t", " "),
        ("\n", " "),
        ("\r", " "),
        ("\u{1}", ""),
        ("\u{a0}", " "),
        ("\u{200b}", " "),
        ("\u{3000}", " "),
        ("\u{337f}", "日本"),
        ("\u{ff05}", "語"),
        ("\u{ff0c}", ","),
        ("\u{fb00}", "ff"),
        ("\u{ff9e}", "\u{3099}"),
        ("7", " q"),
        ("8", "r "),
        ("9", "s t"),
        ("e\u{301}", "é"),
        ("▁", " "),
    ];
    let marks: &[(&str, &str)] = if has_marks { &[("#", "\u{301}")] } else { &[] };
    let rules =
        rules.iter().chain(marks).filter(|(from, _)| has_lines || !matches!(*from, "\t" | "\n" | "\r"));
    precompiled_of(&rules.copied().collect::<Vec<_>>())
}

fn precompiled_of(rules: &[(&str, &str)]) -> Charsmap {
    precompiled(&rules.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect())
}

fn replace(pattern: TextPattern, content: &str) -> Normalizer {
    Normalizer::Replace(Arc::new(Replacement::new(pattern, content.to_owned()).expect("a plain pattern")))
}

/// Normalizers as they are in published tokenizers, and others.
pub(in crate::pipeline) fn normalizer(choice: usize) -> Option<Normalizer> {
    let precompiled = || Normalizer::Precompiled(charsmap(![7, 10].contains(&choice), choice == 8));
    let run = |content| replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), content);
    let quotes = || replace(TextPattern::Literal("``".to_owned()), "\"");
    let strip = || Normalizer::Strip { left: false, right: true };
    let stages = match choice {
        0 => return None,
        1 => return Some(precompiled()),
        2 | 7 => vec![precompiled(), strip(), run("▁")],
        3 => {
            vec![quotes(), Normalizer::Unicode(Form::Nfkd), Normalizer::StripAccents, precompiled(), run(" ")]
        }
        4 => vec![Normalizer::Nmt, Normalizer::Unicode(Form::Nfkc), run(" ")],
        5 => vec![Normalizer::Lowercase, strip()],
        // Two stages join runs of spaces, or another stage sees the joined runs.
        9 => vec![run(" "), precompiled(), run("▁")],
        10 => vec![precompiled(), strip(), run("▁"), Normalizer::Nmt],
        // Lines become spaces after runs of spaces are joined.
        14 => vec![quotes(), run(" "), precompiled()],
        // A rule with a tab in it.
        12 => vec![replace(TextPattern::Literal("b\t".to_owned()), "x"), Normalizer::Nmt],
        // A letter becomes a mark, if one is after it once others are gone.
        13 => {
            let marks = precompiled_of(&[("b\u{301}", "\u{302}")]);
            vec![Normalizer::Nmt, Normalizer::Precompiled(marks), Normalizer::Unicode(Form::Nfc)]
        }
        // A rule for joined runs of spaces.
        11 => vec![run("▁"), replace(TextPattern::Literal("▁▁".to_owned()), "a")],
        // A character of ASCII becomes a mark, which composes.
        8 => vec![precompiled(), Normalizer::Unicode(Form::Nfc), run(" ")],
        _ => vec![replace(TextPattern::Literal("ab".to_owned()), " "), precompiled(), run(" ")],
    };
    Some(Normalizer::Sequence(stages))
}

pub(in crate::pipeline) const CHOICES: usize = 15;

/// A model whose sums of scores are exact if `is_exact`. Otherwise the text before a tie decides the tie.
pub(in crate::pipeline) fn model(byte_fallback: bool, is_exact: bool) -> Arc<Model> {
    let pieces = [
        ("<unk>", 0.0),
        ("▁", -2.0),
        ("a", -3.0),
        ("b", if is_exact { -3.125 } else { -3.1 }),
        ("▁a", -2.5),
        ("ab", -3.5),
        ("▁ab", -4.0),
        ("é", -4.5),
        ("f", -3.0),
        ("ff", -5.0),
        ("s", -3.0),
        ("t", -3.25),
        ("q", -4.0),
        (",", if is_exact { -2.0 } else { -2.3 }),
        (",,", if is_exact { -3.75 } else { -3.1 }),
        ("(,", -5.0),
        ("(é", -5.5),
        ("(á", -5.5),
        ("▁(", -6.5),
        ("aba", -4.0),
        ("日", -5.0),
        ("本", -5.0),
        ("\"", -5.0),
        ("\u{301}", -6.0),
        ("a▁", -1.0),
        ("!", -7.0),
        ("(", -7.25),
        (")", -7.5),
        ("-", -7.0),
        (".", -7.0),
        (":", -7.0),
        (";", -7.0),
        ("?", -7.0),
    ];
    let lines = if is_exact { &[("a\nb", -3.0), ("\n", -4.0)][..] } else { &[] };
    let pieces = [&pieces, lines].concat();
    let options = UnigramOptions { unk_id: Some(0), byte_fallback, ..UnigramOptions::default() };
    Arc::new(Model::Unigram(Unigram::new(&pieces, options).expect("a valid model")))
}

fn pipeline(
    choice: usize,
    has_gaps: bool,
    scheme: PrependScheme,
    is_exact: bool,
    cache_limit: usize,
) -> Pipeline {
    let model = model(choice.is_multiple_of(2), is_exact);
    pipeline_of(normalizer(choice), has_gaps, scheme, model, cache_limit)
}

/// The same with added tokens that are looked for in normalized text.
fn with_normalized(pipeline: &Pipeline, contents: &[&str]) -> Pipeline {
    let mut added = AddedTokens::clone(pipeline.added());
    let tokens: Vec<AddedToken> = contents.iter().map(|&content| AddedToken::new(content, false)).collect();
    added.add(&tokens, pipeline.model().vocab());
    pipeline.with_added(Arc::new(added), false).expect("few tokens")
}

fn pipeline_of(
    normalizer: Option<Normalizer>,
    has_gaps: bool,
    scheme: PrependScheme,
    model: Arc<Model>,
    cache_limit: usize,
) -> Pipeline {
    let metaspace = Metaspace { prepend_scheme: scheme, ..Metaspace::default() };
    let mut stages = vec![PreTokenizer::Metaspace(metaspace)];
    if has_gaps {
        stages.insert(0, PreTokenizer::WhitespaceSplit);
    }
    let mut added = AddedTokens::default();
    let strip = AddedToken { lstrip: true, ..AddedToken::new("<m>", true) };
    added.add(&[AddedToken::new("<s>", true), strip], model.vocab());
    let pre_tokenizer = Some(PreTokenizer::Sequence(stages));
    Pipeline::new(normalizer, pre_tokenizer, model, Arc::new(added), false, cache_limit).expect("valid")
}

const PIECES: &[&str] = &[
    "a",
    "b",
    "ab",
    "abababababababab",
    "A",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{308}\u{301}",
    "日本",
    "日",
    "語",
    "日本語語",
    "𠀀",
    "語\u{e0100}",
    "ab\u{e0100}語",
    "语\u{1}\u{301}",
    "語日a日",
    "語ab",
    "\u{337f}",
    "\u{ff05}",
    "\u{ff0c}",
    ",",
    "``",
    "`",
    "\"",
    "ﬀ",
    "7",
    "8",
    "9",
    "a,",
    "(b",
    "(e\u{301}",
    "(a#",
    "\u{ff9e}\u{301}b,,,a",
    ".",
    "(,",
    "aba.aba",
    "\u{600}",
    "\u{0d4e}",
    "\u{1}",
    "\u{b}",
    "\u{c}",
    "\0",
    "\u{85}",
    "\u{2028}",
    "\u{200b}",
    "\u{200d}",
    "\u{a0}",
    "\u{3000}",
    "¨",
    "▁",
    " ",
    " ",
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "<s>",
    "<m>",
    "👍🏽",
    "हिन्दी",
    "한",
    "ม",
    "\u{1100}\u{1161}",
    "İ",
    "x",
    "Σ",
    "n\u{303}",
    "ক্ষ",
    "각",
    "စ္စ",
    "\u{94d}",
];

fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(
        &[
            "a",
            "ab",
            "b,a",
            "é",
            "日本",
            "9",
            "abababababababab",
            "(ab)-a",
            "aba:aba?!",
            "b,,,a",
            "a,é",
            "日本語",
            "語語，本ab語a\u{301}語a語",
            "é語é日,語",
            "語\u{301}a日a本",
            "\n語,,,a",
            "語\t語,,,a\n",
            "語ab\u{1}\u{301}",
            "ab\t",
            "語\n,,,a",
            "語\n語,,,é",
            "(\u{fb00}a)a\u{301},b",
            "\u{3000}語a語",
            "語\u{3000}日本,語",
            "a,é\u{a0}\u{3000}語日",
            "語b\n\u{3000}\u{3000}語",
            "語\n\u{1}",
        ][..],
    );
    let ends = prop::sample::select(&[" ", "\n", "\n ", " \n", "\n\n", "\n\u{301}", "  "][..]);
    let lines = prop::collection::vec((words.clone(), ends), 0..12)
        .prop_map(|pairs| pairs.into_iter().flat_map(|(word, end)| [word, end]).collect::<String>());
    let spaced = prop::collection::vec((words, prop::sample::select(PIECES)), 0..12)
        .prop_map(|pairs| pairs.into_iter().flat_map(|(word, piece)| [word, " ", piece]).collect::<String>());
    let mixed = prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|all| all.concat());
    prop_oneof![spaced, lines, mixed]
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn unigram_chunks_matches_naive(
        texts in prop::collection::vec(text(), 1..4),
        choice in 0..CHOICES,
        has_gaps in any::<bool>(),
        is_never in any::<bool>(),
        is_exact in any::<bool>(),
        cache_limit in prop::sample::select(&[0, 1 << 20][..]),
        normalized in prop::sample::subsequence(&["ab", "日", "語日a", "本", "é", "(a"][..], 0..3),
    ) {
        let scheme = if is_never && !has_gaps { PrependScheme::Never } else { PrependScheme::Always };
        let pipeline = || with_normalized(&pipeline(choice, has_gaps, scheme, is_exact, cache_limit), &normalized);
        let (refined, whole) = (pipeline(), pipeline().without_refinement());
        let naive = pipeline().with_plan(Plan::Staged);
        let restored = pipeline().with_plan(Plan::Staged).with_plan(refined.plan());
        let has_spaces = refined.stages().matchers.normalized_contents().white_space;
        let is_staged =
            has_spaces || [9, 10, 11].contains(&choice) || has_gaps && [2, 5, 7, 12].contains(&choice);
        let rewrites = refined.plan().chunked().is_some_and(|plan| plan.rewrite == Rewrite::Stages);
        prop_assert_eq!(!rewrites, is_staged, "{:?}", refined.plan());
        if let Some(stages) = refined.chunk_stages() {
            let is_always = scheme == PrependScheme::Always;
            let has_cuts = stages.stages.matchers.normalized_contents().word_cuts;
            let has_fragments = is_always && !has_cuts && ![4, 6, 8, 12, 13].contains(&choice);
            prop_assert_eq!(stages.facts.cuts_at_punctuation, has_fragments);
            prop_assert_eq!(refined.isolated_chars().is_some(), is_always);
        }
        for text in &texts {
            let (naive_tokens, naive_ids) = (tokens(&naive, text), ids(&naive, text));
            for fast in [&refined, &whole, &restored] {
                prop_assert_eq!(tokens(fast, text), &*naive_tokens, "{:?}", text);
                prop_assert_eq!(ids(fast, text), &*naive_ids, "{:?}", text);
            }
        }
    }

    #[test]
    fn shards_of_chunks_matches_naive(
        text in text(),
        choice in 0..CHOICES,
        has_gaps in any::<bool>(),
        is_exact in any::<bool>(),
        target in 1..20usize,
    ) {
        let pipeline = || pipeline(choice, has_gaps, PrependScheme::Always, is_exact, 1 << 20);
        let (fast, naive) = (pipeline(), pipeline().with_plan(Plan::Staged));
        let shards = fast.shard_ranges(&text, target);
        let of_shards: Vec<u32> = shards.iter().flat_map(|shard| ids(&fast, &text[shard.clone()])).collect();
        prop_assert_eq!(of_shards, ids(&naive, &text), "{:?}", shards);
    }
}
