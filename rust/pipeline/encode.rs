//! Encoding: walks a text through the stages and sends chunks through the cache wherever the plan allows it.

use std::ops::Range;

use super::chunk_stream::ChunkStream;
use super::compiled::{Pipeline, check_length};
use super::model_encoder::Worker;
use super::plan::{ChunkPlan, Chunker, Plan, Rewrite, Scope};
use super::stages::Visitor;
use crate::Result;
use crate::cache::key::is_cut;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::scan::Scan;
use crate::scan::spaces::Spaces;
use crate::sinks::Sink;

impl Pipeline {
    /// Encodes `text` into `sink`, without special tokens.
    ///
    /// # Errors
    /// [`Error::TextTooLong`](crate::Error) above 2 GiB; those of the stages and of the model.
    pub fn encode<S: Sink>(&self, text: &str, worker: &mut Worker, sink: &mut S) -> Result<()> {
        self.encode_shard(text, true, worker, sink)
    }

    /// As [`Self::encode`], for one of [`Self::shards`]: `text` is the bytes of the shard alone, and `is_first` says whether
    /// they begin the text. Offsets count from the shard, and word ids mean nothing. A caller with a random model calls
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
    is_first: bool,
    /// The next word id.
    pub(super) word_id: u32,
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
            Scope::Unchanged => return Ok(false),
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
                self.word_id += 1;
            }
        }
        Ok(true)
    }

    fn unchanged(&mut self, range: Range<usize>) -> Result<bool> {
        match self.pipeline.plan() {
            Plan::Chunked(plan @ ChunkPlan { scope: Scope::Unchanged, .. }) => {
                self.encode_chunks(plan, range, 1)?;
                Ok(true)
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
        Self { pipeline, text, is_first: true, word_id, worker, sink }
    }

    /// Encodes the chunks at `range` of the original text; each has a word id `step` above the one before.
    fn encode_chunks(&mut self, plan: ChunkPlan, range: Range<usize>, step: u32) -> Result<()> {
        let (text, start, encoder) = (self.text, range.start, self.pipeline.chunk_encoder());
        let mut stream = ChunkStream::new(encoder, text, self.worker, self.sink, self.word_id, step);
        match plan.chunker {
            Chunker::Splitter(splitter) => {
                splitter.for_each_block(&text[range], |starts, ends| stream.take(start, starts, ends));
            }
            Chunker::PreTokenizer => {
                let cut =
                    self.pipeline.stages().cut(Normalized::new(&text[range], 0, false), plan.key_form)?;
                let starts: Vec<u32> = cut.spans.iter().map(|span| span.start as u32).collect();
                let ends: Vec<u32> = cut.spans.iter().map(|span| span.end as u32).collect();
                stream.take(start, &starts, &ends);
            }
        }
        self.word_id = stream.finish()?;
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
        self.encode_pre_token(&normalized, 0..normalized.text().len())?;
        Ok(segment.start + first.len())
    }

    /// Encodes one pre-token of text that stages have changed; a long one is cut at the model's cut points.
    pub(super) fn encode_pre_token(&mut self, text: &Normalized<'_>, pre_token: Range<usize>) -> Result<()> {
        let encoder = self.pipeline.encoder();
        let (bytes, Worker { cache, scratch }) = (text.text().as_bytes(), &mut *self.worker);
        let len = pre_token.len();
        let is_cut = is_cut(bytes, pre_token.clone());
        let cuts = if is_cut { encoder.cut_points(len) } else { None };
        let mut start = pre_token.start;
        while start < pre_token.end {
            let end = cuts.map_or(pre_token.end, |cuts| cuts.fragment_end(bytes, start, pre_token.end));
            let in_context = encoder.in_context(&pre_token, start, end);
            let miss = |range, out: &mut _| encoder.encode(text.text(), range, in_context, scratch, out);
            // A chunk of original text may have the bytes of a pre-token and other tokens, so the two have different keys.
            let has_own_key = in_context || self.pipeline.rewrites_chunks();
            let lookup = cache.prefetch(bytes, start, end, self.word_id, has_own_key);
            let tokens = cache.resolve(lookup, bytes, miss)?;
            self.sink.pre_token(tokens, text, start..end, self.word_id);
            start = end;
        }
        Ok(())
    }
}
