//! What a Python `Tokenizer` is made of, and the compiled tokenizer that follows its changes.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::stage::{self, Stage};
use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::decoders::Decoder;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pipeline::{DEFAULT_CACHE_LIMIT, Pipeline};
use crate::pre_tokenizers::PreTokenizer;
use crate::processors::PostProcessor;
use crate::tokenizer::{Components, PaddingRule, Tokenizer, Truncation};

/// The stages, shared with the Python objects that were put in or handed out.
#[derive(Clone)]
pub(super) struct State {
    pub(super) normalizer: Option<Arc<Stage<Normalizer>>>,
    pub(super) pre_tokenizer: Option<Arc<Stage<PreTokenizer>>>,
    pub(super) model: Arc<Stage<Arc<Model>>>,
    pub(super) post_processor: Option<Arc<Stage<PostProcessor>>>,
    pub(super) decoder: Option<Arc<Stage<Decoder>>>,
    pub(super) added: Arc<AddedTokens>,
    pub(super) truncation: Option<Truncation>,
    pub(super) padding: Option<PaddingRule>,
    pub(super) encode_special_tokens: bool,
    pub(super) cache_limit: usize,
}

impl State {
    pub(super) fn of(parts: Components) -> Self {
        Self {
            normalizer: parts.normalizer.map(Stage::new),
            pre_tokenizer: parts.pre_tokenizer.map(Stage::new),
            model: Stage::new(parts.model),
            post_processor: parts.post_processor.map(Stage::new),
            decoder: parts.decoder.map(Stage::new),
            added: parts.added,
            truncation: parts.truncation,
            padding: parts.padding,
            encode_special_tokens: false,
            cache_limit: DEFAULT_CACHE_LIMIT,
        }
    }

    /// A tokenizer around a model and nothing else.
    pub(super) fn of_model(model: Arc<Stage<Arc<Model>>>) -> Self {
        Self {
            normalizer: None,
            pre_tokenizer: None,
            model,
            post_processor: None,
            decoder: None,
            added: Arc::default(),
            truncation: None,
            padding: None,
            encode_special_tokens: false,
            cache_limit: DEFAULT_CACHE_LIMIT,
        }
    }

    pub(super) fn parts(&self) -> Components {
        Components {
            normalizer: self.normalizer.as_ref().map(|stage| stage.get()),
            pre_tokenizer: self.pre_tokenizer.as_ref().map(|stage| stage.get()),
            model: self.model.get(),
            post_processor: self.post_processor.as_ref().map(|stage| stage.get()),
            decoder: self.decoder.as_ref().map(|stage| stage.get()),
            added: Arc::clone(&self.added),
            truncation: self.truncation.clone(),
            padding: self.padding.clone(),
        }
    }
}

struct Compiled {
    tokenizer: Arc<Tokenizer>,
    /// Time of the latest change that it knows of.
    time: u64,
}

/// State and what was compiled from it.
pub(super) struct Shared {
    state: RwLock<State>,
    compiled: RwLock<Option<Compiled>>,
}

/// Which parts of the compiled tokenizer a change of the state concerns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Concerns {
    /// The stages up to the model: all is compiled anew, and caches start empty.
    Pipeline,
    /// What comes after the model.
    Rest,
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self { state: RwLock::new(state), compiled: RwLock::new(None) }
    }

    pub(super) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; the next call that needs it compiles what is concerned.
    pub(super) fn change<T>(&self, concerns: Concerns, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let mut compiled = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        *compiled = match (concerns, compiled.take()) {
            (Concerns::Rest, Some(old)) => {
                let pipeline = Arc::clone(old.tokenizer.pipeline());
                let tokenizer = Arc::new(Tokenizer::with_pipeline(pipeline, &state.parts()));
                Some(Compiled { tokenizer, time: old.time })
            }
            _ => None,
        };
        result
    }

    /// The compiled tokenizer as of now.
    pub(super) fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        let time = stage::now();
        {
            let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(compiled) = compiled.as_ref().filter(|compiled| compiled.time == time) {
                return Ok(Arc::clone(&compiled.tokenizer));
            }
        }
        let state = self.state();
        let parts = state.parts();
        let pipeline = Arc::new(Pipeline::new(
            parts.normalizer.clone(),
            parts.pre_tokenizer.clone(),
            Arc::clone(&parts.model),
            Arc::clone(&parts.added),
            state.encode_special_tokens,
            state.cache_limit,
        )?);
        let tokenizer = Arc::new(Tokenizer::with_pipeline(pipeline, &parts));
        drop(state);
        let compiled = Compiled { tokenizer: Arc::clone(&tokenizer), time };
        *self.compiled.write().unwrap_or_else(PoisonError::into_inner) = Some(compiled);
        Ok(tokenizer)
    }
}
