//! Added tokens that are looked for in normalized text, found in one chunk at a time.
//!
//! Exact because a token that is looked for could not be cut ([`Contents`](crate::added_tokens::Contents)), so it lies within the
//! normalized text of one chunk wherever it is found. So the chunk alone decides if it holds a token, and it is searched
//! when the cache misses it. Where ids alone are wanted, a chunk with added tokens has the ids of these and of its pre-tokens in
//! order, like any other chunk; where the places of tokens are wanted, the chunk takes the stages each time.

use std::borrow::Cow;
use std::ops::Range;

use super::chunk_encoder::{ChunkEncoder, Rewriter};
use super::encode::TextEncoding;
use super::metaspace_bpe::without_prefix;
use super::model_encoder::MissScratch;
use super::plan::{ChunkPlan, Scope};
use super::stages::{Stages, Visitor};
use crate::Result;
use crate::added_tokens::{AddedTokens, Segment};
use crate::cache::{ChunkKind, ChunkTokens, KeyForm};
use crate::metaspace::push_visible;
use crate::normalized::{Normalized, PreTokenized};
use crate::sinks::Sink;

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

    /// Encodes a chunk that holds added tokens into `out`, whose spans mean nothing. Where chunks take all stages, a chunk that may be a part of
    /// another becomes context-dependent: after an added token, the rest of a chunk begins a pre-token.
    ///
    /// # Errors
    /// The errors of the stages and of the model.
    pub(super) fn encode(
        &self,
        encoder: &ChunkEncoder<'_>,
        chunk: &str,
        kind: ChunkKind,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let text = match encoder.rewriter {
            Rewriter::Stages(stages) => {
                if stages.may_be_part(kind) {
                    out.set_context_dependent();
                    return Ok(());
                }
                let normalized = stages.normalize(chunk, 0, true)?;
                if !stages.is_context_free(chunk, &normalized)? {
                    out.set_context_dependent();
                    return Ok(());
                }
                normalized.into_text()
            }
            Rewriter::Bert(_) => self.stages.normalize(chunk, 0, false)?.into_text(),
            // Text before a pre-tokenizer was searched already, so only `Rewriter::None` comes here.
            Rewriter::None | Rewriter::PreTokenizer(_) | Rewriter::Original(_) => {
                let mut visible = String::new();
                push_visible(chunk, &mut visible);
                Cow::Owned(visible)
            }
        };
        let text = Normalized::new(&text, 0, false);
        self.stages.matchers.normalized.segments(text.text(), |Segment { start, end, token }| {
            if let Some(id) = token {
                out.ids.push(id);
                return Ok(());
            }
            let cut = match encoder.rewriter {
                Rewriter::Stages(_) => self.stages.cut(text.slice(start..end), KeyForm::Text)?,
                Rewriter::None | Rewriter::Bert(_) | Rewriter::PreTokenizer(_) | Rewriter::Original(_) => {
                    PreTokenized::new(text.slice(start..end))
                }
            };
            cut.spans
                .iter()
                .try_for_each(|span| encoder.model.encode(cut.text.text(), span.clone(), false, scratch, out))
        })?;
        out.spans.clear();
        out.spans.resize(2 * out.ids.len(), 0);
        out.is_regular = false;
        Ok(())
    }
}

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes the first chunk of `range`, which holds added tokens, by the stages; returns its end.
    pub(super) fn encode_chunk_with_added(&mut self, plan: ChunkPlan, range: Range<usize>) -> Result<usize> {
        let mut ends = [0];
        let found = plan
            .splitter()
            .map_or(0, |splitter| splitter.fill_spans(&self.text[range.clone()], 0, &mut [0], &mut ends));
        let end = if found > 0 { range.start + ends[0] as usize } else { range.end };
        let (pipeline, text) = (self.pipeline, self.text);
        let chunk = range.start..end;
        if matches!(plan.scope, Scope::WithoutMetaspace { .. }) {
            let normalizer = pipeline.stages().normalizer.as_ref().and_then(without_prefix);
            let normalized = Normalized::new(&text[chunk], range.start, S::TRACKED);
            let normalized =
                normalizer.map_or(Ok(normalized.clone()), |normalizer| normalizer.normalize(normalized))?;
            self.encode_joined_words(&normalized)?;
        } else {
            pipeline.stages().walk_segment(pipeline.walk(text, self.is_first, S::TRACKED), chunk, self)?;
        }
        Ok(end)
    }

    /// Encodes normalized text in which nothing but added tokens ends a word.
    pub(super) fn encode_joined_words(&mut self, text: &Normalized<'_>) -> Result<()> {
        let pipeline = self.pipeline;
        pipeline.stages().matchers.normalized.segments(text.text(), |Segment { start, end, token }| {
            let Some(id) = token else {
                self.is_in_word = true;
                return self.encode_pre_token(text, start..end);
            };
            self.end_word();
            self.added_token(id, text, start..end)
        })
    }

    /// Ends the word, if there is one: the text that follows gets the next word id.
    pub(super) fn end_word(&mut self) {
        self.word_id += u32::from(std::mem::take(&mut self.is_in_word));
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
