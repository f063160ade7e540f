//! The inner loop: chunks of the original text on their way through cache and sink.
//!
//! Lookups are collected in batches, so that memory fetches the slots of later chunks while earlier ones are read. A batch is
//! emitted in order: leading hits with inline ids are copied without further checks ([`Sink::emit_hits`]); any other lookup is
//! resolved, and a miss goes to the [`ChunkEncoder`].

use std::ops::Range;

use super::chunk_encoder::{ChunkEncoder, Rewriter};
use super::chunk_pre_tokenizer::ChunkPreTokenizer;
use super::scratch::Worker;
use super::unigram::{ChunkStages, IsolatedChars, IsolatedRun, SubChunk, SubChunks};
use crate::Result;
use crate::cache::key::{SHORT, is_cut};
use crate::cache::{CachedTokens, ChunkKind, Lookup, ResolvedRun};
use crate::models::bpe::CutPoints;
use crate::scan::Splitter;
use crate::scan::seams::Seams;
use crate::scan::spaces::{begins_non_ascii, is_continuation};
use crate::sinks::Sink;

/// Lookups in flight at a time.
const PREFETCH_BATCH: usize = 32;

/// The most ids of isolated characters that are collected before a batch is emitted, not counting the ids of the last word.
const MOST_ISOLATED: usize = 1 << 10;

/// Bytes of the longest pre-token that is looked up where its early fragments are cached, too.
#[cfg(not(test))]
const LONGEST_CACHED: usize = crate::cache::LONGEST;
#[cfg(test)]
const LONGEST_CACHED: usize = 1 << 6;

/// Spans that are scanned at a time.
pub(super) const SPANS: usize = 128;

/// The same after a chunk that needed the stages, since another one often follows soon.
pub(super) const FIRST_SPANS: usize = 8;

/// Chunks of one text between the chunker and the sink.
pub(super) struct ChunkStream<'a, S> {
    encoder: ChunkEncoder<'a>,
    text: &'a str,
    worker: &'a mut Worker,
    sink: &'a mut S,
    lookups: [Lookup; PREFETCH_BATCH],
    filled: usize,
    /// Words cut beside isolated characters.
    sub_chunks: SubChunks,
    word_id: u32,
    /// 1 if each chunk has a word id of its own, 0 if all have the same.
    step: u32,
    /// Chunks are fragments: one that begins after anything but a blank continues a word.
    has_fragments: bool,
    /// The kind of chunks that are no fragments.
    kind: ChunkKind,
    /// Start and word id of the first chunk that needs the stages.
    unresolved: Option<(usize, u32)>,
    result: Result<()>,
}

impl<'a, S: Sink> ChunkStream<'a, S> {
    /// A stream of chunks of `text`; the first has word id `word_id`, each next one `step` more.
    pub(super) fn new(
        encoder: ChunkEncoder<'a>,
        text: &'a str,
        worker: &'a mut Worker,
        sink: &'a mut S,
        word_id: u32,
        step: u32,
    ) -> Self {
        let kind = match encoder.rewriter {
            Rewriter::Original(_) => ChunkKind::Whole,
            Rewriter::Stages(stages) if stages.are_refined && encoder.added.is_some() => ChunkKind::Whole,
            _ => ChunkKind::Chunk,
        };
        Self {
            encoder,
            text,
            worker,
            sink,
            lookups: [Lookup::default(); PREFETCH_BATCH],
            filled: 0,
            sub_chunks: SubChunks::default(),
            word_id,
            step,
            has_fragments: false,
            kind,
            unresolved: None,
            result: Ok(()),
        }
    }

    /// The same stream for fragments of chunks.
    pub(super) fn of_fragments(self) -> Self {
        Self {
            has_fragments: true,
            kind: ChunkKind::Chunk,
            sub_chunks: SubChunks::with_room(2 * MOST_ISOLATED),
            ..self
        }
    }

