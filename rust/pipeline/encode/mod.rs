//! Encoding: walks a text through the stages and sends chunks through the cache wherever the plan allows it.

mod added;
mod fronted;
mod original;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::Result;
use crate::cache::ChunkKind;
use crate::cache::key::is_cut;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::normalizers::Normalizer;
use crate::pipeline::aligned_sink::AlignedSink;
use crate::pipeline::chunk_stream::{ChunkStream, FIRST_SPANS, SPANS};
use crate::pipeline::compiled::Pipeline;
use crate::pipeline::fronted::repeats_normalizer;
use crate::pipeline::late_stream::LateStream;
use crate::pipeline::plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
use crate::pipeline::scratch::Worker;
use crate::pipeline::stages::Visitor;
use crate::pipeline::text_length::check_length;
use crate::scan::Scan;
use crate::scan::spaces::Spaces;
use crate::sinks::{ColumnSink, Sink, TokenStore};

impl Pipeline {
    /// Encodes `text` into `sink`, without special tokens.
    ///
    /// # Errors
    /// [`Error::TextTooLong`](crate::Error) from 2 GiB on; the errors of the stages and of the model.
    pub fn encode<S: Sink>(&self, text: &str, worker: &mut Worker, sink: &mut S) -> Result<()> {
        self.encode_shard(text, true, worker, sink)
    }

    /// Encodes `text` into columns with byte offsets, without special tokens.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_columns(
        &self,
        text: &str,
        worker: &mut Worker,
        columns: &mut impl TokenStore,
    ) -> Result<()> {
        let mut sink = ColumnSink {
            columns,
            token_lens: self.token_lens(),
            text,
            model: self.model(),
            skipped_word_ids: self.skipped_word_ids(),
        };
        self.encode(text, worker, &mut sink)
    }

    /// As [`Self::encode`], for one of [`Self::shards`]: `text` is the bytes of the shard alone, and `is_first` is true
    /// if they begin the text. Offsets count from the shard, and word ids mean nothing. A caller with a random model calls
    /// [`Self::seed_row`] first.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_shard<S: Sink>(
        &self,
        text: &str,
        is_first: bool,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        check_length(text.len())?;
        let mut encoding = TextEncoding { is_first, ..TextEncoding::new(self, text, 0, worker, sink) };
        self.stages().walk(self.walk(text, is_first, S::TRACKED), &mut encoding)
    }
}

/// The encoding of one text.
pub(super) struct TextEncoding<'a, S> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) text: &'a str,
    pub(super) is_first: bool,
    /// The next word id.
    pub(super) word_id: u32,
    /// True if text with the word id `word_id` was sent, where chunks have no word ids of their own.
    pub(super) is_in_word: bool,
    pub(super) worker: &'a mut Worker,
    pub(super) sink: &'a mut S,
}

