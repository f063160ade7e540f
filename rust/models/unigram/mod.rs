//! Unigram language model: of all segmentations of a pre-token into pieces, the one with the highest sum of scores.
//!
//! The search is Viterbi's: time is linear in the pre-token times the length of the longest piece. Isolated characters
//! and memoized fragments spare most of it (`chars`, `fragments`). The n best segmentations (`nbest`) and random ones
//! (`sampler`) use the same lattice.
//!
//! Source: Kudo 2018, "Subword Regularization", section 3. The order of additions, ties and unknown characters are as
//! in Hugging Face; with piece kinds, as in SentencePiece.

mod best_path;
mod chars;
mod continuation;
mod fragment_memo;
mod fragments;
#[cfg(test)]
mod naive;
mod nbest;
mod path_nodes;
mod piece_kind;
mod piece_membership;
mod sampler;
mod scratch;
mod sums;
mod viterbi;

use std::sync::Arc;

use super::Tokens;
use super::bpe::CutPoints;
use super::piece_kind::PieceKind;
use crate::structures::amortized_lazy::AmortizedLazy;
use crate::structures::byte_trie::ByteTrie;
use crate::vocab::Vocab;
use crate::{Error, Result};
use chars::Chars;
pub use continuation::MOST_PIECES;
pub use nbest::Segmentation;
pub use piece_membership::PieceMembership;
pub use scratch::Scratch;
use sums::{F32Scores, Sums};

/// An unknown character scores this much less than the worst piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The most segmentations that may be asked for: memory is their number times the length of the pre-token.
pub const MOST_BEST: usize = 1024;

/// Options of [`Unigram`]; the names are Hugging Face's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnigramOptions {
    /// The id of unknown characters; if absent, they are an error.
    pub unk_id: Option<u32>,
    /// Spells unknown text as `<0xNN>` tokens where all of them exist.
    pub byte_fallback: bool,
    /// How sharply sampling prefers likely segmentations, from 0 up; if absent, the best segmentation is taken.
    pub alpha: Option<f64>,
    /// Sampling chooses among this many best segmentations; 0 means among all.
    pub nbest_size: usize,
    /// Seed of the sampling; random if absent.
    pub seed: Option<u64>,
}

/// A unigram encoder. Cheap to clone: tables are shared.
#[derive(Clone, Debug)]
pub struct Unigram {
    vocab: Arc<Vocab>,
    /// Scores by id; a piece listed twice has two.
    scores: Arc<Vec<f64>>,
    /// The scores that the search adds, by id: equal to `scores`, except for user-defined pieces. A last entry of minus
    /// infinity serves trie nodes where no piece ends.
    effective_scores: Arc<Vec<f64>>,
    /// Kinds of pieces by id, from a SentencePiece file; sums are then rounded to 32 bits, as in SentencePiece.
    kinds: Option<Arc<Vec<PieceKind>>>,
    trie: Arc<ByteTrie>,
    chars: Arc<Chars>,
    options: UnigramOptions,
    unknown_score: f64,
    /// The largest magnitude of a score that a path may add.
    largest_score: f64,
    /// Bytes of the longest piece.
    longest: usize,
    /// Ids of the `<0xNN>` tokens.
    fallback_ids: Arc<Vec<Option<u32>>>,
    /// Cut points of long pre-tokens, computed once enough of them have been encoded.
    cuts: Arc<AmortizedLazy<CutPoints>>,
}

impl Default for Unigram {
    fn default() -> Self {
        let mut vocab = Vocab::new();
        vocab.insert("<unk>", 0);
        let trie = ByteTrie::new(&[(b"<unk>", 0)]).unwrap_or_default();
        Self {
            vocab: Arc::new(vocab),
            scores: Arc::new(vec![0.0]),
            effective_scores: Arc::new(vec![0.0, f64::NEG_INFINITY]),
            kinds: None,
            chars: Arc::new(Chars::new(["<unk>"].into_iter(), &trie)),
            trie: Arc::new(trie),
            options: UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() },
            unknown_score: -UNKNOWN_PENALTY,
            largest_score: UNKNOWN_PENALTY,
            longest: "<unk>".len(),
            fallback_ids: Arc::new(vec![None; 256]),
            cuts: Arc::default(),
        }
    }
}

impl Unigram {
    /// Builds the encoder from pieces and scores (natural logarithms of probabilities); the id of a piece is its index.
    ///
    /// A piece listed twice has its later id and score.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if a score is not finite or an option out of range, [`Error::UnknownId`] if `unk_id` is
    /// not the id of a piece, [`Error::Unsupported`] beyond 2^23 distinct prefixes of pieces.
    pub fn new<T: AsRef<str>>(pieces: &[(T, f64)], options: UnigramOptions) -> Result<Self> {
        Self::with_kinds(pieces, None, options)
    }

