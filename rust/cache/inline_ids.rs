//! Ids of one chunk in 16 bytes of its slot: all of them if they are few, or their index in the arena, or both.

use std::mem::MaybeUninit;

use super::id::Id;

/// Items that [`InlineIds::write_narrow`] writes.
pub const NARROW: usize = 8;

/// Items that [`InlineIds::write_wide`] writes.
pub const WIDE: usize = NARROW / 2;

/// In place of the number of ids: the ids are in the arena.
const IN_ARENA: u16 = u16::MAX;

/// Flag of the number of ids: the ids are also in the arena, with their spans.
const HAS_SPANS: u16 = 1 << 15;

/// Halves that hold the arena index of ids with spans.
const ARENA_INDEX: std::ops::Range<usize> = NARROW - 3..NARROW - 1;

/// How ids lie in [`InlineIds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Up to seven of 16 bits.
    Narrow,
    /// Up to three of 32 bits, each with its low half first.
    Wide,
}

impl Packing {
    /// The one for ids below `id_bound`.
    pub fn for_ids(id_bound: usize) -> Self {
        if id_bound <= 1 << 16 { Self::Narrow } else { Self::Wide }
    }

    /// Packs `ids`, if there is room for them.
    pub fn pack(self, ids: &[u32]) -> Option<InlineIds> {
        let mut halves = [0; NARROW];
        match self {
            Self::Narrow => {
                for (half, &id) in halves[..NARROW - 1].get_mut(..ids.len())?.iter_mut().zip(ids) {
                    *half = u16::try_from(id).ok()?;
                }
            }
            Self::Wide => {
                let pairs = halves[..NARROW - 2].as_chunks_mut().0.get_mut(..ids.len())?;
                for (pair, &id) in pairs.iter_mut().zip(ids) {
                    *pair = [id as u16, (id >> 16) as u16];
                }
            }
        }
        halves[NARROW - 1] = ids.len() as u16;
        Some(InlineIds(halves))
    }

    /// As [`Self::pack`], for ids that are also in the arena at `index`, with their spans; the index alone if there is no room
    /// for both.
    pub fn pack_with_spans(self, ids: &[u32], index: u32) -> InlineIds {
        let room = if self == Self::Narrow { ARENA_INDEX.start } else { ARENA_INDEX.start / 2 };
        let packed = if ids.len() <= room { self.pack(ids) } else { None };
        let Some(InlineIds(mut halves)) = packed else { return InlineIds::in_arena(index) };
        halves[ARENA_INDEX].copy_from_slice(&[index as u16, (index >> 16) as u16]);
        halves[NARROW - 1] |= HAS_SPANS;
        InlineIds(halves)
    }

    /// What was packed: as many ids as [`InlineIds::count`] says, then arbitrary items.
    pub fn unpack(self, inline: &InlineIds) -> [u32; NARROW] {
        let mut ids = inline.0.map(u32::from);
        if self == Self::Wide {
            ids.iter_mut().take(WIDE).enumerate().for_each(|(at, id)| *id = inline.wide(at));
        }
        ids
    }
}

/// Up to seven ids, or the arena index of more; their number is in the last half.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub struct InlineIds([u16; NARROW]);

impl InlineIds {
    /// Ids that are in the arena at `index`.
    pub fn in_arena(index: u32) -> Self {
        Self([index as u16, (index >> 16) as u16, 0, 0, 0, 0, 0, IN_ARENA])
    }

    /// How many ids there are, up to seven; none if they are in the arena, or if `with_spans` is asked and they have some.
    #[inline]
    pub fn count(&self, with_spans: bool) -> Option<usize> {
        let count = self.0[NARROW - 1];
        let is_in_arena = if with_spans { count & HAS_SPANS != 0 } else { count == IN_ARENA };
        (!is_in_arena).then_some((count & !HAS_SPANS) as usize)
    }

    /// Index in the arena of ids that are there.
    pub fn arena_index(&self) -> usize {
        let at = if self.0[NARROW - 1] == IN_ARENA { 0..2 } else { ARENA_INDEX };
        self.0[at].iter().rev().fold(0, |index, &half| index << 16 | usize::from(half))
    }

    /// Writes ids of [`Packing::Narrow`], then arbitrary items.
    // Arguments of a function are known not to overlap; so this becomes a load, a widening and a store.
    #[inline]
    pub fn write_narrow<T: Id>(&self, out: &mut [MaybeUninit<T>; NARROW]) {
        for (item, &half) in out.iter_mut().zip(&self.0) {
            item.write(T::narrow(half.into()));
        }
    }

    /// Writes ids of [`Packing::Wide`], then arbitrary items.
    #[inline]
    pub fn write_wide<T: Id>(&self, out: &mut [MaybeUninit<T>; WIDE]) {
        for (at, item) in out.iter_mut().enumerate() {
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

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            ids in prop::collection::vec(prop_oneof![0..1u32 << 16, any::<u32>()], 0..10),
            is_narrow: bool,
        ) {
            let (packing, most) = if is_narrow { (Packing::Narrow, 7) } else { (Packing::Wide, 3) };
            let packed = packing.pack(&ids);
            let has_room = ids.len() <= most && !(is_narrow && ids.iter().any(|&id| id > 0xFFFF));
            prop_assert_eq!(packed.is_some(), has_room);
            if let Some(few) = packed {
                prop_assert_eq!([true, false].map(|with_spans| few.count(with_spans)), [Some(ids.len()); 2]);
                prop_assert_eq!(&packing.unpack(&few)[..ids.len()], ids.as_slice());
            }
        }

        #[test]
        fn what_has_spans_is_found_in_both_ways(
            ids in prop::collection::vec(prop_oneof![0..1u32 << 16, any::<u32>()], 1..8),
            place: u32,
            is_narrow: bool,
        ) {
            let (packing, most) = if is_narrow { (Packing::Narrow, 5) } else { (Packing::Wide, 2) };
            let few = packing.pack_with_spans(&ids, place);
            prop_assert_eq!((few.count(true), few.arena_index()), (None, place as usize));
            let has_room = ids.len() <= most && packing.pack(&ids).is_some();
            prop_assert_eq!(few.count(false), has_room.then_some(ids.len()));
            if has_room {
                prop_assert_eq!(&packing.unpack(&few)[..ids.len()], ids.as_slice());
            }
        }

        #[test]
        fn what_is_in_arena_is_found(place: u32) {
            let few = InlineIds::in_arena(place);
            prop_assert_eq!((few.count(true), few.count(false), few.arena_index()), (None, None, place as usize));
        }
    }
}
