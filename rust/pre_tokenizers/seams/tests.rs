use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use proptest::prelude::*;

use super::*;
use crate::normalized::{Normalized, PreTokenized};
use crate::normalizers::compiled_tests::{stage as normalizer_stage, text as text_of_pieces};
use crate::normalizers::{CompiledNormalizer, Normalizer, PieceMemo};
use crate::pre_tokenizers::Split;
use crate::structures::finder::TextPattern;
use crate::testing::cases;

const PATTERNS: [&str; 29] = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[!-/:-~]?[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{Han}]+",
    r"\s?\p{L}+|\s?[^\s\p{L}\p{N}]+|[\r\n]|\p{N}{3}|(?<=\s)x|\b\p{Lu}",
    r"\s?\p{L}+",
    r"\s?\p{P}+",
    r" ?[^(\s|[.,!?])]+",
    r"[0-9][0-9][0-9]",
    r"\w+(?=:)|^a|b$",
    r"\p{N}{1,3}",
    r"(?<! )a",
    r"a(?!b)|b",
    r"(?<=a)b|(?<=b),",
    r"\ba|a\b",
    r"^a|a$|,$|^,",
    r"a*b|a|,",
    r"ab| a,|a",
    r"\S+",
    r"[ab]|b?, ",
    r"\s+",
    r"a{2}",
    "",
    r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[ab]+(?: [ab]+)*",
    r" ?a[ab ]*",
    r"(?:a b?)+|.",
    r"[^1]+",
];

pub(in crate::pre_tokenizers) fn any_stage() -> impl Strategy<Value = PreTokenizer> {
    let behavior = || prop::sample::select(Behavior::NAMES.map(|(behavior, ..)| behavior).to_vec());
    let split = |pattern: TextPattern, behavior, invert| {
        PreTokenizer::Split(Arc::new(Split::new(pattern, behavior, invert).expect("valid")))
    };
    let byte_level = |use_regex| {
        PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex })
    };
    let patterns: Vec<&str> =
        PATTERNS.into_iter().chain(Splitter::PATTERNS.map(|(pattern, _)| pattern)).collect();
    prop_oneof![
        6 => (prop::sample::select(patterns), behavior(), any::<bool>()).prop_map(
            move |(pattern, behavior, invert)| split(TextPattern::Regex(pattern.to_owned()), behavior, invert)),
        1 => Just(PreTokenizer::UnicodeScripts),
        1 => Just(PreTokenizer::FixedLength { length: std::num::NonZeroUsize::MIN.saturating_add(2) }),
        1 => Just(split(TextPattern::Regex(r"\d{1,3}(?=(?:\d{3})*\b)".to_owned()), Behavior::Isolated, false)),
        2 => ("[ab,.1 ]{1,2}", behavior(), any::<bool>()).prop_map(
            move |(literal, behavior, invert)| split(TextPattern::Literal(literal), behavior, invert)),
        1 => any::<bool>().prop_map(byte_level),
        1 => (any::<bool>(), any::<bool>(), prop::sample::select(vec![' ', '▁', 'b'])).prop_map(|(has_prefix, split, replacement)| {
            let prepend_scheme = if has_prefix { PrependScheme::Always } else { PrependScheme::Never };
            PreTokenizer::Metaspace(Metaspace { replacement, prepend_scheme, split })
        }),
        1 => any::<bool>().prop_map(|individual_digits| PreTokenizer::Digits { individual_digits }),
        1 => behavior().prop_map(|behavior| PreTokenizer::Punctuation { behavior }),
        3 => prop::sample::select(vec![
            PreTokenizer::Whitespace,
            PreTokenizer::WhitespaceSplit,
            PreTokenizer::Bert,
            PreTokenizer::CharDelimiterSplit { delimiter: 'b' },
            PreTokenizer::CharDelimiterSplit { delimiter: ' ' },
        ]),
    ]
}

pub(in crate::pre_tokenizers) fn any_text() -> impl Strategy<Value = String> {
    "( ?[aA]?[ab]{1,3}|[ab ,.']{1,3}|'[sr]e?|[aA]b?|\\n|\t|1{1,4}|é|É|日|、|€|́|²|\u{3000}|\u{2028}|▁| ){1,12}"
}

