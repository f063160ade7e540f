//! A sink between chunks of normalized text and the offsets of the original text.

use std::ops::Range;

use crate::cache::CachedTokens;
use crate::normalized::Normalized;
use crate::sinks::Sink;

/// A sink for chunks of normalized text, whose offsets count in the original text.
pub(super) struct AlignedSink<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) text: &'a Normalized<'a>,
}

impl<S: Sink> Sink for AlignedSink<'_, S> {
    const TRACKED: bool = S::TRACKED;

    fn wants_texts(&self) -> bool {
        self.sink.wants_texts()
    }

    fn pre_token(
        &mut self,
        tokens: CachedTokens<'_>,
        text: &Normalized<'_>,
        range: Range<usize>,
        word_id: u32,
    ) {
        self.sink.pre_token(tokens, text, range, word_id);
    }

    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>, word_id: u32) {
        self.sink.added_token(id, text, range, word_id);
    }

    #[inline]
    fn chunk(&mut self, tokens: CachedTokens<'_>, chunk: Range<usize>, word_id: u32) {
        self.sink.pre_token(tokens, self.text, chunk.start..self.text.text().len(), word_id);
    }
}
