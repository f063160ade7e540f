//! WordPiece: merges by frequency, as libraries do, or by likelihood, as the textbook does.
//!
//! By frequency this is byte-pair encoding with a prefix for symbols that continue a word. By likelihood, the pair with the
//! highest count(ab) / (count(a) count(b)) is merged first; the count of a token includes its occurrences in words of a
//! single token. Both run the loop of [`super::bpe`], with its bounds.
//!
//! Sources: Schuster and Nakajima 2012, section 2; the score of the public course notebooks.

mod continued;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;

use super::bpe::{BpeTrainer, Precision, TieBreak, TrainedBpe, initial_tokens};
use super::forbidden::Forbidden;
use super::word_counts::WordSource;
use crate::Result;
use crate::structures::parallel::OnProgress;

/// The choice of the pair to merge first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The most frequent pair, as in Hugging Face.
    #[default]
    Frequency,
    /// The pair with the highest likelihood; fractions are compared exactly.
    Likelihood,
    /// As `Likelihood`, with fractions rounded to 64-bit floats, so that different fractions can be equal.
    LikelihoodFloat64,
}

/// The options of `WordPiece` training; the names and the defaults are Hugging Face's, except for the last seven options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieceTrainer {
    /// Size of the vocabulary, special tokens and initial symbols included.
    pub vocab_size: usize,
    /// A pair less frequent than this is never merged.
    pub min_frequency: u64,
    /// Tokens that take the first ids in the given order; repeated ones count once.
    pub special_tokens: Vec<String>,
    /// As [`BpeTrainer::limit_alphabet`].
    pub limit_alphabet: Option<usize>,
    /// As [`BpeTrainer::initial_alphabet`].
    pub initial_alphabet: Vec<char>,
    /// Prefix of every character but the first of a word; removed from the right token when two tokens join. `None` trains as an empty
    /// one, for a model with the usual prefix `##`, as in Hugging Face.
    pub continuing_subword_prefix: Option<String>,
    /// Suffix of the last character of a word.
    pub end_of_word_suffix: Option<String>,
    /// Tokens that the vocabulary must have; their ids come after the ids of the special tokens.
    pub initial_tokens: Vec<String>,
    /// As [`BpeTrainer::forbid`].
    pub forbid: Forbidden,
    /// As [`BpeTrainer::is_byte_level`].
    pub is_byte_level: bool,
    /// The choice of the pair to merge first.
    pub score: Score,
    /// The choice among equals; by default the smallest ids for frequency, the first seen for likelihood.
    pub tie_break: Option<TieBreak>,
    /// As `min_frequency`; the larger of the two applies.
    pub min_pair_frequency: u64,
    /// Threads for counting; the result does not depend on it.
    pub threads: usize,
}

impl Default for WordPieceTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            min_frequency: 0,
            special_tokens: Vec::new(),
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            continuing_subword_prefix: Some("##".to_owned()),
            end_of_word_suffix: None,
            initial_tokens: Vec::new(),
            forbid: Forbidden::default(),
            is_byte_level: false,
            score: Score::default(),
            tie_break: None,
            min_pair_frequency: 0,
            threads: 1,
        }
    }
}

impl WordPieceTrainer {
    /// Learns tokens from `words`.
    ///
    /// By frequency, the ids are special tokens, alphabet, affixed characters by first appearance, merges; by likelihood,
    /// special tokens, the symbols of the words sorted as strings, merges.
    ///
    /// # Errors
    /// The errors of [`BpeTrainer::train`].
    pub fn train(&self, words: impl WordSource, on_progress: &mut OnProgress<'_>) -> Result<TrainedBpe> {
        initial_tokens::check(&self.initial_tokens, self.is_byte_level, |token| token)?;
        let (precision, trainer) = self.rule();
        match precision {
            None => trainer.train(words, on_progress),
            Some(precision) => trainer.train_by_likelihood(words, precision, on_progress),
        }
    }

    /// The precision of likelihoods, if these decide, and the options of the loop.
    fn rule(&self) -> (Option<Precision>, BpeTrainer) {
        let (precision, tie_break) = match self.score {
            Score::Frequency => (None, TieBreak::SmallestIds),
            Score::Likelihood => (Some(Precision::Exact), TieBreak::FirstSeen),
            Score::LikelihoodFloat64 => (Some(Precision::Float64), TieBreak::FirstSeen),
        };
        let trainer = BpeTrainer {
            vocab_size: self.vocab_size,
            min_frequency: self.min_frequency.max(self.min_pair_frequency),
            special_tokens: [&self.special_tokens[..], &self.initial_tokens].concat(),
            initial_tokens: Vec::new(),
            limit_alphabet: self.limit_alphabet,
            initial_alphabet: self.initial_alphabet.clone(),
            continuing_subword_prefix: self.continuing_subword_prefix.clone(),
            end_of_word_suffix: self.end_of_word_suffix.clone(),
            max_token_length: None,
            superwords: None,
            max_words: None,
            forbid: self.forbid.clone(),
            is_byte_level: self.is_byte_level,
            only_new_tokens: false,
            tie_break: self.tie_break.unwrap_or(tie_break),
            auto_character_coverage: false,
            threads: self.threads,
        };
        (precision, trainer)
    }

    /// True if the most frequent pair is merged first.
    pub fn is_frequency(&self) -> bool {
        self.score == Score::Frequency
    }
}
