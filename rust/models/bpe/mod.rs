//! Byte-pair encoding: merges the adjacent pair of the lowest rank until no pair merges.
//!
//! * `symbols`, `byte_symbols`: the initial symbols of a pre-token, from characters or from raw bytes.
//! * `merge`: merges them in O(n log n), by a scan, a heap or queues by rank (`by_rank`), depending on their number.
//! * `longest_match`: replaces merging for long byte-level pre-tokens if the vocabulary is proper (`derivations`); O(n).
//! * `sentencepiece`: merges by score, cuts unused pieces up again and samples, as SentencePiece does.
//! * `formation`: the last merge of each token, which decides the tokens that fewer merges would make.
//! * [`CutPoints`]: where pre-tokens may be cut into fragments that are encoded apart.
//! * [`LateMerges`]: merges across words after merges inside words, for long pre-tokens.
//!
//! Source: Sennrich, Haddow, Birch 2016, section 3.2; options and their quirks are as in Hugging Face.

mod apart;
mod by_rank;
mod byte_symbols;
mod candidates;
mod char_ids;
mod cut_points;
mod derivations;
mod encode;
mod formation;
mod joints;
mod late_merges;
mod longest_match;
mod merge;
mod options;
mod pair_table;
mod pieces;
mod sentencepiece;
mod spelled;
mod symbols;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use byte_symbols::ByteSymbols;
pub use cut_points::CutPoints;
pub use formation::LastMerge;
pub use late_merges::{Border, LateMerges};
pub use merge::Scratch;
pub use options::BpeOptions;
pub use pair_table::PairTable;

use super::piece_kind::PieceKind;
use crate::byte_level::BYTE_TO_CHAR;
use crate::metaspace::VISIBLE_SPACE;
use crate::vocab::Vocab;
use crate::{Error, Result};
use char_ids::{CharIds, SymbolIds};
use pieces::PieceKinds;
use sentencepiece::Turns;

/// A byte-pair encoder. Cheap to clone: tables are shared.
#[derive(Clone, Debug)]
pub struct Bpe {
    vocab: Arc<Vocab>,
    merges: Arc<Vec<(u32, u32)>>,
    /// The tokens that a merge was given by; kept where tokens share ids, since another token of the same id would make another
    /// merge.
    spellings: Arc<HashMap<(u32, u32), (String, String)>>,
    pairs: Arc<PairTable>,
    options: BpeOptions,
    unk_id: Option<u32>,
    symbol_ids: Arc<SymbolIds>,
    /// The kinds of the tokens, from a `SentencePiece` file.
    pieces: Option<Arc<PieceKinds>>,
    /// The order of merges for [`Self::merge_in_turns`]; absent if that is not needed.
    turns: Option<Arc<Turns>>,
    /// Ids of the `<0xNN>` tokens, by byte; empty unless byte fallback was ever on.
    fallback_ids: Arc<Vec<Option<u32>>>,
}

impl Default for Bpe {
    fn default() -> Self {
        Self {
            vocab: Arc::default(),
            merges: Arc::default(),
            spellings: Arc::default(),
            pairs: Arc::new(PairTable::new(std::iter::empty())),
            options: BpeOptions::default(),
            unk_id: None,
            symbol_ids: Arc::new(SymbolIds::plain(CharIds::new(&Vocab::new()))),
            pieces: None,
            turns: None,
            fallback_ids: Arc::default(),
        }
    }
}

