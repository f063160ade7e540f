//! The ids of text in two steps, without a search for its pre-tokens: early merges in chunks that the cache knows, then late merges of
//! the chunks' tokens ([`LateMerges`]).
//!
//! The first step cuts the text at seams: the stages keep these places, and no early merge crosses them. So a chunk is a word, which
//! repeats, and a pre-token is a phrase, which does not. A late merge may cross a seam, unless the pre-tokenizer cuts there. Since the
//! stages keep both ends of two neighbouring chunks, these chunks alone tell if the pre-tokenizer cuts.

use std::ops::Range;

use super::chunk_pre_tokenizer::ChunkPreTokenizer;
use super::scratch::{MissScratch, Worker};
use super::two_steps::{Run, TwoSteps};
use crate::Result;
use crate::cache::{CachedTokens, ChunkCache, ChunkKind, ChunkTokens, Lookup, NEW_PRE_TOKEN};
use crate::models::bpe::Border;
#[cfg(doc)]
use crate::models::bpe::LateMerges;
use crate::scan::seams::Seams;
use crate::sinks::Sink;

/// Chunks that are looked for at a time.
const SPANS: usize = 128;

/// Lookups in flight at a time.
const BATCH: usize = 32;

/// One text on its way through both steps.
pub(super) struct LateStream<'a, S> {
    steps: &'a TwoSteps,
    seams: &'a Seams,
    pre_tokenizer: ChunkPreTokenizer<'a>,
    text: &'a str,
    sink: &'a mut S,
    /// Tokens of both steps; the ones from the start of `run` on may still be merged.
    tokens: ChunkTokens,
    run: Run,
    /// The chunk of the last token.
    chunk: Lookup,
}

impl<'a, S: Sink> LateStream<'a, S> {
    pub(super) fn new(
        steps: &'a TwoSteps,
        seams: &'a Seams,
        pre_tokenizer: ChunkPreTokenizer<'a>,
        text: &'a str,
        sink: &'a mut S,
    ) -> Self {
        let tokens = ChunkTokens { is_regular: true, ..ChunkTokens::default() };
        Self {
            steps,
            seams,
            pre_tokenizer,
            text,
            sink,
            tokens,
            run: Run::default(),
            chunk: Lookup::default(),
        }
    }

    /// Encodes the text from the seam `from` on.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer and of the model.
    pub(super) fn encode(&mut self, from: usize, worker: &mut Worker) -> Result<()> {
        let text = &self.text[from..];
        let (mut starts, mut ends, mut done) = ([0; SPANS], [0; SPANS], 0);
        self.tokens.ids = std::mem::take(&mut worker.scratch.fragment_ids);
        self.tokens.ids.clear();
        loop {
            let found = self.seams.fill_spans(text, done, &mut starts, &mut ends);
            if found == 0 {
                break;
            }
            self.take(from, (&starts[..found], &ends[..found]), worker)?;
            done = ends[found - 1] as usize;
        }
        self.close(&mut worker.scratch);
        self.emit(self.tokens.ids.len());
        worker.scratch.fragment_ids = std::mem::take(&mut self.tokens.ids);
        Ok(())
    }

    fn take(&mut self, base: usize, (starts, ends): (&[u32], &[u32]), worker: &mut Worker) -> Result<()> {
        let (text, mut at, mut lookups) = (self.text.as_bytes(), 0, [Lookup::default(); BATCH]);
        while at < starts.len() {
            let bounds = (&starts[at..], &ends[at..]);
            let count = worker.cache.prefetch_many::<false>(
                text,
                base,
                bounds,
                (0, 0),
                ChunkKind::EarlyChunk,
                &mut lookups,
            );
            worker.cache.note_batch(&lookups[..count], text);
            for &lookup in &lookups[..count] {
                self.take_chunk(lookup, worker)?;
            }
            if count == 0 {
                self.take_long(base + starts[at] as usize..base + ends[at] as usize, worker)?;
            }
            at += count.max(1);
            self.emit(self.run.start);
        }
        Ok(())
    }

    #[inline]
    fn take_chunk(&mut self, chunk: Lookup, Worker { cache, scratch, .. }: &mut Worker) -> Result<()> {
        let slot = cache.get_short(&chunk).and_then(|slot| Some((slot, slot.count(true)?)));
        if let Some((slot, count)) = slot {
            let ids = cache.packing().unpack(slot);
            // Most chunks are one token.
            if let [id] = ids[..count] {
                let border = self.border_between(id, chunk, scratch)?;
                self.push(id, border, scratch);
                self.chunk = chunk;
                return Ok(());
            }
            return self.push_chunk(CachedTokens { ids: &ids[..count], spans: None }, chunk, scratch);
        }
        self.take_miss(chunk, cache, scratch)
    }

    #[inline(never)]
    fn take_miss(&mut self, chunk: Lookup, cache: &mut ChunkCache, scratch: &mut MissScratch) -> Result<()> {
        let (steps, pre_tokenizer, text) = (self.steps, self.pre_tokenizer, self.text);
        let miss = |chunk: Range<usize>, out: &mut ChunkTokens| {
            let base = chunk.start;
            let each = |pre_token: Range<usize>| {
                let (first, range) = (out.ids.len(), base + pre_token.start..base + pre_token.end);
                steps.early().encode(text, range, false, scratch, out)?;
                if let (Some(start), true) = (out.spans.get_mut(2 * first), first > 0) {
                    *start |= NEW_PRE_TOKEN;
                    out.is_regular = false;
                }
                Ok(())
            };
            pre_tokenizer.for_each_pre_token(&text[chunk], each).map(|_| ())
        };
        let tokens = cache.resolve(chunk, text.as_bytes(), miss)?;
        self.push_chunk(tokens, chunk, scratch)
    }

