//! Ids alone, in the width of the output.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Sink;
use crate::cache::{CachedTokens, ChunkCache, Id, InlineIds, Lookup, Packing};
use crate::normalized::Normalized;

/// Room for ids beyond the room for full slots. A chunk with more ids than that is written by itself.
const MOST_UNUSUAL: usize = 128;

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
    fn chunk(&mut self, tokens: CachedTokens<'_>, _: Range<usize>, _: u32) {
        self.push(tokens.ids);
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, text: &[u8], lookups: &[Lookup]) -> usize {
        let mut taken = 0;
        loop {
            let short = push_short_hits(self.0, cache, &lookups[taken..]);
            taken += short;
            let medium = match &lookups[taken..] {
                rest @ [first, ..] if first.is_medium() => push_medium_hits(self.0, cache, text, rest),
                _ => return taken,
            };
            taken += medium;
            if medium == 0 {
                return taken;
            }
        }
    }
}

#[inline]
fn push_short_hits<T: Id>(out: &mut Vec<T>, cache: &ChunkCache, lookups: &[Lookup]) -> usize {
    let get = |lookup: &Lookup| cache.get_short(lookup);
    match cache.packing() {
        Packing::Narrow => push_hits(out, cache, lookups, get, InlineIds::write_narrow),
        Packing::Wide => push_hits(out, cache, lookups, get, InlineIds::write_wide),
    }
}

#[inline(never)]
fn push_medium_hits<T: Id>(out: &mut Vec<T>, cache: &ChunkCache, text: &[u8], lookups: &[Lookup]) -> usize {
    let get = |lookup: &Lookup| cache.get_medium(lookup, text);
    match cache.packing() {
        Packing::Narrow => push_hits(out, cache, lookups, get, InlineIds::write_narrow),
        Packing::Wide => push_hits(out, cache, lookups, get, InlineIds::write_wide),
    }
}

/// Appends the ids of chunks up to the first for which `get` has no slot of `N` items or no ids; returns the number of chunks.
///
/// All items of a slot are written at once, and the next chunk overwrites those beyond the number of ids. So the loop
/// has no inner loop over ids but for the few chunks with more of them.
#[inline]
#[expect(
    unsafe_code,
    reason = "keeping the vector's length up to date costs as much as the rest of a cache hit"
)]
fn push_hits<'a, T: Id, const N: usize>(
    out: &mut Vec<T>,
    cache: &'a ChunkCache,
    lookups: &[Lookup],
    get: impl Fn(&Lookup) -> Option<&'a InlineIds<N>>,
    write: impl Fn(&InlineIds<N>, &mut [MaybeUninit<T>; N]),
) -> usize {
    out.reserve(N * lookups.len() + MOST_UNUSUAL);
    let (spare, mut written, mut taken) = (out.spare_capacity_mut(), 0, 0);
    for lookup in lookups {
        let Some(slot) = get(lookup) else { break };
        written += if let Some(count) = slot.count(false) {
            let Some(items) = spare.get_mut(written..).and_then(|spare| spare.first_chunk_mut()) else {
                break;
            };
            write(slot, items);
            count.min(N)
        } else {
            match write_unusual(cache, slot, spare.get_mut(written..).unwrap_or_default()) {
                Some(count) => count,
                None => break,
            }
        };
        taken += 1;
    }
    // SAFETY: `written` items of the spare room were written one after the other, with no gap between.
    unsafe { out.set_len(out.len() + written) }
    taken
}

/// Writes the ids of a slot that has them in the arena, or has more ids than usual; returns their number, or none if the slot has no
/// ids or there is no room.
#[inline(never)]
fn write_unusual<T: Id, const N: usize>(
    cache: &ChunkCache,
    slot: &InlineIds<N>,
    out: &mut [MaybeUninit<T>],
) -> Option<usize> {
    let mut unpacked = [0; N];
    let ids = cache.unusual_ids(slot, &mut unpacked)?;
    for (item, &id) in out.get_mut(..ids.len())?.iter_mut().zip(ids) {
        item.write(T::narrow(id));
    }
    Some(ids.len())
}