impl Bpe {
    /// Builds the encoder; the rank of a merge is its index in `merges`.
    ///
    /// A pair listed twice has its later rank.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if a merge names or makes a token that `vocab` lacks;
    /// [`Error::InvalidOption`] if `dropout` or `alpha` is outside `[0, 1]`, or both are above 0.
    pub fn new(vocab: Vocab, merges: &[(&str, &str)], options: BpeOptions) -> Result<Self> {
        let prefix_len = options.continuing_subword_prefix.as_ref().map_or(0, String::len);
        let (shares_ids, mut spellings) = (vocab.shares_ids(), HashMap::new());
        let mut pairs = Vec::with_capacity(merges.len());
        let (mut joined, mut made) = (String::new(), 0u32);
        for (rank, &(left, right)) in merges.iter().enumerate() {
            let id = |token: &str| vocab.id(token).ok_or_else(|| missing(&vocab, token, rank));
            let (left_id, right_id) = (id(left)?, id(right)?);
            if shares_ids {
                spellings.insert((left_id, right_id), (left.to_owned(), right.to_owned()));
            }
            let right = right.get(prefix_len..).ok_or_else(|| missing(&vocab, right, rank))?;
            let is_joined =
                |&id: &u32| vocab.token(id).and_then(|token| token.strip_prefix(left)) == Some(right);
            // Most files list merges in the order of the tokens they make: trying the next two ids often spares a lookup.
            made = if let Some(next) = (made..made.saturating_add(2)).find(is_joined) {
                next
            } else {
                joined.clear();
                joined.push_str(left);
                joined.push_str(right);
                id(&joined)?
            };
            pairs.push(((left_id, right_id), made));
        }
        let bpe = Self::from_pairs(Arc::new(vocab), &pairs, options)?;
        Ok(Self { spellings: Arc::new(spellings), ..bpe })
    }

    /// As [`Self::new`], from ids: each pair with the id that it makes. This id's text must be the two texts joined.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `dropout` or `alpha` is outside `[0, 1]`, or both are above 0.
    pub fn from_pairs(vocab: Arc<Vocab>, pairs: &[((u32, u32), u32)], options: BpeOptions) -> Result<Self> {
        options.check()?;
        let table = PairTable::new(pairs.iter().copied());
        // A repeated pair counts once, at its later rank.
        let merges = (0u32..).zip(pairs).filter(|&(rank, &(pair, _))| table.rank(pair) == Some(rank));
        let merges = merges.map(|(_, &(pair, _))| pair).collect();
        let mut bpe = Self {
            vocab,
            merges: Arc::new(merges),
            pairs: Arc::new(table),
            options: options.clone(),
            ..Self::default()
        };
        bpe.set_options(options)?;
        bpe.set_symbol_ids();
        Ok(bpe)
    }

    /// Adds the kinds of the tokens by id, from a `SentencePiece` file.
    ///
    /// User-defined tokens are found before any merge, at each position the longest; no merge may name one. Of the other
    /// tokens, only normal ones are found in text.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are not as many kinds as tokens, or beyond 2^23 distinct prefixes.
    pub fn with_kinds(mut self, kinds: Vec<PieceKind>) -> Result<Self> {
        let pieces = PieceKinds::new(&self.vocab, kinds)?;
        self.pieces = Some(Arc::new(pieces));
        self.set_symbol_ids();
        Ok(self)
    }

    /// True if the same pre-token always gives the same tokens.
    pub fn is_deterministic(&self) -> bool {
        self.options.is_deterministic()
    }

    /// Kinds of tokens by id, if the model has them.
    pub fn kinds(&self) -> Option<&[PieceKind]> {
        self.pieces.as_ref().map(|pieces| pieces.kinds())
    }

