//! Where tokens go: bare ids, columns with offsets, or a mere count.

use std::mem::MaybeUninit;

use super::chunk_cache::ChunkCache;
use super::inline_ids::{InlineIds, NARROW, Packing, WIDE};
use super::lookup::Lookup;
use super::{CachedTokens, NEW_PRE_TOKEN};
use crate::encoding::ColumnsBuilder;
use crate::normalized::Normalized;

/// Receives the tokens of one text from left to right.
pub trait Sink {
    /// Whether offsets are wanted; without them no alignment is built.
    const TRACKED: bool;

    /// The tokens of the pre-token `start..end` of `text`, which is piece `word` of the whole text.
    fn word(&mut self, found: CachedTokens<'_>, text: &Normalized<'_>, start: usize, end: usize, word: u32);

    /// An added token over bytes `start..end` of `text`.
    fn added(&mut self, id: u32, text: &Normalized<'_>, start: usize, end: usize, word: u32);

    /// The tokens of the pre-token, or of several, at byte `start` of the original text itself.
    fn plain_word(&mut self, found: CachedTokens<'_>, start: usize, word: u32);

    /// Takes pre-tokens of the original text from `cache` up to one that it does not answer at once; returns how many.
    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, lookup: &[Lookup]) -> usize {
        for (taken, &lookup) in lookup.iter().enumerate() {
            let Some((few, count)) = cache.get_inline(lookup, Self::TRACKED) else { return taken };
            let ids = &cache.packing().unpack(few)[..count.min(NARROW)];
            self.plain_word(CachedTokens { ids, spans: None }, lookup.start as usize, lookup.word);
        }
        lookup.len()
    }
}

/// An id in the width of the output.
pub trait Id: Copy + Default + Send + Sync {
    /// Narrows an id, which the caller knows to fit.
    fn narrow(id: u32) -> Self;
}

impl Id for u32 {
    #[inline]
    fn narrow(id: u32) -> Self {
        id
    }
}

impl Id for u16 {
    #[inline]
    fn narrow(id: u32) -> Self {
        id as u16
    }
}

/// Appends the ids of pre-tokens up to one that `cache` does not answer at once; returns how many pre-tokens.
///
/// All `N` items of an entry are written, and those beyond the number of its ids are written over, which needs no loop.
#[inline]
#[expect(
    unsafe_code,
    reason = "keeping the vector's length up to date costs as much as the rest of a cache hit"
)]
fn push_hits<T: Id, const N: usize>(
    out: &mut Vec<T>,
    cache: &ChunkCache,
    lookup: &[Lookup],
    write: impl Fn(&InlineIds, &mut [MaybeUninit<T>; N]),
) -> usize {
    out.reserve(N * lookup.len());
    let (spare, mut written, mut taken) = (out.spare_capacity_mut(), 0, 0);
    for &lookup in lookup {
        let Some((few, count)) = cache.get_inline(lookup, false) else { break };
        let Some(places) = spare.get_mut(written..).and_then(|spare| spare.first_chunk_mut()) else { break };
        write(few, places);
        written += count.min(N);
        taken += 1;
    }
    // SAFETY: `written` items of the spare room were written one after the other, with no gap between.
    unsafe { out.set_len(out.len() + written) }
    taken
}

/// Appends ids to a vector.
#[derive(Debug)]
pub struct IdSink<'a, T>(pub &'a mut Vec<T>);

impl<T: Id> IdSink<'_, T> {
    #[inline]
    fn push(&mut self, ids: &[u32]) {
        match *ids {
            [id] => self.0.push(T::narrow(id)),
            _ => self.0.extend(ids.iter().map(|&id| T::narrow(id))),
        }
    }
}

impl<T: Id> Sink for IdSink<'_, T> {
    const TRACKED: bool = false;

    #[inline]
    fn word(&mut self, found: CachedTokens<'_>, _: &Normalized<'_>, _: usize, _: usize, _: u32) {
        self.push(found.ids);
    }

    fn added(&mut self, id: u32, _: &Normalized<'_>, _: usize, _: usize, _: u32) {
        self.push(&[id]);
    }

    #[inline]
    fn plain_word(&mut self, found: CachedTokens<'_>, _: usize, _: u32) {
        self.push(found.ids);
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, lookup: &[Lookup]) -> usize {
        match cache.packing() {
            Packing::Narrow => push_hits::<T, NARROW>(self.0, cache, lookup, InlineIds::write_narrow::<T>),
            Packing::Wide => push_hits::<T, WIDE>(self.0, cache, lookup, InlineIds::write_wide::<T>),
        }
    }
}

/// Counts tokens.
#[derive(Debug, Default)]
pub struct CountSink(pub u64);

impl Sink for CountSink {
    const TRACKED: bool = false;

    #[inline]
    fn word(&mut self, found: CachedTokens<'_>, _: &Normalized<'_>, _: usize, _: usize, _: u32) {
        self.0 += found.ids.len() as u64;
    }

    fn added(&mut self, _: u32, _: &Normalized<'_>, _: usize, _: usize, _: u32) {
        self.0 += 1;
    }

