//! Added tokens that are looked for in normalized text, found in one chunk at a time.
//!
//! Exact because a token that is looked for could not be cut ([`Contents`](crate::added_tokens::Contents)), so it lies within the
//! normalized text of one chunk wherever it is found. So the chunk alone decides if it holds a token, and it is searched
//! when the cache misses it. Where ids alone are wanted, a chunk with added tokens has the ids of these and of its pre-tokens in
//! order, like any other chunk; where the places of tokens are wanted, the chunk takes the stages each time.

use super::scratch::MissScratch;
use super::stages::Stages;
use crate::added_tokens::AddedTokens;
use crate::metaspace::push_visible;

/// The search for added tokens in chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddedInChunks<'a> {
    pub(super) stages: &'a Stages,
    pub(super) tokens: &'a AddedTokens,
}

impl AddedInChunks<'_> {
    /// True if a token that is looked for in normalized text is among `ids`.
    pub(super) fn are_in(&self, ids: &[u32]) -> bool {
        ids.iter().any(|&id| self.tokens.get(id).is_some_and(|token| token.normalized))
    }

    /// True if `text`, which is normalized, holds an added token.
    pub(super) fn are_in_text(&self, text: &str) -> bool {
        self.stages.matchers.normalized.is_in(text)
    }

    /// True if a chunk that no stage changes, but for spaces that become visible, holds an added token.
    pub(super) fn are_in_unchanged(&self, chunk: &str, scratch: &mut MissScratch) -> bool {
        let text = &mut scratch.normalized;
        text.clear();
        push_visible(chunk, text);
        self.are_in_text(text)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use proptest::prelude::*;

    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::metaspace::{Metaspace, PrependScheme, VISIBLE_SPACE};
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::normalizers::{Bert, Normalizer};
    use crate::pipeline::testing::{ids, shard_ids, tokens};
    use crate::pipeline::unigram::tests as unigram;
    use crate::pipeline::{Pipeline, Plan};
    use crate::pre_tokenizers::PreTokenizer;
    use crate::structures::finder::{Replacement, TextPattern};
    use crate::testing::cases;
    use crate::vocab::Vocab;

    type Stages = (Option<Normalizer>, Option<PreTokenizer>, Arc<Model>);

    /// BERT, Mistral or T5, or a tokenizer of their kind.
    fn stages(family: usize, variant: usize) -> Stages {
        let visible = |content: &str| {
            let replacement = Replacement::new(TextPattern::Literal(" ".to_owned()), content.to_owned());
            Normalizer::Replace(Arc::new(replacement.expect("literal")))
        };
        match family {
            0 => {
                let vocab = ["[UNK]", "a", "b", "##a", "##b", "ab", "é", "e", "##e", "日", ",", "(", "##本"];
                let model = WordPiece::new(Arc::new(Vocab::from_tokens(vocab)), WordPieceOptions::default());
                let bert = Bert { lowercase: variant.is_multiple_of(2), ..Bert::default() };
                (Some(Normalizer::Bert(bert)), Some(PreTokenizer::Bert), Arc::new(Model::WordPiece(model)))
            }
            1 => {
                let mut tokens: Vec<String> =
                    ["<unk>", "▁", "a", "b", ",", "日", "▁a", "ab", "▁ab", "ba"].map(str::to_owned).into();
                tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
                let pairs = [((1, 2), 6), ((2, 3), 7), ((6, 3), 8), ((3, 2), 9)];
                let unk_token = Some("<unk>".to_owned());
                let options =
                    BpeOptions { unk_token, fuse_unk: true, byte_fallback: true, ..BpeOptions::default() };
                let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &pairs, options);
                let mut stages = vec![visible("▁")];
                if variant.is_multiple_of(2) {
                    stages.insert(0, Normalizer::Prepend("▁".to_owned()));
                }
                (Some(Normalizer::Sequence(stages)), None, Arc::new(Model::Bpe(bpe.expect("no dropout"))))
            }
            _ => {
                let (choice, has_gaps) = (variant / 2 % unigram::CHOICES, variant.is_multiple_of(2));
                let prepend_scheme = PrependScheme::Always;
                let metaspace = PreTokenizer::Metaspace(Metaspace {
                    replacement: VISIBLE_SPACE,
                    prepend_scheme,
                    split: true,
                });
                let before = has_gaps.then_some(PreTokenizer::WhitespaceSplit);
                let pre_tokenizer = PreTokenizer::Sequence(before.into_iter().chain([metaspace]).collect());
                (
                    unigram::normalizer(choice),
                    Some(pre_tokenizer),
                    unigram::model(!variant.is_multiple_of(3), !variant.is_multiple_of(5)),
                )
            }
        }
    }

    fn added_token() -> impl Strategy<Value = AddedToken> {
        let content = prop_oneof![
            4 => "[abé]{1,3}",
            2 => "[aB日本é,( ▁!]{1,4}",
            1 => "<[ab]>",
        ];
        (content, prop::bool::weighted(0.1), prop::bool::weighted(0.9), prop::bool::weighted(0.03)).prop_map(
            |(content, special, normalized, single_word)| AddedToken {
                single_word,
                normalized,
                ..AddedToken::new(content, special)
            },
        )
    }

    proptest! {
        #![proptest_config(cases(4000))]

        #[test]
        fn added_in_chunks_match_naive(
            (family, variant) in (0..3usize, 0..56usize),
            calls in prop::collection::vec((prop::collection::vec(added_token(), 0..3), any::<bool>()), 1..4),
            texts in prop::collection::vec(
                "([abAé]{1,4}[ ,]?){0,12}|[abé日本,( \t\n▁!<>]{0,40}|((ab|a|é|日|<a>|,|\\(|[ab]{17,40}) ?){0,12}", 1..5),
            target in 1..20usize,
        ) {
            let (normalizer, pre_tokenizer, model) = stages(family, variant);
            let mut added = AddedTokens::default();
            let new = |added: &AddedTokens, encode_special| {
                let (model, added) = (Arc::clone(&model), Arc::new(added.clone()));
                Pipeline::new(normalizer.clone(), pre_tokenizer.clone(), model, added, encode_special, 1 << 20)
            };
            let mut fast = new(&added, false).expect("valid");
            for (tokens_to_add, encode_special) in calls {
                added.add(&tokens_to_add, model.vocab());
                fast = fast.with_added(Arc::new(added.clone()), encode_special).expect("valid");
                fast.encoder().cut_points(1 << 20);
                let naive = new(&added, encode_special).expect("valid");
                prop_assert_eq!(fast.plan(), naive.plan());
                let naive = naive.with_plan(Plan::Staged);
                for text in &texts {
                    // Twice, so that chunks are misses and then hits.
                    for _ in 0..2 {
                        prop_assert_eq!(ids(&fast, text), ids(&naive, text), "{:?}", text);
                    }
                    prop_assert_eq!(tokens(&fast, text), tokens(&naive, text), "{:?}", text);
                    let shards = fast.shard_ranges(text, target);
                    let of_shard = |shard: &Range<usize>| shard_ids(&fast, &text[shard.clone()], shard.start == 0);
                    let of_shards: Vec<u32> = shards.iter().flat_map(of_shard).collect();
                    prop_assert_eq!(of_shards, ids(&naive, text), "{:?} in {:?}", text, shards);
                }
            }
        }
    }
}
