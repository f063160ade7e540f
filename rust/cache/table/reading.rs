//! Reading of a slot without a change to the cache.

use super::{ChunkCache, HAS_SPANS};
use crate::cache::chunk_tokens::CachedTokens;
use crate::cache::inline_ids::InlineIds;
use crate::cache::lookup::Lookup;

impl ChunkCache {
    /// The tokens of a record in the arena.
    pub(super) fn record(&self, record: usize) -> CachedTokens<'_> {
        let head = self.arena[record];
        let (ids, end) = (record + 1, record + 1 + (head & !HAS_SPANS) as usize);
        let spans = (head & HAS_SPANS != 0).then(|| &self.arena[end..end + 2 * (end - ids)]);
        CachedTokens { ids: &self.arena[ids..end], spans }
    }

    /// The tokens of a short or medium chunk of `text`, if its slot leads to them; `unpacked` is memory for their ids.
    pub fn tokens_of<'a>(
        &'a self,
        lookup: &Lookup,
        text: &[u8],
        unpacked: &'a mut Vec<u32>,
    ) -> Option<CachedTokens<'a>> {
        match self.get_short(lookup) {
            Some(slot) => self.tokens_in(slot, unpacked),
            None => self.tokens_in(self.get_medium(lookup, text)?, unpacked),
        }
    }

    fn tokens_in<'a, const N: usize>(
        &'a self,
        slot: &InlineIds<N>,
        unpacked: &'a mut Vec<u32>,
    ) -> Option<CachedTokens<'a>> {
        let Some(count) = slot.count(true).or_else(|| slot.dense_count()) else {
            return Some(self.record(slot.arena_index()? as usize));
        };
        unpacked.clear();
        unpacked.extend(self.packing.unpack(slot).iter().take(count));
        Some(CachedTokens { ids: unpacked, spans: None })
    }
}
