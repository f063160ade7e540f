//! How each token comes about, where that is the same in every text.
//!
//! A BPE vocabulary is *proper* here if every token that is no single byte is made by exactly one merge, whose parts
//! are bytes or made by earlier merges. Then merges happen in the order of their ranks in every pre-token, each token
//! grows inside its own bytes independently of its surroundings until a merge crosses its border, and therefore
//!
//! > a sequence of tokens is the encoding of its bytes if and only if each token alone is encoded as itself and no
//! > merge ever crosses a border between two neighbours.
//!
//! Whether a merge crosses a border depends on the two neighbours alone ([`Derivations::may_meet`]). Published
//! byte-level vocabularies are proper; those converted from SentencePiece, which list several merges for one token, are
//! not, and keep the queue of merges.

use super::PairTable;
use super::pair_table::{id_of, rank_of};

/// Neither a byte nor made by a merge.
const NEVER: u32 = u32::MAX;

/// One merge a token, in an order that never goes back.
#[derive(Clone, Debug)]
pub(super) struct Derivations {
    tokens: Vec<Derivation>,
}

/// How one token is made.
#[derive(Clone, Copy, Debug)]
struct Derivation {
    /// 0 for a single byte, else 1 plus the rank of the merge that makes the token.
    born: u32,
    left: u32,
    right: u32,
}

impl Derivations {
    /// The derivations of all tokens below `bound`; `None` if the vocabulary is not proper.
    ///
    /// `pairs` are the merges by rank, `byte_ids` the ids of the 256 bytes.
    pub(super) fn new(
        bound: usize,
        byte_ids: &[u32; 256],
        pairs: &[(u32, u32)],
        table: &PairTable,
    ) -> Option<Self> {
        let never = Derivation { born: NEVER, left: 0, right: 0 };
        let mut tokens = vec![never; bound];
        for &id in byte_ids {
            let token = tokens.get_mut(id as usize)?;
            if token.born != NEVER {
                return None;
            }
            token.born = 0;
        }
        let mut last_rank = None;
        for &(left, right) in pairs {
            let merge = table.merge(left, right);
            let (rank, made) = (rank_of(merge), id_of(merge));
            let is_born = |id: u32| tokens.get(id as usize).is_some_and(|token| token.born != NEVER);
            let is_next = last_rank.is_none_or(|last| last < rank) && rank < NEVER - 1;
            if !is_next || !is_born(left) || !is_born(right) || tokens.get(made as usize)?.born != NEVER {
                return None;
            }
            tokens[made as usize] = Derivation { born: rank + 1, left, right };
            last_rank = Some(rank);
        }
        Some(Self { tokens })
    }

    /// Whether the bytes of `id` alone are encoded as `id`, if those of its parts are encoded as those.
    pub(super) fn holds_together(&self, id: u32, table: &PairTable) -> bool {
        let Derivation { born, left, right } = self.tokens[id as usize];
        match born {
            0 => true,
            NEVER => false,
            // Until the token is made, nothing else may cross the border between its parts.
            born => self.may_meet_until(born - 1, left, right, table),
        }
    }

    /// The parts of a token that a merge makes.
    pub(super) fn parts(&self, id: u32) -> Option<(u32, u32)> {
        let Derivation { born, left, right } = self.tokens[id as usize];
        (born != 0 && born != NEVER).then_some((left, right))
    }

    /// Whether `left` and `right` stay what they are beside each other: no merge crosses their border.
    #[inline]
    pub(super) fn may_meet(&self, left: u32, right: u32, table: &PairTable) -> bool {
        self.may_meet_until(NEVER, left, right, table)
    }

    /// As [`Self::may_meet`], for merges of ranks below `limit`.
    ///
    /// Goes back in time: the two tokens face each other from the birth of the later one on, before that one of its
    /// parts does, and so on down to bytes. A merge of two that face each other crosses the border if its turn comes
    /// before the next of them grows. Equal merges happen from left to right, so the left one grows first.
    fn may_meet_until(&self, limit: u32, mut left: u32, mut right: u32, table: &PairTable) -> bool {
        let mut limit = limit;
        loop {
            if rank_of(table.merge(left, right)) < limit {
                return false;
            }
            let (left_token, right_token) = (self.tokens[left as usize], self.tokens[right as usize]);
            if left_token.born > right_token.born {
                limit = left_token.born - 1;
                left = left_token.right;
            } else if right_token.born > 0 {
                limit = right_token.born;
                right = right_token.left;
            } else {
                return true;
            }
        }
    }
}
