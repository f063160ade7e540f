//! Unigram language model: prunes a large vocabulary of substrings by likelihood.
//!
//! The algorithm, step by step: start from all characters and the most frequent substrings; estimate the expected count of
//! each piece over all segmentations, and derive its score; remove the pieces whose removal lowers the likelihood least;
//! repeat until there are few more pieces than wanted, and take the best. Source: Kudo 2018, "Subword Regularization",
//! section 3.2.
//!
//! These structures make it fast:
//! * Substrings and all their positions come from one sorted array of suffixes (`seeds`), so no piece is ever looked up in
//!   text.
//! * Words with a common prefix share its edges and its sums (`lattice`, `passes`).
//! * Probabilities are multiplied instead of adding logarithms.
//! * Expected counts are integers in fixed point, so threads may add them in any order with the same result, bit by bit
//!   (`em`).
//!
//! Time: O(n log n) in the characters of distinct words for the seeds, then O(occurrences of pieces in distinct prefixes)
//! for each round. Memory: 34 bytes a character, 6 an occurrence of a piece, and 8 a piece and thread.
//!
//! [`Algorithm::ExactLoss`] is the textbook's loop instead (`exact_loss`). With `use_sparse_pruning`, a penalty on expected counts
//! takes the place of pruning by loss (`sparse`).

mod chains;
mod continued;
mod corpus;
mod em;
mod exact_loss;
mod lattice;
mod passes;
mod seed_filter;
mod seeds;
mod sparse;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use corpus::Corpus;
use em::{Base, Pieces};
use seed_filter::SeedFilter;
use seeds::Suffixes;

use crate::models::unigram::{Unigram, UnigramOptions};
use crate::structures::parallel::OnProgress;
use crate::trainers::bpe::initial_tokens;
use crate::trainers::byte_pieces;
use crate::trainers::forbidden::Forbidden;
use crate::trainers::vocab_too_small;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// The upper limit of the option `max_piece_length`.
const LONGEST: usize = 1024;

/// How pieces are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Expectation maximization, and pruning by an approximate loss.
    #[default]
    Em,
    /// The textbook's loop: counts are fixed, and the exact loss without each piece is computed; O(pieces x words) a round.
    ExactLoss,
}

/// The options of unigram training; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramTrainer {
    /// Size of the vocabulary, special tokens included.
    pub vocab_size: usize,
    /// Tokens that take the first ids in the given order, with score 0; repeated ones count once.
    pub special_tokens: Vec<String>,
    /// Characters that are pieces even if no word holds them. By exact loss, only characters of words are pieces.
    pub initial_alphabet: Vec<char>,
    /// The share of pieces that each pruning keeps, between 0 and 1. By exact loss, each pruning keeps nine tenths.
    pub shrinking_factor: f64,
    /// The token that stands for unknown characters; if it is no special token, it takes the first id.
    pub unk_token: Option<String>,
    /// The most characters of a piece.
    pub max_piece_length: usize,
    /// Rounds of expectation maximization between two prunings.
    pub n_sub_iterations: usize,
    /// Number of characters and substrings to start from.
    pub seed_size: usize,
    /// The share of the corpus's characters that have a piece, from 0 to 1; the rarest characters are dropped.
    pub character_coverage: f64,
    /// Pieces that the vocabulary must have: they are seeds and never pruned. `forbid` does not concern them.
    pub initial_tokens: Vec<String>,
    /// A piece of two characters or more that matches is never chosen.
    pub forbid: Forbidden,
    /// True if pieces spell bytes, each as a character of the byte-level alphabet; `forbid` is matched with the bytes then.
    pub is_byte_level: bool,
    /// How pieces are chosen.
    pub algorithm: Algorithm,
    /// Subtracts a penalty from expected counts in the place of pruning by loss.
    pub use_sparse_pruning: bool,
    /// Gives characters no places of their own: they share the vocabulary with the other pieces, and the trained model has the 256 byte
    /// pieces and falls back to them. Needs `use_sparse_pruning`.
    pub auto_character_coverage: bool,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for UnigramTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            special_tokens: Vec::new(),
            initial_alphabet: Vec::new(),
            shrinking_factor: 0.75,
            unk_token: None,
            max_piece_length: 16,
            n_sub_iterations: 2,
            seed_size: 1_000_000,
            character_coverage: 1.0,
            initial_tokens: Vec::new(),
            forbid: Forbidden::default(),
            is_byte_level: false,
            algorithm: Algorithm::default(),
            use_sparse_pruning: false,
            auto_character_coverage: false,
            threads: 1,
        }
    }
}

