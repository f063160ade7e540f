//! The number of tokens.

use std::ops::Range;

use super::Sink;
use crate::cache::{CachedTokens, ChunkCache, Lookup};
use crate::normalized::Normalized;

/// Counts tokens and keeps none.
#[derive(Debug, Default)]
pub struct CountSink(pub u64);

impl Sink for CountSink {
    const TRACKED: bool = false;

    #[inline]
    fn pre_token(&mut self, tokens: CachedTokens<'_>, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.0 += tokens.ids.len() as u64;
    }

    fn added_token(&mut self, _: u32, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.0 += 1;
    }

    #[inline]
    fn chunk(&mut self, tokens: CachedTokens<'_>, _: usize, _: u32) {
        self.0 += tokens.ids.len() as u64;
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, lookups: &[Lookup]) -> usize {
        for (taken, &lookup) in lookups.iter().enumerate() {
            let Some((_, count)) = cache.get_inline(lookup, false) else { return taken };
            self.0 += count as u64;
        }
        lookups.len()
    }
}
