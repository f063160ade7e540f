//! Which chunks were met before, as a set of hashes.

/// Bits of the set: 64 KiB, within reach of the near caches.
const BITS: usize = 1 << 19;

/// The set is emptied once this many bits are set: then a quarter of the hashes that are asked for the first time are taken for known.
const MOST: usize = BITS / 4;

/// A set of hashes that forgets them all from time to time.
#[derive(Debug, Default)]
pub(super) struct FirstSights {
    /// None until the first hash is asked for.
    bits: Vec<u64>,
    set: usize,
}

impl FirstSights {
    /// Bytes that the set takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.bits[..])
    }

    /// True if a chunk with this hash was met before; notes that it is met.
    pub(super) fn is_met_again(&mut self, hash: u64) -> bool {
        if self.bits.is_empty() || self.set == MOST {
            self.bits.clear();
            self.bits.resize(BITS / 64, 0);
            self.set = 0;
        }
        // The low bits of the hash choose the slot in the table.
        let (place, bit) = ((hash >> 32) as usize % BITS / 64, 1 << (hash >> 32 & 63));
        let is_known = self.bits[place] & bit != 0;
        self.bits[place] |= bit;
        self.set += usize::from(!is_known);
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_met_again_from_the_second_time_on() {
        let mut seen = FirstSights::default();
        let hash = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let wrong = (0..10_000).filter(|&number| seen.is_met_again(hash(number))).count();
        assert!(wrong < 200, "{wrong}");
        assert!((0..10_000).all(|number| seen.is_met_again(hash(number))));
        (0..1_000_000).for_each(|number| {
            seen.is_met_again(hash(number));
        });
        assert!(seen.set <= MOST);
    }
}