    /// As [`Self::new`], with the kinds of the pieces from a SentencePiece file.
    ///
    /// With kinds, only normal and user-defined pieces are found in text, an unknown character scores less than the worst
    /// normal piece, and sums of scores are rounded to 32 bits.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::Unsupported`] if there are not as many kinds as pieces.
    pub fn with_kinds<T: AsRef<str>>(
        pieces: &[(T, f64)],
        kinds: Option<Vec<PieceKind>>,
        options: UnigramOptions,
    ) -> Result<Self> {
        if let Some(kinds) = kinds.as_ref().filter(|kinds| kinds.len() != pieces.len()) {
            return Err(Error::Unsupported(format!("{} kinds for {} pieces", kinds.len(), pieces.len())));
        }
        let kind = |id: usize| kinds.as_ref().map_or(PieceKind::Normal, |kinds| kinds[id]);
        let mut vocab = Vocab::new();
        for (id, (piece, score)) in (0u32..).zip(pieces) {
            if !score.is_finite() {
                let value = format!("{score} for `{}`", piece.as_ref());
                return Err(Error::InvalidOption { name: "score", value, expected: "finite".to_owned() });
            }
            // Hugging Face counts, names and saves all of them, and finds the last one in text.
            vocab.list(piece.as_ref(), id);
        }
        let found = vocab.iter().filter(|&(piece, id)| vocab.id(piece) == Some(id) && !piece.is_empty());
        let mut keys: Vec<(&[u8], u32)> = found.map(|(piece, id)| (piece.as_bytes(), id)).collect();
        keys.retain(|&(_, id)| kind(id as usize).is_in_text());
        keys.sort_unstable();
        let trie = ByteTrie::new(&keys).ok_or_else(|| {
            Error::Unsupported(format!("{} pieces have more than 2^23 distinct prefixes", pieces.len()))
        })?;
        let in_text = vocab.iter().filter(|&(_, id)| kind(id as usize).is_in_text());
        let chars = Chars::new(in_text.map(|(piece, _)| piece), &trie);
        let fallback_ids = (0..=255u8).map(|byte| vocab.id(&format!("<0x{byte:02X}>"))).collect();
        let normal = pieces.iter().enumerate().filter(|&(id, _)| kind(id) == PieceKind::Normal);
        let min_score = normal.fold(f64::INFINITY, |min, (_, &(_, score))| min.min(score));
        let mut effective_scores = match &kinds {
            Some(kinds) => piece_kind::effective_scores(pieces, kinds),
            None => pieces.iter().map(|&(_, score)| score).collect(),
        };
        // Without a normal piece, any number does.
        let min_score = if min_score.is_finite() { min_score } else { 0.0 };
        let unknown_score = min_score - UNKNOWN_PENALTY;
        let unknown_score = if kinds.is_some() { F32Scores::rounded(unknown_score) } else { unknown_score };
        let largest_score =
            effective_scores.iter().fold(unknown_score.abs(), |largest, score| largest.max(score.abs()));
        effective_scores.push(f64::NEG_INFINITY);
        let mut unigram = Self {
            vocab: Arc::new(vocab),
            scores: Arc::new(pieces.iter().map(|&(_, score)| score).collect()),
            effective_scores: Arc::new(effective_scores),
            kinds: kinds.map(Arc::new),
            trie: Arc::new(trie),
            chars: Arc::new(chars),
            options: UnigramOptions::default(),
            unknown_score,
            largest_score,
            longest: pieces.iter().map(|(piece, _)| piece.as_ref().len()).max().unwrap_or(0),
            fallback_ids: Arc::new(fallback_ids),
            cuts: Arc::default(),
        };
        unigram.set_options(options)?;
        Ok(unigram)
    }

    /// Replaces the options and keeps the pieces.
    ///
    /// # Errors
    /// [`Error::UnknownId`] if `unk_id` is not the id of a piece; [`Error::InvalidOption`] if `alpha` is not finite or
    /// `nbest_size` exceeds [`MOST_BEST`].
    pub fn set_options(&mut self, options: UnigramOptions) -> Result<()> {
        if let Some(id) = options.unk_id.filter(|&id| id as usize >= self.scores.len()) {
            return Err(Error::UnknownId { id, vocab_size: self.scores.len() });
        }
        if let Some(alpha) = options.alpha.filter(|alpha| !alpha.is_finite()) {
            let value = alpha.to_string();
            return Err(Error::InvalidOption { name: "alpha", value, expected: "finite".to_owned() });
        }
        check_nbest("nbest_size", options.nbest_size)?;
        self.options = options;
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
    pub fn options(&self) -> &UnigramOptions {
        &self.options
    }

    /// Pieces and scores by id.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = (&str, f64)> + '_ {
        (0..self.scores.len()).map(|id| (self.vocab.token(id as u32).unwrap_or_default(), self.scores[id]))
    }

