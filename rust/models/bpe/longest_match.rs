//! Encoding by longest match with backtracking, for proper vocabularies: one step for each token instead of each merge.
//!
//! At each position the encoder takes the longest token that may stand after the token before it ([`Derivations`]). If
//! none may, it backtracks to that token and tries a shorter one. At most one sequence of tokens reaches a position, the
//! encoding of the bytes before it, so a position from which the encoder backtracked is never tried again, and time is
//! linear in the pre-token for any input.
//!
//! Source: Hendrik van Antwerpen and Alexander Neubeck, "So many tokens, so little time", 2024.

use std::collections::HashMap;

use super::PairTable;
use super::derivations::Derivations;
use super::spelled::Spelled;
use crate::models::Tokens;
use crate::structures::byte_trie::ByteTrie;
use crate::structures::reused::reused;

const NO_TOKEN: u32 = u32::MAX;

/// The tokens of a proper vocabulary as byte strings.
#[derive(Clone, Debug)]
pub(super) struct LongestMatch {
    trie: ByteTrie,
    derivations: Derivations,
    tokens: Vec<Token>,
    /// By `left << 8 | right`: a bit, set if a token holds these two bytes side by side.
    neighbours: Vec<u64>,
    /// Tokens that merging never makes: special tokens, and a few others in most vocabularies.
    unreached: HashMap<Vec<u8>, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    /// The longest other token that this one begins with.
    shorter: u32,
    len: u32,
}

/// Buffers that one thread reuses from pre-token to pre-token.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchScratch {
    path: Vec<u32>,
    /// A bit for each position: the encoder has backtracked from it.
    dead: Vec<u64>,
}

reused!(MatchScratch: path, dead);

fn neighbours_at(left: u8, right: u8) -> (usize, u64) {
    let at = usize::from(left) << 8 | usize::from(right);
    (at / 64, 1 << (at % 64))
}

impl LongestMatch {
    /// Prepares the tokens `spelled` as bytes, whose ids are below `bound`; `None` if two tokens share an id.
    ///
    /// A token that is not the encoding of its own bytes is left out: merging never makes it.
    pub(super) fn new(derivations: Derivations, spelled: &Spelled, bound: usize) -> Option<Self> {
        let mut is_taken = vec![false; bound];
        if spelled.iter().any(|(_, id)| std::mem::replace(&mut is_taken[id as usize], true)) {
            return None;
        }
        let (keys, unreached) = spelled.sorted_if(|id| derivations.is_made(id));
        let unreached = unreached.into_iter().map(|(bytes, id)| (bytes.to_vec(), id)).collect();
        let trie = ByteTrie::new(&keys)?;
        let mut tokens = vec![Token { shorter: NO_TOKEN, len: 0 }; bound];
        let mut neighbours = vec![0; (1 << 16) / 64];
        for &(bytes, id) in &keys {
            let shorter = trie.longest(&bytes[..bytes.len() - 1]).map_or(NO_TOKEN, |(shorter, _)| shorter);
            tokens[id as usize] = Token { shorter, len: bytes.len() as u32 };
            for pair in bytes.windows(2) {
                let (word, bit) = neighbours_at(pair[0], pair[1]);
                neighbours[word] |= bit;
            }
        }
        Some(Self { trie, derivations, tokens, neighbours, unreached })
    }

    /// Encodes `word`; appends to `tokens`. Returns false, and appends nothing, if these tokens have no encoding of it.
    pub(super) fn encode(
        &self,
        word: &[u8],
        table: &PairTable,
        scratch: &mut MatchScratch,
        tokens: &mut Tokens,
    ) -> bool {
        let MatchScratch { path, dead } = scratch;
        path.clear();
        dead.clear();
        dead.resize(word.len() / 64 + 1, 0);
        let mut place = 0;
        let mut candidate = self.longest_at(word, place);
        while place < word.len() {
            if candidate == NO_TOKEN {
                // No token may stand here: backtrack to the last token, and try a shorter one in its place.
                dead[place / 64] |= 1 << (place % 64);
                let Some(last) = path.pop() else { return false };
                let Token { shorter, len } = self.tokens[last as usize];
                place -= len as usize;
                candidate = shorter;
                continue;
            }
            let Token { shorter, len } = self.tokens[candidate as usize];
            let end = place + len as usize;
            let is_dead = dead[end / 64] >> (end % 64) & 1 == 1;
            if is_dead
                || !path.last().is_none_or(|&last| self.may_follow(last, candidate, word, place, table))
            {
                candidate = shorter;
                continue;
            }
            path.push(candidate);
            place = end;
            candidate = self.longest_at(word, place);
        }
        tokens.ids.extend_from_slice(path);
        tokens.lens.extend(path.iter().map(|&id| self.tokens[id as usize].len));
        true
    }

    #[inline]
    fn longest_at(&self, word: &[u8], place: usize) -> u32 {
        self.trie.longest(&word[place..]).map_or(NO_TOKEN, |(id, _)| id)
    }

    #[inline]
    fn may_follow(&self, last: u32, next: u32, word: &[u8], boundary: usize, table: &PairTable) -> bool {
        // Most borders need no derivations: no token holds the two bytes side by side.
        let (at, bit) = neighbours_at(word[boundary - 1], word[boundary]);
        self.neighbours[at] & bit == 0 || self.derivations.may_meet(last, next, table)
    }