/// The result of [`UnigramTrainer::train`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainedUnigram {
    /// Pieces and scores by id: special tokens, then the others by descending score.
    pub pieces: Vec<(String, f64)>,
    /// The id of unknown characters.
    pub unk_id: Option<u32>,
}

/// The nearest float, ties to even: Python's conversion of an integer.
#[expect(clippy::cast_precision_loss, reason = "the rounding is meant")]
fn nearest(number: u128) -> f64 {
    number as f64
}

impl TrainedUnigram {
    /// The model that encodes with these pieces.
    ///
    /// # Errors
    /// The errors of [`Unigram::new`].
    pub fn into_model(self, options: &UnigramOptions) -> Result<Unigram> {
        Unigram::new(&self.pieces, UnigramOptions { unk_id: self.unk_id, ..options.clone() })
    }
}

impl UnigramTrainer {
    /// Learns pieces from `words`.
    ///
    /// Without words, the result is the special tokens and the initial alphabet.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if special tokens and characters alone exceed `vocab_size`,
    /// [`Error::InvalidOption`] if an option is out of range, and the errors of `on_progress`.
    pub fn train(&self, words: &WordCounts, on_progress: &mut OnProgress<'_>) -> Result<TrainedUnigram> {
        self.check()?;
        let mut specials: Vec<&str> = Vec::new();
        for token in &self.special_tokens {
            if !specials.contains(&token.as_str()) {
                specials.push(token);
            }
        }
        let bytes = if self.auto_character_coverage { byte_pieces() } else { Vec::new() };
        if let Some(unk_token) = self.unk_token.as_deref().filter(|token| !specials.contains(token)) {
            specials.insert(0, unk_token);
        }
        for piece in &bytes {
            if !specials.contains(&piece.as_str()) {
                specials.push(piece);
            }
        }
        let unk_id = specials.iter().position(|&token| Some(token) == self.unk_token.as_deref());
        let set: BTreeSet<&str> = specials.iter().copied().collect();
        let required = self.required(&set)?;
        let learnt = match self.algorithm {
            Algorithm::Em => self.train_em(words, &set, &required, on_progress)?,
            Algorithm::ExactLoss => exact_loss::train(self, words, &set, &required, on_progress)?,
        };
        let specials = specials.into_iter().map(|token| (token.to_owned(), 0.0));
        Ok(TrainedUnigram { pieces: specials.chain(learnt).collect(), unk_id: unk_id.map(|id| id as u32) })
    }

