//! How a cache keeps to its limit: each table has a share of the bytes, and so has the arena.

use super::super::inline_ids::InlineIds;
use super::super::long_keys::LongKeys;
use super::{ChunkCache, HAS_SPANS, LONGEST};

/// Short chunks have this part of the limit.
pub(super) const SHORT_SHARE: usize = 2;

/// Medium chunks have this part of the limit.
pub(super) const MEDIUM_SHARE: usize = 4;

/// Long chunks and the arena have this part of the limit each.
const OTHER_SHARE: usize = 8;

impl ChunkCache {
    /// Makes room for the tokens of the last miss, which are those of `chunk`; false if the limit has none.
    pub(super) fn make_room(&mut self, chunk: &[u8], is_long: bool) -> bool {
        let share = self.limits.bytes / OTHER_SHARE;
        if is_long {
            let has_room =
                |long: &LongKeys<_>| long.bytes_with(chunk.len()).is_some_and(|bytes| bytes <= share);
            if chunk.len() > LONGEST {
                return false;
            }
            if !has_room(&self.long) {
                self.long = LongKeys::default();
            }
            if !has_room(&self.long) {
                return false;
            }
        }
        // A record holds the number of ids, the ids and their spans.
        let record = 1 + 3 * self.miss_buffer.ids.len();
        let has_room = |arena: &Vec<u32>| (arena.len() + record) * size_of::<u32>() <= share;
        if self.arena.len() * size_of::<u32>() > share / 2 {
            self.short.tracks_use = true;
            self.medium.tracks_use = true;
        }
        if !has_room(&self.arena) {
            self.compact_arena();
        }
        has_room(&self.arena)
    }

    /// Keeps the records of chunks that were read since the arena was compacted last, if these take no more than half of it.
    fn compact_arena(&mut self) {
        let mut kept = Records { old: std::mem::take(&mut self.arena), kept: Vec::new() };
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
}

impl Records {
    fn keep<const N: usize>(&mut self, value: &mut InlineIds<N>) {
        let Some(index) = value.arena_index() else { return };
        let Some(record) = self.old.get(index as usize..).filter(|_| value.take_used()) else {
            return value.set_stale();
        };
        let ids = (record[0] & !HAS_SPANS) as usize;
        let len = 1 + if record[0] & HAS_SPANS == 0 { ids } else { 3 * ids };
        if self.kept.len() + len > self.old.len() / 2 {
            return value.set_stale();
        }
        value.set_arena_index(self.kept.len() as u32);
        self.kept.extend_from_slice(&record[..len]);
    }
}
