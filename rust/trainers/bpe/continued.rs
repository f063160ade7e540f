//! Continued training: a training from a base in which each merge makes a token of its own.
//!
//! A merge that spells a token of the base could make the pair of a merge of the base, which ranks before all new ones; then the merged words
//! would differ from the model's. Without such merges, the words of the loop are the words of the model at every step, and every new token is
//! the encoding of its own text: a new merge ranks last, so the symbols of its token first become its two halves, as they did in the word
//! where the pair was counted.

use std::sync::Arc;

use super::alphabet::symbolise_from;
use super::arena::MAX_IDS;
use super::base::{id_of, made_merges};
use super::choice::{Choice, Frequency};
use super::likelihood::Likelihood;
use super::merge_loop::{MergeLoop, Tuning};
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
    /// [`Error::InvalidOption`] if the present tokens, special tokens and new characters exceed `vocab_size`, or for superwords or
    /// `auto_character_coverage`, which choose all tokens together; and the other errors of [`Self::extend`].
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
        let vocab = Arc::new(present.with_new(&[])?);
        let base = Bpe::from_pairs(vocab, &made_merges(model), model.options().clone())?;
        let mut trainer = Self { only_new_tokens: true, ..self.clone() };
        trainer.initial_alphabet.extend(present.by_id().iter().filter_map(|(token, _)| only_char(token)));
        let extension = trainer.extend(&base, 0, words, on_progress).map_err(|error| match error {
            Error::VocabSizeTooSmall { vocab_size, needed } => {
                present.check_room(vocab_size, needed - present.len()).err().unwrap_or(error)
            }
            error => error,
        })?;
        if extension.tokens.is_empty() { Ok(model.clone()) } else { extension.into_model(&base) }
    }

    /// Refuses options for which all tokens are chosen together.
    fn check_continued(&self) -> Result<()> {
        let superwords = self.superwords.as_ref();
        let phases = superwords.map(|options| format!("SuperwordOptions({})", options.initial_vocab_size));
        let shared = self.auto_character_coverage.then(|| "true".to_owned());
        let given = [("superwords", phases, "absent"), ("auto_character_coverage", shared, "false")];
        match given.into_iter().find_map(|(name, value, expected)| Some((name, value?, expected))) {
            None => Ok(()),
            Some((name, value, expected)) => {
                let expected =
                    format!("{expected} where training is continued, since it chooses all tokens together");
                Err(Error::InvalidOption { name, value, expected })
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
