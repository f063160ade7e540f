//! A count-min sketch with one row, and a filter with one hash: approximate counts and sets in bounded memory.

/// 2^20 sums in a sketch: 4 MB, which stay in the cache.
const CACHED_BITS: u32 = 20;

/// 2^26 sums in a sketch, at most: 256 MB.
const MOST_BITS: u32 = 26;

/// Counts of pairs summed by hash, saturating at `u32::MAX`: never below a pair's true count, rarely far above.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    sums: Vec<u32>,
    hash: Hash,
}

/// A hash of `bits` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash {
    bits: u32,
}

impl Hash {
    /// A hash for the pairs of `ids` ids in `cells` cells, whose sums stay in the cache.
    pub(super) fn new(ids: usize, cells: usize) -> Self {
        Self::within(ids, cells, 0)
    }

    /// A hash for sums of at most `bytes` bytes, or of 4 MB if that is more. More values than possible pairs would only waste memory.
    pub(super) fn within(ids: usize, cells: usize, bytes: usize) -> Self {
        let most = (bytes / size_of::<u32>()).max(1).ilog2().clamp(CACHED_BITS, MOST_BITS);
        Self { bits: (2 * (ids + 1).ilog2() + 2).min(cells.ilog2() + 1).clamp(6, most) }
    }

    #[inline]
    fn of(self, key: u64) -> usize {
        // Another odd constant than in `FlatMap`, so that collisions here are no collisions there.
        (key.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - self.bits)) as usize
    }
}

impl Sketch {
    /// A sketch of no pairs.
    pub(super) fn new(hash: Hash) -> Self {
        Self { sums: vec![0; 1 << hash.bits], hash }
    }

    /// Counts a pair.
    #[inline]
    pub(super) fn add(&mut self, key: u64, weight: u64) {
        let sum = &mut self.sums[self.hash.of(key)];
        *sum = sum.saturating_add(u32::try_from(weight).unwrap_or(u32::MAX));
    }

    /// Adds another sketch of the same hash.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.saturating_add(*other);
        }
    }

    /// Bytes of the sums.
    pub(super) fn bytes(&self) -> usize {
        self.sums.len() * size_of::<u32>()
    }

    /// The highest sum.
    pub(super) fn highest(&self) -> u64 {
        self.sums.iter().copied().max().map_or(0, u64::from)
    }

    /// The sum at index `rank` in descending order; 0 if there are too few.
    pub(super) fn nth_highest(&self, rank: usize) -> u64 {
        if rank >= self.sums.len() {
            return 0;
        }
        let mut sums = self.sums.clone();
        u64::from(*sums.select_nth_unstable_by(rank, |one, other| other.cmp(one)).1)
    }

    /// The pairs whose counts may reach `threshold`.
    pub(super) fn filter(&self, threshold: u64) -> Filter {
        let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
        let mut filter = Filter::new(self.hash);
        for (slot, &sum) in self.sums.iter().enumerate() {
            filter.bits[slot / 64] |= u64::from(sum >= threshold) << (slot % 64);
        }
        filter
    }
}

/// A Bloom filter with one hash: in a 32nd of a sketch's memory, it spares most lookups in larger tables.
#[derive(Debug)]
pub(super) struct Filter {
    bits: Vec<u64>,
    hash: Hash,
}

impl Filter {
    /// The empty set.
    pub(super) fn new(hash: Hash) -> Self {
        Self { bits: vec![0; (1usize << hash.bits).div_ceil(64)], hash }
    }

    /// Adds a pair.
    pub(super) fn add(&mut self, key: u64) {
        let slot = self.hash.of(key);
        self.bits[slot / 64] |= 1 << (slot % 64);
    }

    /// True if the pair, or another one with the same hash, has been added.
    #[inline]
    pub(super) fn may_hold(&self, key: u64) -> bool {
        let slot = self.hash.of(key);
        self.bits[slot / 64] >> (slot % 64) & 1 != 0
    }
}
