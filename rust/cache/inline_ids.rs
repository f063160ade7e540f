//! Ids of one chunk within its slot: all of them if they are few, or their index in the arena, or both.

use std::mem::MaybeUninit;

use super::id::Id;

/// Items of the slot of a short chunk.
pub const SHORT_ITEMS: usize = 8;

/// Items of the slot of a medium chunk.
pub const MEDIUM_ITEMS: usize = 2 * SHORT_ITEMS;

/// Bits of the last item that hold the number of ids.
const COUNT: u16 = 0xFF;

/// Flag of the last item: the ids of the slot are gone, and only its key is left.
const STALE: u16 = 1 << 12;

/// Flag of the last item: the ids have 24 bits each, so that more of them have room.
const DENSE: u16 = 1 << 11;

/// Flag of the last item: the slot was read since it was last considered for eviction.
const USED: u16 = 1 << 13;

/// Flag of the last item: the ids are in the arena alone.
const IN_ARENA: u16 = 1 << 14;

/// Flag of the last item: the ids are also in the arena, with their spans.
const HAS_SPANS: u16 = 1 << 15;

/// How ids lie in [`InlineIds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Of 16 bits each, in all items but the last.
    Narrow,
    /// Of 32 bits each, with the low half first; of 24 bits where more have to have room.
    Wide,
}

impl Packing {
    /// The one for ids below `id_bound`.
    pub fn for_ids(id_bound: usize) -> Self {
        if id_bound <= 1 << 16 { Self::Narrow } else { Self::Wide }
    }

    /// How many ids have room in `items` items.
    const fn room(self, items: usize) -> usize {
        match self {
            Self::Narrow => items,
            Self::Wide => items / 2,
        }
    }

    /// Packs `ids`, if there is room for them.
    pub fn pack<const N: usize>(self, ids: &[u32]) -> Option<InlineIds<N>> {
        let mut items = [0; N];
        if ids.len() > self.room(N - 1) {
            return if self == Self::Wide { InlineIds::dense(ids) } else { None };
        }
        match self {
            Self::Narrow => {
                for (item, &id) in items.iter_mut().zip(ids) {
                    *item = u16::try_from(id).ok()?;
                }
            }
            Self::Wide => {
                for (pair, &id) in items.as_chunks_mut().0.iter_mut().zip(ids) {
                    *pair = [id as u16, (id >> 16) as u16];
                }
            }
        }
        items[N - 1] = ids.len() as u16;
        Some(InlineIds(items))
    }

    /// As [`Self::pack`], for ids that are also in the arena at `index`, with their spans; the index alone if there is no room
    /// for both.
    pub fn pack_with_spans<const N: usize>(self, ids: &[u32], index: u32) -> InlineIds<N> {
        let packed = if ids.len() <= self.room(N - 3) { self.pack(ids) } else { None };
        let Some(mut few) = packed else { return InlineIds::in_arena(index) };
        few.set_arena_index(index);
        few.0[N - 1] |= HAS_SPANS;
        few
    }

    /// The packed ids: as many as [`InlineIds::count`] or [`InlineIds::dense_count`] says, then arbitrary items.
    pub fn unpack<const N: usize>(self, inline: &InlineIds<N>) -> [u32; N] {
        if inline.dense_count().is_some() {
            return inline.dense_ids();
        }
        let mut ids = inline.0.map(u32::from);
        if self == Self::Wide {
            ids.iter_mut().take(N / 2).enumerate().for_each(|(at, id)| *id = inline.wide(at));
        }
        ids
    }
}

/// A few ids, or the arena index of more. The last item has their number and flags.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct InlineIds<const N: usize>([u16; N]);

impl<const N: usize> Default for InlineIds<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> InlineIds<N> {
    /// Ids that are in the arena at `index`.
    pub fn in_arena(index: u32) -> Self {
        let mut ids = Self::default();
        ids.set_arena_index(index);
        ids.0[N - 1] = IN_ARENA;
        ids
    }

    /// No ids.
    pub(super) fn stale() -> Self {
        let mut ids = Self::default();
        ids.set_stale();
        ids
    }

    /// Ids of 24 bits each, if there is room for them.
    fn dense(ids: &[u32]) -> Option<Self> {
        let mut bytes = [[0; 2]; N];
        let items = bytes[..N - 1].as_flattened_mut().as_chunks_mut::<3>().0.get_mut(..ids.len())?;
        for (item, &id) in items.iter_mut().zip(ids) {
            let [low, middle, high, 0] = id.to_le_bytes() else { return None };
            *item = [low, middle, high];
        }
        let mut dense = Self(bytes.map(u16::from_le_bytes));
        dense.0[N - 1] = DENSE | ids.len() as u16;
        Some(dense)
    }

    /// How many ids of 24 bits there are; none if they have 16 or 32, or are not here.
    pub fn dense_count(&self) -> Option<usize> {
        let last = self.0[N - 1];
        (last & (DENSE | STALE) == DENSE).then_some((last & COUNT) as usize)
    }

    fn dense_ids(&self) -> [u32; N] {
        let bytes = self.0.map(u16::to_le_bytes);
        let mut ids = [0; N];
        for (id, four) in ids.iter_mut().zip(bytes.as_flattened().windows(4).step_by(3)) {
            *id = four.iter().rev().skip(1).fold(0, |id, &byte| id << 8 | u32::from(byte));
        }
        ids
    }

