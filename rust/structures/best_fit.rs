//! Bin packing by best fit.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Items divided among bins of one capacity.
///
/// Bins come in the order of the items that opened them, and the items of a bin in their own order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Bins {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Bins {
    /// Puts each item into the fullest bin that has room for it, among equally full bins into the one that was opened first. An item
    /// that fits into no bin opens one. If `is_decreasing`, longer items are placed first, equally long ones in their order.
    ///
    /// No length exceeds `capacity`. O(log b) an item for b bins that are not full, and the sorting; memory: some 60 bytes an item at
    /// most. Sources: Johnson et al. 1974, "Worst-case performance bounds for simple one-dimensional packing algorithms"; Ding et al.
    /// 2024, "Fewer truncations improve language modeling".
    pub fn best_fit(lengths: &[u32], capacity: u32, is_decreasing: bool) -> Self {
        let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
        if is_decreasing {
            order.sort_unstable_by_key(|&item| (Reverse(lengths[item as usize]), item));
        }
        // Bins that are not full, as room and number: the first one with enough room is the fullest.
        let mut rooms = BTreeSet::new();
        let (mut bins, mut openers) = (vec![0u32; lengths.len()], Vec::new());
        for item in order {
            let length = lengths[item as usize];
            debug_assert!(length <= capacity, "an item fits into an empty bin");
            let fullest = rooms.range((length, 0)..).next().copied();
            let (room, bin) = if let Some(found) = fullest {
                rooms.remove(&found);
                found
            } else {
                openers.push(item);
                (capacity, openers.len() as u32 - 1)
            };
            bins[item as usize] = bin;
            if room > length {
                rooms.insert((room - length, bin));
            }
        }
        drop(rooms);
        let mut by_opener: Vec<u32> = (0..openers.len() as u32).collect();
        by_opener.sort_unstable_by_key(|&bin| openers[bin as usize]);
        let mut places = openers;
        for (place, &bin) in (0..).zip(&by_opener) {
            places[bin as usize] = place;
        }
        Self::grouped(&bins, &places)
    }

    /// Groups items by the places of their bins, by counting.
    fn grouped(bins: &[u32], places: &[u32]) -> Self {
        let mut next = vec![0usize; places.len()];
        for &bin in bins {
            next[places[bin as usize] as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += std::mem::replace(count, sum);
        }
        let mut items = vec![0; bins.len()];
        for (item, &bin) in (0..).zip(bins) {
            let next = &mut next[places[bin as usize] as usize];
            items[*next] = item;
            *next += 1;
        }
        // Each bin was filled up to the beginning of the next one.
        Self { items, ends: next }
    }

    /// The items of each bin.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.items[begin..end])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    /// Looks at every bin for every item.
    fn naive(lengths: &[u32], capacity: u32, is_decreasing: bool) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
        if is_decreasing {
            order.sort_by_key(|&item| Reverse(lengths[item as usize]));
        }
        let mut bins: Vec<Vec<u32>> = Vec::new();
        for item in order {
            let room = |bin: &[u32]| capacity - bin.iter().map(|&item| lengths[item as usize]).sum::<u32>();
            let fits = bins.iter_mut().filter(|bin| room(bin) >= lengths[item as usize]);
            match fits.min_by_key(|bin| room(bin)) {
                Some(bin) => bin.push(item),
                None => bins.push(vec![item]),
            }
        }
        bins.sort_by_key(|bin| bin[0]);
        for bin in &mut bins {
            bin.sort_unstable();
        }
        bins
    }

    proptest! {
        #![proptest_config(cases(500))]

        #[test]
        fn best_fit_matches_naive(
            lengths in prop::collection::vec(1..20u32, 0..60),
            capacity in 19..50u32,
            is_decreasing: bool,
        ) {
            let bins = Bins::best_fit(&lengths, capacity, is_decreasing);
            let found: Vec<Vec<u32>> = bins.iter().map(<[u32]>::to_vec).collect();
            prop_assert_eq!(found, naive(&lengths, capacity, is_decreasing));
        }
    }
}
