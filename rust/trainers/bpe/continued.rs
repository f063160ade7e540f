//! Continued training: a training from a base in which each merge makes a token of its own.
//!
//! A merge that spells a token of the base could make the pair of a merge of the base, which ranks before all new ones; then the merged words
//! would differ from the model's. Without such merges, the words of the loop are the words of the model at every step, and every new token is
//! the encoding of its own text: a new merge ranks last, so the symbols of its token first become its two halves, as they did in the word
//! where the pair was counted.

use std::collections::HashSet;
use std::sync::Arc;

use super::alphabet::symbolise_from;
use super::arena::MAX_IDS;
use super::base::{made_merges, tokens_of};
use super::choice::{Choice, Frequency};
use super::likelihood::Likelihood;
use super::merge_loop::{MergeLoop, Tuning};
use super::token_words::id_of;
use super::tokens::Tokens;
use super::{BpeTrainer, Precision};
use crate::models::bpe::Bpe;
use crate::structures::parallel::OnProgress;
use crate::trainers::continued::PresentTokens;
use crate::trainers::word_counts::{WordCounts, WordSource};
use crate::{Error, Result};

impl BpeTrainer {
    /// Learns merges after the merges of `model`, until there are `vocab_size` tokens.
    ///
    /// Characters of the model count as infinitely frequent for the limit of the alphabet. Without room for another token, or if nothing is
    /// learnt, the result is the model itself.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the present tokens, special tokens and new characters exceed `vocab_size`, or for superwords, which change the
    /// pre-tokens, or `auto_character_coverage`, which chooses all tokens together; and the other errors of [`Self::extend`].
    pub fn continue_training<'w>(
        &self,
        words: impl WordSource + 'w,
        model: &Bpe,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Bpe> {
        self.check_continued()?;
        if self.vocab_size == present.len() {
            return Ok(model.clone());
        }
        if model.kinds().is_some() {
            let reason = "its tokens have the kinds of a SentencePiece file";
            return Err(Error::Unsupported(format!("training of this model cannot be continued: {reason}")));
        }
        let base = present_model(model, present)?;
        let trainer = self.for_present(present);
        let extension = trainer.extend(&base, 0, words, on_progress).map_err(|error| match error {
            Error::VocabSizeTooSmall { vocab_size, needed } => {
                present.check_room(vocab_size, needed - present.len()).err().unwrap_or(error)
            }
            error => error,
        })?;
        if extension.tokens.is_empty() { Ok(model.clone()) } else { extension.into_model(&base) }
    }

    /// The tokens of `model` that the words have when the merging of pairs begins.
    pub(in crate::trainers) fn tokens_of_words(
        &self,
        words: &dyn WordSource,
        model: &Bpe,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<HashSet<u32>> {
        let base = present_model(model, present)?;
        let trainer = self.for_present(present).with_affixes_of(&base);
        let tokens = tokens_of(&base, 0)?;
        let (_, arena) = symbolise_from(&trainer, &base, tokens, words, false, on_progress)?;
        Ok(arena.tokens())
    }

    /// The options of continued training: characters of the model count as infinitely frequent.
    fn for_present(&self, present: &PresentTokens) -> Self {
        let mut trainer = Self { only_new_tokens: true, ..self.clone() };
        trainer.initial_alphabet.extend(present.by_id().iter().filter_map(|(token, _)| only_char(token)));
        trainer
    }

    /// Refuses options for which all tokens are chosen together, or text is cut in another way.
    fn check_continued(&self) -> Result<()> {
        let superwords = self.superwords.as_ref();
        let phases = superwords.map(|options| format!("SuperwordOptions({})", options.initial_vocab_size));
        let shared = self.auto_character_coverage.then(|| "true".to_owned());
        let pre_tokens = "absent where training is continued, since it changes the pre-tokens of all text; max_words limits the words of a \
                          token where the tokenizer has superwords";
        let characters = "false where training is continued, since it chooses all tokens together";
        let given = [("superwords", phases, pre_tokens), ("auto_character_coverage", shared, characters)];
        match given.into_iter().find_map(|(name, value, expected)| Some((name, value?, expected))) {
            None => Ok(()),
            Some((name, value, expected)) => {
                Err(Error::InvalidOption { name, value, expected: expected.to_owned() })
            }
        }
    }

    /// Merges tokens of words, which are written with the characters of [`char_of`](super::char_of) their ids; `tokens` are all tokens
    /// by id. Returns the tokens that are made.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 1,112,064 tokens, and the errors of [`Self::train`].
    pub(in crate::trainers) fn merge_tokens(
        &self,
        tokens: &[impl AsRef<str>],
        words: &WordCounts,
        precision: Option<Precision>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<String>> {
        let mut known = Tokens::default();
        for token in tokens {
            known.intern(token.as_ref());
        }
        let choice = match precision {
            None => Choice::Frequency(Frequency::new(self.tie_break)),
            Some(precision) => Choice::Likelihood(Likelihood::new(
                precision,
                self.tie_break,
                count_tokens(tokens.len(), words),
            )),
        };
        let (known, arena) = symbolise_from(self, &Bpe::default(), known, words, true, on_progress)?;
        let trainer = Self { vocab_size: self.vocab_size.min(MAX_IDS), ..self.clone() };
        let trained =
            MergeLoop::new(&trainer, known, arena, choice, Tuning::default()).run(Vec::new(), on_progress)?;
        Ok(trained.vocab.into_iter().skip(tokens.len()).collect())
    }
}

/// The model with the added tokens.
fn present_model(model: &Bpe, present: &PresentTokens) -> Result<Bpe> {
    Bpe::from_pairs(Arc::new(present.with_new(&[])?), &made_merges(model), model.options().clone())
}

/// The character of a text that is only one.
fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// How often each token occurs in token words.
fn count_tokens(tokens: usize, words: &WordCounts) -> Vec<u64> {
    let mut counts = vec![0u64; tokens];
    for (word, count) in words.iter() {
        for character in word.chars() {
            if let Some(sum) = counts.get_mut(id_of(character) as usize) {
                *sum = sum.saturating_add(count);
            }
        }
    }
    counts
}
