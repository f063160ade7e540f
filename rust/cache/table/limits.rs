//! How a cache keeps to its limit: the tables of slots have a share of the bytes each, and long chunks and the arena have the
//! rest.

use super::super::inline_ids::InlineIds;
use super::super::long_keys::LongKeys;
use super::{ChunkCache, HAS_SPANS, LONGEST};
use crate::cache::key::hash_key;
use crate::cache::lookup::Lookup;
use crate::structures::reused::{Bounds, Reused};

/// Bounds of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheLimits {
    /// Bytes that the cache of one thread takes at most, about; a few KiB or 0 turn the cache off.
    pub bytes: usize,
    /// All ids are below this.
    pub id_bound: usize,
}

/// The table of short chunks has this part of the limit.
pub(super) const SHORT_SHARE: usize = 2;

/// The table of medium chunks has this part of the limit.
pub(super) const MEDIUM_SHARE: usize = 4;

/// Each generation of the record of chunks met before has at most this part of the limit.
const FIRST_SIGHTS_SHARE: usize = 64;

/// A cache with a smaller limit does not note which chunks were met before.
const LEAST_FOR_FIRST_SIGHTS: usize = 1 << 20;

/// Which chunks are read matters once the arena has this part of the limit.
const LARGE_ARENA: usize = 16;

impl ChunkCache {
    /// Drops buffers that are larger than `bounds` allow; keeps all chunks.
    pub fn trim(&mut self, bounds: Bounds) {
        self.miss_buffer.trim(bounds);
    }

    /// True if a chunk was missed since the last call. Without a miss no buffer grows.
    #[inline]
    pub fn take_missed(&mut self) -> bool {
        std::mem::take(&mut self.has_missed)
    }

    /// Bytes of the buffers that [`Self::trim`] may drop.
    pub fn buffer_bytes(&self) -> usize {
        self.miss_buffer.bytes()
    }

    /// Bytes that the cache takes now.
    pub fn bytes(&self) -> usize {
        let tables = self.short.bytes() + self.medium.bytes() + self.long.bytes();
        tables + self.arena.len() * 4 + self.first_sights.bytes()
    }

    /// True if a chunk was probably met before: from the second time on, unless many others were met in between. A cache
    /// with a small limit notes no chunks, and always answers true.
    pub fn is_met_again(&mut self, lookup: &Lookup) -> bool {
        let hash = if lookup.is_short() { hash_key(lookup.key) } else { lookup.key as u64 };
        let bytes = self.limits.bytes;
        bytes < LEAST_FOR_FIRST_SIGHTS || self.first_sights.is_met_again(hash, bytes / FIRST_SIGHTS_SHARE)
    }

    /// Makes room for `chunk` and its tokens, which the last miss gave; false if the limit leaves no room.
    pub(super) fn make_room(&mut self, lookup: &Lookup, chunk: &[u8]) -> bool {
        let is_long = !lookup.is_short() && !lookup.is_medium();
        if is_long && chunk.len() > LONGEST {
            return false;
        }
        if self.arena.len() * size_of::<u32>() > self.limits.bytes / LARGE_ARENA {
            self.short.tracks_use = true;
            self.medium.tracks_use = true;
        }
        let short = self.short.bytes_with_one_more(lookup.is_short());
        let medium = self.medium.bytes_with_one_more(lookup.is_medium());
        let left = self.limits.bytes.saturating_sub(short + medium + self.first_sights.bytes());
        // A record holds the number of ids, the ids and their spans.
        let record = 1 + 3 * self.miss_buffer.ids.len();
        let has_room = |cache: &Self| {
            let arena = (cache.arena.len() + record) * size_of::<u32>();
            let long = cache.long.bytes_with(if is_long { chunk.len() } else { 0 });
            long.is_some_and(|long| long + arena <= left)
        };
        // The records of long chunks outlive these, so the long chunks alone are forgotten only where they take the most.
        if !has_room(self) && self.long.bytes() > left / 2 {
            self.long = LongKeys::default();
        }
        if !has_room(self) {
            self.compact_arena(left / size_of::<u32>() / 2);
        }
        has_room(self)
    }

    /// Keeps the records of chunks that were read since the arena was compacted last, up to `most` items.
    fn compact_arena(&mut self, most: usize) {
        let mut kept = Records { old: std::mem::take(&mut self.arena), kept: Vec::new(), most };
        self.short.all_ids().for_each(|value| kept.keep(value));
        self.medium.all_ids().for_each(|value| kept.keep(value));
        // The next long chunk that is met again is encoded again.
        self.long = LongKeys::default();
        self.arena = kept.kept;
    }
}

/// The records of an arena that is being compacted.
struct Records {
    old: Vec<u32>,
    kept: Vec<u32>,
    most: usize,
}

impl Records {
    fn keep<const N: usize>(&mut self, value: &mut InlineIds<N>) {
        let Some(index) = value.arena_index() else { return };
        let Some(record) = self.old.get(index as usize..).filter(|_| value.take_used()) else {
            return value.set_stale();
        };
        let ids = (record[0] & !HAS_SPANS) as usize;
        let len = 1 + if record[0] & HAS_SPANS == 0 { ids } else { 3 * ids };
        if self.kept.len() + len > self.most {
            return value.set_stale();
        }
        value.set_arena_index(self.kept.len() as u32);
        self.kept.extend_from_slice(&record[..len]);
    }
}
