//! Trainers: each learns a model from words, which are distinct pre-tokens with their counts.
//!
//! * [`bpe`]: merges the most frequent pair.
//! * [`wordpiece`]: as BPE with a prefix, or by likelihood.
//! * [`unigram`]: expectation maximization and pruning.
//! * [`wordlevel`]: the most frequent words.
//!
//! [`Trainer`] is any of them. The learnt model does not depend on the number of threads.

pub mod bpe;
pub mod continued;
pub mod forbidden;
mod replaced;
pub mod unigram;
pub mod word_counts;
pub mod wordlevel;
pub mod wordpiece;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::models::Model;
use crate::models::wordlevel::WordLevel;
use crate::models::wordpiece::{WordPiece, WordPieceOptions};
use crate::structures::parallel::OnProgress;
use crate::vocab::Vocab;
use crate::{Error, Result};
use continued::{Continued, PresentTokens};
use word_counts::{EachWord, WordCounts, WordSource, read_all};

/// The error of a vocabulary that is too small for the tokens that it must hold.
fn vocab_too_small(vocab_size: usize, needed: usize, has_initial_tokens: bool) -> Error {
    if !has_initial_tokens {
        return Error::VocabSizeTooSmall { vocab_size, needed };
    }
    let expected =
        format!("at least {needed}, which special tokens, initial alphabet and initial tokens need");
    Error::InvalidOption { name: "vocab_size", value: vocab_size.to_string(), expected }
}

/// A trainer of any kind.
#[derive(Clone, Debug)]
pub enum Trainer {
    /// Byte-pair encoding.
    Bpe(bpe::BpeTrainer),
    /// Unigram language model.
    Unigram(unigram::UnigramTrainer),
    /// `WordPiece`.
    WordPiece(wordpiece::WordPieceTrainer),
    /// Word level.
    WordLevel(wordlevel::WordLevelTrainer),
}

/// The pieces `<0x00>` to `<0xFF>`, into which byte fallback spells characters without a piece.
fn byte_pieces() -> Vec<String> {
    (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")).collect()
}

/// The words that a trainer learns from.
pub enum Words<'a> {
    /// Words in memory.
    Table(WordCounts),
    /// Words that are read when they are wanted.
    Source(Box<dyn WordSource + 'a>),
}

impl Words<'_> {
    /// The words in memory.
    fn into_table(self) -> Result<WordCounts> {
        match self {
            Self::Table(words) => Ok(words),
            Self::Source(source) => {
                let mut words = WordCounts::new();
                read_all(&*source, |word, count| words.push(word, count))?;
                Ok(words)
            }
        }
    }
}

impl WordSource for Words<'_> {
    fn parts(&self, parts: usize) -> Vec<Range<usize>> {
        self.source().parts(parts)
    }

    fn byte_len(&self) -> usize {
        self.source().byte_len()
    }

    fn read(&self, part: Range<usize>, each: &mut EachWord<'_>) -> Result<()> {
        self.source().read(part, each)
    }
}

impl Words<'_> {
    fn source(&self) -> &dyn WordSource {
        match self {
            Self::Table(words) => words,
            Self::Source(source) => &**source,
        }
    }
}

impl Default for Trainer {
    fn default() -> Self {
        Self::Bpe(bpe::BpeTrainer::default())
    }
}

