//! Tokens that the vocabulary must have, and the merges that make them.
//!
//! Each token goes through the merges of the tokens before it; then its first two symbols are merged until one is left. These merges
//! have lower ranks than the merges of the training, so encoding makes each token of its own text. `lexmill.reference.initial_tokens` has
//! the order of all choices.

use std::collections::HashMap;

use super::BpeTrainer;
use super::tokens::Tokens;
use crate::byte_level::{char_to_byte_of, mapped};
use crate::trainers::vocab_too_small;
use crate::{Error, Result};

/// A token without its affixes.
struct Bare<'a> {
    text: &'a str,
    has_prefix: bool,
    has_suffix: bool,
}

/// Affixes are taken off only if a character is left.
fn bare<'a>(token: &'a str, prefix: &str, suffix: &str) -> Bare<'a> {
    let take = |affix: &str, rest: Option<&'a str>| rest.filter(|rest| !affix.is_empty() && !rest.is_empty());
    let inside = take(prefix, token.strip_prefix(prefix));
    let token = inside.unwrap_or(token);
    let before = take(suffix, token.strip_suffix(suffix));
    Bare { text: before.unwrap_or(token), has_prefix: inside.is_some(), has_suffix: before.is_some() }
}

/// Checks that each token has a character and, at the byte level, is spelled by its characters.
///
/// # Errors
/// [`Error::InvalidOption`] if not.
pub(in crate::trainers) fn check<'a>(
    tokens: &'a [String],
    is_byte_level: bool,
    bare: impl Fn(&'a str) -> &'a str,
) -> Result<()> {
    for token in tokens {
        if token.is_empty() {
            return Err(refused("initial_tokens has '' but each must have a character".to_owned()));
        }
        if is_byte_level && bare(token).chars().any(|c| char_to_byte_of(c).is_none()) {
            let spelled = mapped(token);
            return Err(refused(format!(
                "initial_tokens has '{token}' but the vocabulary spells bytes; write '{spelled}'"
            )));
        }
    }
    Ok(())
}

/// The error of a token.
pub(in crate::trainers) fn refused(message: String) -> Error {
    Error::Unsupported(message)
}

impl BpeTrainer {
    fn affixes(&self) -> (&str, &str) {
        let (prefix, suffix) = (&self.continuing_subword_prefix, &self.end_of_word_suffix);
        (prefix.as_deref().unwrap_or_default(), suffix.as_deref().unwrap_or_default())
    }

    /// The same options with the characters of the initial tokens in the initial alphabet.
    ///
    /// # Errors
    /// The errors of [`check`].
    pub(super) fn with_initial_characters(&self) -> Result<Self> {
        let (prefix, suffix) = self.affixes();
        check(&self.initial_tokens, self.is_byte_level, |token| bare(token, prefix, suffix).text)?;
        let mut trainer = self.clone();
        for token in &self.initial_tokens {
            trainer.initial_alphabet.extend(bare(token, prefix, suffix).text.chars());
        }
        Ok(trainer)
    }

    /// The merges of the initial tokens, in order; `tokens` get the symbols and the tokens that they lack.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a character is not in the alphabet, or if the merges of one token undo another;
    /// [`Error::InvalidOption`] if the tokens exceed the size of the vocabulary.
    pub(super) fn plan_merges(&self, tokens: &mut Tokens) -> Result<Vec<(u32, u32)>> {
        let (prefix, suffix) = self.affixes();
        let mut all = Vec::with_capacity(self.initial_tokens.len());
        for token in &self.initial_tokens {
            let Bare { text, has_prefix, has_suffix } = bare(token, prefix, suffix);
            if let Some(missing) = text.chars().find(|c| tokens.get(c.encode_utf8(&mut [0; 4])).is_none()) {
                let message =
                    format!("initial_tokens has '{token}' but limit_alphabet leaves out '{missing}'");
                return Err(refused(message));
            }
            let symbols = text.char_indices().map(|(at, character)| {
                let before = if at > 0 || has_prefix { prefix } else { "" };
                let is_last = at + character.len_utf8() == text.len();
                let after = if has_suffix && is_last { suffix } else { "" };
                tokens.intern(&format!("{before}{character}{after}"))
            });
            all.push((token, symbols.collect::<Vec<u32>>()));
        }
        let mut plan = Plan::default();
        for (_, symbols) in &all {
            plan.make(symbols.clone(), tokens, prefix);
        }
        if tokens.len() > self.vocab_size {
            return Err(vocab_too_small(self.vocab_size, tokens.len(), !self.initial_tokens.is_empty()));
        }
        plan.keep_later_ranks();
        for (token, mut symbols) in all {
            plan.apply(&mut symbols);
            if symbols.len() != 1 || tokens.text(symbols[0]) != token {
                return Err(refused(format!(
                    "initial_tokens has '{token}', which the merges of the others undo"
                )));
            }
        }
        Ok(plan.merges.into_iter().map(|(pair, _)| pair).collect())
    }
}

/// Merges in order, each with the token that it makes.
#[derive(Default)]
struct Plan {
    merges: Vec<((u32, u32), u32)>,
    /// By pair: the numbers of its merges, ascending.
    numbers: HashMap<(u32, u32), Vec<usize>>,
}

impl Plan {
    /// Adds the merges that make one token of `symbols`.
    fn make(&mut self, mut symbols: Vec<u32>, tokens: &mut Tokens, prefix: &str) {
        self.apply(&mut symbols);
        while let [left, right, ..] = symbols[..] {
            let joined = tokens.intern(&tokens.joined_text(left, right, Some(prefix)));
            self.numbers.entry((left, right)).or_default().push(self.merges.len());
            self.merges.push(((left, right), joined));
            merge(&mut symbols, (left, right), joined);
        }
    }

    /// Applies all merges to `symbols`, in their order.
    fn apply(&self, symbols: &mut Vec<u32>) {
        let mut from = 0;
        let next = |pair: &[u32], from: usize| {
            let numbers = self.numbers.get(&(pair[0], pair[1]))?;
            numbers.get(numbers.partition_point(|&number| number < from)).copied()
        };
        while let Some(number) = symbols.windows(2).filter_map(|pair| next(pair, from)).min() {
            let (pair, joined) = self.merges[number];
            merge(symbols, pair, joined);
            from = number + 1;
        }
    }

    /// Forgets the earlier merges of a pair that was merged twice, for [`Self::apply`], as models do.
    fn keep_later_ranks(&mut self) {
        let pairs: Vec<(u32, u32)> = self.merges.iter().map(|&(pair, _)| pair).collect();
        for pair in pairs {
            if let Some(numbers) = self.numbers.get_mut(&pair) {
                numbers.drain(..numbers.len() - 1);
            }
        }
    }
}

/// Replaces a pair from left to right, without overlap.
fn merge(symbols: &mut Vec<u32>, (left, right): (u32, u32), joined: u32) {
    let mut at = 0;
    while at + 1 < symbols.len() {
        if (symbols[at], symbols[at + 1]) == (left, right) {
            symbols[at] = joined;
            symbols.remove(at + 1);
        }
        at += 1;
    }
}