    /// Takes chunks by their bounds, which count from `base`. A long chunk is cut at the model's cut points, and a fragment
    /// beside isolated characters.
    #[inline]
    pub(super) fn take(&mut self, base: usize, starts: &[u32], ends: &[u32]) {
        let mut at = 0;
        while self.unresolved.is_none()
            && let (Some(&start), Some(&end)) = (starts.get(at), ends.get(at))
        {
            let (text, cache) = (self.text.as_bytes(), &self.worker.cache);
            let (start, end) = (base + start as usize, base + end as usize);
            let (bounds, word_ids) = ((&starts[at..], &ends[at..]), (self.word_id, self.step));
            let room = &mut self.lookups[self.filled..];
            let mut taken = if !self.has_fragments {
                cache.prefetch_many::<false>(text, base, bounds, word_ids, self.kind, room)
            // Checked here too: most such words stand together, and the call takes longer.
            } else if begins_non_ascii(text, start) {
                0
            } else {
                cache.prefetch_many::<true>(text, base, bounds, word_ids, self.kind, room)
            };
            self.filled += taken;
            if taken == 0 {
                if self.has_fragments {
                    self.push_beside_isolated(start, end, is_continuation(text, base, start));
                } else {
                    self.push_long(start..end, false);
                }
                taken = 1;
            } else if self.filled == PREFETCH_BATCH {
                self.flush();
            }
            self.word_id = self.word_id.wrapping_add(taken as u32 * self.step);
            at += taken;
        }
    }

    /// Takes a fragment that is long or begins beyond ASCII: cut into sub-chunks if isolated characters allow it.
    fn push_beside_isolated(&mut self, start: usize, end: usize, is_continuation: bool) {
        let Rewriter::Stages(stages) = self.encoder.rewriter else {
            return self.push_long(start..end, is_continuation);
        };
        let chunk = &self.text[start..end];
        let blanks = if is_continuation { 0 } else { stages.blanks(chunk) };
        let Some(isolated) = self.encoder.isolated.filter(|_| stages.may_have_isolated(chunk, blanks)) else {
            return self.push_long(start..end, is_continuation);
        };
        let mut from = self.push_word((&stages, isolated), start..end, blanks, is_continuation);
        while from < end {
            from = self.push_word((&stages, isolated), from..end, 0, false);
        }
    }