    /// Replaces the options and keeps vocabulary and merges.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `dropout` or `alpha` is outside `[0, 1]`, or both are above 0.
    pub fn set_options(&mut self, options: BpeOptions) -> Result<()> {
        self.check_sampling(&options)?;
        self.unk_id = options.unk_token.as_deref().and_then(|token| self.vocab.id(token));
        if options.byte_fallback && self.fallback_ids.is_empty() {
            let ids = (0..=255u8).map(|byte| self.vocab.id(&format!("<0x{byte:02X}>")));
            self.fallback_ids = Arc::new(ids.collect());
        }
        let has_other_affixes = self.options.affixes() != options.affixes();
        self.options = options;
        if has_other_affixes {
            self.set_symbol_ids();
        }
        self.set_turns();
        Ok(())
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The vocabulary, shared.
    pub fn shared_vocab(&self) -> Arc<Vocab> {
        Arc::clone(&self.vocab)
    }

    /// The options.
    pub fn options(&self) -> &BpeOptions {
        &self.options
    }

    /// The merges as pairs of ids, by rank.
    pub fn merges(&self) -> &[(u32, u32)] {
        &self.merges
    }

    /// The merges as pairs of tokens, by rank, from which [`Self::new`] makes the same ones.
    pub fn spelled_merges(&self) -> impl Iterator<Item = (&str, &str)> {
        let token = |id| self.vocab.token(id).unwrap_or_default();
        self.merges.iter().map(move |pair| match self.spellings.get(pair) {
            Some((left, right)) => (left.as_str(), right.as_str()),
            None => (token(pair.0), token(pair.1)),
        })
    }

    /// The id of the token that a pair makes.
    pub fn made_id(&self, pair: (u32, u32)) -> Option<u32> {
        self.pairs.made_id(pair)
    }

    /// The rank of each merge and the id of the token that it makes, by rank.
    pub fn made_ids(&self) -> impl Iterator<Item = (u32, u32)> {
        let merges = self.merges.iter().map(|&(left, right)| self.pairs.merge(left, right));
        merges.map(|merge| (pair_table::rank_of(merge), pair_table::id_of(merge)))
    }

    /// Ids of characters and of the tokens that merges make; `None` if text may have other ids of the vocabulary.
    pub fn ids_of_text(&self) -> Option<HashSet<u32>> {
        if self.options.ignore_merges || self.pieces.is_some() || !self.has_plain_symbols() {
            return None;
        }
        let characters = self.vocab.iter().filter(|(token, _)| token.chars().count() == 1);
        Some(characters.map(|(_, id)| id).chain(self.made_ids().map(|(_, id)| id)).collect())
    }

    /// True if the initial symbols are plain characters, without prefix or suffix.
    pub fn has_plain_symbols(&self) -> bool {
        self.options.affixes() == [""; 2]
    }

    /// As [`Model::has_tokens_for_all`](crate::models::Model::has_tokens_for_all).
    pub fn has_tokens_for_all(&self, is_mapped: bool) -> bool {
        let falls_back = || self.options.byte_fallback && self.fallback_ids.iter().all(Option::is_some);
        let has_bytes = || {
            let has_token = |c: &char| self.vocab.id(c.encode_utf8(&mut [0; 4])).is_some();
            is_mapped && self.has_plain_symbols() && BYTE_TO_CHAR.iter().all(has_token)
        };
        self.unk_id.is_some() || falls_back() || has_bytes()
    }

    /// The cut points of pre-tokens; `None` if text on one side of a cut may change tokens on the other.
    ///
    /// With `is_spaced`, spaces may stand for U+2581 in pre-tokens.
    pub fn cut_points(&self, is_spaced: bool) -> Option<CutPoints> {
        self.cut_points_of(is_spaced, |_| true)
    }

    /// As [`Self::cut_points`], for merges that make only tokens that `is_made` accepts.
    fn cut_points_of(&self, is_spaced: bool, is_made: impl Fn(u32) -> bool) -> Option<CutPoints> {
        let is_made = &is_made;
        let made = || self.vocab.iter().filter(move |&(_, id)| is_made(id));
        let tokens = made().map(|(token, _)| Cow::Borrowed(token));
        let spaced = |(token, _): (&str, u32)| Cow::Owned(token.replace(VISIBLE_SPACE, " "));
        let spaced = made().filter(|_| is_spaced).map(spaced);
        self.has_independent_fragments().then(|| CutPoints::new(tokens.chain(spaced).map(Cow::into_owned)))
    }

    /// True if pre-tokens may be cut wherever `is_boundary` accepts two neighbouring characters: no merge joins such a pair.
    pub fn is_cut_at(&self, is_boundary: impl Fn(char, char) -> bool) -> bool {
        let has_boundary = |(left, right): &(u32, u32)| {
            let chars = |id: u32| self.vocab.token(id).unwrap_or_default().chars();
            let (left, right) = (chars(*left).next_back(), chars(*right).next());
            left.zip(right).is_none_or(|(left, right)| is_boundary(left, right))
        };
        !self.depends_on_context()
            && self.has_independent_fragments()
            && !self.merges.iter().any(has_boundary)
    }

    /// The ids of tokens that stand for single bytes, when byte fallback is on.
    pub fn fallback_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.fallback_ids.iter().copied().flatten().filter(|_| self.options.byte_fallback)
    }