fn pre_tokens(stage: &PreTokenizer, text: &str) -> Vec<PreToken> {
    let mut cut = PreTokenized::new(Normalized::new(text, 0, true));
    stage.pre_tokenize(&mut cut).expect("linear");
    let pre_token =
        |span: &Range<usize>| (cut.text.text()[span.clone()].to_owned(), cut.text.original(span.clone()));
    cut.spans.iter().filter(|span| !span.is_empty()).map(pre_token).collect()
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn chunks_between_seams_match_naive(
        stages in prop::collection::vec(any_stage(), 1..4),
        are_apart in prop::option::of(prop::collection::vec(prop::bool::weighted(0.8), 256)),
        texts in prop::collection::vec(any_text(), 1..12),
    ) {
        let pre_tokenizer = PreTokenizer::Sequence(stages);
        let are_apart = are_apart.map(|are_apart| std::array::from_fn(|byte| are_apart[byte]));
        let Some(seams) = pre_tokenizer.seams_for_ids(are_apart.as_ref()) else { return Ok(()) };
        for text in &texts {
            let parts = parts(&seams, text);
            let mut found: Vec<_> = parts.iter().flat_map(|&(start, part)| {
                let place = move |(piece, (from, to))| (piece, (from + start as u32, to + start as u32));
                pre_tokens(&pre_tokenizer, part).into_iter().map(place)
            }).collect();
            if let Some(are_apart) = are_apart {
                join_apart(&mut found, &pre_tokens(&pre_tokenizer, text), text, &are_apart);
            }
            prop_assert_eq!(found, pre_tokens(&pre_tokenizer, text), "{:?} in {:?}", text, parts);
            let words = are_apart.and_then(|are_apart| pre_tokenizer.seams_of_words(&are_apart));
            if let Some(words) = words {
                let whole = pre_tokens(&pre_tokenizer, text);
                let seams = self::parts(&words, text).into_iter().map(|(start, _)| start).skip(1);
                for seam in seams.filter(|&seam| words.are_joined(text.as_bytes(), seam)) {
                    let is_within = |(start, end): &(u32, u32)| (*start as usize) < seam && seam < *end as usize;
                    prop_assert!(whole.iter().any(|(_, place)| is_within(place)), "{:?} at {}", text, seam);
                }
            }
            if let Some(known) = seams.known_pre_tokens(text.as_bytes()) {
                let known: Vec<_> = known.map(|Range { start, end }| (start as u32, end as u32)).collect();
                let places: Vec<_> = pre_tokens(&pre_tokenizer, text).into_iter().map(|(_, place)| place).collect();
                prop_assert_eq!(places, known, "{:?}", text);
            }
        }
    }
}

/// A pre-token, and its place in the text.
type PreToken = (String, (u32, u32));

/// Joins neighbours of `found` that are apart if `whole` has no border between them.
fn join_apart(found: &mut Vec<PreToken>, whole: &[PreToken], text: &str, are_apart: &[bool; 256]) {
    let mut at = 1;
    while at < found.len() {
        let (place, before, bytes) = (found[at].1.0, found[at - 1].1.1, text.as_bytes());
        let is_apart = place == before
            && bytes[place as usize] == b' '
            && are_apart[usize::from(bytes[place as usize - 1])];
        if is_apart && whole.iter().all(|(_, (start, _))| *start != place) {
            let (piece, (_, end)) = found.remove(at);
            found[at - 1].0 += &piece;
            found[at - 1].1.1 = end;
        } else {
            at += 1;
        }
    }
}