    /// Takes a chunk that is better cut.
    #[inline(never)]
    fn take_long(&mut self, chunk: Range<usize>, Worker { cache, scratch, .. }: &mut Worker) -> Result<()> {
        let (pre_tokenizer, text, base) = (self.pre_tokenizer, self.text, chunk.start);
        let (chunk, mut is_first) = (Lookup::uncached(chunk, 0), true);
        pre_tokenizer.for_each_pre_token(&text[base..chunk.end as usize], |pre_token| {
            let range = base + pre_token.start..base + pre_token.end;
            self.take_pre_token(range, (chunk, is_first), cache, scratch)?;
            is_first = false;
            Ok(())
        })?;
        if !is_first {
            self.chunk = chunk;
        }
        Ok(())
    }

    /// Takes a pre-token of a chunk, perhaps its first one.
    fn take_pre_token(
        &mut self,
        pre_token: Range<usize>,
        (chunk, is_first): (Lookup, bool),
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
    ) -> Result<()> {
        let (steps, text, mut start) = (self.steps, self.text, pre_token.start);
        while start < pre_token.end {
            let end = steps.fragments().fragment_end(text.as_bytes(), start, pre_token.end);
            let fragment = cache.prefetch(text.as_bytes(), start, end, 0, ChunkKind::Early);
            let miss = |range, out: &mut _| steps.early().encode(text, range, false, scratch, out);
            let tokens = cache.resolve(fragment, text.as_bytes(), miss)?;
            for (index, &id) in tokens.ids.iter().enumerate() {
                let border = if start > pre_token.start || index > 0 {
                    self.border_before(id)
                } else if is_first {
                    self.border_between(id, chunk, scratch)?
                } else {
                    Border::Closed
                };
                self.push(id, border, scratch);
            }
            start = end;
        }
        Ok(())
    }

    #[inline(never)]
    fn push_chunk(
        &mut self,
        tokens: CachedTokens<'_>,
        chunk: Lookup,
        scratch: &mut MissScratch,
    ) -> Result<()> {
        let Some((&first, rest)) = tokens.ids.split_first() else { return Ok(()) };
        let border = self.border_between(first, chunk, scratch)?;
        self.push(first, border, scratch);
        for (index, &id) in rest.iter().enumerate() {
            let begins = tokens.spans.is_some_and(|spans| spans[2 * (index + 1)] & NEW_PRE_TOKEN != 0);
            let border = if begins { Border::Closed } else { self.border_before(id) };
            self.push(id, border, scratch);
        }
        self.chunk = chunk;
        Ok(())
    }

    /// The border between the last token and a next one of the same pre-token.
    #[inline]
    fn border_before(&self, id: u32) -> Border {
        self.tokens.ids.last().map_or(Border::Closed, |&last| self.steps.border(last, id))
    }

    /// The border between the last token and the first one of `chunk`.
    #[inline]
    fn border_between(&self, id: u32, chunk: Lookup, scratch: &mut MissScratch) -> Result<Border> {
        let border = self.border_before(id);
        let is_open = border != Border::Closed && !self.is_cut_before(chunk, scratch)?;
        Ok(if is_open { border } else { Border::Closed })
    }

    /// Appends a token after a border.
    #[inline]
    fn push(&mut self, id: u32, border: Border, scratch: &mut MissScratch) {
        if border == Border::Closed {
            self.close(scratch);
            self.run.start = self.tokens.ids.len();
        }
        self.run.last = border;
        self.tokens.ids.push(id);
    }

    #[inline]
    fn close(&mut self, scratch: &mut MissScratch) {
        self.steps.close(&mut self.run, scratch, &mut self.tokens);
    }

    /// True if no pre-token begins in the last chunk and ends in `chunk`.
    fn is_cut_before(&self, chunk: Lookup, scratch: &mut MissScratch) -> Result<bool> {
        // Text without tokens lies between the two.
        if self.chunk.end != chunk.start {
            return Ok(true);
        }
        if self.seams.are_joined(self.text.as_bytes(), chunk.start as usize) {
            return Ok(false);
        }
        let pair = [self.chunk, chunk];
        if !(self.chunk.is_short() && chunk.is_short()) {
            return self.search(chunk);
        }
        let (place, keys) = (scratch.cuts.place(&pair), pair.map(|chunk| chunk.short_key()));
        if place.0 != keys {
            *place = (keys, self.search(chunk)?);
        }
        Ok(place.1)
    }

    #[inline(never)]
    fn search(&self, chunk: Lookup) -> Result<bool> {
        let (start, end) = (self.chunk.start as usize, chunk.end as usize);
        let (seam, mut is_cut) = (chunk.start as usize - start, true);
        self.pre_tokenizer.for_each_pre_token(&self.text[start..end], |pre_token| {
            is_cut &= !(pre_token.start < seam && seam < pre_token.end);
            Ok(())
        })?;
        Ok(is_cut)
    }

    /// Hands the first `count` tokens over.
    fn emit(&mut self, count: usize) {
        let ids = &self.tokens.ids[..count];
        // The chunks of tokens that were merged are forgotten.
        self.sink.chunk(CachedTokens { ids, spans: None }, 0..0, 0);
        self.tokens.ids.drain(..count);
        self.run.start -= count.min(self.run.start);
    }
}
