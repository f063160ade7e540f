//! Continued training: the tokens of a model keep their ids, and new tokens get the ids after the largest one, or the ids of tokens that they
//! replace (`replaced`).
//!
//! Added tokens whose ids lie after the model's vocabulary become tokens of the model, with the same ids, because readers of files number such
//! tokens from the size of the vocabulary on. If a training learns nothing, the model stays as it is.
//!
//! [`Trainer::continue_training`](super::Trainer::continue_training) is the entry; each kind of trainer has its own rule.

use std::collections::HashSet;

use crate::models::Model;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// The tokens of a tokenizer: of its model, and its added tokens.
#[derive(Clone, Debug)]
pub struct PresentTokens {
    /// By ascending id.
    tokens: Vec<(String, u32)>,
    added: HashSet<String>,
    next_id: u32,
    replacement: Option<Replacement>,
    /// New tokens that need no id of their own.
    replaceable: usize,
}

/// Which tokens may be replaced.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// At most so many.
    pub most: usize,
    /// None of these, which other stages of the tokenizer name.
    pub named: HashSet<u32>,
}

/// The outcome of continued training.
#[derive(Clone, Debug)]
pub struct Continued {
    /// The model with the new tokens.
    pub model: Model,
    /// The ids whose tokens were replaced, ascending, with the tokens that they had.
    pub replaced: Vec<(u32, String)>,
}

impl PresentTokens {
    /// The tokens of `vocab`, and added tokens with their ids. An added token that the vocabulary has too counts once.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the largest id leaves no room for another one.
    pub fn new(vocab: &Vocab, added: &[(String, u32)]) -> Result<Self> {
        let outside = added.iter().filter(|(token, _)| vocab.id(token).is_none());
        let mut tokens: Vec<(String, u32)> =
            vocab.iter().map(|(token, id)| (token.to_owned(), id)).chain(outside.cloned()).collect();
        tokens.sort_by_key(|&(_, id)| id);
        let largest = tokens.last().map(|&(_, id)| id);
        let next_id = largest.map_or(Some(0), |id| id.checked_add(1)).ok_or_else(|| {
            Error::Unsupported(format!("the largest id is {}, after which there is no other", u32::MAX))
        })?;
        let added = added.iter().map(|(token, _)| token.clone()).collect();
        Ok(Self { tokens, added, next_id, replacement: None, replaceable: 0 })
    }

    /// The same tokens; a token that the words do not use may be replaced.
    #[must_use]
    pub fn replaced_by(self, replacement: Option<Replacement>) -> Self {
        Self { replacement, ..self }
    }

    /// Which tokens may be replaced, if any.
    pub fn replacement(&self) -> Option<&Replacement> {
        self.replacement.as_ref()
    }

    /// The same tokens, of which `replaceable` give their ids to new ones: [`Self::check_room`] then takes a size without them.
    pub(super) fn with_replaceable(&self, replaceable: usize) -> Self {
        Self { replaceable, ..self.clone() }
    }

    /// The first id after all tokens.
    pub(super) fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Tokens and ids by ascending id.
    pub fn by_id(&self) -> &[(String, u32)] {
        &self.tokens
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// True if there is no token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// True for an added token, which the model does not find in text.
    pub fn is_added(&self, token: &str) -> bool {
        self.added.contains(token)
    }

    /// The added tokens, in no order.
    pub fn added(&self) -> &HashSet<String> {
        &self.added
    }

    /// Strings that are no tokens yet, each once, in the order given.
    pub(super) fn without_known<'a>(&self, strings: &'a [String]) -> Vec<&'a str> {
        let known: HashSet<&str> = self.tokens.iter().map(|(token, _)| token.as_str()).collect();
        let mut seen = HashSet::new();
        let new = strings.iter().map(String::as_str).filter(|token| !known.contains(token));
        new.filter(|&token| seen.insert(token)).collect()
    }

    /// Checks that `needed` new special tokens and characters fit into `vocab_size`, which includes the tokens that can be replaced.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if they do not.
    pub(super) fn check_room(&self, vocab_size: usize, needed: usize) -> Result<()> {
        let (present, replaceable) = (self.len(), self.replaceable);
        let least = present + needed.saturating_sub(replaceable);
        let vocab_size = vocab_size.saturating_sub(replaceable);
        if vocab_size >= least {
            return Ok(());
        }
        let can_go =
            self.replacement.as_ref().map_or(String::new(), |_| format!(", {replaceable} can be replaced"));
        let expected = format!(
            "at least {least}: the tokenizer has {present} tokens{can_go}, new special tokens and characters need {needed}"
        );
        Err(Error::InvalidOption { name: "vocab_size", value: vocab_size.to_string(), expected })
    }

    /// All tokens, and `new` ones after the largest id.
    pub(super) fn with_new(&self, new: &[&str]) -> Result<Vocab> {
        let mut vocab = Vocab::new();
        for (token, id) in &self.tokens {
            vocab.list(token, *id);
        }
        for (place, token) in new.iter().enumerate() {
            let id = u32::try_from(place).ok().and_then(|place| self.next_id.checked_add(place));
            let id = id.ok_or_else(|| {
                Error::Unsupported(format!("{} new tokens need ids above {}", new.len(), u32::MAX))
            })?;
            vocab.insert(token, id);
        }
        Ok(vocab)
    }
}
