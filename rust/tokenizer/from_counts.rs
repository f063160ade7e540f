//! Training from word counts on disk.

use crate::counting::runs::{CountsFile, OrderedWords, SortedWords, Stages};
use crate::models::Model;
use crate::structures::parallel::OnProgress;
use crate::trainers::continued::{Continued, PresentTokens};
use crate::trainers::{Trainer, Words};
use crate::{Error, Result};

/// How to train.
#[derive(Clone, Debug)]
pub struct CountsTraining<'a> {
    /// The trainer.
    pub trainer: &'a Trainer,
    /// Bytes that training may take.
    pub max_memory: Option<u64>,
    /// Threads to work on.
    pub threads: usize,
}

impl CountsTraining<'_> {
    /// Learns a model from `counts`; `model` gives the options that the trainer does not set.
    ///
    /// # Errors
    /// The errors of [`CountsFile::check_training_memory`] and of the trainer;
    /// [`Error::Unsupported`] if the counts come from other stages than `stages`.
    pub fn train(
        &self,
        counts: &CountsFile,
        stages: &Stages,
        model: &Model,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        if let Trainer::Bpe(trainer) = self.trainer {
            trainer.check_phases()?;
        }
        self.check_counts(counts, stages, model)?;
        let words = words_of(self.trainer.needs_order(), counts, on_progress)?;
        self.trainer.train(words, model, self.threads, on_progress)
    }

    /// Learns further tokens for `model`, see [`Trainer::continue_training`].
    ///
    /// # Errors
    /// The errors of [`Self::train`] and of [`Trainer::continue_training`].
    pub fn continue_training(
        &self,
        counts: &CountsFile,
        stages: &Stages,
        model: &Model,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Continued> {
        self.check_counts(counts, stages, model)?;
        let words = words_of(self.trainer.needs_order_to_continue(model), counts, on_progress)?;
        self.trainer.continue_training(words, model, present, self.threads, on_progress)
    }

    fn check_counts(&self, counts: &CountsFile, stages: &Stages, model: &Model) -> Result<()> {
        self.trainer.check_model(model)?;
        // Phrases may be there too.
        let phrases = counts.summary().stages.phrases.clone();
        check_stages(counts, &Stages { phrases, ..stages.clone() })?;
        self.max_memory
            .map_or(Ok(()), |limit| counts.check_training_memory(self.trainer, self.threads, limit))
    }
}

/// # Errors
/// [`Error::Unsupported`] if counts come from other stages than `stages`.
pub(super) fn check_stages(counts: &CountsFile, stages: &Stages) -> Result<()> {
    match stages.difference(&counts.summary().stages) {
        Some((name, ours, theirs)) => Err(Error::Unsupported(format!(
            "{name} of the word counts is {theirs} but must be the tokenizer's, {ours}"
        ))),
        None => Ok(()),
    }
}

/// The words, by first appearance if the result depends on the order.
pub(super) fn words_of(
    needs_order: bool,
    counts: &CountsFile,
    on_progress: &mut OnProgress<'_>,
) -> Result<Words<'static>> {
    Ok(Words::Source(if needs_order {
        Box::new(OrderedWords::new(counts, on_progress)?)
    } else {
        Box::new(SortedWords::new(counts)?)
    }))
}
