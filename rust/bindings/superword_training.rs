//! `lexmill.Tokenizer`: training of superwords from words and phrases, which are counted at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

use super::errors::OrRaise;
use super::file_paths::FilePath;
use super::progress::Reporter;
use super::stage::Stage;
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use super::trainers::Training;
use super::word_counts::bytes_of;
use crate::added_tokens::AddedToken;
use crate::corpus::BoundedCounting;
use crate::counting::runs::{Budget, CountsFile, Stages};
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::tokenizer::{
    Components, CountedPipelines, CountedTokens, SuperwordStages, Tokenizer, WordCounting,
};
use crate::trainers::Trainer;
use crate::trainers::bpe::{BpeTrainer, Superwords};

/// Training in two phases.
pub(super) struct SuperwordTraining<'a> {
    trainer: &'a BpeTrainer,
    stages: SuperwordStages,
    parts: Components,
    budget: Option<Budget>,
}

/// Counters of words and phrases.
pub(super) enum SuperwordCounters {
    InMemory(WordCounting),
    OnDisk(BoundedCounting, Budget),
}

impl SuperwordCounters {
    pub(super) fn counting(&mut self) -> &mut WordCounting {
        match self {
            Self::InMemory(counting) => counting,
            Self::OnDisk(bounded, _) => &mut bounded.counting,
        }
    }
}

impl SuperwordTraining<'_> {
    /// The same training within `max_memory` bytes, if that is given.
    pub(super) fn within(self, max_memory: Option<u64>) -> Self {
        let budget = max_memory.map(|memory| Budget {
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            folder: std::env::temp_dir(),
        });
        Self { budget, ..self }
    }

    pub(super) fn counters(&self, core: &Tokenizer, threads: usize) -> crate::Result<SuperwordCounters> {
        let pipelines = self.stages.pipelines(&self.parts, core.pipeline())?;
        let Some(budget) = &self.budget else {
            return Ok(SuperwordCounters::InMemory(WordCounting::new(pipelines, threads)));
        };
        let counting = BoundedCounting::new(pipelines, self.counted_stages()?, threads, budget.clone(), 0)?;
        Ok(SuperwordCounters::OnDisk(counting, budget.clone()))
    }

    /// The stages of words and phrases.
    fn counted_stages(&self) -> crate::Result<Stages> {
        Stages::of(&self.parts)?.with_phrases(self.stages.phrase_pre_tokenizer())
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
        match counters {
            SuperwordCounters::InMemory(counting) => {
                let (trainer, model) = (self.trainer, core.pipeline().model());
                let mut report = |progress| reporter.report(progress);
                let words = counting.finish_both(self.stages.phrase_form(), &mut report)?;
                training.words.store(words[0].len(), Ordering::Relaxed);
                let trained = self.stages.train(trainer, words, model, threads, &mut report);
                give_back();
                trained
            }
            SuperwordCounters::OnDisk(bounded, budget) => {
                let counts = bounded.finish(&mut |progress| reporter.report(progress))?;
                give_back();
                self.learn_from_counts(core, training, counts, threads, &budget, reporter)
            }
        }
    }

    /// The model that both phases make of counts, within `budget`.
    fn learn_from_counts(
        &self,
        core: &Tokenizer,
        training: &Training,
        counts: CountsFile,
        threads: usize,
        budget: &Budget,
        reporter: &mut Reporter,
    ) -> crate::Result<Model> {
        training.words.store(counts.summary().words as usize, Ordering::Relaxed);
        let (stages, model) = (self.counted_stages()?, core.pipeline().model());
        let on_progress = &mut |progress| reporter.report(progress);
        let trained =
            self.stages.train_from_counts(self.trainer, counts, &stages, model, threads, budget, on_progress);
        give_back();
        trained
    }

    /// As [`Self::learn_from_counts`], in the memory of the training; also tells the tokens of each of `domains`.
    pub(super) fn learn_domains(
        &self,
        core: &Tokenizer,
        training: &Training,
        (counts, domains): (&CountsFile, &[CountsFile]),
        threads: usize,
        reporter: &mut Reporter,
    ) -> crate::Result<(Model, Vec<CountedTokens>)> {
        let unlimited = Budget { memory: usize::MAX, folder: std::env::temp_dir() };
        let budget = self.budget.clone().unwrap_or(unlimited);
        let trained = self.learn_from_counts(core, training, counts.clone(), threads, &budget, reporter)?;
        let stages = self.counted_stages()?;
        let tokens = domains.iter().map(|domain| {
            let phrases = self.stages.spelled_phrases(domain, &stages)?;
            CountedTokens::of(&phrases, &trained, threads, &mut |progress| reporter.report(progress))
        });
        let tokens = tokens.collect::<crate::Result<_>>()?;
        Ok((trained, tokens))
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

    /// The pipelines and stages that count words and, for options, the phrases of superwords.
    pub(super) fn counted(
        &self,
        py: Python<'_>,
        options: Option<&Superwords>,
    ) -> PyResult<(CountedPipelines, Stages)> {
        let (parts, core) = (self.shared.parts(), self.core(py)?);
        let stages = Stages::of(&parts).or_raise(py)?;
        let Some(options) = options else { return Ok((Arc::clone(core.pipeline()).into(), stages)) };
        // The sizes of a training do not matter yet.
        let trainer = BpeTrainer { vocab_size: usize::MAX, ..BpeTrainer::default() };
        let superwords =
            SuperwordStages::new(&trainer, options, parts.pre_tokenizer.as_ref()).or_raise(py)?;
        let pipelines = superwords.pipelines(&parts, core.pipeline()).or_raise(py)?;
        Ok((pipelines, stages.with_phrases(superwords.phrase_pre_tokenizer()).or_raise(py)?))
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
