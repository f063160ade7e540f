//! Memo of neighbouring chunks: does the pre-tokenizer cut between them?

use crate::cache::Lookup;
use crate::structures::reused::reused;

/// Pairs of chunks in the memo of cuts.
#[cfg(not(test))]
const KNOWN_PAIRS: usize = 1 << 12;
#[cfg(test)]
const KNOWN_PAIRS: usize = 2;

/// Two neighbouring chunks by their keys, and true if the pre-tokenizer cuts between them.
type Pair = ([u128; 2], bool);

/// The pairs of short chunks that were searched last, by their hashes.
#[derive(Clone, Debug, Default)]
pub struct CutMemo {
    pairs: Vec<Pair>,
}

reused!(CutMemo: pairs);

impl CutMemo {
    /// The slot of a pair, which may hold another pair.
    pub(super) fn place(&mut self, [left, right]: &[Lookup; 2]) -> &mut Pair {
        if self.pairs.is_empty() {
            // No chunk has the key 0.
            self.pairs = vec![([0; 2], false); KNOWN_PAIRS];
        }
        let hash = left.short_hash().wrapping_mul(0x9E37_79B1) ^ right.short_hash();
        &mut self.pairs[hash as usize % KNOWN_PAIRS]
    }
}