/// The parts of a text between two seams, with their starts.
fn parts<'t>(seams: &Seams, text: &'t str) -> Vec<(usize, &'t str)> {
    let mut parts = Vec::new();
    seams.for_each_chunk(text, |start, end| parts.push((start, &text[start..end])));
    parts
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn chunks_of_text_before_its_normalizer_match_naive(
        normalizers in prop::collection::vec(normalizer_stage(), 1..4),
        stages in prop::collection::vec(any_stage(), 1..3),
        texts in prop::collection::vec(prop_oneof![text_of_pieces(), any_text()], 1..8),
        tokens in prop_oneof![Just(Vec::new()), prop::collection::vec("[ab]{1,4}|[ab,.|< '1é日]{1,4}|<|a|>", 1..3)],
    ) {
        let normalizer = Normalizer::Sequence(normalizers);
        let Some(compiled) = CompiledNormalizer::new(&normalizer) else { return Ok(()) };
        let pre_tokenizer = PreTokenizer::Sequence(stages);
        let seams = |images| pre_tokenizer.seams_before(images, tokens.iter().map(String::as_str), None);
        let Some(seams) = compiled.images().and_then(seams) else { return Ok(()) };
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&tokens).expect("few tokens");
        let spelled = |normalized: &str| {
            let (mut spelled, mut done) = (Vec::new(), 0);
            let found = search.find_iter(normalized).map(|found| (found.start(), found.end()));
            for (start, end) in found.chain([(normalized.len(), normalized.len())]) {
                let between = pre_tokens(&pre_tokenizer, &normalized[done..start]);
                spelled.extend(between.into_iter().map(|(piece, _)| piece));
                spelled.push(format!("token {}", &normalized[start..end]));
                done = end;
            }
            // The end is no token.
            spelled.pop();
            spelled
        };
        for text in &texts {
            let inner = if compiled.sees_ends() { seams.part_between_ends(text) } else { Some(0..text.len()) };
            let Some(inner) = inner else { continue };
            let end = |part: &str, is_first| compiled.rewrite_end(part, is_first).expect("short");
            let mut made = vec![end(&text[..inner.start], true)];
            let (mut memo, mut buffer) = (PieceMemo::default(), String::new());
            let parts = parts(&seams, &text[inner.clone()]);
            let rewrite = |(_, part): &(usize, &str)| compiled.rewrite_inner(part, &mut memo, &mut buffer).map(str::to_owned);
            // The whole text decides about parts that grow much.
            let Some(rewritten) = parts.iter().map(rewrite).collect::<Option<Vec<String>>>() else { continue };
            made.extend(rewritten);
            made.push(end(&text[inner.end..], false));
            let found: Vec<String> = made.iter().flat_map(|part| spelled(part)).collect();
            let naive = normalizer.normalize_str(text).expect("nothing grows too long");
            prop_assert_eq!(found, spelled(&naive), "{:?} in {:?} by {:?}", text, parts, normalizer);
        }
    }
}

#[test]
fn a_space_before_a_word_is_kept_cut_off_or_dropped() {
    let known = |patterns: &[&str], (behavior, invert), text: &str| {
        let split = |pattern: &&str| {
            Split::new(TextPattern::Regex((*pattern).to_owned()), behavior, invert).expect("valid")
        };
        let stages = patterns.iter().map(|pattern| PreTokenizer::Split(Arc::new(split(pattern)))).collect();
        let seams = PreTokenizer::Sequence(stages).seams().expect("seams");
        let known = seams.known_pre_tokens(text.as_bytes());
        known.map(|known| known.map(|Range { start, end }| (start, end)).collect::<Vec<_>>())
    };
    let clip = [r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"];
    assert_eq!(known(&clip, (Behavior::Removed, true), " hello"), Some(vec![(1, 6)]));
    let deepseek = [r"[\r\n]", r"\s?[A-Za-z]+", r"\s+$", "[一-龥ࠀ-一가-퟿]+"];
    assert_eq!(known(&deepseek, (Behavior::Isolated, false), " hello"), Some(vec![(0, 6)]));
    assert_eq!(known(&deepseek, (Behavior::Isolated, false), " 한국어"), Some(vec![(0, 1), (1, 10)]));
    assert_eq!(known(&deepseek, (Behavior::Isolated, false), " 한국 어"), None);
}

#[test]
fn published_patterns_have_the_seams_of_words() {
    for pattern in PATTERNS[..4].iter().chain(Splitter::PATTERNS.iter().map(|(pattern, _)| pattern)) {
        let split = Split::new(TextPattern::Regex((*pattern).to_owned()), Behavior::Isolated, false);
        let seams = PreTokenizer::Split(Arc::new(split.expect("valid"))).seams().expect(pattern);
        let mut ends = [0; 16];
        let count = seams.fill_ends("Some words, a few.", 0, &mut ends);
        assert_eq!(ends[..count], [4, 10, 11, 13, 17, 18], "{pattern}");
    }
}
