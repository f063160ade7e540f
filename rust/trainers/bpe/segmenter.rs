//! Words cut by the merges of a base.

use super::symbols::Symbols;
use crate::models;
use crate::models::bpe::{Bpe, Scratch};

/// Applies the merges of a base to words.
pub(super) struct Segmenter<'a> {
    base: &'a Bpe,
    scratch: Scratch,
    tokens: models::Tokens,
}

impl<'a> Segmenter<'a> {
    pub(super) fn new(base: &'a Bpe) -> Self {
        Self { base, scratch: Scratch::default(), tokens: models::Tokens::default() }
    }

    /// The tokens of a word. A word that the base takes whole has no pair, so it has no tokens here.
    pub(super) fn of_word(&mut self, symbols: &Symbols<'_>, word: &str) -> impl Iterator<Item = u32> + '_ {
        self.tokens.clear();
        let is_whole = self.base.options().ignore_merges && self.base.vocab().id(word).is_some();
        if !is_whole {
            self.base.merge_symbols(symbols.of_word(word), &mut self.scratch, &mut self.tokens);
        }
        self.tokens.ids.iter().copied()
    }
}
