//! Chunks of text that its normalizer has not changed yet, for ids alone.
//!
//! The images of single characters (`normalizers::compiled::images`) say where such text may be cut. A missed chunk takes the normalizer and
//! the pre-tokenizer, and the model takes each pre-token that the cache does not know. So the normalizer never sees text whose chunks the
//! cache knows. Where places of tokens are wanted, the whole text is normalized first.

use std::ops::Range;

use super::chunk_stream::ChunkStream;
use super::compiled::Pipeline;
use super::encode::TextEncoding;
use super::fronted;
use super::model_encoder::{MissScratch, ModelEncoder};
use super::plan::{ChunkPlan, Rewrite, Scope};
use super::seamed::encode_unplaced;
use super::stages::Stages;
use crate::Result;
use crate::added_tokens::Segment;
use crate::cache::{ChunkCache, ChunkKind, ChunkTokens};
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::normalizers::CompiledNormalizer;
use crate::scan::seams::Seams;
use crate::sinks::Sink;

const IDEOGRAPH: char = '中';

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
            added.segments(text, |Segment { start, end, token }| match token {
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
            splitter.for_each_span_scalar(text, |start, end| spans.push(start..end));
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

/// True if more than a quarter of the bytes of a text are in characters of three bytes or more, as estimated from every 31st byte.
/// Chinese and Thai, whose chunks are long, are such text. Korean and Hindi are taken for it too, which costs speed alone.
fn is_mostly_long(text: &str) -> bool {
    let (mut leads, mut all) = (0, 0);
    for &byte in text.as_bytes().iter().step_by(31) {
        leads += usize::from(byte >= 0xe0);
        all += 1;
    }
    12 * leads > all
}

impl Pipeline {
    /// The seams of original text, if chunks may be made of it before the normalizer changes it, and if that is faster for `text`.
    fn original_seams(&self, text: &str) -> Option<&Seams> {
        // Every chunk would be a miss.
        if self.cache_limit() == 0 {
            return None;
        }
        let seams = self.original_seams_if_ready(text.len())?;
        // Long chunks seldom come again, so normalized text is faster where the model cuts them into fragments, which do.
        let has_fragments =
            || !seams.are_between(IDEOGRAPH) && self.encoder().cut_points(text.len()).is_some();
        (!(has_fragments() && is_mostly_long(text))).then_some(seams)
    }

    /// True if chunks may be made of text before the normalizer changes it.
    pub(super) fn has_original_seams(&self) -> bool {
        self.cache_limit() > 0 && self.original_seams_if_ready(self.price_of_seams()).is_some()
    }

    /// The seams of original text, once there was enough text to derive them, of which `len` bytes are to come.
    pub(super) fn original_seams_if_ready(&self, len: usize) -> Option<&Seams> {
        let normalizer = self.compiled_normalizer()?;
        let derive = || {
            let (stages, plan) = (self.stages(), self.plan().chunked()?);
            let added = &stages.matchers;
            let is_cut = matches!(plan.scope, Scope::Unchanged | Scope::Fronted { pre_tokens: Some(_) });
            let is_possible = is_cut && !fronted::repeats_normalizer(plan, stages);
            if !is_possible || added.normalized_contents().look_around || !self.model().is_deterministic() {
                return None;
            }
            let are_apart = self.model().apart_from_space();
            stages.pre_tokenizer.as_ref()?.seams_before(
                normalizer.images()?,
                added.normalized_texts(),
                are_apart.as_ref(),
            )
        };
        self.known_original_seams().get(len, self.price_of_seams(), derive)
    }
}

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes the chunks of a segment of original text; false if they cannot be.
    pub(super) fn encode_original(&mut self, range: Range<usize>) -> Result<bool> {
        let pipeline = self.pipeline;
        let (seams, encoder) =
            (pipeline.original_seams(&self.text[range.clone()]), pipeline.original_chunk_encoder());
        let (Some(seams), Some(encoder), Some(normalizer)) = (seams, encoder, pipeline.compiled_normalizer())
        else {
            return Ok(false);
        };
        let segment = &self.text[range.clone()];
        let mut inner = 0..segment.len();
        if normalizer.sees_ends() {
            let Some(between) = seams.part_between_ends(segment) else { return Ok(false) };
            inner = between;
        }
        let (first, last) = (&segment[..inner.start], &segment[inner.end..]);
        let (first, last) = (normalizer.rewrite_end(first, true), normalizer.rewrite_end(last, false));
        let (Some(first), Some(last)) = (first, last) else { return Ok(false) };
        self.encode_end(&first)?;
        let (start, end) = (range.start + inner.start, range.start + inner.end);
        let mut stream = ChunkStream::new(encoder, self.text, self.worker, self.sink, self.word_id, 1);
        stream.scan_seams(seams, &self.text[..end], start);
        let (word_id, unresolved) = (stream.finish()?, stream.unresolved());
        self.word_id = word_id;
        if let Some(unresolved) = unresolved {
            // The bound on growth is for the whole segment, so all of it is normalized.
            let normalized = pipeline.stages().normalize(segment, range.start, false)?;
            let done = normalizer.rewritten_len(segment, unresolved - range.start)?;
            self.encode_end(&normalized.text()[done..])?;
        } else {
            self.encode_end(&last)?;
        }
        Ok(true)
    }

    /// Encodes a normalized part of a segment, which may be empty, by the other stages.
    fn encode_end(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let (pipeline, text) = (self.pipeline, Normalized::new(text, 0, false));
        pipeline.stages().walk_normalized(&text, None, pipeline.plan().key_form(), self)
    }
}
