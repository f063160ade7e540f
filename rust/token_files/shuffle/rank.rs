//! The order of a shuffle.

use crate::corpus::inputs::Place;
use crate::token_files::parts::{mix, record_hash};

/// Where a document stands in a shuffled order: lower ranks come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Pseudo-random.
    key: u64,
    /// Decides among equal keys.
    pub(super) place: Place,
}

impl Rank {
    /// The rank of the document at `place`. One more step than the hash by which documents for validation are drawn keeps the
    /// two choices apart.
    pub(super) fn new(seed: u64, place: Place) -> Self {
        Self { key: mix(record_hash(seed, place)), place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_few_documents_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..24_000 {
            let mut ranks = [0, 1, 2, 3].map(|byte| Rank::new(seed, Place { file: 0, byte }));
            ranks.sort_unstable();
            *counts.entry(ranks.map(|rank| rank.place.byte)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        // 1000 each, within five standard deviations.
        assert!(counts.values().all(|count| (845..=1155).contains(count)), "{counts:?}");
    }
}
