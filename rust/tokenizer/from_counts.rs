//! Training from word counts on disk.

use serde_json::{Map, Value};

use super::merge_checkpoint::{Fingerprint, MergeCheckpoint};
use crate::counting::runs::{CountsFile, OrderedWords, SortedWords, Stages};
use crate::models::Model;
use crate::structures::parallel::OnProgress;
use crate::trainers::bpe::Resumption;
use crate::trainers::{Trainer, Words};
use crate::{Error, Result};

/// How to train.
#[derive(Clone, Debug)]
pub struct CountsTraining<'a> {
    /// The trainer.
    pub trainer: &'a Trainer,
    /// The class of the trainer and its options, by which a checkpoint is known.
    pub options: (&'static str, Map<String, Value>),
    /// Bytes that training may take.
    pub max_memory: Option<u64>,
    /// Where merges are kept.
    pub checkpoint: Option<MergeCheckpoint>,
    /// Threads to work on.
    pub threads: usize,
}

impl CountsTraining<'_> {
    /// Checks, before words are counted, that the trainer can resume if there is a checkpoint.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a checkpoint of a trainer that has none.
    pub fn check(&self) -> Result<()> {
        if self.checkpoint.is_some() { self.trainer.check_resumable() } else { Ok(()) }
    }

    /// Learns a model from `counts`; `model` gives the options that the trainer does not set.
    ///
    /// # Errors
    /// The errors of [`Self::check`], of [`CountsFile::check_training_memory`], of the checkpoint and of the trainer;
    /// [`Error::Unsupported`] if the counts come from other stages than `stages`.
    pub fn train(
        &self,
        counts: &CountsFile,
        stages: &Stages,
        model: &Model,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        self.check()?;
        self.trainer.check_model(model)?;
        if let Some((name, ours, theirs)) = stages.difference(&counts.summary().stages) {
            let message =
                format!("{name} of the word counts is {theirs} but must be the tokenizer's, {ours}");
            return Err(Error::Unsupported(message));
        }
        self.max_memory
            .map_or(Ok(()), |limit| counts.check_training_memory(self.trainer, self.threads, limit))?;
        let Some(checkpoint) = &self.checkpoint else {
            let words = self.words(counts, on_progress)?;
            return self.trainer.train_resumable(words, model, self.threads, None, on_progress);
        };
        let (name, options) = self.options.clone();
        let fingerprint = Fingerprint::new(counts, name, options)?;
        let done = checkpoint.done(&fingerprint)?;
        let words = self.words(counts, on_progress)?;
        let keep = Box::new(|log: &_| checkpoint.keep(&fingerprint, log));
        let resumption = Resumption { done, every: checkpoint.every, keep };
        self.trainer.train_resumable(words, model, self.threads, Some(resumption), on_progress)
    }

    /// The words in the order that the trainer needs.
    fn words(&self, counts: &CountsFile, on_progress: &mut OnProgress<'_>) -> Result<Words<'static>> {
        Ok(Words::Source(if self.trainer.needs_order() {
            Box::new(OrderedWords::new(counts, on_progress)?)
        } else {
            Box::new(SortedWords::new(counts)?)
        }))
    }
}
