//! Tokenizers: the stages composed.

#[cfg(feature = "sources")]
mod bounded_superwords;
mod columns;
#[cfg(feature = "sources")]
mod counted_tokens;
mod decode;
mod decode_stream;
mod encode;
#[cfg(feature = "sources")]
mod from_counts;
mod ids;
mod layouts;
mod limit_overrides;
mod limited_counts;
mod limits;
mod nbest;
mod padding;
mod ranges;
mod rows;
mod session;
mod split_text;
mod superwords;
mod text_breaks;
mod text_counter;
mod text_source;
mod token_columns;
mod training;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

#[cfg(feature = "sources")]
pub use counted_tokens::CountedTokens;
pub use decode_stream::{DecodeStream, Window};
pub use encode::{EncodeInput, Sequence};
#[cfg(feature = "sources")]
pub use from_counts::CountsTraining;
pub use ids::{Block, TextEncoder};
pub use limit_overrides::{LimitOverrides, PaddingSwitch, TruncationSwitch};
pub use limited_counts::LimitedCounts;
pub use limits::{PaddingLength, PaddingRule, Truncation, TruncationStrategy};
pub use ranges::TextRanges;
use rows::Layouts;
pub use rows::Ragged;
pub use session::Session;
pub use split_text::{SpanEnd, SplitOptions};
pub use superwords::SuperwordStages;
pub use text_source::TextSource;
pub use token_columns::{ColumnOptions, TokenColumns};
pub use training::{BlockEnd, CountedPipelines, WordCounting};

use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::decoders::Decoder;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pipeline::{DEFAULT_CACHE_LIMIT, Pipeline};
use crate::pre_tokenizers::PreTokenizer;
use crate::processors::PostProcessor;

/// The components of a tokenizer, as its file describes them.
#[derive(Clone, Debug)]
pub struct Components {
    /// Changes text before it is cut.
    pub normalizer: Option<Normalizer>,
    /// Cuts text into pre-tokens.
    pub pre_tokenizer: Option<PreTokenizer>,
    /// Turns pre-tokens into tokens.
    pub model: Arc<Model>,
    /// Adds special tokens.
    pub post_processor: Option<PostProcessor>,
    /// Turns tokens into text.
    pub decoder: Option<Decoder>,
    /// Tokens cut out of the text first.
    pub added: Arc<AddedTokens>,
    /// Cuts long encodings.
    pub truncation: Option<Truncation>,
    /// Fills up short encodings.
    pub padding: Option<PaddingRule>,
    /// Tokens by their role, such as `bos_token`, which files of version 2.0 may name. Roles change no encoding.
    pub role_to_token: Option<Arc<BTreeMap<String, String>>>,
}

impl Components {
    /// The ids that stages other than the model name, and the roles.
    pub fn named_ids(&self) -> HashSet<u32> {
        let processor = self.post_processor.iter().flat_map(PostProcessor::special_ids);
        let padding = self.padding.iter().map(|rule| rule.padding.symbol.id);
        let roles = self.role_to_token.iter().flat_map(|roles| roles.values());
        processor.chain(padding).chain(roles.filter_map(|token| self.model.vocab().id(token))).collect()
    }

    /// True if the stages spell the bytes of text in the byte-level alphabet.
    pub fn spell_bytes(&self) -> bool {
        self.normalizer.as_ref().is_some_and(Normalizer::has_byte_level)
            || self.pre_tokenizer.as_ref().is_some_and(PreTokenizer::maps_bytes)
    }

    /// A model and nothing else.
    pub fn of_model(model: Arc<Model>) -> Self {
        Self {
            normalizer: None,
            pre_tokenizer: None,
            model,
            post_processor: None,
            decoder: None,
            added: Arc::default(),
            truncation: None,
            padding: None,
            role_to_token: None,
        }
    }
}

/// A tokenizer ready to run: immutable, shared between threads.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    pipeline: Arc<Pipeline>,
    parts: Components,
    layouts: Arc<Layouts>,
    /// Added tokens as a byte-level decoder needs them, by id; made on first use.
    spelled_added: Arc<OnceLock<HashMap<u32, String, FixedState>>>,
}

impl Tokenizer {
    /// Compiles a tokenizer from its parts.
    ///
    /// # Errors
    /// The errors of [`Pipeline::new`].
    pub fn new(parts: &Components) -> Result<Self> {
        let pipeline = Pipeline::new(
            parts.normalizer.clone(),
            parts.pre_tokenizer.clone(),
            Arc::clone(&parts.model),
            Arc::clone(&parts.added),
            false,
            DEFAULT_CACHE_LIMIT,
        )?;
        Ok(Self::with_pipeline(Arc::new(pipeline), parts.clone()))
    }

    /// A tokenizer around a compiled pipeline; the other stages come from `parts`.
    pub fn with_pipeline(pipeline: Arc<Pipeline>, parts: Components) -> Self {
        Self { pipeline, parts, layouts: Arc::default(), spelled_added: Arc::default() }
    }

    /// The same tokenizer with other limits of length; it shares all that is compiled.
    #[must_use]
    pub fn with_limits(&self, truncation: Option<Truncation>, padding: Option<PaddingRule>) -> Self {
        Self {
            pipeline: Arc::clone(&self.pipeline),
            parts: Components { truncation, padding, ..self.parts.clone() },
            layouts: Arc::clone(&self.layouts),
            spelled_added: Arc::clone(&self.spelled_added),
        }
    }

    /// How rows are truncated, if at all.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.parts.truncation.as_ref()
    }

    /// How rows are padded, if at all.
    pub fn padding(&self) -> Option<&PaddingRule> {
        self.parts.padding.as_ref()
    }

    /// The stages up to the model.
    pub fn pipeline(&self) -> &Arc<Pipeline> {
        &self.pipeline
    }

    /// How many special tokens a text or a pair gets.
    pub fn added_tokens(&self, is_pair: bool) -> usize {
        self.parts.post_processor.as_ref().map_or(0, |processor| processor.added_tokens(is_pair))
    }
}
