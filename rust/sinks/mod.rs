//! Where tokens go: ids alone, kept or counted, or columns with offsets.

mod columns;
mod ids;
mod ranges;
mod spans;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use columns::{ColumnSink, TokenStore};
pub use ids::IdSink;
pub use ranges::{RangeSink, Told, UnknownTokens};
pub use spans::SpanColumns;

use crate::cache::{CachedTokens, ChunkCache, Lookup};
use crate::normalized::Normalized;

/// Receives the tokens of one text from left to right.
///
/// A word id is the index of a pre-token in its text, as in Hugging Face.
pub trait Sink {
    /// True if offsets are wanted; without them no alignment is built.
    const TRACKED: bool;

    /// True if a token may need a text of its own, as the model spells it, in place of the text of its id.
    fn wants_texts(&self) -> bool {
        false
    }

    /// The tokens of the pre-token at `range` of `text`, or of a fragment of the pre-token.
    fn pre_token(
        &mut self,
        tokens: CachedTokens<'_>,
        text: &Normalized<'_>,
        range: Range<usize>,
        word_id: u32,
    );

    /// An added token at `range` of `text`.
    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>, word_id: u32);

    /// The tokens of the chunk at the bytes `chunk` of the original text, or of normalized text after [`Self::begin_normalized`]; `word_id`
    /// is the word id of its first pre-token. An empty range means nothing.
    fn chunk(&mut self, tokens: CachedTokens<'_>, chunk: Range<usize>, word_id: u32);

    /// The ids of isolated characters at the bytes `run` of the original text; `unknown` counts the characters that unknown tokens stand for.
    fn isolated(&mut self, ids: &[u32], run: Range<usize>, unknown: u32, word_id: u32) {
        let _ = unknown;
        self.chunk(CachedTokens { ids, spans: None }, run, word_id);
    }

    /// Chunks of normalized text follow, until [`Self::end_normalized`]. Not called for sinks that want offsets.
    fn begin_normalized(&mut self) {}

    /// Chunks of original text follow.
    fn end_normalized(&mut self) {}

    /// Takes the tokens of chunks of `text` up to the first that the cache cannot answer from its slot; returns the number of chunks taken.
    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, text: &[u8], lookups: &[Lookup]) -> usize {
        emit_hits_one_by_one(self, cache, text, lookups)
    }
}

/// [`Sink::emit_hits`] by way of [`Sink::chunk`].
#[inline]
fn emit_hits_one_by_one<S: Sink + ?Sized>(
    sink: &mut S,
    cache: &ChunkCache,
    text: &[u8],
    lookups: &[Lookup],
) -> usize {
    let packing = cache.packing();
    for (taken, lookup) in lookups.iter().enumerate() {
        let mut chunk = |ids: &[u32]| {
            sink.chunk(CachedTokens { ids, spans: None }, lookup.range(), lookup.word_id);
        };
        let short = cache.get_short(lookup).and_then(|slot| Some((slot, slot.count(S::TRACKED)?)));
        if let Some((slot, count)) = short {
            chunk(&packing.unpack(slot)[..count]);
            continue;
        }
        let medium = cache.get_medium(lookup, text).and_then(|slot| Some((slot, slot.count(S::TRACKED)?)));
        let Some((slot, count)) = medium else { return taken };
        chunk(&packing.unpack(slot)[..count]);
    }
    lookups.len()
}
