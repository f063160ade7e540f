//! How merges make each token, if they make it in the same way in every text.
//!
//! A BPE vocabulary is *proper* here if in every pre-token merges happen in the order of their ranks. Then the merges
//! inside a token's bytes do not depend on the text around these bytes until a merge crosses their border. So the same
//! merges make a token in every text, and
//!
//! > a sequence of tokens is the encoding of its bytes if and only if each token alone is encoded as itself and no
//! > merge ever crosses a border between two neighbours.
//!
//! The two neighbours of a border alone decide if a merge crosses it ([`Derivations::may_meet`]).
//!
//! Merges happen in the order of their ranks if every merge comes after the merges that make its parts. Files converted
//! from ranks of tokens list every split of a token, also into parts that are made later. Such a merge never happens if
//! the token's bytes alone become the token sooner than they make the late part: no merge from outside has touched two
//! parts that face each other, so their bytes have become the token already. Published byte-level vocabularies are proper
//! in this sense. Vocabularies converted from SentencePiece are not, and keep the queue of merges.

use super::PairTable;
use super::pair_table::{id_of, rank_of};

/// Neither a byte nor made by a merge.
const NEVER: u32 = u32::MAX;

/// The last merge of each token.
#[derive(Clone, Debug)]
pub(super) struct Derivations {
    tokens: Vec<Derivation>,
}

/// How one token is made.
#[derive(Clone, Copy, Debug)]
struct Derivation {
    /// 0 for a single byte, 1 plus the rank of the last merge for a token that merges make, else [`NEVER`].
    born: u32,
    left: u32,
    right: u32,
    /// A bit for each token that a merge joins to this one, by a hash: most pairs that face each other have no merge, and
    /// these bits say so without a look into the large table.
    partners: u32,
}

fn partner_bit(id: u32) -> u32 {
    1 << (id.wrapping_mul(0x9E37_79B9) >> 27)
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
        let never = Derivation { born: NEVER, left: 0, right: 0, partners: 0 };
        let mut derivations = Self { tokens: vec![never; bound] };
        for &id in byte_ids {
            let token = derivations.tokens.get_mut(id as usize)?;
            if token.born != NEVER {
                return None;
            }
            token.born = 0;
        }
        for &(left, right) in pairs {
            derivations.tokens.get_mut(left as usize)?.partners |= partner_bit(right);
        }
        for &(left, right) in pairs {
            let merge = table.merge(left, right);
            let (rank, made) = (rank_of(merge), id_of(merge));
            if rank >= NEVER - 1 || [left, right, made].iter().any(|&id| id as usize >= bound) {
                return None;
            }
            // Of several merges that list a token, at most one is the last when its bytes are encoded alone.
            if derivations.tokens[made as usize].born == NEVER
                && derivations.is_made(left)
                && derivations.is_made(right)
                && derivations.may_meet_until(rank, left, right, table)
            {
                let token = &mut derivations.tokens[made as usize];
                (token.born, token.left, token.right) = (rank + 1, left, right);
            }
        }
        let born = |id: u32| derivations.tokens[id as usize].born;
        let is_proper = pairs.iter().all(|&(left, right)| {
            let merge = table.merge(left, right);
            let is_harmless = |part| {
                let is_late = born(part) != NEVER && born(part) > rank_of(merge);
                !is_late || born(id_of(merge)) < born(part)
            };
            is_harmless(left) && is_harmless(right)
        });
        is_proper.then_some(derivations)
    }

    /// True if the bytes of `id` alone are encoded as `id`.
    pub(super) fn is_made(&self, id: u32) -> bool {
        self.tokens[id as usize].born != NEVER
    }

    /// True if `left` and `right` remain two tokens beside each other: no merge crosses their border.
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
            let (left_token, right_token) = (self.tokens[left as usize], self.tokens[right as usize]);
            if left_token.partners & partner_bit(right) != 0 && rank_of(table.merge(left, right)) < limit {
                return false;
            }
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
