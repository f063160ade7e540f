//! The limit on the texts of merged tokens.

use std::sync::Arc;

use super::BpeTrainer;
use super::tokens::Tokens;
use crate::Result;
use crate::trainers::forbidden::Forbidden;

/// Which pairs may be merged, by the text of the token that they would make; without patterns, all.
///
/// It is asked once for each pair that is about to be tracked, so that a forbidden pair is never a candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct TextLimit(Option<Arc<Limit>>);

#[derive(Debug)]
struct Limit {
    forbidden: Forbidden,
    is_byte_level: bool,
    prefix: String,
    suffix: String,
}

impl TextLimit {
    pub(super) fn of(trainer: &BpeTrainer) -> Self {
        if trainer.forbid.is_empty() {
            return Self(None);
        }
        Self(Some(Arc::new(Limit {
            forbidden: trainer.forbid.clone(),
            is_byte_level: trainer.is_byte_level,
            prefix: trainer.continuing_subword_prefix.clone().unwrap_or_default(),
            suffix: trainer.end_of_word_suffix.clone().unwrap_or_default(),
        })))
    }

    /// True if every pair may be merged.
    #[inline]
    pub(super) fn allows_all(&self) -> bool {
        self.0.is_none()
    }

    /// True if the pair may be merged.
    ///
    /// # Errors
    /// The errors of [`Forbidden::holds`].
    pub(super) fn allows(&self, tokens: &Tokens, left: u32, right: u32) -> Result<bool> {
        let Some(limit) = &self.0 else { return Ok(true) };
        let token = tokens.joined_text(left, right, Some(&limit.prefix));
        Ok(!limit
            .forbidden
            .holds(without_affixes(&token, &limit.prefix, &limit.suffix), limit.is_byte_level)?)
    }
}

/// The text that a token stands for.
pub(super) fn without_affixes<'a>(token: &'a str, prefix: &str, suffix: &str) -> &'a str {
    let token = token.strip_prefix(prefix).unwrap_or(token);
    token.strip_suffix(suffix).unwrap_or(token)
}