    fn train_em(
        &self,
        words: &WordCounts,
        specials: &BTreeSet<&str>,
        required: &[&str],
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<(String, f64)>> {
        let corpus = Corpus::new(self, words, specials, required, &BTreeSet::new());
        let required: Vec<&str> =
            required.iter().copied().filter(|token| token.chars().nth(1).is_some()).collect();
        let characters = if self.auto_character_coverage { 0 } else { corpus.alphabet.len() };
        let needed = specials.len() + characters + required.len();
        if self.vocab_size < needed {
            return Err(vocab_too_small(self.vocab_size, needed, !required.is_empty()));
        }
        let excluded: BTreeSet<&str> = specials.iter().chain(&required).copied().collect();
        let wanted = self.vocab_size - specials.len();
        let suffixes = Suffixes::new(&corpus, self.max_piece_length as u16, self.threads, on_progress)?;
        let n = self.seed_size.saturating_sub(corpus.alphabet.len());
        let mut seeds = suffixes.required(&corpus, &required);
        let base = Base { required: seeds.len(), ..Base::default() };
        seeds.extend(suffixes.best(&corpus, n, self.seed_filter(&excluded), self.threads, on_progress)?);
        let mut pieces = Pieces::new(&corpus, &suffixes, &seeds, &base, self.threads, on_progress)?;
        drop((suffixes, seeds));
        if self.use_sparse_pruning {
            let most = self.vocab_size.saturating_add(self.vocab_size / 10);
            let target = sparse::Target { pieces: most, shrinking_factor: self.shrinking_factor };
            let learnt = sparse::train(pieces, target, on_progress)?;
            let is_auto = self.auto_character_coverage;
            return Ok(if is_auto { learnt.finish_alike(wanted) } else { learnt.finish(wanted) });
        }
        self.shrink(&mut pieces, wanted, on_progress)?;
        Ok(pieces.finish(wanted))
    }

    fn seed_filter<'a>(&'a self, excluded: &'a BTreeSet<&'a str>) -> SeedFilter<'a> {
        SeedFilter { excluded, forbid: &self.forbid, is_byte_level: self.is_byte_level }
    }

    /// Estimates and prunes by turns, until there are hardly more than `wanted` pieces.
    fn shrink(&self, pieces: &mut Pieces<'_>, wanted: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let desired = wanted + wanted / 10;
        loop {
            for _ in 0..self.n_sub_iterations {
                pieces.improve(on_progress)?;
            }
            if pieces.len() <= desired.max(pieces.fixed_pieces()) {
                return Ok(());
            }
            // With a factor near 1, rounding could keep all pieces and the loop would not end.
            let kept = (self.shrinking_factor * nearest(pieces.len() as u128)) as usize;
            pieces.prune(desired.max(kept.min(pieces.len() - 1)), on_progress)?;
        }
    }

    /// The initial tokens that are no special tokens, each once.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a token that is empty, longer than `max_piece_length`, or with a character that is a special token.
    fn required(&self, specials: &BTreeSet<&str>) -> Result<Vec<&str>> {
        initial_tokens::check(&self.initial_tokens, self.is_byte_level, |token| token)?;
        let mut required: Vec<&str> = Vec::new();
        let mut known = BTreeSet::new();
        for token in self.initial_tokens.iter().map(String::as_str).filter(|token| !specials.contains(token))
        {
            if token.chars().count() > self.max_piece_length {
                let most = self.max_piece_length;
                let message = format!("initial_tokens has '{token}' but max_piece_length is {most}");
                return Err(initial_tokens::refused(message));
            }
            let is_special = |c: &char| specials.contains(c.encode_utf8(&mut [0; 4]) as &str);
            if let Some(special) = token.chars().find(is_special) {
                let message = format!("initial_tokens has '{token}' but '{special}' is a special token");
                return Err(initial_tokens::refused(message));
            }
            if known.insert(token) {
                required.push(token);
            }
        }
        Ok(required)
    }

    fn check(&self) -> Result<()> {
        let wrong = |name, value: String, expected: &str| {
            Err(Error::InvalidOption { name, value, expected: expected.to_owned() })
        };
        if !(self.shrinking_factor > 0.0 && self.shrinking_factor < 1.0) {
            return wrong("shrinking_factor", self.shrinking_factor.to_string(), "between 0 and 1");
        }
        if !(0.0..=1.0).contains(&self.character_coverage) {
            return wrong("character_coverage", self.character_coverage.to_string(), "from 0 to 1");
        }
        if !(1..=LONGEST).contains(&self.max_piece_length) {
            let expected = format!("from 1 to {LONGEST}");
            return wrong("max_piece_length", self.max_piece_length.to_string(), &expected);
        }
        let is_exact = self.algorithm == Algorithm::ExactLoss;
        if self.use_sparse_pruning && is_exact {
            return wrong("use_sparse_pruning", "true".to_owned(), "false for algorithm exact-loss");
        }
        if self.use_sparse_pruning && !self.initial_tokens.is_empty() {
            return wrong("initial_tokens", self.initial_tokens.join(" "), "empty with use_sparse_pruning");
        }
        if self.auto_character_coverage && !self.use_sparse_pruning {
            return wrong("auto_character_coverage", "true".to_owned(), "false without use_sparse_pruning");
        }
        if self.auto_character_coverage && self.character_coverage < 1.0 {
            let expected = "1 with auto_character_coverage, which chooses the characters";
            return wrong("character_coverage", self.character_coverage.to_string(), expected);
        }
        if self.auto_character_coverage && !self.initial_alphabet.is_empty() {
            let alphabet: String = self.initial_alphabet.iter().collect();
            let expected = "empty with auto_character_coverage, which chooses the characters";
            return wrong("initial_alphabet", alphabet, expected);
        }
        Ok(())
    }
}