impl Trainer {
    /// The trainer's name, and the [`Model::kind`] of the models that it trains.
    fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Bpe(_) => ("BpeTrainer", "BPE"),
            Self::Unigram(_) => ("UnigramTrainer", "Unigram"),
            Self::WordPiece(_) => ("WordPieceTrainer", "WordPiece"),
            Self::WordLevel(_) => ("WordLevelTrainer", "WordLevel"),
        }
    }

    /// Checks that this trainer trains models of the kind of `model`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it does not.
    pub fn check_model(&self, model: &Model) -> Result<()> {
        if self.kind().1 == model.kind() { Ok(()) } else { Err(self.wrong_model(model)) }
    }

    fn wrong_model(&self, model: &Model) -> Error {
        let ((trainer, trained), given) = (self.kind(), model.kind());
        Error::Unsupported(format!("{trainer} can only train a {trained}, the tokenizer's model is {given}"))
    }

    /// True if the learnt model depends on the order of the words.
    pub fn needs_order(&self) -> bool {
        match self {
            Self::Bpe(trainer) => trainer.needs_order(),
            // Continuing characters get their ids in the order of appearance.
            Self::WordPiece(_) => true,
            Self::Unigram(trainer) => trainer.algorithm == unigram::Algorithm::ExactLoss,
            Self::WordLevel(_) => false,
        }
    }

    /// Says that tokens spell bytes, each as a character.
    pub fn set_byte_level(&mut self, is_byte_level: bool) {
        match self {
            Self::Bpe(trainer) => trainer.is_byte_level = is_byte_level,
            Self::Unigram(trainer) => trainer.is_byte_level = is_byte_level,
            Self::WordPiece(trainer) => trainer.is_byte_level = is_byte_level,
            Self::WordLevel(_) => {}
        }
    }

    /// As [`Self::needs_order`], where the training of `model` is continued: the affixes are the model's.
    pub fn needs_order_to_continue(&self, model: &Model) -> bool {
        let has_affix = |affix: &Option<String>| affix.as_deref().is_some_and(|affix| !affix.is_empty());
        let has_affixes = match model {
            Model::Bpe(bpe) => {
                let options = bpe.options();
                has_affix(&options.continuing_subword_prefix) || has_affix(&options.end_of_word_suffix)
            }
            _ => false,
        };
        has_affixes || self.needs_order()
    }

    /// Replaces the tokens that take the first ids.
    pub fn set_special_tokens(&mut self, tokens: Vec<String>) {
        match self {
            Self::Bpe(trainer) => trainer.special_tokens = tokens,
            Self::Unigram(trainer) => trainer.special_tokens = tokens,
            Self::WordPiece(trainer) => trainer.special_tokens = tokens,
            Self::WordLevel(trainer) => trainer.special_tokens = tokens,
        }
    }

    /// Learns a model from `words`; options that the trainer does not set are taken from `model`.
    ///
    /// # Errors
    /// The errors of [`Self::check_model`] and of the trainer.
    pub fn train(
        &self,
        words: Words<'_>,
        model: &Model,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        match (self, model) {
            (Self::Bpe(trainer), Model::Bpe(current)) => {
                let trainer = bpe::BpeTrainer { threads, ..trainer.clone() };
                let trained = trainer.train(words, on_progress)?;
                let mut options = current.options().clone();
                options.continuing_subword_prefix = trainer.continuing_subword_prefix;
                options.end_of_word_suffix = trainer.end_of_word_suffix;
                options.byte_fallback |= trainer.auto_character_coverage;
                trained.into_model(options).map(Model::Bpe)
            }
            (Self::Unigram(trainer), Model::Unigram(current)) => {
                let trainer = unigram::UnigramTrainer { threads, ..trainer.clone() };
                let trained = trainer.train(&words.into_table()?, on_progress)?;
                let mut options = current.options().clone();
                options.byte_fallback |= trainer.auto_character_coverage;
                trained.into_model(&options).map(Model::Unigram)
            }
            (Self::WordPiece(trainer), Model::WordPiece(current)) => {
                let trainer = wordpiece::WordPieceTrainer { threads, ..trainer.clone() };
                let trained = trainer.train(words, on_progress)?;
                let prefix = trainer.continuing_subword_prefix;
                let continuing_subword_prefix =
                    prefix.unwrap_or_else(|| WordPieceOptions::default().continuing_subword_prefix);
                let options = WordPieceOptions { continuing_subword_prefix, ..current.options().clone() };
                let vocab = Arc::new(Vocab::from_tokens(&trained.vocab));
                Ok(Model::WordPiece(WordPiece::new(vocab, options)))
            }
            (Self::WordLevel(trainer), Model::WordLevel(current)) => {
                let vocab = Arc::new(Vocab::from_tokens(trainer.train(&words.into_table()?)?));
                Ok(Model::WordLevel(WordLevel::new(vocab, current.unk_token().to_owned())))
            }
            (_, model) => Err(self.wrong_model(model)),
        }
    }

    /// Learns further tokens for `model`, which keeps its own but the ones that are replaced; `present` are its tokens and the added tokens
    /// around it.
    ///
    /// The vocabulary then has at most `vocab_size` tokens, added ones included. If nothing is learnt, the result is the model as it is.
    /// Prefix, suffix and unknown token are the model's.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `vocab_size` is too small for the present tokens, new special tokens and new characters, and the errors of
    /// [`Self::check_model`] and of the trainer.
    pub fn continue_training(
        &self,
        words: Words<'_>,
        model: &Model,
        present: &PresentTokens,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Continued> {
        self.check_model(model)?;
        let initial_tokens = match self {
            Self::Bpe(trainer) => &trainer.initial_tokens[..],
            Self::Unigram(trainer) => &trainer.initial_tokens,
            Self::WordPiece(trainer) => &trainer.initial_tokens,
            Self::WordLevel(_) => &[],
        };
        if !initial_tokens.is_empty() {
            return Err(Error::InvalidOption {
                name: "initial_tokens",
                value: initial_tokens.join(" "),
                expected: "empty where training is continued; add them by add_tokens".to_owned(),
            });
        }
        let Some(replacement) = present.replacement() else {
            let model = self.extend(words, model, present, threads, on_progress)?;
            return Ok(Continued { model, replaced: Vec::new() });
        };
        let words = match self {
            Self::Bpe(_) => words,
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => Words::Table(words.into_table()?),
        };
        let mut used = self.used_tokens(&words, model, present, threads, on_progress)?;
        used.extend(self.special_tokens().iter().filter_map(|token| model.vocab().id(token)));
        let mut unused = replaced::unused_tokens(model, present, &replacement.named, used);
        unused.truncate(replacement.most);
        let present = present.with_replaceable(unused.len());
        let mut wider = self.clone();
        // A size beyond all ids is refused as it was given.
        let most = self.vocab_size().max(bpe::MAX_IDS);
        let vocab_size = self.vocab_size().saturating_add(unused.len()).min(most);
        wider.set_vocab_size(vocab_size);
        present.check_room(vocab_size, 0)?;
        let continued = wider.extend(words, model, &present, threads, on_progress)?;
        let renumbering = replaced::Renumbering::new(&continued, present.next_id(), &unused);
        Ok(Continued { model: renumbering.applied(&continued)?, replaced: renumbering.replaced(model) })
    }

    /// The tokens of the words as the model cuts them, and as training does, which knows new characters.
    fn used_tokens(
        &self,
        words: &Words<'_>,
        model: &Model,
        present: &PresentTokens,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<HashSet<u32>> {
        let mut used = replaced::used_tokens(&model.without_sampling()?, words, threads, on_progress)?;
        match (self, model) {
            (Self::Bpe(trainer), Model::Bpe(current)) => {
                let trainer = bpe::BpeTrainer { threads, ..trainer.clone() };
                used.extend(trainer.tokens_of_words(words, current, present, on_progress)?);
            }
            (Self::WordPiece(trainer), Model::WordPiece(current)) => {
                let trainer = wordpiece::WordPieceTrainer { threads, ..trainer.clone() };
                used.extend(trainer.tokens_of_words(words, current, present, on_progress)?);
            }
            // A new character is apart from the pieces around it, as an unknown one is.
            _ => {}
        }
        Ok(used)
    }

    fn extend(
        &self,
        words: Words<'_>,
        model: &Model,
        present: &PresentTokens,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        match (self, model) {
            (Self::Bpe(trainer), Model::Bpe(current)) => {
                let trainer = bpe::BpeTrainer { threads, ..trainer.clone() };
                trainer.continue_training(words, current, present, on_progress).map(Model::Bpe)
            }
            (Self::WordPiece(trainer), Model::WordPiece(current)) => {
                let trainer = wordpiece::WordPieceTrainer { threads, ..trainer.clone() };
                let words = words.into_table()?;
                trainer.continue_training(&words, current, present, on_progress).map(Model::WordPiece)
            }
            (Self::Unigram(trainer), Model::Unigram(current)) => {
                let trainer = unigram::UnigramTrainer { threads, ..trainer.clone() };
                let words = words.into_table()?;
                trainer.continue_training(&words, current, present, on_progress).map(Model::Unigram)
            }
            (Self::WordLevel(trainer), Model::WordLevel(current)) => {
                trainer.continue_training(&words.into_table()?, current, present).map(Model::WordLevel)
            }
            (_, model) => Err(self.wrong_model(model)),
        }
    }

    fn special_tokens(&self) -> &[String] {
        match self {
            Self::Bpe(trainer) => &trainer.special_tokens,
            Self::Unigram(trainer) => &trainer.special_tokens,
            Self::WordPiece(trainer) => &trainer.special_tokens,
            Self::WordLevel(trainer) => &trainer.special_tokens,
        }
    }

    fn vocab_size(&self) -> usize {
        match self {
            Self::Bpe(trainer) => trainer.vocab_size,
            Self::Unigram(trainer) => trainer.vocab_size,
            Self::WordPiece(trainer) => trainer.vocab_size,
            Self::WordLevel(trainer) => trainer.vocab_size,
        }
    }

    /// Replaces the size of the vocabulary.
    pub fn set_vocab_size(&mut self, vocab_size: usize) {
        match self {
            Self::Bpe(trainer) => trainer.vocab_size = vocab_size,
            Self::Unigram(trainer) => trainer.vocab_size = vocab_size,
            Self::WordPiece(trainer) => trainer.vocab_size = vocab_size,
            Self::WordLevel(trainer) => trainer.vocab_size = vocab_size,
        }
    }
}