impl<S: Sink> Visitor for TextEncoding<'_, S> {
    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        self.sink.added_token(id, text, range, self.word_id);
        self.word_id += 1;
        Ok(())
    }

    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        self.encode_pre_token(text, range)?;
        self.word_id += 1;
        Ok(())
    }

    fn segment(&mut self, range: Range<usize>) -> Result<bool> {
        let Plan::Chunked(plan) = self.pipeline.plan() else { return Ok(false) };
        match plan.scope {
            Scope::Unchanged | Scope::Fronted { .. } => {
                return if S::TRACKED { Ok(false) } else { self.encode_original(range) };
            }
            Scope::All if plan.rewrite == Rewrite::Stages => return self.encode_unigram(plan, range),
            Scope::All => self.encode_chunks(plan, range, 1)?,
            Scope::WithoutMetaspace { has_prefix } => {
                let mut buffer = [0; 4];
                let visible_space = VISIBLE_SPACE.encode_utf8(&mut buffer).as_bytes();
                if memchr::memmem::find(&self.text.as_bytes()[range.clone()], visible_space).is_some() {
                    return Ok(false);
                }
                let start = self.encode_prefixed(has_prefix, range.clone())?;
                self.encode_chunks(plan, start..range.end, 0)?;
                self.end_word();
            }
        }
        Ok(true)
    }

    fn normalize<'t>(&mut self, normalizer: &Normalizer, text: Normalized<'t>) -> Result<Normalized<'t>> {
        let stages = self.pipeline.stages();
        if self.pipeline.plan().chunked().is_some_and(|plan| repeats_normalizer(plan, stages)) {
            return Ok(text);
        }
        match self.pipeline.compiled_normalizer() {
            Some(compiled) if !S::TRACKED => {
                let is_placed = stages.looks_at_beginning();
                compiled.normalize(text, is_placed, &mut self.worker.scratch.piece_memo)
            }
            _ => normalizer.normalize(text),
        }
    }

    fn unchanged(&mut self, range: Range<usize>) -> Result<bool> {
        match self.pipeline.plan() {
            Plan::Chunked(plan) if S::TRACKED && plan.is_for_ids_alone() => Ok(false),
            Plan::Chunked(plan @ ChunkPlan { scope: Scope::Unchanged, .. }) => {
                self.encode_chunks(plan, range, 1)?;
                Ok(true)
            }
            Plan::Chunked(plan @ ChunkPlan { scope: Scope::Fronted { .. }, .. }) => {
                let text = Normalized::new(&self.text[range.clone()], range.start, S::TRACKED);
                self.encode_fronted(plan, &text, |encoding, plan, front, step| {
                    encoding.encode_chunks(plan, range.start + front..range.end, step)
                })
            }
            Plan::Chunked(_) | Plan::Staged => Ok(false),
        }
    }

    fn normalized(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<bool> {
        match self.pipeline.plan() {
            Plan::Chunked(plan) if S::TRACKED && plan.is_for_ids_alone() => Ok(false),
            Plan::Chunked(plan @ ChunkPlan { scope: Scope::Unchanged, .. }) => {
                self.encode_normalized_chunks(plan, text, range, 1)?;
                Ok(true)
            }
            Plan::Chunked(plan @ ChunkPlan { scope: Scope::Fronted { .. }, .. }) => {
                self.encode_fronted(plan, &text.slice(range.clone()), |encoding, plan, front, step| {
                    encoding.encode_normalized_chunks(plan, text, range.start + front..range.end, step)
                })
            }
            Plan::Chunked(_) | Plan::Staged => Ok(false),
        }
    }
}

impl<'a, S: Sink> TextEncoding<'a, S> {
    /// The encoding of a text whose next word id is `word_id`.
    pub(super) fn new(
        pipeline: &'a Pipeline,
        text: &'a str,
        word_id: u32,
        worker: &'a mut Worker,
        sink: &'a mut S,
    ) -> Self {
        Self { pipeline, text, is_first: true, word_id, is_in_word: false, worker, sink }
    }

    /// Encodes the chunks at `range` of the original text; each has a word id `step` above the one before.
    fn encode_chunks(&mut self, plan: ChunkPlan, range: Range<usize>, step: u32) -> Result<()> {
        let (mut start, mut spans) = (range.start, SPANS);
        while start < range.end {
            let (chunks, word_ids) = ((self.text, start..range.end), (self.word_id, step));
            let (word_id, unresolved) =
                encode_chunks(self.pipeline, plan, chunks, spans, word_ids, self.worker, self.sink)?;
            self.word_id = word_id;
            let end = unresolved.unwrap_or(range.end);
            self.is_in_word |= end > start;
            start = match unresolved {
                Some(unresolved) => self.encode_chunk_with_added(plan, unresolved..range.end)?,
                None => range.end,
            };
            spans = FIRST_SPANS;
        }
        Ok(())
    }

    /// Encodes the chunks at `range` of `text`, which the normalizer has changed. Each has the key of a chunk of original
    /// text with the same bytes.
    fn encode_normalized_chunks(
        &mut self,
        plan: ChunkPlan,
        text: &Normalized<'_>,
        range: Range<usize>,
        step: u32,
    ) -> Result<()> {
        let (pipeline, word_ids, chunks) = (self.pipeline, (self.word_id, step), (text.text(), range));
        (self.word_id, _) = if S::TRACKED {
            let mut sink = AlignedSink { sink: &mut *self.sink, text };
            encode_chunks(pipeline, plan, chunks, SPANS, word_ids, self.worker, &mut sink)?
        } else {
            self.sink.begin_normalized();
            let encoded = encode_chunks(pipeline, plan, chunks, SPANS, word_ids, self.worker, self.sink)?;
            self.sink.end_normalized();
            encoded
        };
        Ok(())
    }

