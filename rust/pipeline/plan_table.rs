//! Which tokenizers have a plan of chunks: one row for each family; the first that fits is used.
//!
//! | family | needs of the stages | exact, because | test | falls back |
//! |---|---|---|---|---|
//! | [`unigram`] (T5, XLNet) | a deterministic Unigram model after Metaspace; a normalizer that sees a grapheme cluster or a run of spaces at a time; added tokens in normalized text only as in `added_in_chunks` | no piece crosses a visible space; a chunk that depends on its neighbours is joined with them | `unigram/tests.rs` | joined chunks |
//! | [`bert`] | BERT's normalizer with `clean_text` and `handle_chinese_chars` directly before BERT's pre-tokenizer; WordPiece or word level; added tokens in normalized text only as in `added_in_chunks` | the scanner cuts where the pre-tokenizer cuts the normalized text, and each step of the normalizer sees one character and its marks | `bert_rewriter.rs` | never |
//! | [`metaspace_bpe`] (Mistral, Phi-3) | Prepend and Replace of spaces, no pre-tokenizer; a BPE vocabulary in which no token holds a U+2581 after another character | a merge only makes tokens of the vocabulary, so no merge crosses the start of a run of spaces | `metaspace_bpe.rs` | segments with a U+2581 |
//! | [`fronted`] (Mistral 0.3, RoBERTa with `add_prefix_space`) | Metaspace, or a `ByteLevel` with `add_prefix_space`, alone; a deterministic model, and where Metaspace does not cut, a vocabulary as above | each space begins a pre-token, or no merge crosses the start of a run of spaces; only the first chunk sees the prefix | `fronted.rs` | segments with a U+2581 |
//! | [`splitter`] (GPT-2, Llama 3, Qwen 2) | a pre-tokenizer with a scanner, alone or before a `ByteLevel` that only maps bytes | the scanner's spans are the pre-tokens; byte-level characters and bytes are one to one | `scan/tests.rs`, `shards.rs` | chunks of normalized text |
//! | [`seamed`] (DeepSeek, Kimi, Falcon) | a pre-tokenizer that cuts and maps bytes, with places that all its stages keep and one cuts; a deterministic model | the stages cut the chunks apart, or no token crosses the cut; so each takes the pre-tokenizer by itself | `seamed.rs`, `pre_tokenizers/seams` | the row below |
//! | [`only_cuts`] | a pre-tokenizer that only cuts, alone or before a `ByteLevel` without `add_prefix_space` | the pre-tokenizer itself cuts the text | `only_cuts_matches_naive` below | chunks of normalized text |

use super::plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
use super::stages::Stages;
use super::{fronted, metaspace_bpe, seamed, unigram};
use crate::cache::KeyForm;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
use crate::scan::Splitter;

type Detect = fn(&Stages, &Model) -> Option<ChunkPlan>;

const FAMILIES: [Detect; 7] =
    [unigram::detect, bert, metaspace_bpe::detect, fronted::detect, splitter, seamed::detect, only_cuts];

/// The fastest plan that gives exactly what the stages give.
pub(super) fn choose(stages: &Stages, model: &Model) -> Plan {
    // A caller's own stage sees all others at work, the one that maps bytes too, so the model gets mapped bytes.
    if stages.has_custom() {
        return Plan::Staged;
    }
    let plan = FAMILIES.iter().find_map(|detect| detect(stages, model));
    // Text of unknown tokens is spelled as the model sees it, so the model must not see mapped bytes.
    let is_spelled =
        |plan: &ChunkPlan| plan.key_form == KeyForm::Bytes && model.id_of_unknown_text().is_some();
    plan.filter(|plan| !is_spelled(plan)).map_or(Plan::Staged, Plan::Chunked)
}

/// BERT: the normalizer works on each chunk by itself.
fn bert(stages: &Stages, model: &Model) -> Option<ChunkPlan> {
    let (Some(Normalizer::Bert(bert)), Some(PreTokenizer::Bert)) =
        (&stages.normalizer, &stages.pre_tokenizer)
    else {
        return None;
    };
    let contents = stages.matchers.normalized_contents();
    let holds_added = !contents.look_around && !contents.bert_cuts;
    let cuts_as_scanner = bert.clean_text && bert.handle_chinese_chars && holds_added;
    // Word ids are counted from chunks that have tokens, so each pre-token that is not empty must have a token.
    let has_tokens = matches!(model, Model::WordPiece(_) | Model::WordLevel(_));
    (cuts_as_scanner && has_tokens).then(|| ChunkPlan {
        chunker: Chunker::Splitter(Splitter::BertText { accents: bert.strips_accents() }),
        key_form: KeyForm::Text,
        rewrite: Rewrite::Bert(*bert),
        scope: Scope::All,
    })
}

/// A known scanner in place of the pre-tokenizer.
fn splitter(stages: &Stages, _: &Model) -> Option<ChunkPlan> {
    let (splitter, key_form) = known_splitter(stages.pre_tokenizer.as_ref()?)?;
    Some(ChunkPlan::of_pre_tokens(Chunker::Splitter(splitter), key_form))
}

fn known_splitter(pre_tokenizer: &PreTokenizer) -> Option<(Splitter, KeyForm)> {
    match pre_tokenizer {
        PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex: true, .. }) => {
            Some((Splitter::Gpt2, KeyForm::Bytes))
        }
        PreTokenizer::Whitespace => Some((Splitter::Whitespace, KeyForm::Text)),
        PreTokenizer::Bert => Some((Splitter::Bert, KeyForm::Text)),
        PreTokenizer::WhitespaceSplit => Some((Splitter::WhitespaceSplit, KeyForm::Text)),
        PreTokenizer::Split(split) => Some((split.scanner()?, KeyForm::Text)),
        PreTokenizer::Sequence(stages) => match stages.as_slice() {
            [only] => known_splitter(only),
            [
                PreTokenizer::Split(split),
                PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex: false, .. }),
            ] => Some((split.scanner()?, KeyForm::Bytes)),
            _ => None,
        },
        _ => None,
    }
}

/// A pre-tokenizer that only cuts, but for a last stage that maps bytes.
fn only_cuts(stages: &Stages, _: &Model) -> Option<ChunkPlan> {
    let key_form = seamed::key_form_of_cuts(stages.pre_tokenizer.as_ref()?)?;
    Some(ChunkPlan::of_pre_tokens(Chunker::PreTokenizer, key_form))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::Pipeline;
    use super::super::testing::{ids, tokens};
    use super::*;
    use crate::added_tokens::AddedTokens;
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::models::bpe::{Bpe, BpeOptions};
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
        fn only_cuts_matches_naive(
            stages in prop::collection::vec(any_stage(), 1..4),
            byte_level in prop::option::of(any::<bool>()),
            text in "[abc .!1é日\n]{0,40}",
        ) {
            let mut stages = stages;
            stages.extend(byte_level.map(|use_regex| {
                PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex })
            }));
            let pipeline = || {
                let (model, added) = (Arc::new(Model::Bpe(bpe())), Arc::new(AddedTokens::default()));
                let pre_tokenizer = Some(PreTokenizer::Sequence(stages.clone()));
                Pipeline::new(None, pre_tokenizer, model, added, false, 1 << 20).expect("valid")
            };
            let (fast, naive) = (pipeline(), pipeline().with_plan(Plan::Staged));
            prop_assert!(fast.plan() != Plan::Staged);
            prop_assert_eq!(ids(&fast, &text), ids(&naive, &text));
            prop_assert_eq!(tokens(&fast, &text), tokens(&naive, &text));
        }
    }
}
