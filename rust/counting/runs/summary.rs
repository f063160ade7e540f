//! The summary of a run: stages, spelling and sums.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::byte_level::push_mapped;

/// How the words of a run are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// As the model sees them.
    Text,
    /// As bytes, each of which byte-level models see as a character.
    Bytes,
}

impl Spelling {
    /// Appends a word as the model sees it.
    pub fn push(self, word: &[u8], text: &mut String) {
        match self {
            Self::Text => text.push_str(&String::from_utf8_lossy(word)),
            Self::Bytes => push_mapped(word, text),
        }
    }
}

/// The stages and added tokens that decide which words a text has, as in a `tokenizer.json`. Only counts of equal stages can be merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stages {
    /// The normalizer; null for none.
    pub normalizer: Value,
    /// The pre-tokenizer; null for none.
    pub pre_tokenizer: Value,
    /// The added tokens that are no words.
    pub added_tokens: Value,
    /// The pre-tokenizer that cuts texts into the phrases of superwords; null if no phrases were counted.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub phrases: Value,
}

impl Stages {
    /// The first stage that differs, with its JSON here and there.
    pub fn difference<'a>(&'a self, other: &'a Self) -> Option<(&'static str, &'a Value, &'a Value)> {
        let stages = [
            ("the normalizer", &self.normalizer, &other.normalizer),
            ("the pre-tokenizer", &self.pre_tokenizer, &other.pre_tokenizer),
            ("the list of added tokens", &self.added_tokens, &other.added_tokens),
            ("the pre-tokenizer of phrases", &self.phrases, &other.phrases),
        ];
        stages.into_iter().find(|(_, one, other)| one != other)
    }
}

/// The part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Words,
    Phrases,
}

/// The size of the distinct phrases of superwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Their number.
    pub words: u64,
    /// Their bytes.
    pub word_bytes: u64,
    /// The sum of their counts.
    pub total: u64,
}

impl Sums {
    fn are_empty(&self) -> bool {
        self.words == 0
    }
}

/// The summary in the footer of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How words are spelled.
    pub spelling: Spelling,
    /// The stages that cut the texts.
    pub stages: Stages,
    /// Distinct words.
    pub words: u64,
    /// Bytes of the distinct words.
    pub word_bytes: u64,
    /// The sum of their counts.
    pub total: u64,
    /// Phrases, which follow the words.
    #[serde(default, skip_serializing_if = "Sums::are_empty")]
    pub phrases: Sums,
    /// Texts that were counted.
    pub texts: u64,
    /// Bytes of sources that were read.
    pub bytes: u64,
    /// Distinct words that were left out because they are rare.
    pub dropped_words: u64,
    /// The sum of the counts of these words.
    pub dropped_total: u64,
}
