//! Counts words in bounded memory: full counters write runs, which are merged at the end.

use std::sync::Arc;

use serde_json::Value;

use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::cache::KeyForm;
use crate::counting::runs::{Budget, CountsFile, Overflow, PhraseOverflow, Spelling, Stages};
use crate::formats::components::Component;
use crate::formats::tokenizer_json::added_token_json;
use crate::pre_tokenizers::PreTokenizer;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{Components, CountedPipelines, WordCounting};

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
            phrases: Value::Null,
        })
    }

    /// The same stages, with the pre-tokenizer that cuts texts into phrases.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn with_phrases(self, pre_tokenizer: &PreTokenizer) -> Result<Self> {
        Ok(Self { phrases: pre_tokenizer.to_json()?, ..self })
    }
}

/// Added tokens in the order of their texts: their ids and the order in which they came decide nothing.
fn added_tokens(added: &AddedTokens) -> Value {
    let mut tokens: Vec<Value> =
        added.sorted().into_iter().map(|(_, token)| added_token_json(token)).collect();
    tokens.sort_by_cached_key(Value::to_string);
    Value::Array(tokens)
}

/// Counting whose outcome is on disk.
#[derive(Debug)]
pub struct BoundedCounting {
    /// The counting that takes the texts.
    pub counting: WordCounting,
    overflow: Arc<Overflow>,
}

impl BoundedCounting {
    /// Starts counting; the first source has the number `first_source`.
    ///
    /// # Errors
    /// [`Error::InvalidOption`](crate::Error) for less memory than counting needs.
    pub fn new(
        pipelines: impl Into<CountedPipelines>,
        stages: Stages,
        threads: usize,
        budget: Budget,
        first_source: u32,
    ) -> Result<Self> {
        let pipelines = pipelines.into();
        let spelling = match pipelines.words.training_key_form() {
            KeyForm::Bytes => Spelling::Bytes,
            KeyForm::Text | KeyForm::Spaced | KeyForm::Prefixed => Spelling::Text,
        };
        let overflow = Arc::new(Overflow::new(budget, threads, spelling, stages)?);
        let phrases = Arc::new(PhraseOverflow(Arc::clone(&overflow)));
        let (spills, share) = ([Arc::clone(&overflow) as _, phrases as _], overflow.share());
        let counting = WordCounting::new(pipelines, threads).with_spill(spills, share, first_source);
        Ok(Self { counting, overflow })
    }

    /// The counts of all texts.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error) for runs that cannot be written or read; the errors of `on_progress`.
    pub fn finish(self, on_progress: &mut OnProgress<'_>) -> Result<CountsFile> {
        let (texts, bytes) = self.counting.flush()?;
        self.overflow.finish(texts, bytes, on_progress)
    }
}
