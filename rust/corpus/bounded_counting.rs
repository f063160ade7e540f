//! Counts words in bounded memory: full counters write runs, which are merged at the end.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::cache::KeyForm;
use crate::counting::runs::{Budget, CountsFile, NormalizeWord, Overflow, Spelling, Stages};
use crate::formats::components::Component;
use crate::formats::tokenizer_json::added_token_json;
use crate::pipeline::{BertRewriter, Pipeline};
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{Components, WordCounting};

impl Stages {
    /// The stages of a tokenizer.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error) for a stage that a caller has made itself.
    pub fn of(parts: &Components) -> Result<Self> {
        let json = |stage: Option<Value>| stage.unwrap_or_default();
        Ok(Self {
            normalizer: json(parts.normalizer.as_ref().map(Component::to_json).transpose()?),
            pre_tokenizer: json(parts.pre_tokenizer.as_ref().map(Component::to_json).transpose()?),
            added_tokens: added_tokens(&parts.added),
        })
    }
}

/// Added tokens in the order of their texts: their ids and the order in which they came decide nothing.
fn added_tokens(added: &AddedTokens) -> Value {
    let mut tokens: Vec<Value> =
        added.sorted().into_iter().map(|(_, token)| added_token_json(token)).collect();
    tokens.sort_by_cached_key(Value::to_string);
    Value::Array(tokens)
}

impl NormalizeWord for BertRewriter {
    fn normalized<'a>(&self, word: &'a [u8]) -> Cow<'a, [u8]> {
        match String::from_utf8_lossy(word) {
            Cow::Borrowed(word) => match self.normalize(word) {
                Cow::Borrowed(word) => Cow::Borrowed(word.as_bytes()),
                Cow::Owned(word) => Cow::Owned(word.into_bytes()),
            },
            Cow::Owned(word) => Cow::Owned(self.normalize(&word).into_owned().into_bytes()),
        }
    }
}

/// Counting whose outcome is on disk.
#[derive(Debug)]
pub struct BoundedCounting {
    /// What takes the texts.
    pub counting: WordCounting,
    overflow: Arc<Overflow>,
}

impl BoundedCounting {
    /// Starts counting; the first source has the number `first_source`.
    ///
    /// # Errors
    /// [`Error::InvalidOption`](crate::Error) for less memory than counting needs.
    pub fn new(
        pipeline: Arc<Pipeline>,
        stages: Stages,
        threads: usize,
        budget: Budget,
        first_source: u32,
    ) -> Result<Self> {
        let spelling = match pipeline.training_key_form() {
            KeyForm::Bytes => Spelling::Bytes,
            KeyForm::Text | KeyForm::Spaced | KeyForm::Prefixed => Spelling::Text,
        };
        let normalizer = pipeline
            .normalize_after_counting()
            .map(|normalizer| Arc::new(normalizer) as Arc<dyn NormalizeWord>);
        let overflow = Arc::new(Overflow::new(budget, threads, spelling, stages, normalizer)?);
        let counting =
            WordCounting::new(pipeline, threads).with_spill(Arc::clone(&overflow) as _, first_source);
        Ok(Self { counting, overflow })
    }

    /// The counts of all texts.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error) for runs that cannot be written or read; those of `on_progress`.
    pub fn finish(self, on_progress: &mut OnProgress<'_>) -> Result<CountsFile> {
        let (texts, bytes) = self.counting.flush()?;
        self.overflow.finish(texts, bytes, on_progress)
    }
}
