//! `lexmill.Tokenizer`: training of superwords from texts, which are counted for both phases at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

use super::arguments::FilePath;
use super::errors::OrRaise;
use super::progress::Reporter;
use super::stage::Stage;
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use super::trainers::Training;
use super::word_counts::bytes_of;
use crate::added_tokens::AddedToken;
use crate::corpus::BoundedCounting;
use crate::counting::runs::{Budget, Stages};
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::tokenizer::{Components, SuperwordStages, Tokenizer, WordCounting};
use crate::trainers::Trainer;
use crate::trainers::bpe::BpeTrainer;

/// Training in two phases.
pub(super) struct SuperwordTraining<'a> {
    trainer: &'a BpeTrainer,
    stages: SuperwordStages,
    parts: Components,
    budget: Option<Budget>,
}

/// Counters for the words of both phases.
pub(super) enum SuperwordCounters {
    InMemory([WordCounting; 2]),
    OnDisk([BoundedCounting; 2], Budget),
}

impl SuperwordCounters {
    pub(super) fn countings(&mut self) -> [&mut WordCounting; 2] {
        match self {
            Self::InMemory(countings) => countings.each_mut(),
            Self::OnDisk(countings, _) => countings.each_mut().map(|counting| &mut counting.counting),
        }
    }
}

impl SuperwordTraining<'_> {
    pub(super) fn counters(&self, core: &Tokenizer, threads: usize) -> crate::Result<SuperwordCounters> {
        let [first, second] = [Arc::clone(core.pipeline()), self.stages.pipeline(&self.parts)?];
        let Some(budget) = &self.budget else {
            let countings = [first, second].map(|pipeline| WordCounting::new(pipeline, threads));
            return Ok(SuperwordCounters::InMemory(countings));
        };
        let stages = Stages::of(&self.parts)?;
        // Both count at the same time.
        let half = Budget { memory: budget.memory / 2, ..budget.clone() };
        let counting = |pipeline| BoundedCounting::new(pipeline, stages.clone(), threads, half.clone(), 0);
        Ok(SuperwordCounters::OnDisk([counting(first)?, counting(second)?], budget.clone()))
    }

    /// The model that both phases make of the words.
    pub(super) fn learn(
        &self,
        core: &Tokenizer,
        training: &Training,
        counters: SuperwordCounters,
        threads: usize,
        reporter: &mut Reporter,
    ) -> crate::Result<Model> {
        let (trainer, model) = (self.trainer, core.pipeline().model());
        let mut report = |progress| reporter.report(progress);
        let trained = match counters {
            SuperwordCounters::InMemory([first, second]) => {
                let words = [first.finish(&mut report)?, second.finish(&mut report)?];
                training.words.store(words[0].len(), Ordering::Relaxed);
                self.stages.train(trainer, words, model, threads, &mut report)
            }
            SuperwordCounters::OnDisk([first, second], budget) => {
                let counts = [first.finish(&mut report)?, second.finish(&mut report)?];
                give_back();
                training.words.store(counts[0].summary().words as usize, Ordering::Relaxed);
                self.stages.train_bounded(trainer, counts, model, threads, &budget, &mut report)
            }
        };
        give_back();
        trained
    }
}

impl PyTokenizer {
    /// The two phases of a training with superwords.
    pub(super) fn superwords<'a>(
        &self,
        py: Python<'_>,
        training: &'a Training,
        max_memory: Option<&Bound<'_, PyAny>>,
        folder: Option<&FilePath>,
    ) -> PyResult<Option<SuperwordTraining<'a>>> {
        let Trainer::Bpe(trainer) = &training.trainer else { return Ok(None) };
        let Some(options) = &trainer.superwords else { return Ok(None) };
        let max_memory = max_memory.map(|size| bytes_of(py, size)).transpose()?;
        let budget = max_memory.map(|memory| Budget {
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            folder: folder.map_or_else(std::env::temp_dir, |folder| folder.to_path_buf()),
        });
        let parts = self.shared.parts();
        let stages = SuperwordStages::new(trainer, options, parts.pre_tokenizer.as_ref()).or_raise(py)?;
        Ok(Some(SuperwordTraining { trainer, stages, parts, budget }))
    }

    /// As [`Self::install`], with the pre-tokenizer of the second phase.
    pub(super) fn install_superwords(
        &self,
        model: Model,
        special_tokens: &[AddedToken],
        training: &SuperwordTraining<'_>,
    ) {
        let stage = Stage::new(training.stages.pre_tokenizer().clone());
        self.shared.change(Concerns::Pipeline, |state| state.pre_tokenizer = Some(stage));
        self.install(model, special_tokens);
    }
}
