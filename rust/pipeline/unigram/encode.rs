//! The loop over chunks of a Unigram tokenizer: fragments or chunks by the cache, joined chunks by the stages.

use std::ops::Range;

use super::chunk_stages::ChunkStages;
use super::fragments::{SinkAfter, chunk_start, fragment_splitter};
use crate::Result;
use crate::added_tokens::Segment;
use crate::cache::ChunkKind;
use crate::pipeline::chunk_stream::{ChunkStream, FIRST_SPANS, SPANS};
use crate::pipeline::encode::TextEncoding;
use crate::pipeline::plan::ChunkPlan;
use crate::pipeline::scratch::Worker;
use crate::pipeline::stages::Visitor;
use crate::scan::Splitter;
use crate::scan::spaces::is_blank;
use crate::sinks::{IdSink, Sink};

/// Bytes after an added token in a fragment that are encoded in whole chunks; four times as many each time that the next token comes soon.
/// Where tokens are close together, most fragments would be encoded twice.
const AFTER_TOKEN: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// The first place from `from` on, which is not 0, where a run of blanks begins with a space, or the end of `text`.
fn blank_from(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let is_first = |&at: &usize| bytes[at] == b' ' && !is_blank(bytes[at - 1]);
    (from..bytes.len()).find(is_first).unwrap_or(bytes.len())
}

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes a segment of the original text chunk by chunk, or fragment by fragment where ids alone are wanted; false if the
    /// pipeline is not prepared for that, so that the segment has to take the stages.
    pub(in crate::pipeline) fn encode_unigram(
        &mut self,
        plan: ChunkPlan,
        segment: Range<usize>,
    ) -> Result<bool> {
        let (Some(stages), Some(splitter)) = (self.pipeline.chunk_stages(), plan.splitter()) else {
            return Ok(false);
        };
        let Range { start, end } = segment;
        let whole = stages.without_line_ends(&self.text[..end], start);
        // Word ids and offsets need whole chunks.
        let fragments = if S::TRACKED {
            None
        } else {
            fragment_splitter(splitter, &stages, self.pipeline.isolated_chars().is_some(), &whole[start..])
        };
        // The cache knows chunks by their bytes alone, and the last one may lose some at the end of a text.
        let text = &whole[..stages.strippable(whole, start)];
        let (mut at, mut spans) = (start, SPANS);
        let (mut whole_until, mut kept_whole) = (start, AFTER_TOKEN);
        while at < text.len() {
            let (fragments, end) = match fragments {
                Some(_) if at < whole_until => (None, blank_from(text, whole_until)),
                fragments => (fragments, text.len()),
            };
            let Some(unresolved) = self.stream_chunks(
                fragments.unwrap_or(splitter),
                &text[..end],
                at,
                spans,
                fragments.is_some(),
            )?
            else {
                at = end;
                continue;
            };
            spans = FIRST_SPANS;
            let chunk = at + chunk_start(&text.as_bytes()[at..], unresolved - at, &stages);
            let mut emitted = 0;
            // Without added tokens, a chunk whose first fragment needs the stages needs them as well.
            let may_do_whole = chunk < unresolved || self.pipeline.added_in_chunks().is_some();
            if let Some(fragments) = fragments.filter(|_| may_do_whole) {
                if chunk < unresolved {
                    emitted = self.count_fragments(fragments, text, chunk..unresolved)?;
                }
                if let Some((after, holds_token)) = self.encode_rest(splitter, text, chunk, emitted)? {
                    at = after;
                    if holds_token {
                        let is_soon = whole_until > start && after < whole_until + AFTER_TOKEN;
                        kept_whole = if is_soon { 4 * kept_whole } else { AFTER_TOKEN };
                        whole_until = after + kept_whole;
                    }
                    continue;
                }
            }
            // With the blank before it, a chunk stands as it does in the text; the splitter may have left the blank out.
            let has_blank = is_blank(text.as_bytes()[chunk]);
            let first = if chunk > start && !has_blank { chunk - 1 } else { chunk };
            at = first + stages.context_free_end(splitter, &whole[first..])?;
            self.encode_joined(&stages, whole, first..at, emitted)?;
        }
        if at < whole.len() {
            self.encode_joined(&stages, whole, at..whole.len(), 0)?;
        }
        Ok(true)
    }

    /// Sends the chunks of `text` from `at` on to the sink; returns the start of the first that needs the stages.
    fn stream_chunks(
        &mut self,
        splitter: Splitter,
        text: &str,
        at: usize,
        spans: usize,
        has_fragments: bool,
    ) -> Result<Option<usize>> {
        let encoder = self.pipeline.chunk_encoder();
        let mut stream = ChunkStream::new(encoder, text, self.worker, self.sink, self.word_id, 1);
        if has_fragments {
            stream = stream.of_fragments();
        }
        stream.scan(splitter, text, at, spans);
        self.word_id = stream.finish()?;
        Ok(stream.unresolved())
    }

    /// The number of tokens of the fragments `range`, which begin a chunk and end before an unresolved fragment.
    fn count_fragments(&mut self, fragments: Splitter, text: &str, range: Range<usize>) -> Result<u64> {
        let mut ids = Vec::<()>::new();
        let mut count = IdSink(&mut ids);
        let encoder = self.pipeline.chunk_encoder();
        let mut stream = ChunkStream::new(encoder, text, self.worker, &mut count, 0, 1).of_fragments();
        stream.scan(fragments, text, range.start, FIRST_SPANS);
        stream.finish()?;
        debug_assert_eq!(stream.unresolved(), Some(range.end), "the same fragments as before");
        Ok(ids.len() as u64)
    }

    /// Encodes the whole chunk that begins at `chunk` and emits the tokens after the first `emitted`; returns the end of the
    /// chunk, and true if the chunk holds an added token of normalized text. None, and nothing emitted, if the chunk needs the
    /// stages.
    fn encode_rest(
        &mut self,
        splitter: Splitter,
        text: &str,
        chunk: usize,
        emitted: u64,
    ) -> Result<Option<(usize, bool)>> {
        let (mut starts, mut ends) = ([0], [0]);
        splitter.fill_spans(&text[chunk..], 0, &mut starts, &mut ends);
        let (end, encoder) = (chunk + ends[0] as usize, self.pipeline.chunk_encoder());
        let Worker { cache, scratch, .. } = &mut *self.worker;
        let lookup = cache.prefetch(text.as_bytes(), chunk, end, 0, ChunkKind::Whole);
        let miss = |range, out: &mut _| encoder.encode(text, range, ChunkKind::Whole, scratch, out);
        let tokens = cache.resolve(lookup, text.as_bytes(), miss)?;
        if encoder.needs_stages(tokens, self.sink) {
            return Ok(None);
        }
        let holds_token = encoder.added.is_some_and(|added| added.are_in(tokens.ids));
        SinkAfter { sink: &mut *self.sink, skip: emitted }.chunk(tokens, chunk..end, 0);
        Ok(Some((end, holds_token)))
    }

    /// Encodes joined chunks through the stages and emits the tokens after the first `emitted`.
    fn encode_joined(
        &mut self,
        stages: &ChunkStages<'_>,
        text: &str,
        range: Range<usize>,
        emitted: u64,
    ) -> Result<()> {
        let text = stages.normalize(&text[range.clone()], range.start, S::TRACKED)?;
        let mut sink = SinkAfter { sink: &mut *self.sink, skip: emitted };
        let mut rest = TextEncoding::new(self.pipeline, self.text, self.word_id, self.worker, &mut sink);
        self.pipeline.stages().matchers.normalized.segments(
            text.text(),
            &mut |Segment { start, end, token }| {
                if let Some(id) = token {
                    return rest.added_token(id, &text, start..end);
                }
                let cut = stages.cut(text.slice(start..end))?;
                cut.spans.iter().try_for_each(|span| rest.pre_token(&cut.text, span.clone()))
            },
        )?;
        self.word_id = rest.word_id;
        Ok(())
    }
}
