//! Encodes segments of text that the normalizer has not changed yet, for ids alone.

use std::ops::Range;

use super::TextEncoding;
use crate::Result;
use crate::normalized::Normalized;
use crate::pipeline::chunk_stream::ChunkStream;
use crate::sinks::Sink;

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes the chunks of a segment of original text; false if they cannot be.
    pub(in crate::pipeline) fn encode_original(&mut self, range: Range<usize>) -> Result<bool> {
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
