//! Continuations: encoding a fragment from the inside of a pre-token without the text before it.
//!
//! The sum before a fragment changes how the sums in it are rounded, so it may decide between near ties. A fragment is
//! *context-dependent* if some sum that can occur before it might do so; all other fragments have the same tokens after
//! any text.

use super::path_nodes::{Margin, trace};
use super::scratch::Scratch;
use super::sums::F64Scores;
use super::{Edge, Unigram};
use crate::Result;

/// The most pieces of a pre-token that may be cut; it bounds the sum before a fragment.
pub const MOST_PIECES: u32 = 1 << 24;

impl Unigram {
    /// True if pre-tokens of up to [`MOST_PIECES`] pieces may be cut wherever `is_boundary` accepts two neighbouring bytes,
    /// one of which is in `apart`.
    ///
    /// Each fragment then has the tokens that it has in the pre-token, unless [`Scratch::is_context_dependent`]. This holds
    /// if no piece crosses such a boundary and no byte of `apart` is unknown: unknown text on both sides would be joined.
    pub fn is_cut_beside(&self, apart: &[u8], is_boundary: impl Fn(u8, u8) -> bool) -> bool {
        let is_crossed = |piece: &str| piece.as_bytes().windows(2).any(|pair| is_boundary(pair[0], pair[1]));
        let is_known = |byte: u8| self.vocab.id(char::from(byte).encode_utf8(&mut [0; 4])).is_some();
        let unknown = self.options.unk_id.and_then(|id| self.vocab.token(id));
        let may_be_unknown = unknown.is_some_and(|piece| piece.bytes().any(|byte| apart.contains(&byte)));
        self.kinds.is_none()
            && self.is_deterministic()
            && !may_be_unknown
            && apart.iter().all(|&byte| is_known(byte))
            && !self.vocab.iter().any(|(piece, _)| is_crossed(piece))
    }

    /// As [`Self::best_path`], for a fragment that other text precedes; sets `scratch.depends` if that text might matter.
    ///
    /// The larger the sum before the fragment, the coarser its sums are rounded, so near ties may be decided otherwise. The
    /// margin is therefore tested at the largest sum that [`MOST_PIECES`] pieces can reach.
    pub(super) fn best_path_of_continuation(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let Scratch { nodes, path, .. } = &mut *scratch;
        path.clear();
        if !self.has_finite_sums(0.0) {
            scratch.depends = true;
            return Ok(());
        }
        let least = self.viterbi_branchless::<true>(word, 0.0, nodes)?;
        trace(nodes, |edge: Edge| path.push(edge));
        let most = f64::from(MOST_PIECES) * self.largest_score;
        scratch.depends = !Margin { least, largest: most }.holds_at::<F64Scores>(most, word.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::UnigramOptions;
    use super::*;
    use crate::models::Tokens;

    fn unigram(pieces: &[(&str, f64)]) -> Unigram {
        let options = UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() };
        Unigram::new(pieces, options).expect("a valid model")
    }

    #[test]
    fn words_are_cut_where_no_piece_reaches_across() {
        let is_cut =
            |pieces| unigram(pieces).is_cut_beside(b",", |left, right| left == b'a' && right == b',');
        assert!(is_cut(&[("<unk>", 0.0), (",", -1.0), ("a", -2.0), (",a", -3.0)]));
        assert!(!is_cut(&[("<unk>", 0.0), (",", -1.0), ("a", -2.0), ("a,", -3.0)]), "a piece reaches across");
        assert!(!is_cut(&[("<unk>", 0.0), ("a", -2.0)]), "what is unknown would be joined");
        assert!(!is_cut(&[(",,", 0.0), (",", -1.0), ("a", -2.0)]), "a known piece would be joined");
    }

    fn encode(unigram: &Unigram, word: &str, is_continuation: bool, scratch: &mut Scratch) -> Vec<u32> {
        let mut tokens = Tokens::default();
        scratch.set_in_context(is_continuation);
        unigram.encode_word(word, scratch, &mut tokens).expect("unk_id is set");
        tokens.ids
    }

    proptest! {
        #![proptest_config(crate::testing::cases(2000))]

        #[test]
        fn continuation_matches_naive(
            scores in prop::collection::vec(-20.0..0.0, 8),
            fragments in prop::collection::vec("[ab]{1,9}|[.,]{1,9}|[abx日]{1,5}", 1..30),
        ) {
            let texts = ["a", "aa", "ab", "b", ",", ".", ",,", ".."];
            let mut pieces = vec![("<unk>", -5.0)];
            pieces.extend(texts.into_iter().zip(scores));
            let unigram = unigram(&pieces);
            let is_boundary = |left: u8, right: u8| {
                left.is_ascii_alphabetic() && b",.".contains(&right) || b",.".contains(&left) && right.is_ascii_alphabetic()
            };
            prop_assert!(unigram.is_cut_beside(b",.", is_boundary));
            let word = fragments.concat();
            let mut scratch = Scratch::default();
            let (mut ids, mut start) = (Vec::new(), 0);
            for end in 1..=word.len() {
                if end < word.len() && !is_boundary(word.as_bytes()[end - 1], word.as_bytes()[end]) {
                    continue;
                }
                let fragment = encode(&unigram, &word[start..end], start > 0, &mut scratch);
                ids.extend(if start > 0 && scratch.is_context_dependent() {
                    let known = encode(&unigram, &word[..start], false, &mut scratch).len();
                    encode(&unigram, &word[..end], false, &mut scratch).split_off(known)
                } else {
                    fragment
                });
                start = end;
            }
            prop_assert_eq!(ids, encode(&unigram, &word, false, &mut scratch));
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(2000))]

        #[test]
        fn path_holds_at_any_base(
            scores in prop::collection::vec(prop::sample::select(&[-1.1, -2.3, -3.1, -3.4, -4.6, -7.3][..]), 5),
            word in "[ab]{1,12}",
            share in 0.0..1.0_f64,
        ) {
            let texts = ["a", "b", "aa", "ab", "aba"];
            let mut pieces = vec![("<unk>", -5.0)];
            pieces.extend(texts.into_iter().zip(scores));
            let (unigram, mut scratch) = (unigram(&pieces), Scratch::default());
            unigram.best_path_of_continuation(&word, &mut scratch).expect("unk_id is set");
            let base = -share * f64::from(MOST_PIECES) * unigram.largest_score;
            let (mut nodes, mut path) = (Vec::new(), Vec::new());
            unigram.viterbi_branchless::<false>(&word, base, &mut nodes).expect("unk_id is set");
            trace(&nodes, |edge| path.push(edge));
            prop_assert!(scratch.is_context_dependent() || scratch.path == path);
        }
    }

    #[test]
    fn ties_depend_on_what_is_before() {
        let unigram = unigram(&[("<unk>", 0.0), ("a", -2.3), ("aa", -3.1), ("b", -1.0)]);
        let mut scratch = Scratch::default();
        let mut depends = |word| {
            encode(&unigram, word, true, &mut scratch);
            scratch.is_context_dependent()
        };
        assert_eq!(["aa", "ab", "aaa", "aab"].map(&mut depends), [false, false, true, false]);
    }
}
