//! Vocabularies without a list of merges, as in files of tiktoken and SentencePiece.
//!
//! There, any two neighbours that together spell a token may be merged, the best token first. Here a merge is a pair of
//! tokens, so each way to split a token in two becomes one merge. A shorter list of merges may be equivalent, see
//! [`ranked`].

use std::collections::{HashMap, HashSet};

use crate::models::Tokens;
use crate::models::bpe::{Bpe, BpeOptions, Scratch};
use crate::structures::byte_trie::ByteTrie;
use crate::{Error, Result};

/// Two tokens and the token that they make.
pub(super) type Split = ((u32, u32), u32);

/// All ways to split a token of `tokens` into two others: token by token, shorter left halves first.
///
/// O(n) in the number of all bytes, except for sorting the tokens.
///
/// # Errors
/// [`Error::Unsupported`] if the tokens have more than 2^23 distinct prefixes.
pub(super) fn every_split(tokens: &[(&str, u32)]) -> Result<Vec<Split>> {
    let forward = trie(tokens.iter().map(|&(token, id)| (token.as_bytes().to_vec(), id)))?;
    let backward = trie(tokens.iter().map(|&(token, id)| (token.bytes().rev().collect(), id)))?;
    let mut splits = Vec::new();
    let mut right_ids: Vec<Option<u32>> = Vec::new();
    for &(token, id) in tokens {
        right_ids.clear();
        right_ids.resize(token.len() + 1, None);
        let reversed = token.bytes().rev().enumerate();
        ends(&backward, reversed, |len, right| right_ids[token.len() - len] = Some(right));
        ends(&forward, token.bytes().enumerate(), |len, left| {
            splits.extend(right_ids[len].map(|right| ((left, right), id)));
        });
    }
    Ok(splits)
}

/// A merge for every way to split a token of `tokens` into two others: better tokens first, equal ones by the ids of
/// their halves.
///
/// # Errors
/// As [`every_split`].
pub(super) fn by_score(tokens: &[(&str, u32)], score: impl Fn(u32) -> f32) -> Result<Vec<Split>> {
    let mut splits = every_split(tokens)?;
    splits.sort_by(|&(one, one_id), &(other, other_id)| {
        score(other_id).total_cmp(&score(one_id)).then((one_id, one).cmp(&(other_id, other)))
    });
    Ok(splits)
}

/// Calls `each` with the length and value of every key that is a prefix of the bytes, shorter keys first.
fn ends(trie: &ByteTrie, bytes: impl Iterator<Item = (usize, u8)>, mut each: impl FnMut(usize, u32)) {
    let mut node = ByteTrie::ROOT;
    for (at, byte) in bytes {
        let Some(next) = trie.step(node, byte) else { return };
        node = next;
        if let Some(value) = trie.value(node) {
            each(at + 1, value);
        }
    }
}

fn trie(keys: impl Iterator<Item = (Vec<u8>, u32)>) -> Result<ByteTrie> {
    let mut keys: Vec<(Vec<u8>, u32)> = keys.filter(|(key, _)| !key.is_empty()).collect();
    keys.sort_unstable();
    let borrowed: Vec<(&[u8], u32)> = keys.iter().map(|(key, value)| (key.as_slice(), *value)).collect();
    ByteTrie::new(&borrowed).ok_or_else(|| {
        Error::Unsupported(format!("{} tokens have more than 2^23 distinct prefixes", keys.len()))
    })
}

/// The tokens that the merges of `bpe` make, best first, if `bpe` encodes as though any two neighbours that spell one
/// of `tokens` could be merged.
///
/// That holds if the merges of each token have consecutive ranks, and if each token is either the encoding of its own
/// text or has a merge for every split. (Before a token is made, its text passes the same merges as if it stood alone.
/// So if the last of these is a merge, no other pair with the same text ever occurs.)
///
/// # Errors
/// [`Error::Unsupported`], naming the format as `kind`, if that does not hold.
pub(super) fn ranked(bpe: &Bpe, tokens: &[(&str, u32)], kind: &str) -> Result<Vec<u32>> {
    let refuse =
        |message: String| Err(Error::Unsupported(format!("{kind} cannot express this model: {message}")));
    let text = |id: u32| bpe.vocab().token(id).unwrap_or_default();
    let known: HashSet<u32> = tokens.iter().map(|&(_, id)| id).collect();
    let mut order: Vec<u32> = Vec::new();
    let mut made: HashMap<(u32, u32), u32> = HashMap::with_capacity(bpe.merges().len());
    let mut seen: HashSet<u32> = HashSet::new();
    for &pair in bpe.merges() {
        let Some(id) = bpe.made_id(pair) else { continue };
        if let Some(&other) = [pair.0, pair.1, id].iter().find(|id| !known.contains(id)) {
            return refuse(format!("a merge has the special token `{}`", text(other)));
        }
        if order.last() != Some(&id) {
            if !seen.insert(id) {
                return refuse(format!("merges of `{}` have other merges between them", text(id)));
            }
            order.push(id);
        }
        made.insert(pair, id);
    }
    let mut plain = bpe.clone();
    plain.set_options(BpeOptions::default())?;
    let (mut scratch, mut found) = (Scratch::default(), Tokens::default());
    let mut lacking: Option<Split> = None;
    for (pair, id) in every_split(tokens)? {
        // Splits of one token are consecutive, so each token is encoded at most once.
        if made.get(&pair) == Some(&id) || lacking.is_some_and(|(_, last)| last == id) {
            continue;
        }
        lacking = Some((pair, id));
        found.clear();
        plain.encode_word(text(id), &mut scratch, &mut found)?;
        if found.ids != [id] {
            let (left, right) = (text(pair.0), text(pair.1));
            return refuse(format!("`{left}` and `{right}` would be merged to `{}`", text(id)));
        }
    }
    Ok(order)
}

