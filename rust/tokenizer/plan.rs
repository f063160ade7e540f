//! Which way text takes through the stages.

use super::apart::apart;
use super::spaced::{Spaced, spaced};
use crate::added_tokens::Matchers;
use crate::engine::KeyForm;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
use crate::scan::Splitter;

/// How pre-tokens are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One scanner over the text itself.
    Scan(Splitter),
    /// One scanner over the text itself; the normalizer changes each pre-token by itself.
    Words(Splitter),
    /// One scanner over the text itself, in which spaces stand for U+2581.
    Spaced(Spaced),
    /// One scanner over the text itself; the stages see each part by itself.
    Apart(Splitter),
    /// The pre-tokenizer's stages over the text itself, which they only cut, but for a last one that maps bytes.
    SubChunks,
    /// The stages one by one, each on what the one before made.
    Stages,
}

/// Finds the fastest plan that gives exactly what the stages give, and what pre-tokens are made of by it.
pub(super) fn choose(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    model: &Model,
    matchers: &Matchers,
) -> (Plan, KeyForm) {
    if let Some((splitter, key_form)) = apart(normalizer, pre_tokenizer, model, matchers) {
        return (Plan::Apart(splitter), key_form);
    }
    if let Some(plan) = word_plan(normalizer, pre_tokenizer, model, matchers) {
        return (plan, KeyForm::Text);
    }
    match spaced(normalizer, pre_tokenizer, model) {
        Some(spaced) if matchers.normalized.is_empty() => (Plan::Spaced(spaced), KeyForm::Spaced),
        _ => match plan(pre_tokenizer) {
            // Unknown text is spelled as the model sees it.
            (_, KeyForm::Bytes) if model.id_of_unknown_text().is_some() => (Plan::Stages, KeyForm::Text),
            found => found,
        },
    }
}

/// The plan by which BERT's normalizer changes pre-tokens one by one, if that gives exactly what the stages give.
///
/// It does where no added token is looked for in the normalized text, and where a pre-token has no token only if nothing
/// is left of it.
fn word_plan(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    model: &Model,
    matchers: &Matchers,
) -> Option<Plan> {
    let (Some(Normalizer::Bert(bert)), Some(PreTokenizer::Bert)) = (normalizer, pre_tokenizer) else {
        return None;
    };
    let is_known = bert.clean_text && bert.handle_chinese_chars && matchers.normalized.is_empty();
    let has_tokens = matches!(model, Model::WordPiece(_) | Model::WordLevel(_));
    (is_known && has_tokens).then(|| Plan::Words(Splitter::BertText { accents: bert.strips_accents() }))
}

/// The plan of a pre-tokenizer on text that no normalizer changes.
fn plan(pre_tokenizer: Option<&PreTokenizer>) -> (Plan, KeyForm) {
    let (plan, key_form) = scan_plan(pre_tokenizer);
    match pre_tokenizer {
        _ if plan != Plan::Stages => (plan, key_form),
        Some(stage) if stage.only_cuts() => (Plan::SubChunks, KeyForm::Text),
        Some(PreTokenizer::Sequence(stages)) => match stages.as_slice() {
            [cuts @ .., PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, .. })]
                if cuts.iter().all(PreTokenizer::only_cuts) =>
            {
                (Plan::SubChunks, KeyForm::Bytes)
            }
            _ => (plan, key_form),
        },
        _ => (plan, key_form),
    }
}

