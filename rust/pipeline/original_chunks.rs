//! Chunks of text that its normalizer has not changed yet, for ids alone.
//!
//! The images of single characters (`normalizers::compiled::images`) say where such text may be cut. A missed chunk takes the normalizer and
//! the pre-tokenizer, and the model takes each pre-token that the cache does not know. So the normalizer never sees text whose chunks the
//! cache knows. Where places of tokens are wanted, the whole text is normalized first.

use super::chunk_pre_tokenizer::encode_unplaced;
use super::model_encoder::ModelEncoder;
use super::plan::{ChunkPlan, Rewrite, Scope};
use super::scratch::MissScratch;
use super::stages::Stages;
use crate::Result;
use crate::added_tokens::Segment;
use crate::cache::{ChunkCache, ChunkKind, ChunkTokens};
use crate::metaspace::VISIBLE_SPACE;
use crate::normalizers::CompiledNormalizer;

/// The stages that a missed chunk of original text goes through.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginalChunks<'a> {
    pub(super) normalizer: &'a CompiledNormalizer,
    pub(super) stages: &'a Stages,
    pub(super) plan: ChunkPlan,
}

impl OriginalChunks<'_> {
    /// Encodes a chunk into `out`, whose spans mean nothing. A chunk that grows too much is marked as context-dependent, since a
    /// segment has a bound on growth, and a chunk has none.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer and of the model.
    pub(super) fn encode(
        &self,
        chunk: &str,
        model: &ModelEncoder,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let mut buffer = std::mem::take(&mut scratch.normalized);
        let text = self.normalizer.rewrite_inner(chunk, &mut scratch.piece_memo, &mut buffer);
        let result = if let Some(text) = text {
            let added = &self.stages.matchers.normalized;
            added.segments(text, &mut |Segment { start, end, token }| match token {
                Some(id) => {
                    out.ids.push(id);
                    Ok(())
                }
                None => self.encode_normalized(&text[start..end], model, cache, scratch, out),
            })
        } else {
            out.set_context_dependent();
            Ok(())
        };
        scratch.normalized = buffer;
        result
    }

    /// Encodes normalized text without added tokens.
    fn encode_normalized(
        &self,
        text: &str,
        model: &ModelEncoder,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let kind = match self.plan.rewrite {
            Rewrite::None => ChunkKind::in_context,
            _ => ChunkKind::of_pre_token,
        };
        let mut spans = std::mem::take(&mut scratch.spans);
        spans.clear();
        let result = if let Some(splitter) = self.plan.splitter().filter(|_| self.is_cut_by_scanner(text)) {
            // Most chunks are short.
            splitter.for_each_span_scalar(text, &mut |start, end| spans.push(start..end));
            encode_unplaced((text, &spans), kind, model, cache, scratch, out)
        } else {
            self.stages
                .pre_tokens(text, self.plan.key_form, &mut spans)
                .and_then(|text| encode_unplaced((&text, &spans), kind, model, cache, scratch, out))
        };
        scratch.spans = spans;
        result
    }

    /// True if the scanner of the plan cuts a normalized chunk as the pre-tokenizer does. Unlike the scanner, Metaspace puts a prefix
    /// before text that begins with no space, and cuts before U+2581 too.
    fn is_cut_by_scanner(&self, text: &str) -> bool {
        !matches!(self.plan.scope, Scope::Fronted { .. })
            || text.starts_with(' ') && !text.contains(VISIBLE_SPACE)
    }
}
