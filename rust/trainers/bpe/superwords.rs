//! Superwords: tokens of several pre-tokens, which a second phase of training learns.

use crate::{Error, Result};

/// Which tokens of the first phase may be merged in the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuperwordAlgorithm {
    /// Neighbouring pre-tokens that are single tokens each. Source: Schmidt et al. 2025, in the two phases of Schmidt et al. 2026.
    #[default]
    Boundless,
    /// All tokens of the text between two cuts of the second phase. Source: Liu et al. 2025.
    SuperBpe,
}

impl SuperwordAlgorithm {
    /// The most words of a token, unless the caller gives a number.
    pub fn default_max_words(self) -> Option<usize> {
        match self {
            Self::Boundless => None,
            Self::SuperBpe => Some(4),
        }
    }

    /// A regular expression for pre-tokens that may be joined, unless the caller gives one; it goes with GPT-2's pattern.
    pub fn default_joins(self) -> &'static str {
        match self {
            Self::Boundless => r" ?\p{L}+",
            Self::SuperBpe => r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+",
        }
    }
}

/// The second phase of a training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superwords {
    /// Tokens of the first phase.
    pub initial_vocab_size: usize,
    /// The tokens that are merged.
    pub algorithm: SuperwordAlgorithm,
    /// The most words of a merged token.
    pub max_words: Option<usize>,
    /// Pre-tokens that may be joined, as a regular expression that they match as a whole.
    pub joins: String,
    /// The pattern that cuts text in the second phase; by default the pattern of the tokenizer, with runs of joined pre-tokens whole.
    pub pattern: Option<String>,
}

impl Superwords {
    /// Checks the sizes.
    pub(crate) fn check(&self, vocab_size: usize) -> Result<()> {
        if self.initial_vocab_size > vocab_size {
            return Err(Error::InvalidOption {
                name: "initial_vocab_size",
                value: self.initial_vocab_size.to_string(),
                expected: format!("at most vocab_size, {vocab_size}"),
            });
        }
        Ok(())
    }
}
