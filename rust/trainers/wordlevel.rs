//! Word level: the most frequent words become tokens; O(n log n) in words.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use crate::models::wordlevel::WordLevel;
use crate::trainers::continued::PresentTokens;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// The options of word-level training; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordLevelTrainer {
    /// Size of the vocabulary, special tokens included.
    pub vocab_size: usize,
    /// Words less frequent than this are left out.
    pub min_frequency: u64,
    /// Tokens that take the first ids in the given order; repeated ones count once.
    pub special_tokens: Vec<String>,
}

impl Default for WordLevelTrainer {
    fn default() -> Self {
        Self { vocab_size: 30_000, min_frequency: 0, special_tokens: Vec::new() }
    }
}

impl WordLevelTrainer {
    /// The tokens by id: special tokens, then words by descending count, equal counts by code points.
    ///
    /// O(n log n) in words.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if there are more special tokens than `vocab_size`.
    pub fn train(&self, words: &WordCounts) -> Result<Vec<String>> {
        let (mut known, mut tokens) = (HashSet::new(), Vec::new());
        tokens
            .extend(self.special_tokens.iter().map(String::as_str).filter(|&special| known.insert(special)));
        if self.vocab_size < tokens.len() {
            return Err(Error::VocabSizeTooSmall { vocab_size: self.vocab_size, needed: tokens.len() });
        }
        let room = self.vocab_size - tokens.len();
        tokens.extend(self.most_frequent(words).filter(|&word| known.insert(word)).take(room));
        Ok(tokens.into_iter().map(str::to_owned).collect())
    }

    /// Words by descending count, equal counts by code points.
    fn most_frequent<'a>(&self, words: &'a WordCounts) -> impl Iterator<Item = &'a str> + use<'a> {
        let least = self.min_frequency.max(1);
        let mut frequent: Vec<(&str, u64)> = words.iter().filter(|&(_, count)| count >= least).collect();
        frequent.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        frequent.into_iter().map(|(word, _)| word)
    }

    /// Appends the most frequent words that are no tokens yet, until there are `vocab_size` tokens; O(n log n) in words.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the present tokens and new special tokens exceed `vocab_size`.
    pub fn continue_training(
        &self,
        words: &WordCounts,
        model: &WordLevel,
        present: &PresentTokens,
    ) -> Result<WordLevel> {
        let mut new = present.without_known(&self.special_tokens);
        if self.vocab_size == present.len() {
            return Ok(model.clone());
        }
        present.check_room(self.vocab_size, new.len())?;
        let mut known: HashSet<&str> = present.by_id().iter().map(|(token, _)| token.as_str()).collect();
        known.extend(&new);
        let room = self.vocab_size - present.len() - new.len();
        new.extend(self.most_frequent(words).filter(|&word| known.insert(word)).take(room));
        if new.is_empty() {
            return Ok(model.clone());
        }
        let vocab = Arc::new(present.with_new(&new)?);
        let continued = WordLevel::new(vocab, model.unk_token().to_owned());
        Ok(continued.with_spaced_words(model.spaced_words().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(trainer: &WordLevelTrainer) -> Result<Vec<String>> {
        let mut words = WordCounts::new();
        for (word, count) in [("b", 2), ("é", 2), ("a", 2), ("c", 3), ("d", 1), ("none", 0)] {
            words.push(word, count);
        }
        trainer.train(&words)
    }

    fn special(tokens: &[&str]) -> Vec<String> {
        tokens.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn equal_counts_go_by_code_points() {
        let trainer = WordLevelTrainer { min_frequency: 2, ..WordLevelTrainer::default() };
        assert_eq!(train(&trainer).expect("room for all"), ["c", "a", "b", "é"]);
    }

    #[test]
    fn a_special_token_keeps_its_id_and_counts_once() {
        let special_tokens = special(&["<unk>", "b", "<unk>"]);
        let trainer = WordLevelTrainer { vocab_size: 4, special_tokens, ..WordLevelTrainer::default() };
        assert_eq!(train(&trainer).expect("room for four"), ["<unk>", "b", "c", "a"]);
    }

    #[test]
    fn special_tokens_need_their_room() {
        let trainer = WordLevelTrainer {
            vocab_size: 1,
            special_tokens: special(&["x", "y"]),
            ..WordLevelTrainer::default()
        };
        assert!(matches!(train(&trainer), Err(Error::VocabSizeTooSmall { vocab_size: 1, needed: 2 })));
    }
}
