//! Ids of one pre-token in 16 bytes: all of them if they are few, or where they are, or both.

use std::mem::MaybeUninit;

use super::sink::Id;

/// Items that [`InlineIds::write_narrow`] writes.
pub(super) const NARROW: usize = 8;

/// Items that [`InlineIds::write_wide`] writes.
pub(super) const WIDE: usize = NARROW / 2;

/// In place of a number of ids: they are somewhere else.
const IN_ARENA: u16 = u16::MAX;

/// In a number of ids: they are also somewhere else, with their spans.
const HAS_SPANS: u16 = 1 << 15;

/// Halves with the place of ids that have spans.
const PLACE: std::ops::Range<usize> = NARROW - 3..NARROW - 1;

/// How ids lie in [`InlineIds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Up to seven of 16 bits.
    Narrow,
    /// Up to three of 32 bits, each with its low half first.
    Wide,
}

impl Packing {
    /// The one for ids below `id_bound`.
    pub(super) fn for_ids(id_bound: usize) -> Self {
        if id_bound <= 1 << 16 { Self::Narrow } else { Self::Wide }
    }

    /// Packs `ids`, if there is room for them.
    pub(super) fn pack(self, ids: &[u32]) -> Option<InlineIds> {
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

    /// As [`Self::pack`], of ids that are also at `place`, with their spans; the place alone if there is no room for both.
    pub(super) fn pack_with_spans(self, ids: &[u32], place: u32) -> InlineIds {
        let room = if self == Self::Narrow { PLACE.start } else { PLACE.start / 2 };
        let packed = if ids.len() <= room { self.pack(ids) } else { None };
        let Some(InlineIds(mut halves)) = packed else { return InlineIds::in_arena(place) };
        halves[PLACE].copy_from_slice(&[place as u16, (place >> 16) as u16]);
        halves[NARROW - 1] |= HAS_SPANS;
        InlineIds(halves)
    }

    /// What was packed: as many ids as [`InlineIds::count`] says, and after them whatever.
    pub(super) fn unpack(self, few: &InlineIds) -> [u32; NARROW] {
        let mut ids = few.0.map(u32::from);
        if self == Self::Wide {
            ids.iter_mut().take(WIDE).enumerate().for_each(|(at, id)| *id = few.wide(at));
        }
        ids
    }
}

/// A few ids, or a place where ids are; their number is in the last half.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct InlineIds([u16; NARROW]);

impl InlineIds {
    /// Ids that are at `place`.
    pub(super) fn in_arena(place: u32) -> Self {
        Self([place as u16, (place >> 16) as u16, 0, 0, 0, 0, 0, IN_ARENA])
    }

    /// How many ids there are, up to seven; none if they are elsewhere, or if `with_spans` is asked and they have some.
    #[inline]
    pub(super) fn count(&self, with_spans: bool) -> Option<usize> {
        let count = self.0[NARROW - 1];
        let is_elsewhere = if with_spans { count & HAS_SPANS != 0 } else { count == IN_ARENA };
        (!is_elsewhere).then_some((count & !HAS_SPANS) as usize)
    }

    /// Where the ids are that are elsewhere, or have spans.
    pub(super) fn place(&self) -> usize {
        let at = if self.0[NARROW - 1] == IN_ARENA { 0..2 } else { PLACE };
        self.0[at].iter().rev().fold(0, |place, &half| place << 16 | usize::from(half))
    }

    /// Writes ids of [`Packing::Narrow`], and after them whatever.
    // Arguments of a function are known not to overlap; so this becomes a load, a widening and a store.
    #[inline]
    pub(super) fn write_narrow<T: Id>(&self, out: &mut [MaybeUninit<T>; NARROW]) {
        for (place, &half) in out.iter_mut().zip(&self.0) {
            place.write(T::narrow(half.into()));
        }
    }

    /// Writes ids of [`Packing::Wide`], and after them whatever.
    #[inline]
    pub(super) fn write_wide<T: Id>(&self, out: &mut [MaybeUninit<T>; WIDE]) {
        for (at, place) in out.iter_mut().enumerate() {
            place.write(T::narrow(self.wide(at)));
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
            prop_assert_eq!((few.count(true), few.place()), (None, place as usize));
            let has_room = ids.len() <= most && packing.pack(&ids).is_some();
            prop_assert_eq!(few.count(false), has_room.then_some(ids.len()));
            if has_room {
                prop_assert_eq!(&packing.unpack(&few)[..ids.len()], ids.as_slice());
            }
        }

        #[test]
        fn what_is_elsewhere_is_found(place: u32) {
            let few = InlineIds::in_arena(place);
            prop_assert_eq!((few.count(true), few.count(false), few.place()), (None, None, place as usize));
        }
    }
}