    /// How many ids there are; none if they have 24 bits, are in the arena or gone, or if `with_spans` is asked and they have some.
    #[inline]
    pub fn count(&self, with_spans: bool) -> Option<usize> {
        let last = self.0[N - 1];
        let not_here = DENSE | IN_ARENA | STALE | if with_spans { HAS_SPANS } else { 0 };
        (last & not_here == 0).then_some((last & COUNT) as usize)
    }

    /// Index in the arena of ids that are there.
    pub fn arena_index(&self) -> Option<u32> {
        let is_there = self.0[N - 1] & (IN_ARENA | HAS_SPANS) != 0;
        is_there.then(|| u32::from(self.0[N - 3]) | u32::from(self.0[N - 2]) << 16)
    }

    /// Notes another index in the arena.
    pub(super) fn set_arena_index(&mut self, index: u32) {
        self.0[N - 3] = index as u16;
        self.0[N - 2] = (index >> 16) as u16;
    }

    /// Forgets the ids.
    pub(super) fn set_stale(&mut self) {
        self.0[N - 1] = STALE;
    }

    /// True if the ids are gone.
    pub(super) fn is_stale(&self) -> bool {
        self.0[N - 1] & STALE != 0
    }

    /// Notes that the slot was read.
    #[inline]
    pub(super) fn set_used(&mut self) {
        if self.0[N - 1] & USED == 0 {
            self.0[N - 1] |= USED;
        }
    }

    /// True if the slot was read since the last call.
    pub(super) fn take_used(&mut self) -> bool {
        let is_used = self.0[N - 1] & USED != 0;
        self.0[N - 1] &= !USED;
        is_used
    }

    /// Writes ids of [`Packing::Narrow`], then arbitrary items.
    // Arguments of a function are known not to overlap; so this becomes a load, a widening and a store.
    #[inline]
    pub fn write_narrow<T: Id>(&self, out: &mut [MaybeUninit<T>; N]) {
        for (item, &half) in out.iter_mut().zip(&self.0) {
            item.write(T::narrow(half.into()));
        }
    }

    /// Writes ids of [`Packing::Wide`], then arbitrary items, to the first half of `out`.
    #[inline]
    pub fn write_wide<T: Id>(&self, out: &mut [MaybeUninit<T>; N]) {
        for (at, item) in out[..N / 2].iter_mut().enumerate() {
            item.write(T::narrow(self.wide(at)));
        }
    }

    #[inline]
    fn wide(&self, at: usize) -> u32 {
        let [low, high] = self.0.as_chunks().0[at];
        u32::from(low) | u32::from(high) << 16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<const N: usize>(ids: &[u32], packing: Packing, index: u32) -> Result<(), TestCaseError> {
        let bits = |bits: usize, room: usize| {
            bits * ids.len() <= 16 * room && ids.iter().all(|&id| u64::from(id) < 1 << bits)
        };
        let fits = |room: usize| bits(if packing == Packing::Narrow { 16 } else { 32 }, room);
        let is_dense = packing == Packing::Wide && !fits(N - 1) && bits(24, N - 1);
        let packed = packing.pack::<N>(ids);
        prop_assert_eq!(packed.is_some(), fits(N - 1) || is_dense);
        if let Some(mut few) = packed {
            prop_assert_eq!(
                [true, false].map(|with_spans| few.count(with_spans)),
                [(!is_dense).then_some(ids.len()); 2]
            );
            prop_assert_eq!(few.dense_count(), is_dense.then_some(ids.len()));
            prop_assert_eq!(few.arena_index(), None);
            few.set_used();
            prop_assert_eq!(few.count(true).or(few.dense_count()), Some(ids.len()));
            prop_assert_eq!(&packing.unpack(&few)[..ids.len()], ids);
            prop_assert_eq!([few.take_used(), few.take_used()], [true, false]);
            few.set_stale();
            prop_assert_eq!((few.is_stale(), few.count(false), few.arena_index()), (true, None, None));
            prop_assert_eq!(few.dense_count(), None);
        }
        let few = packing.pack_with_spans::<N>(ids, index);
        prop_assert_eq!((few.count(true), few.dense_count(), few.arena_index()), (None, None, Some(index)));
        prop_assert_eq!(few.count(false), fits(N - 3).then_some(ids.len()));
        if few.count(false).is_some() {
            prop_assert_eq!(&packing.unpack(&few)[..ids.len()], ids);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            ids in prop::collection::vec(prop_oneof![3 => 0..1u32 << 16, 3 => 0..1u32 << 24, 1 => any::<u32>()], 1..18),
            narrow_ids in prop::collection::vec(0..1u32 << 16, 1..18),
            index: u32,
        ) {
            for packing in [Packing::Narrow, Packing::Wide] {
                for ids in [&ids, &narrow_ids] {
                    check::<SHORT_ITEMS>(ids, packing, index)?;
                    check::<MEDIUM_ITEMS>(ids, packing, index)?;
                }
            }
        }

        #[test]
        fn what_is_in_arena_is_found(index: u32) {
            let few = InlineIds::<SHORT_ITEMS>::in_arena(index);
            prop_assert_eq!((few.count(true), few.count(false), few.arena_index()), (None, None, Some(index)));
        }
    }
}
