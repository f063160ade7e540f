//! Encodes chunks that hold added tokens.

use std::borrow::Cow;
use std::ops::Range;

use super::TextEncoding;
use crate::Result;
use crate::added_tokens::Segment;
use crate::cache::{ChunkKind, ChunkTokens, KeyForm};
use crate::metaspace::push_visible;
use crate::normalized::{Normalized, PreTokenized};
use crate::pipeline::added_in_chunks::AddedInChunks;
use crate::pipeline::chunk_encoder::{ChunkEncoder, Rewriter};
use crate::pipeline::metaspace_bpe::without_prefix;
use crate::pipeline::plan::{ChunkPlan, Scope};
use crate::pipeline::scratch::MissScratch;
use crate::pipeline::stages::Visitor;
use crate::sinks::Sink;

impl ChunkEncoder<'_> {
    /// Encodes a chunk that holds added tokens into `out`, whose spans mean nothing. Where chunks take all stages, a chunk that may be a part of
    /// another becomes context-dependent: after an added token, the rest of a chunk begins a pre-token.
    ///
    /// # Errors
    /// The errors of the stages and of the model.
    pub(in crate::pipeline) fn encode_with_added(
        &self,
        added: AddedInChunks<'_>,
        chunk: &str,
        kind: ChunkKind,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let text = match self.rewriter {
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
            Rewriter::Bert(_) => added.stages.normalize(chunk, 0, false)?.into_text(),
            // Text before a pre-tokenizer was searched already, so only `Rewriter::None` comes here.
            Rewriter::None | Rewriter::PreTokenizer(_) | Rewriter::Original(_) => {
                let mut visible = String::new();
                push_visible(chunk, &mut visible);
                Cow::Owned(visible)
            }
        };
        let text = Normalized::new(&text, 0, false);
        added.stages.matchers.normalized.segments(text.text(), &mut |Segment { start, end, token }| {
            if let Some(id) = token {
                out.ids.push(id);
                return Ok(());
            }
            let cut = match self.rewriter {
                Rewriter::Stages(_) => added.stages.cut(text.slice(start..end), KeyForm::Text)?,
                Rewriter::None | Rewriter::Bert(_) | Rewriter::PreTokenizer(_) | Rewriter::Original(_) => {
                    PreTokenized::new(text.slice(start..end))
                }
            };
            cut.spans
                .iter()
                .try_for_each(|span| self.model.encode(cut.text.text(), span.clone(), false, scratch, out))
        })?;
        out.spans.clear();
        out.spans.resize(2 * out.ids.len(), 0);
        out.is_regular = false;
        Ok(())
    }
}

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes the first chunk of `range`, which holds added tokens, by the stages; returns its end.
    pub(in crate::pipeline) fn encode_chunk_with_added(
        &mut self,
        plan: ChunkPlan,
        range: Range<usize>,
    ) -> Result<usize> {
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
    pub(in crate::pipeline) fn encode_joined_words(&mut self, text: &Normalized<'_>) -> Result<()> {
        let pipeline = self.pipeline;
        pipeline.stages().matchers.normalized.segments(text.text(), &mut |Segment { start, end, token }| {
            let Some(id) = token else {
                self.is_in_word = true;
                return self.encode_pre_token(text, start..end);
            };
            self.end_word();
            self.added_token(id, text, start..end)
        })
    }

    /// Ends the word, if there is one: the text that follows gets the next word id.
    pub(in crate::pipeline) fn end_word(&mut self) {
        self.word_id += u32::from(std::mem::take(&mut self.is_in_word));
    }
}