    /// Kinds of pieces by id, if the model has them.
    pub fn kinds(&self) -> Option<&[PieceKind]> {
        self.kinds.as_ref().map(|kinds| kinds.as_slice())
    }

    /// True if the best segmentation is always taken.
    pub fn is_deterministic(&self) -> bool {
        self.options.alpha.is_none() || self.options.nbest_size == 1
    }

    /// Encodes one pre-token; appends to `tokens`.
    ///
    /// Time: the length of the pre-token times the length of the longest piece that the text can match, and times `nbest_size`
    /// if that is more than 1.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if an unknown character needs `unk_id`, which is not set.
    pub fn encode_word(&self, word: &str, scratch: &mut Scratch, tokens: &mut Tokens) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        match (self.options.alpha, self.options.nbest_size) {
            _ if scratch.is_continuation => self.best_path_of_continuation(word, scratch)?,
            (None, _) | (_, 1) => self.best_path(word, scratch)?,
            (Some(alpha), 0) => self.sample(word, alpha, scratch)?,
            (Some(alpha), n) => self.sample_of_best(word, alpha, n, scratch)?,
        }
        self.push_path(word, &scratch.path, tokens);
        Ok(())
    }

    /// Appends the tokens of a path, whose edges are given from right to left.
    ///
    /// Neighbouring unknown characters are joined; a piece with the unknown id that the text spells is joined with them.
    fn push_path(&self, word: &str, path: &[Edge], tokens: &mut Tokens) {
        let mut edges = path.iter().rev().copied().peekable();
        while let Some(Edge { start, mut end, id }) = edges.next() {
            if Some(id) != self.options.unk_id {
                tokens.push(id, end - start);
                continue;
            }
            while let Some(next) = edges.next_if(|next| next.id == id) {
                end = next.end;
            }
            self.push_unknown(&word[start as usize..end as usize], id, tokens);
        }
    }

    /// Appends the tokens of unknown text: one piece if the joined text is a piece, else bytes, else the unknown token.
    ///
    /// Every byte token covers the whole text.
    fn push_unknown(&self, text: &str, unk_id: u32, tokens: &mut Tokens) {
        let len = text.len() as u32;
        // SentencePiece does not look the joined text up.
        if self.kinds.is_none()
            && let Some(id) = self.piece_after_all(text, unk_id)
        {
            tokens.push(id, len);
            return;
        }
        if !self.falls_back(text) {
            tokens.push(unk_id, len);
            return;
        }
        for (place, id) in text.bytes().filter_map(|byte| self.fallback_ids[usize::from(byte)]).enumerate() {
            if place == 0 { tokens.push(id, len) } else { tokens.push_again(id) }
        }
    }

    /// True if byte tokens stand for `text` where it is unknown: `byte_fallback` is set, and each byte of `text` has a token.
    pub fn falls_back(&self, text: &str) -> bool {
        self.options.byte_fallback && text.bytes().all(|byte| self.fallback_ids[usize::from(byte)].is_some())
    }

    /// The piece that unknown text is, if it is one: several unknown characters may join to a piece.
    fn piece_after_all(&self, text: &str, unk_id: u32) -> Option<u32> {
        if text.len() == text.chars().next().map_or(0, char::len_utf8) {
            // A character that is another piece is never unknown.
            return (self.vocab.token(unk_id) == Some(text)).then_some(unk_id);
        }
        let may_be_piece = text.len() <= self.longest && !text.starts_with(|c| self.chars.is_isolated(c));
        if may_be_piece { self.vocab.id(text) } else { None }
    }

    /// The error for a character without a piece if no unknown id is set.
    fn no_unk_id(&self, word: &str, start: usize) -> Error {
        Error::TokenNotInVocab {
            token: word[start..].chars().next().map(String::from).unwrap_or_default(),
            role: "the text (no unk_id is set)".to_owned(),
            vocab_size: self.vocab.len(),
        }
    }
}

/// An edge of the lattice: a piece and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    start: u32,
    end: u32,
    id: u32,
}

/// Refuses more than [`MOST_BEST`] segmentations; `name` is the option that asks for them.
pub(crate) fn check_nbest(name: &'static str, asked: usize) -> Result<()> {
    if asked <= MOST_BEST {
        return Ok(());
    }
    let (value, expected) = (asked.to_string(), format!("from 0 to {MOST_BEST}"));
    Err(Error::InvalidOption { name, value, expected })
}