    /// The token that is spelled as `word`, even if merging never makes it.
    #[inline]
    pub(super) fn whole(&self, word: &[u8]) -> Option<u32> {
        match self.trie.longest(word) {
            Some((id, len)) if len == word.len() => Some(id),
            _ => self.unreached.get(word).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::{Bpe, BpeOptions, Scratch};
    use super::*;
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// A proper vocabulary over all bytes, with tokens of `a`, `b` and `c` that random merges make.
    fn proper(choices: &[(u32, u32)], all_splits: bool) -> Bpe {
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        let mut pairs = Vec::new();
        let letters = [u32::from(b'a'), u32::from(b'b'), u32::from(b'c')];
        for &(left, right) in choices {
            let pick = |choice: u32| {
                let made = tokens.len() as u32 - 256;
                let choice = choice % (made + 3);
                letters.get(choice as usize).copied().unwrap_or(253 + choice)
            };
            let (left, right) = (pick(left), pick(right));
            let joined = format!("{}{}", tokens[left as usize], tokens[right as usize]);
            if joined.len() <= 12 && !tokens.contains(&joined) {
                pairs.push(((left, right), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        if all_splits {
            pairs = all_splits_of(&tokens);
        }
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        Bpe::from_pairs(vocab, &pairs, BpeOptions::default()).expect("no dropout")
    }

    /// Every split of each token into two others, token by token: the merges of files converted from ranks.
    fn all_splits_of(tokens: &[String]) -> Vec<((u32, u32), u32)> {
        let id = |part: &str| tokens.iter().position(|token| token == part).map(|id| id as u32);
        let splits = |(made, token): (u32, &String)| {
            let splits = (1..token.len()).filter(|&at| token.is_char_boundary(at));
            let pair = |at: usize| Some(((id(&token[..at])?, id(&token[at..])?), made));
            let mut pairs: Vec<_> = splits.filter_map(pair).collect();
            pairs.sort_unstable();
            pairs
        };
        (0..).zip(tokens).skip(256).flat_map(splits).collect()
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn longest_match_matches_naive(
            choices in prop::collection::vec((any::<u32>(), any::<u32>()), 0..40),
            all_splits in any::<bool>(),
            words in prop::collection::vec("[abc]{1,40}|a{1,40}|[a-d]{1,150}", 1..20),
        ) {
            let bpe = proper(&choices, all_splits);
            let matcher = bpe.longest_match();
            prop_assert!(matcher.is_some() || all_splits);
            let Some(matcher) = matcher else { return Ok(()) };
            let (mut scratch, mut merging) = (MatchScratch::default(), Scratch::default());
            for word in &words {
                let (mut fast, mut naive) = (Tokens::default(), Tokens::default());
                prop_assert!(matcher.encode(word.as_bytes(), &bpe.pairs, &mut scratch, &mut fast));
                bpe.encode_word(word, &mut merging, &mut naive).expect("all letters are known");
                prop_assert_eq!(fast, naive, "{}", word);
            }
        }
    }

    #[test]
    fn a_token_that_merging_never_makes_is_left_out() {
        // Only `ab` and `c` could make `abc`, but `b` and `c` are merged first.
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        tokens.extend(["bc".to_owned(), "ab".to_owned(), "abc".to_owned()]);
        let [a, b, c] = [b'a', b'b', b'c'].map(u32::from);
        let pairs = [((b, c), 256), ((a, b), 257), ((257, c), 258)];
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        let bpe = Bpe::from_pairs(vocab, &pairs, BpeOptions::default()).expect("no dropout");
        let matcher = bpe.longest_match().expect("it is proper");
        let mut out = Tokens::default();
        assert!(matcher.encode(b"abc", &bpe.pairs, &mut MatchScratch::default(), &mut out));
        assert_eq!(out.ids, [a, 256]);
        assert_eq!(matcher.whole(b"abc"), Some(258));
    }

    #[test]
    fn a_merge_before_its_parts_keeps_the_queue() {
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        tokens.extend(["ab".to_owned(), "bc".to_owned(), "abc".to_owned()]);
        let [a, b, c] = [b'a', b'b', b'c'].map(u32::from);
        let pairs = [((256, c), 258), ((a, b), 256), ((b, c), 257)];
        let vocab = Arc::new(Vocab::from_tokens(&tokens));
        let bpe = Bpe::from_pairs(vocab, &pairs, BpeOptions::default()).expect("no dropout");
        assert!(bpe.longest_match().is_none());
    }

    #[test]
    fn a_huge_word_is_not_quadratic() {
        let choices: Vec<(u32, u32)> = [(0, 0), (3, 3), (4, 0), (5, 4)].into();
        let bpe = proper(&choices, false);
        let matcher = bpe.longest_match().expect("it is proper");
        let mut out = Tokens::default();
        let word = vec![b'a'; 1 << 20];
        assert!(matcher.encode(&word, &bpe.pairs, &mut MatchScratch::default(), &mut out));
        assert_eq!(out.lens.iter().sum::<u32>(), 1 << 20);
    }
}