    /// True if two fragments of a pre-token may be encoded apart if no merge crosses the border between them.
    ///
    /// Six things forbid it: unknown characters that are joined; unknown characters that are dropped, which shifts the
    /// offsets after them; merges of the tokens that stand for unknown characters; tokens that share an id, since the spelling
    /// of a merge may then differ from the spelling of its ids; prefixes or suffixes of symbols; and kinds of tokens.
    fn has_independent_fragments(&self) -> bool {
        let options = &self.options;
        // If only some bytes have tokens, an unknown token is held back until after the bytes of the next characters.
        let is_unknown_apart = if options.byte_fallback {
            self.fallback_ids.iter().all(Option::is_some)
        } else {
            options.unk_token.is_some() && !options.fuse_unk
        };
        let unknown: HashSet<u32> = self.fallback_ids().chain(self.unk_id).collect();
        let is_merged = |(left, right): &(u32, u32)| unknown.contains(left) || unknown.contains(right);
        let is_unknown_merged = self.merges.iter().any(is_merged);
        let is_spelled = self.pieces.is_none() && !self.vocab.shares_ids();
        is_spelled && self.has_plain_symbols() && is_unknown_apart && !is_unknown_merged
    }

    /// True if a fragment of a pre-token may have other tokens than a whole pre-token of the same characters.
    pub fn depends_on_context(&self) -> bool {
        self.options.ignore_merges
    }
}

fn missing(vocab: &Vocab, token: &str, rank: usize) -> Error {
    Error::TokenNotInVocab { token: token.to_owned(), role: format!("merge {rank}"), vocab_size: vocab.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn made_ids_matches_naive(
            splits in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 1..30),
            spread in 1..3u32,
            has_prefix in any::<bool>(),
        ) {
            let prefix = if has_prefix { "##" } else { "" };
            let (mut vocab, mut id) = (Vocab::new(), 0);
            let mut add = |token: String| {
                if vocab.id(&token).is_none() {
                    // Ids are consecutive, or have gaps, or two tokens share one.
                    vocab.insert(&token, id / 2 * spread);
                    id += 1;
                }
                token
            };
            let merges: Vec<(String, String)> = splits.iter().map(|(left, right)| {
                add(format!("{left}{right}"));
                (add(left.clone()), add(format!("{prefix}{right}")))
            }).collect();
            let lines: Vec<(&str, &str)> = merges.iter().map(|(left, right)| (&**left, &**right)).collect();
            let options = BpeOptions { continuing_subword_prefix: Some(prefix.to_owned()), ..BpeOptions::default() };
            let bpe = Bpe::new(vocab.clone(), &lines, options).expect("all tokens are there");
            let id = |token: &str| vocab.id(token).expect("it was added");
            for (left, right) in &merges {
                let pair = (id(left), id(right));
                let last = merges.iter().rev().find(|(left, right)| (id(left), id(right)) == pair);
                let made = last.map(|(left, right)| id(&format!("{left}{}", &right[prefix.len()..])));
                prop_assert_eq!(bpe.made_id(pair), made);
            }
        }
    }
}
