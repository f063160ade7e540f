//! Ids alone, in the width of the output.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Sink;
use crate::cache::{CachedTokens, ChunkCache, Id, InlineIds, Lookup, NARROW, Packing, WIDE};
use crate::normalized::Normalized;

/// Appends ids to a vector.
#[derive(Debug)]
pub struct IdSink<'a, T>(pub &'a mut Vec<T>);

impl<T: Id> IdSink<'_, T> {
    /// Appends ids.
    #[inline]
    pub fn push(&mut self, ids: &[u32]) {
        match *ids {
            [id] => self.0.push(T::narrow(id)),
            _ => self.0.extend(ids.iter().map(|&id| T::narrow(id))),
        }
    }
}

impl<T: Id> Sink for IdSink<'_, T> {
    const TRACKED: bool = false;

    #[inline]
    fn pre_token(&mut self, tokens: CachedTokens<'_>, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.push(tokens.ids);
    }

    fn added_token(&mut self, id: u32, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.push(&[id]);
    }

    #[inline]
    fn chunk(&mut self, tokens: CachedTokens<'_>, _: usize, _: u32) {
        self.push(tokens.ids);
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, lookups: &[Lookup]) -> usize {
        match cache.packing() {
            Packing::Narrow => push_hits::<T, NARROW>(self.0, cache, lookups, InlineIds::write_narrow::<T>),
            Packing::Wide => push_hits::<T, WIDE>(self.0, cache, lookups, InlineIds::write_wide::<T>),
        }
    }
}

/// Appends the ids of chunks up to the first that the cache cannot answer from its slot; returns the number of chunks.
///
/// All `N` items of a slot are written at once, and the next chunk overwrites those beyond the number of ids. So the loop
/// has no inner loop over ids.
#[inline]
#[expect(
    unsafe_code,
    reason = "keeping the vector's length up to date costs as much as the rest of a cache hit"
)]
fn push_hits<T: Id, const N: usize>(
    out: &mut Vec<T>,
    cache: &ChunkCache,
    lookups: &[Lookup],
    write: impl Fn(&InlineIds, &mut [MaybeUninit<T>; N]),
) -> usize {
    out.reserve(N * lookups.len());
    let (spare, mut written, mut taken) = (out.spare_capacity_mut(), 0, 0);
    for &lookup in lookups {
        let Some((inline, count)) = cache.get_inline(lookup, false) else { break };
        let Some(items) = spare.get_mut(written..).and_then(|spare| spare.first_chunk_mut()) else { break };
        write(inline, items);
        written += count.min(N);
        taken += 1;
    }
    // SAFETY: `written` items of the spare room were written one after the other, with no gap between.
    unsafe { out.set_len(out.len() + written) }
    taken
}