    /// Encodes the first chunk of a segment that gets the normalizer's prefix; returns where the next chunk begins.
    fn encode_prefixed(&mut self, has_prefix: bool, segment: Range<usize>) -> Result<usize> {
        let continues = !self.is_first && segment.start == 0;
        if !has_prefix || continues {
            return Ok(segment.start);
        }
        let piece = &self.text[segment.clone()];
        let first = &piece[..Spaces::advance(piece, 0)];
        let normalized = self.pipeline.stages().normalize(first, segment.start, S::TRACKED)?;
        self.encode_joined_words(&normalized)?;
        Ok(segment.start + first.len())
    }

    /// Encodes one pre-token of text that stages have changed; a long one is cut at the model's cut points.
    pub(super) fn encode_pre_token(&mut self, text: &Normalized<'_>, pre_token: Range<usize>) -> Result<()> {
        let encoder = self.pipeline.encoder();
        let (bytes, Worker { cache, scratch, .. }) = (text.text().as_bytes(), &mut *self.worker);
        let is_cut = is_cut(bytes, pre_token.clone());
        if is_cut && let Some(steps) = encoder.two_steps(pre_token.len()) {
            return steps.for_each_part(text.text(), pre_token, cache, scratch, |part, tokens| {
                self.sink.pre_token(tokens, text, part, self.word_id);
            });
        }
        let cuts = if is_cut { encoder.cut_points(pre_token.len()) } else { None };
        encoder.for_each_fragment(bytes, pre_token, cuts, |fragment, in_context| {
            let kind = if in_context || self.pipeline.rewrites_chunks() {
                ChunkKind::of_pre_token(in_context)
            } else {
                ChunkKind::Chunk
            };
            let lookup = cache.prefetch(bytes, fragment.start, fragment.end, self.word_id, kind);
            let miss = |range, out: &mut _| encoder.encode(text.text(), range, in_context, scratch, out);
            let tokens = cache.resolve(lookup, bytes, miss)?;
            self.sink.pre_token(tokens, text, fragment, self.word_id);
            Ok(())
        })
    }
}

/// Encodes the chunks at `range` of `text` with the first word id and the step between word ids, `spans` of them first; returns the
/// next word id, and the start of the first chunk that needs the stages.
fn encode_chunks<S: Sink>(
    pipeline: &Pipeline,
    plan: ChunkPlan,
    (text, range): (&str, Range<usize>),
    spans: usize,
    (word_id, step): (u32, u32),
    worker: &mut Worker,
    sink: &mut S,
) -> Result<(u32, Option<usize>)> {
    let start = range.start;
    let (encoder, stages) = (pipeline.chunk_encoder(), pipeline.stages());
    if !S::TRACKED
        && let Some((steps, pre_tokenizer)) = encoder.two_steps_of_chunks()
        && let Some(seams) = steps.seams(stages, range.len())
    {
        LateStream::new(steps, seams, pre_tokenizer, &text[..range.end], sink).encode(start, worker)?;
        return Ok((word_id, None));
    }
    let mut stream = ChunkStream::new(encoder, text, worker, sink, word_id, step);
    match (plan.chunker, &stages.cuts) {
        (Chunker::Splitter(splitter), _) => stream.scan(splitter, &text[..range.end], start, spans),
        (Chunker::Seams, _) => {
            let for_ids = if S::TRACKED { None } else { pipeline.seams_for_ids(range.len()) };
            if let Some(seams) = for_ids.or_else(|| stages.seams()) {
                stream.scan_seams(seams, &text[..range.end], start);
            }
        }
        (Chunker::PreTokenizer, Some(cuts)) => {
            cuts.for_each_block(&text[range], |starts, ends| stream.take(start, starts, ends))?;
        }
        (Chunker::PreTokenizer, None) => {
            let cut = stages.cut(Normalized::new(&text[range], 0, false), plan.key_form)?;
            let starts: Vec<u32> = cut.spans.iter().map(|span| span.start as u32).collect();
            let ends: Vec<u32> = cut.spans.iter().map(|span| span.end as u32).collect();
            stream.take(start, &starts, &ends);
        }
    }
    Ok((stream.finish()?, stream.unresolved()))
}
