//! Compares plans of chunks with the staged path, on normalized text.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::byte_level::BYTE_TO_CHAR;
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::normalizers::{Form, Normalizer};
use crate::pipeline::testing::{ids, tokens};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
use crate::scan::Splitter;
use crate::sinks::IdSink;
use crate::structures::finder::{Replacement, TextPattern};
use crate::testing::{cases, text_with_marks};
use crate::vocab::Vocab;

/// Bytes, and tokens of two bytes that follow one another in `text`; `choices` selects these pairs.
fn model(text: &str, choices: &[bool]) -> Arc<Model> {
    let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
    let mut pairs = Vec::new();
    let chosen = text.as_bytes().array_windows().zip(choices).filter(|&(_, &is_chosen)| is_chosen);
    for (&[left, right], _) in chosen {
        let joined: String = [left, right].iter().map(|&byte| BYTE_TO_CHAR[usize::from(byte)]).collect();
        if !tokens.contains(&joined) {
            pairs.push(((u32::from(left), u32::from(right)), tokens.len() as u32));
            tokens.push(joined);
        }
    }
    let vocab = Arc::new(Vocab::from_tokens(&tokens));
    Arc::new(Model::Bpe(Bpe::from_pairs(vocab, &pairs, BpeOptions::default()).expect("no dropout")))
}

#[test]
fn random_merges_of_normalized_text_depend_on_the_seed_alone() {
    let tokens = ["a", "b", "ab", "é", "éa", "ba"];
    let vocab = Arc::new(Vocab::from_tokens(tokens));
    let pairs = [((0, 1), 2), ((3, 0), 4), ((1, 0), 5)];
    let text = "abe\u{301}ab baabab e\u{301}abab ".repeat(50);
    let ids = |is_chunked: bool| {
        let options = BpeOptions { dropout: Some(0.5), seed: Some(7), ..BpeOptions::default() };
        let bpe = Bpe::from_pairs(Arc::clone(&vocab), &pairs, options).expect("valid");
        let (normalizer, pre_tokenizer) = (Normalizer::Unicode(Form::Nfc), PreTokenizer::Whitespace);
        let (model, added) = (Arc::new(Model::Bpe(bpe)), Arc::new(AddedTokens::default()));
        let pipeline = Pipeline::new(Some(normalizer), Some(pre_tokenizer), model, added, false, 1 << 20);
        let mut pipeline = pipeline.expect("valid");
        if !is_chunked {
            pipeline = pipeline.with_plan(Plan::Staged);
        }
        let (mut worker, mut ids) = (pipeline.pool().take(), Vec::<u32>::new());
        pipeline.seed_row(0, 0, &mut worker);
        pipeline.encode(&text, &mut worker, &mut IdSink(&mut ids)).expect("no unk_token");
        ids
    };
    assert_eq!(ids(true), ids(false));
}

fn any_normalizer() -> impl Strategy<Value = Normalizer> {
    let replacement = Replacement::new(TextPattern::Literal("e".to_owned()), "é ".to_owned());
    let forms = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd].map(Normalizer::Unicode);
    let [nfc, nfd, ..] = forms.clone();
    let mut normalizers = forms.to_vec();
    normalizers.extend([
        Normalizer::Lowercase,
        Normalizer::Prepend(" x".to_owned()),
        Normalizer::Strip { left: true, right: true },
        Normalizer::Sequence(vec![nfd, Normalizer::Lowercase, Normalizer::StripAccents]),
        Normalizer::Sequence(vec![Normalizer::Replace(Arc::new(replacement.expect("valid"))), nfc]),
    ]);
    prop::sample::select(normalizers)
}

fn any_pre_tokenizer() -> impl Strategy<Value = PreTokenizer> {
    let byte_map = |use_regex| {
        PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex })
    };
    let known = Splitter::PATTERNS.map(|(pattern, _)| {
        let pattern = TextPattern::Regex(pattern.to_owned());
        let split = Split::new(pattern, Behavior::Isolated, false).expect("a known pattern");
        PreTokenizer::Sequence(vec![PreTokenizer::Split(Arc::new(split)), byte_map(false)])
    });
    // Pre-tokens of several words.
    let lines = Split::new(TextPattern::Regex("[^1]+".to_owned()), Behavior::Isolated, false);
    let lines = PreTokenizer::Split(Arc::new(lines.expect("valid")));
    let mut pre_tokenizers = known.to_vec();
    pre_tokenizers.extend([
        PreTokenizer::Sequence(vec![lines, byte_map(false)]),
        byte_map(true),
        PreTokenizer::Whitespace,
        PreTokenizer::Sequence(vec![
            PreTokenizer::Punctuation { behavior: Behavior::Isolated },
            byte_map(true),
        ]),
    ]);
    prop::sample::select(pre_tokenizers)
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn chunks_of_normalized_text_match_naive(
        normalizer in any_normalizer(),
        pre_tokenizer in any_pre_tokenizer(),
        choices in prop::collection::vec(any::<bool>(), 0..100),
        text in text_with_marks(),
        has_added_tokens in any::<bool>(),
    ) {
        let model = model(&text, &choices);
        let pipeline = || {
            let mut added = AddedTokens::default();
            if has_added_tokens {
                added.add(
                    &[AddedToken::new("é", false), AddedToken::new("a", true), AddedToken::new("ﬁ", false)],
                    model.vocab(),
                );
            }
            let (normalizer, pre_tokenizer) = (Some(normalizer.clone()), Some(pre_tokenizer.clone()));
            let pipeline =
                Pipeline::new(normalizer, pre_tokenizer, Arc::clone(&model), Arc::new(added), false, 1 << 20);
            pipeline.expect("valid")
        };
        let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
        prop_assert!(fast.plan() != Plan::Staged);
        prop_assert_eq!(ids(&fast, &text), ids(&naive, &text));
        prop_assert_eq!(tokens(&fast, &text), tokens(&naive, &text));
    }
}