    /// Takes the first word of a chunk; returns the start of the next word, or the end of the chunk.
    fn push_word(
        &mut self,
        (stages, isolated): (&ChunkStages<'_>, &IsolatedChars),
        Range { start, end }: Range<usize>,
        blanks: usize,
        is_continuation: bool,
    ) -> usize {
        if self.sub_chunks.ids.len() > MOST_ISOLATED {
            self.flush();
            self.sub_chunks.ids.clear();
        }
        let (model, memo) = (self.encoder.model.model(), &mut self.worker.scratch.cluster_memo);
        let chunk = &self.text[start..end];
        let len = isolated.cut(chunk, blanks, is_continuation, (stages, model), memo, &mut self.sub_chunks);
        let mut sub_chunks = std::mem::take(&mut self.sub_chunks.sub_chunks);
        for sub_chunk in sub_chunks.drain(..) {
            let lookup = match sub_chunk {
                SubChunk::Ids(IsolatedRun { ids, bytes, unknown }) => {
                    let run = ResolvedRun { ids, bytes: start + bytes.start..start + bytes.end, unknown };
                    let last = self.lookups[..self.filled].last_mut();
                    if last.is_some_and(|last| last.extend_resolved(&run)) {
                        continue;
                    }
                    Lookup::resolved(&run, self.word_id)
                }
                SubChunk::Fragment(range, in_context) => {
                    let (text, start, end) = (self.text.as_bytes(), start + range.start, start + range.end);
                    let kind = ChunkKind::in_context(in_context);
                    self.worker.cache.prefetch(text, start, end, self.word_id, kind)
                }
            };
            self.push(lookup);
        }
        self.sub_chunks.sub_chunks = sub_chunks;
        start + len
    }

    /// Takes a long chunk. Only a chunk that the model sees as it stands is cut at the model's cut points: stages see a chunk whole.
    #[inline(never)]
    fn push_long(&mut self, chunk: Range<usize>, is_continuation: bool) {
        if let Rewriter::PreTokenizer(pre_tokenizer) = self.encoder.rewriter
            && self.push_pre_tokens(&pre_tokenizer, chunk.clone())
        {
            return;
        }
        let sees_chunks = matches!(self.encoder.rewriter, Rewriter::None);
        if sees_chunks && !is_continuation && self.encoder.two_steps(chunk.len()).is_some() {
            return self.push_in_two_steps(chunk, self.kind);
        }
        let mut cuts = if sees_chunks { self.encoder.model.cut_points(chunk.len()) } else { None };
        if cuts.is_some() {
            let holds_added = self.encoder.holds_added(&self.text[chunk.clone()], &mut self.worker.scratch);
            cuts = cuts.filter(|_| !holds_added);
        }
        let whole = self.kind;
        let kind = |in_context| if is_continuation || in_context { ChunkKind::Fragment } else { whole };
        self.push_fragments(chunk, cuts, kind);
    }

    /// Takes the fragments of a pre-token. `kind` gives the kind of a fragment; its argument is true for a fragment in context.
    fn push_fragments(
        &mut self,
        pre_token: Range<usize>,
        cuts: Option<&CutPoints>,
        kind: impl Fn(bool) -> ChunkKind,
    ) {
        let (text, model) = (self.text.as_bytes(), self.encoder.model);
        let pushed = model.for_each_fragment(text, pre_token, cuts, |fragment, in_context| {
            let (Range { start, end }, kind) = (fragment, kind(in_context));
            self.push(self.worker.cache.prefetch(text, start, end, self.word_id, kind));
            Ok(())
        });
        debug_assert!(pushed.is_ok(), "nothing fails here");
    }

    /// Takes the pre-tokens of a long chunk; false if the chunk has to be encoded as a whole.
    fn push_pre_tokens(&mut self, pre_tokenizer: &ChunkPreTokenizer<'_>, chunk: Range<usize>) -> bool {
        let (text, base) = (self.text, chunk.start);
        // The caller counts the chunk as one word.
        self.word_id = self.word_id.wrapping_sub(self.step);
        let is_done = pre_tokenizer.for_each_pre_token(&text[chunk], |pre_token| {
            self.word_id = self.word_id.wrapping_add(self.step);
            let (len, pre_token) = (pre_token.len(), base + pre_token.start..base + pre_token.end);
            let has_steps = len > SHORT && self.encoder.two_steps(len).is_some();
            if has_steps && is_cut(text.as_bytes(), pre_token.clone()) {
                self.push_in_two_steps(pre_token, ChunkKind::of_pre_token(false));
                return Ok(());
            }
            let cuts = if has_steps { None } else { self.encoder.model.cut_points_of_long(len) };
            self.push_fragments(pre_token, cuts, ChunkKind::of_pre_token);
            Ok(())
        });
        if let Ok(false) = is_done {
            self.word_id = self.word_id.wrapping_add(self.step);
        }
        // An error comes again when the chunk is encoded.
        is_done.unwrap_or(false)
    }

    /// Takes a pre-token that is encoded in two steps on a miss.
    fn push_in_two_steps(&mut self, pre_token: Range<usize>, kind: ChunkKind) {
        self.push(if pre_token.len() > LONGEST_CACHED {
            Lookup::uncached(pre_token, self.word_id)
        } else {
            let Range { start, end } = pre_token;
            self.worker.cache.prefetch(self.text.as_bytes(), start, end, self.word_id, kind)
        });
    }

    fn push(&mut self, lookup: Lookup) {
        self.lookups[self.filled] = lookup;
        self.filled += 1;
        if self.filled == PREFETCH_BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.result.is_ok() && self.unresolved.is_none() {
            self.result = self.emit();
        }
        self.filled = 0;
    }

    fn emit(&mut self) -> Result<()> {
        let Worker { cache, scratch, .. } = &mut *self.worker;
        let mut lookups = &self.lookups[..self.filled];
        cache.note_batch(lookups, self.text.as_bytes());
        loop {
            lookups = &lookups[self.sink.emit_hits(cache, self.text.as_bytes(), lookups)..];
            let Some((&first, rest)) = lookups.split_first() else { return Ok(()) };
            lookups = rest;
            if let Some(ResolvedRun { ids, bytes, unknown }) = first.resolved_run() {
                self.sink.isolated(&self.sub_chunks.ids[ids], bytes, unknown, first.word_id);
                continue;
            }
            if first.is_uncached()
                && let Some(steps) = self.encoder.two_steps(0)
            {
                let chunk = first.start as usize..first.end as usize;
                steps.for_each_part(self.text, chunk, cache, scratch, |part, tokens| {
                    self.sink.chunk(tokens, part, first.word_id);
                })?;
                continue;
            }
            let text = self.text.as_bytes();
            if self.encoder.has_fragments(text, &first)
                && !cache.contains(&first, text)
                && self.encoder.join_fragments(self.text, first, cache, scratch)?
            {
                let ids = &scratch.fragment_ids;
                self.sink.chunk(CachedTokens { ids, spans: None }, first.range(), first.word_id);
                continue;
            }
            let mut own = std::mem::take(&mut scratch.chunk_tokens);
            let tokens = if self.encoder.has_pre_tokens(text, first) && !cache.contains(&first, text) {
                own.clear();
                self.encoder.encode_pre_tokens(self.text, first, cache, scratch, &mut own)?;
                if self.encoder.is_kept(&first) || cache.is_met_again(&first) {
                    cache.keep(first, text, own.as_cached());
                }
                own.as_cached()
            } else {
                let miss =
                    |range, out: &mut _| self.encoder.encode(self.text, range, first.kind(), scratch, out);
                cache.resolve(first, text, miss)?
            };
            if self.encoder.needs_stages(tokens, self.sink) {
                self.unresolved = Some((first.start as usize, first.word_id));
                return Ok(());
            }
            self.sink.chunk(tokens, first.range(), first.word_id);
            scratch.chunk_tokens = own;
        }
    }

    /// Takes the spans of `text` from `from` on, `spans` of them first, until one needs the stages.
    pub(super) fn scan(&mut self, splitter: Splitter, text: &str, from: usize, spans: usize) {
        self.scan_by(
            |text, done, starts, ends| splitter.fill_spans(text, done, starts, ends),
            text,
            from,
            spans,
        );
    }

    /// Takes the chunks of `text` from the seam `from` on.
    pub(super) fn scan_seams(&mut self, seams: &Seams, text: &str, from: usize) {
        self.scan_by(
            |text, done, starts, ends| seams.fill_spans(text, done, starts, ends),
            text,
            from,
            SPANS,
        );
    }

    fn scan_by(
        &mut self,
        fill_spans: impl Fn(&str, usize, &mut [u32], &mut [u32]) -> usize,
        text: &str,
        from: usize,
        mut spans: usize,
    ) {
        let (mut starts, mut ends, mut done) = ([0; SPANS], [0; SPANS], 0);
        while self.unresolved.is_none() {
            let found = fill_spans(&text[from..], done, &mut starts[..spans], &mut ends[..spans]);
            if found == 0 {
                return;
            }
            self.take(from, &starts[..found], &ends[..found]);
            (done, spans) = (ends[found - 1] as usize, SPANS);
        }
    }

    /// Start of the first chunk that needs the stages, once the stream has met one; all chunks before it are emitted, none after.
    #[inline]
    pub(super) fn unresolved(&self) -> Option<usize> {
        self.unresolved.map(|(start, _)| start)
    }

    /// Emits the remaining lookups; returns the next word id, or the word id of the unresolved chunk if there is one.
    ///
    /// # Errors
    /// The errors of the stages and of the model, once.
    pub(super) fn finish(&mut self) -> Result<u32> {
        self.flush();
        std::mem::replace(&mut self.result, Ok(()))?;
        Ok(self.unresolved.map_or(self.word_id, |(_, word_id)| word_id))
    }
}

#[cfg(test)]
mod tests;