fn scan_plan(pre_tokenizer: Option<&PreTokenizer>) -> (Plan, KeyForm) {
    let bytes_only = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false };
    let is_byte_map = |stage: &ByteLevel| ByteLevel { trim_offsets: true, ..*stage } == bytes_only;
    match pre_tokenizer {
        Some(PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex: true, .. })) => {
            (Plan::Scan(Splitter::Gpt2), KeyForm::Bytes)
        }
        Some(PreTokenizer::Whitespace) => (Plan::Scan(Splitter::Whitespace), KeyForm::Text),
        Some(PreTokenizer::Bert) => (Plan::Scan(Splitter::Bert), KeyForm::Text),
        Some(PreTokenizer::WhitespaceSplit) => (Plan::Scan(Splitter::WhitespaceSplit), KeyForm::Text),
        Some(PreTokenizer::Split(split)) => match split.scanner() {
            Some(splitter) => (Plan::Scan(splitter), KeyForm::Text),
            None => (Plan::Stages, KeyForm::Text),
        },
        Some(PreTokenizer::Sequence(stages)) => match stages.as_slice() {
            [only] => scan_plan(Some(only)),
            [PreTokenizer::Split(split), PreTokenizer::ByteLevel(stage)] if is_byte_map(stage) => {
                match split.scanner() {
                    Some(splitter) => (Plan::Scan(splitter), KeyForm::Bytes),
                    None => (Plan::Stages, KeyForm::Text),
                }
            }
            _ => (Plan::Stages, KeyForm::Text),
        },
        _ => (Plan::Stages, KeyForm::Text),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::pipeline::Pipeline;
    use super::*;
    use crate::added_tokens::AddedTokens;
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::encoding::ColumnsBuilder;
    use crate::engine::ColumnSink;
    use crate::models::Tokens;
    use crate::models::bpe::Scratch;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::normalized::{Normalized, PreTokenized};
    use crate::pre_tokenizers::{Behavior, Split};
    use crate::structures::finder::TextPattern;
    use crate::vocab::Vocab;

    /// Bytes, and pairs of letters.
    fn bpe() -> Bpe {
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        tokens.extend(["ab", "bc", "Ġa"].map(str::to_owned));
        let vocab = Vocab::from_tokens(&tokens);
        let id = |token: &str| vocab.id(token).unwrap_or_default();
        let pairs = [("a", "b", "ab"), ("b", "c", "bc"), ("Ġ", "a", "Ġa")];
        let pairs = pairs.map(|(left, right, made)| ((id(left), id(right)), id(made)));
        let options = BpeOptions { unk_token: Some("!".to_owned()), ..BpeOptions::default() };
        Bpe::from_pairs(Arc::new(vocab), &pairs, options).expect("no dropout")
    }

    fn any_stage() -> impl Strategy<Value = PreTokenizer> {
        let split = |pattern: &str, behavior| {
            let pattern = TextPattern::Regex(pattern.to_owned());
            PreTokenizer::Split(Arc::new(Split::new(pattern, behavior, false).expect("valid")))
        };
        prop::sample::select(vec![
            split(r"\w+|\s+(?!\S)|\s+", Behavior::Isolated),
            split(" ", Behavior::Removed),
            split("b", Behavior::MergedWithNext),
            PreTokenizer::Digits { individual_digits: true },
            PreTokenizer::Punctuation { behavior: Behavior::Contiguous },
            PreTokenizer::UnicodeScripts,
            PreTokenizer::FixedLength { length: NonZeroUsize::MIN.saturating_add(2) },
            PreTokenizer::WhitespaceSplit,
            PreTokenizer::CharDelimiterSplit { delimiter: 'c' },
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn cuts_matches_naive(
            stages in prop::collection::vec(any_stage(), 1..4),
            byte_level in prop::option::of(any::<bool>()),
            text in "[abc .!1é日\n]{0,40}",
        ) {
            let mut stages = stages;
            stages.extend(byte_level.map(|use_regex| {
                PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex })
            }));
            let pre_tokenizer = PreTokenizer::Sequence(stages);
            let (bpe, added) = (bpe(), Arc::new(AddedTokens::default()));
            let model = Arc::new(Model::Bpe(bpe.clone()));
            let pipeline = Pipeline::new(None, Some(pre_tokenizer.clone()), model, added, false, 1 << 20);
            let pipeline = pipeline.expect("valid");
            prop_assume!(pipeline.plan() == Plan::SubChunks);

            let (mut columns, mut worker) = (ColumnsBuilder::default(), pipeline.pool().take());
            let token_lens = pipeline.token_lens();
            let mut sink =
                ColumnSink { columns: &mut columns, token_lens, text: &text, unknown: None, unnumbered: None };
            prop_assert!(pipeline.encode(&text, &mut worker, &mut sink).is_ok());

            let mut cut = PreTokenized::new(Normalized::new(&text, 0, true));
            prop_assert!(pre_tokenizer.pre_tokenize(&mut cut).is_ok());
            let mut naive = Vec::new();
            for (word, span) in (0u32..).zip(&cut.spans) {
                let mut tokens = Tokens::default();
                let word_text = &cut.text.text()[span.clone()];
                prop_assert!(bpe.encode_word(word_text, &mut Scratch::default(), &mut tokens).is_ok());
                for (id, place) in tokens.spans() {
                    let (start, end) = cut.text.original(span.start + place.start..span.start + place.end);
                    naive.push((id, start as usize, end as usize, word));
                }
            }
            let ColumnsBuilder { ids, starts, ends, words, .. } = columns;
            let found = ids.into_iter().zip(starts).zip(ends.into_iter().zip(words));
            // The bytes of a character all have its place, once places are turned into characters.
            let found = found.map(|((id, start), (end, word))| {
                (id, text.floor_char_boundary(start as usize), text.ceil_char_boundary(end as usize), word)
            });
            let found: Vec<_> = found.collect();
            prop_assert_eq!(found, naive);
        }
    }
}
