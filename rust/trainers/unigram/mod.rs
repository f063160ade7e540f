//! Unigram language model: from many pieces to few, by likelihood.
//!
//! The rule, step by step: start from all characters and the most frequent substrings; estimate how often each piece is
//! expected over all segmentations, and score it by that; remove the pieces whose loss costs least; repeat until few
//! more than wanted are left, and take the best. Source: Kudo 2018, "Subword Regularization", section 3.2.
//!
//! How it is made fast: substrings and all their places come from one sorted list of suffixes (`seeds`), so that no
//! piece is ever looked up in text; words that begin alike share what is known of their beginnings (`lattice`,
//! `passes`); probabilities are multiplied, not their logarithms added; expected counts are sums of integers, so that
//! threads may add them in any order and the result is the same bit by bit (`em`).
//!
//! Time: O(n log n) in the characters of distinct words for the seeds, O(places of pieces in distinct beginnings) a
//! round after. Memory: 34 bytes a character, 6 a place of a piece, and 8 a piece and thread.
//!
//! [`Algorithm::ExactLoss`] is the textbook's loop instead (`exact_loss`).

mod corpus;
mod em;
mod exact_loss;
mod lattice;
mod passes;
mod seeds;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use corpus::Corpus;
use em::Pieces;
use seeds::Suffixes;

use crate::models::unigram::{Unigram, UnigramOptions};
use crate::structures::parallel::OnProgress;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// The most characters that a piece may have.
const LONGEST: usize = 1024;

/// How pieces are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Expectation maximisation, and pruning by an approximate loss.
    #[default]
    Em,
    /// The textbook's loop: fixed counts, and every piece tried without, O(pieces x words) a round.
    ExactLoss,
}

/// The options of unigram training; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramTrainer {
    /// Pieces in all, the special tokens included.
    pub vocab_size: usize,
    /// Tokens that take the first ids in the given order, with score 0; repeated ones count once.
    pub special_tokens: Vec<String>,
    /// Characters that are pieces even if no word holds them. By exact loss, only characters of words are pieces.
    pub initial_alphabet: Vec<char>,
    /// The share of pieces that each pruning keeps, between 0 and 1. By exact loss, nine tenths always stay.
    pub shrinking_factor: f64,
    /// The token that stands for unknown characters; it is the first one if it is not special.
    pub unk_token: Option<String>,
    /// No piece has more characters.
    pub max_piece_length: usize,
    /// Maximisations between two prunings.
    pub n_sub_iterations: usize,
    /// Characters and substrings to start from.
    pub seed_size: usize,
    /// The share of all characters of the corpus that have a piece, from 0 to 1; the rarest go.
    pub character_coverage: f64,
    /// How pieces are chosen.
    pub algorithm: Algorithm,
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
            algorithm: Algorithm::default(),
            threads: 1,
        }
    }
}

/// What [`UnigramTrainer::train`] learns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainedUnigram {
    /// Pieces and scores by id: special tokens, then by descending score.
    pub pieces: Vec<(String, f64)>,
    /// The id of unknown characters.
    pub unk_id: Option<u32>,
}

/// The nearest double, ties to even: what Python makes of an integer.
#[expect(clippy::cast_precision_loss, reason = "the rounding is meant")]
fn nearest(number: u128) -> f64 {
    number as f64
}

impl TrainedUnigram {
    /// The model that encodes with these pieces.
    ///
    /// # Errors
    /// Those of [`Unigram::new`].
    pub fn into_model(self, options: &UnigramOptions) -> Result<Unigram> {
        Unigram::new(&self.pieces, UnigramOptions { unk_id: self.unk_id, ..options.clone() })
    }
}

impl UnigramTrainer {
    /// Learns pieces from `words`.
    ///
    /// A word list without words yields the special tokens and the initial alphabet.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if special tokens and characters alone exceed `vocab_size`,
    /// [`Error::InvalidOption`] if an option is out of range, and whatever `on_progress` returns.
    pub fn train(&self, words: &WordCounts, on_progress: &mut OnProgress<'_>) -> Result<TrainedUnigram> {
        self.check()?;
        let mut specials: Vec<&str> = Vec::new();
        for token in &self.special_tokens {
            if !specials.contains(&token.as_str()) {
                specials.push(token);
            }
        }
        if let Some(unk_token) = self.unk_token.as_deref().filter(|token| !specials.contains(token)) {
            specials.insert(0, unk_token);
        }
        let unk_id = specials.iter().position(|&token| Some(token) == self.unk_token.as_deref());
        let set: BTreeSet<&str> = specials.iter().copied().collect();
        let learnt = match self.algorithm {
            Algorithm::Em => self.train_em(words, &set, on_progress)?,
            Algorithm::ExactLoss => exact_loss::train(self, words, &set, on_progress)?,
        };
        let specials = specials.into_iter().map(|token| (token.to_owned(), 0.0));
        Ok(TrainedUnigram { pieces: specials.chain(learnt).collect(), unk_id: unk_id.map(|id| id as u32) })
    }

    fn train_em(
        &self,
        words: &WordCounts,
        specials: &BTreeSet<&str>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<(String, f64)>> {
        let corpus = Corpus::new(self, words, specials)?;
        let wanted = self.vocab_size - specials.len();
        let suffixes = Suffixes::new(&corpus, self.max_piece_length as u16, self.threads, on_progress)?;
        let n = self.seed_size.saturating_sub(corpus.alphabet.len());
        let seeds = suffixes.best(&corpus, n, specials, self.threads, on_progress)?;
        let mut pieces = Pieces::new(&corpus, &suffixes, &seeds, self.threads, on_progress)?;
        drop((suffixes, seeds));
        let desired = wanted + wanted / 10;
        loop {
            for _ in 0..self.n_sub_iterations {
                pieces.improve(on_progress)?;
            }
            if pieces.len() <= desired.max(corpus.alphabet.len()) {
                return Ok(pieces.finish(wanted));
            }
            // A factor next to 1 must not keep all of them for ever.
            let kept = (self.shrinking_factor * nearest(pieces.len() as u128)) as usize;
            pieces.prune(desired.max(kept.min(pieces.len() - 1)), on_progress)?;
        }
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
        Ok(())
    }
}
