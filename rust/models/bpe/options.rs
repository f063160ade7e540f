//! The options of BPE models.

use crate::{Error, Result};

/// Options of [`super::Bpe`]; the names are Hugging Face's, and `alpha` is SentencePiece's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BpeOptions {
    /// Token for characters that the vocabulary lacks; if absent, they are dropped.
    pub unk_token: Option<String>,
    /// Prefix of every symbol but a pre-token's first.
    pub continuing_subword_prefix: Option<String>,
    /// Suffix of a pre-token's last symbol.
    pub end_of_word_suffix: Option<String>,
    /// Probability in `[0, 1]` of skipping a merge until the next one.
    pub dropout: Option<f32>,
    /// Probability in `[0, 1]` of skipping a merge until one of its symbols changes, as in SentencePiece's sampling.
    pub alpha: Option<f32>,
    /// Joins neighbouring unknown characters into one unknown token.
    pub fuse_unk: bool,
    /// Spells unknown characters as `<0xNN>` tokens where all of them exist.
    pub byte_fallback: bool,
    /// A pre-token that is in the vocabulary becomes that token without merging.
    pub ignore_merges: bool,
    /// Seed of the dropout or sampling; random if absent.
    pub seed: Option<u64>,
}

impl BpeOptions {
    /// Refuses numbers that are no probabilities, and two ways of skipping merges at once.
    pub(super) fn check(&self) -> Result<()> {
        for (name, probability) in [("dropout", self.dropout), ("alpha", self.alpha)] {
            if let Some(value) = probability.filter(|value| !(0.0..=1.0).contains(value)) {
                let expected = "between 0 and 1, inclusive".to_owned();
                return Err(Error::InvalidOption { name, value: value.to_string(), expected });
            }
        }
        if is_positive(self.dropout) && is_positive(self.alpha) {
            let value = self.alpha.unwrap_or_default().to_string();
            return Err(Error::InvalidOption {
                name: "alpha",
                value,
                expected: "None beside a dropout".to_owned(),
            });
        }
        Ok(())
    }

    /// The prefix and the suffix, empty where there is none.
    pub fn affixes(&self) -> [&str; 2] {
        [
            self.continuing_subword_prefix.as_deref().unwrap_or_default(),
            self.end_of_word_suffix.as_deref().unwrap_or_default(),
        ]
    }

    /// True if no merge is ever skipped.
    pub(super) fn is_deterministic(&self) -> bool {
        !is_positive(self.dropout) && !is_positive(self.alpha)
    }
}

/// True if the probability is set and above 0.
pub(super) fn is_positive(probability: Option<f32>) -> bool {
    probability.is_some_and(|probability| probability > 0.0)
}
