//! Which chunks were met before, as a set of hashes.

/// Bits of the first generation: 64 KiB, within reach of the near caches.
const FEWEST_BITS: usize = 1 << 19;

/// A generation is full once one in this many bits is set. Two full generations then mistake a quarter of new hashes for known ones.
const FULL: usize = 8;

/// Growth factor of the next generation, up to the limit: a larger set remembers chunks that come again after many others.
const GROWTH: usize = 4;

/// A set of hashes in two generations: when the younger one is full, it replaces the older one, and an empty one begins.
#[derive(Debug, Default)]
pub(super) struct FirstSights {
    /// Powers of two in size, or empty until the first hash is asked for.
    younger: Vec<u64>,
    older: Vec<u64>,
    /// Bits that are set in the younger one.
    set: usize,
}

impl FirstSights {
    /// Bytes that the set takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.younger[..]) + size_of_val(&self.older[..])
    }

    /// True if a chunk with this hash was met before; notes that it is met. A generation grows to at most `most_bytes`, or has its first size.
    pub(super) fn is_met_again(&mut self, hash: u64, most_bytes: usize) -> bool {
        let bits = 64 * self.younger.len();
        if self.set * FULL == bits {
            let grown = if bits * GROWTH > 8 * most_bytes { bits } else { bits * GROWTH };
            self.older = std::mem::replace(&mut self.younger, vec![0; grown.max(FEWEST_BITS) / 64]);
            self.set = 0;
        }
        // The low bits of the hash choose the slot in the table.
        let (bit, last) = ((hash >> 32) as usize, self.younger.len() - 1);
        let was_met = self.older.get((bit / 64) & self.older.len().wrapping_sub(1));
        let was_met = was_met.is_some_and(|word| word >> (bit % 64) & 1 != 0);
        let word = &mut self.younger[(bit / 64) & last];
        let is_known = *word >> (bit % 64) & 1 != 0;
        *word |= 1 << (bit % 64);
        self.set += usize::from(!is_known);
        is_known || was_met
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::hash_key;

    #[test]
    fn a_chunk_is_met_again_from_the_second_time_on() {
        let hash = |number: u64| hash_key(number.into());
        for (most_bytes, numbers) in [(0, 10_000), (1 << 20, 200_000)] {
            let mut seen = FirstSights::default();
            let mut count_known = |numbers: u64| {
                (0..numbers).filter(|&number| seen.is_met_again(hash(number), most_bytes)).count()
            };
            let wrong = count_known(numbers);
            assert!(wrong < numbers as usize / 4, "{wrong}");
            assert_eq!(count_known(numbers), numbers as usize);
            // Both generations are as large as they may be, and do not fill up.
            count_known(4_000_000);
            assert_eq!(seen.bytes(), 2 * most_bytes.max(FEWEST_BITS / 8));
            assert!(seen.set * FULL <= 64 * seen.younger.len());
        }
    }
}