/// Sorts splits by the rank of their token, then by the ids of their halves.
pub(super) fn sort_by_rank<K: Ord>(splits: &mut [Split], rank: impl Fn(u32) -> K) {
    splits.sort_by_cached_key(|&((left, right), id)| (rank(id), left, right));
}

#[cfg(test)]
mod naive {
    use super::Split;
    use crate::vocab::Vocab;

    /// Looks up both halves at every position.
    pub(super) fn every_split(tokens: &[(&str, u32)]) -> Vec<Split> {
        let mut vocab = Vocab::new();
        for (token, id) in tokens {
            vocab.insert(token, *id);
        }
        let split = |&(token, id): &(&str, u32)| {
            let places = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
            let pairs = places.filter_map(|(left, right)| vocab.id(left).zip(vocab.id(right)));
            pairs.map(|pair| (pair, id)).collect::<Vec<_>>()
        };
        tokens.iter().flat_map(split).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    fn numbered(tokens: &BTreeSet<String>) -> Vec<(&str, u32)> {
        (7..).zip(tokens).map(|(id, token)| (token.as_str(), id)).collect()
    }

    fn ids(bpe: &Bpe, text: &str) -> Vec<u32> {
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        bpe.encode_word(text, &mut scratch, &mut tokens).expect("no unknown token is asked for");
        tokens.ids
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn every_split_matches_naive(tokens in prop::collection::btree_set("[abé]{1,5}", 0..40)) {
            let tokens = numbered(&tokens);
            prop_assert_eq!(every_split(&tokens).expect("few"), naive::every_split(&tokens));
        }

        // Keeps a random subset of all merges. If `ranked` accepts it, it must encode any text as all merges do.
        #[test]
        fn ranked_merges_encode_as_every_split(
            tokens in prop::collection::btree_set("[abc]{2,4}", 0..12),
            order in any::<u64>(),
            kept in prop::collection::vec(prop::bool::weighted(0.7), 40),
            texts in prop::collection::vec("[abc]{0,12}", 8),
        ) {
            let mut tokens: Vec<String> = tokens.into_iter().collect();
            fastrand::Rng::with_seed(order).shuffle(&mut tokens);
            let all: Vec<String> = ["a", "b", "c"].map(str::to_owned).into_iter().chain(tokens).collect();
            let known: Vec<(&str, u32)> = (0..).zip(&all).map(|(id, token)| (token.as_str(), id)).collect();
            let vocab = Arc::new(Vocab::from_tokens(&all));
            let mut splits = every_split(&known).expect("few");
            sort_by_rank(&mut splits, |id| id);
            let full = Bpe::from_pairs(Arc::clone(&vocab), &splits, BpeOptions::default()).expect("no dropout");
            let mut keep = kept.into_iter().chain(std::iter::repeat(true));
            splits.retain(|_| keep.next().unwrap_or(true));
            let some = Bpe::from_pairs(vocab, &splits, BpeOptions::default()).expect("no dropout");
            if ranked(&some, &known, "a test").is_ok() {
                for text in &texts {
                    prop_assert_eq!(ids(&some, text), ids(&full, text), "{:?} of {:?}", text, all);
                }
            }
        }
    }

    #[test]
    fn a_long_token_is_not_quadratic() {
        let long = "a".repeat(1 << 20);
        let tokens: Vec<(&str, u32)> = vec![("a", 0), (&long[1..], 1), (&long, 2)];
        assert_eq!(every_split(&tokens).expect("below 2^23 prefixes"), [((0, 1), 2), ((1, 0), 2)]);
    }
}