    #[inline]
    fn plain_word(&mut self, found: CachedTokens<'_>, _: usize, _: u32) {
        self.0 += found.ids.len() as u64;
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, lookup: &[Lookup]) -> usize {
        for (taken, &lookup) in lookup.iter().enumerate() {
            let Some((_, count)) = cache.get_inline(lookup, false) else { return taken };
            self.0 += count as u64;
        }
        lookup.len()
    }
}

/// Appends ids, byte offsets and word numbers to columns.
#[derive(Debug)]
pub struct ColumnSink<'a> {
    /// The columns.
    pub columns: &'a mut ColumnsBuilder,
    /// Bytes that each id covers in a regular pre-token.
    pub token_lens: &'a [u32],
    /// The original text.
    pub text: &'a str,
    /// The id whose tokens are spelled as the text they were found in.
    pub unknown: Option<u32>,
    /// Whether a pre-token without tokens has no number, and how many of these there were, less those that came as one
    /// with the pre-token before.
    pub unnumbered: Option<u32>,
}

impl ColumnSink<'_> {
    /// The number of a pre-token that is `word` with those that have none.
    #[inline]
    fn number(&mut self, word: u32, has_tokens: bool) -> u32 {
        let Some(unnumbered) = &mut self.unnumbered else { return word };
        *unnumbered = unnumbered.wrapping_add(u32::from(!has_tokens));
        word.wrapping_sub(*unnumbered)
    }
}

impl Sink for ColumnSink<'_> {
    const TRACKED: bool = true;

    fn word(&mut self, found: CachedTokens<'_>, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        let (mut at, word) = (start, self.number(word, !found.ids.is_empty()));
        for (index, &id) in found.ids.iter().enumerate() {
            let (from, to) = match found.spans {
                Some(spans) => (start + spans[2 * index] as usize, start + spans[2 * index + 1] as usize),
                None => (at, at + self.token_lens[id as usize] as usize),
            };
            at = to;
            let range = from.min(end)..to.min(end);
            if Some(id) == self.unknown {
                let own = text.text().get(range.clone()).unwrap_or_default();
                self.columns.push_with_text(id, own, text.original(range), Some(word));
            } else {
                self.columns.push(id, text.original(range), Some(word));
            }
        }
    }

    fn added(&mut self, id: u32, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        let word = self.number(word, true);
        self.columns.push_with_text(id, &text.text()[start..end], text.original(start..end), Some(word));
    }

    #[inline]
    fn plain_word(&mut self, found: CachedTokens<'_>, start: usize, word: u32) {
        let (mut at, mut word) = (start as u32, self.number(word, !found.ids.is_empty()));
        for (index, &id) in found.ids.iter().enumerate() {
            let (from, to) = match found.spans {
                Some(spans) => {
                    let more = spans[2 * index] / NEW_PRE_TOKEN;
                    word += more;
                    self.unnumbered = self.unnumbered.map(|count| count.wrapping_sub(more));
                    (start as u32 + spans[2 * index] % NEW_PRE_TOKEN, start as u32 + spans[2 * index + 1])
                }
                None => (at, at + self.token_lens[id as usize]),
            };
            at = to;
            if Some(id) == self.unknown {
                let own = self.text.get(from as usize..to as usize).unwrap_or_default();
                self.columns.push_with_text(id, own, (from, to), Some(word));
            } else {
                self.columns.push(id, (from, to), Some(word));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::super::ChunkTokens;
    use super::super::chunk_cache::CacheLimits;
    use super::*;

    proptest! {
        #[test]
        fn push_hits_matches_naive(
            known in prop::collection::vec("[ab]{1,9}", 0..20),
            asked in prop::collection::vec("[ab]{1,9}", 1..40),
            (id_bound, most) in prop_oneof![Just((1 << 16, 7)), Just((1 << 20, 3))],
        ) {
            let mut cache = ChunkCache::new(CacheLimits { bytes: 1 << 20, id_bound });
            for word in &known {
                let miss = |range: Range<usize>, out: &mut ChunkTokens| {
                    out.ids.extend(word.as_bytes()[range].iter().map(|&byte| u32::from(byte)));
                    Ok(())
                };
                prop_assert!(cache.get_or_insert_with(word.as_bytes(), 0, word.len(), miss).is_ok());
            }
            let lookup: Vec<Lookup> =
                asked.iter().map(|word| cache.prefetch(word.as_bytes(), 0, word.len(), 0, false)).collect();
            let is_hit = |word: &&String| known.contains(word) && word.len() <= most;
            let emit_hits: Vec<&String> = asked.iter().take_while(is_hit).collect();
            let naive: Vec<u32> = emit_hits.iter().flat_map(|word| word.bytes().map(u32::from)).collect();
            let (mut wide, mut narrow) = (Vec::<u32>::new(), Vec::<u16>::new());
            prop_assert_eq!(IdSink(&mut wide).emit_hits(&cache, &lookup), emit_hits.len());
            prop_assert_eq!(IdSink(&mut narrow).emit_hits(&cache, &lookup), emit_hits.len());
            let mut count = CountSink::default();
            prop_assert_eq!((count.emit_hits(&cache, &lookup), count.0), (emit_hits.len(), naive.len() as u64));
            prop_assert_eq!(&wide, &naive);
            prop_assert_eq!(narrow, naive.iter().map(|&id| id as u16).collect::<Vec<_>>());
        }
    }
}
