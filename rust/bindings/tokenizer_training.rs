//! `lexmill.Tokenizer`: training.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use super::counts_training::{check_unweighted, options_of_training, train_domains};
use super::errors::OrRaise;
use super::file_paths::FilePath;
use super::progress::Reporter;
use super::sources::OpenedFiles;
use super::stage::Stage;
use super::threads::threads;
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use super::trainers::{PyTrainer, Training, default_trainer};
use super::training_texts::{count_corpus, count_into};
use super::word_counts::{bytes_of, folder_or_default};
use crate::added_tokens::AddedToken;
use crate::corpus::{BoundedCounting, Utf8Errors};
use crate::counting::runs::{Budget, CountsFile, Stages};
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{CountsTraining, Tokenizer, WordCounting};
use crate::trainers::Words;

#[pymethods]
impl PyTokenizer {
    /// Trains the model on files, line by line, or on the texts of sources.
    ///
    /// The trained model takes the place of the old one, once all is read; an error leaves the old model as it was.
    ///
    /// Args:
    ///     `files`: paths of text files in UTF-8, whose lines are texts, plain or compressed; paths whose names say that the files
    ///         hold records, such as `.jsonl` or `.parquet`, with texts in the field or column `text`; folders and patterns; and
    ///         sources of `lexmill.sources`. Or a dictionary of such files by the names of domains.
    ///     `trainer`: the trainer; by default one for the kind of model, with default options.
    ///     `weights`: how often each domain is counted, as `lexmill.merge_counts` takes it.
    ///     `shares`: the share of each domain in the mixture, as `lexmill.merge_counts` takes it.
    ///     `max_memory`: bytes that counting, and then training, may add to the memory of the process, such as `"8GB"`. Counting writes words that do
    ///         not fit to `folder`. Training that would take more does not start: the error tells how much it needs, and how far to
    ///         trim the counts if that is enough. The limit does not change the result.
    ///     `folder`: the folder for words that do not fit in memory; by default the system's folder for temporary files.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     None; for domains, the tokens of each domain by name, see `lexmill.DomainTokens`.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
    ///     `FormatError`: a file that should be text is of another format, or a record holds no text.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `EmptyCorpusError`: there are no words in the files, or in the files of a domain.
    ///     `OptionError`: an option of the trainer is out of range, or `max_memory` is less than is needed, or weights are wrong.
    #[pyo3(signature = (
        files, trainer=None, *, weights=None, shares=None, max_memory=None, folder=None, errors="strict", on_progress=None,
        num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn train<'py>(
        this: &Bound<'py, Self>,
        files: &Bound<'py, PyAny>,
        trainer: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        shares: Option<&Bound<'py, PyAny>>,
        max_memory: Option<&Bound<'py, PyAny>>,
        folder: Option<FilePath>,
        errors: &str,
        on_progress: Option<&Bound<'py, PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, tokenizer) = (this.py(), this.get());
        if files.cast::<PyMapping>().is_ok() {
            tokenizer.training(py, trainer)?;
            let options = options_of_training(py, weights, shares, max_memory, on_progress, num_threads)?;
            options.set_item("folder", folder.map(PathBuf::from))?;
            options.set_item("errors", errors)?;
            return train_domains(this, "train", files, trainer, &options).map(Some);
        }
        check_unweighted(py, weights, shares)?;
        let files = OpenedFiles::of(files, errors)?;
        let training = tokenizer.training(py, trainer)?;
        files.warn_of_repeated(py)?;
        let on_progress = on_progress.map(|callback| callback.clone().unbind());
        let mut reporter = training.reporter(py, on_progress)?;
        let threads = threads(num_threads);
        if let Some(stages) = tokenizer.superwords(py, &training, max_memory, folder.as_ref())? {
            let core = tokenizer.core(py)?;
            let mut counters = stages.counters(&core, threads).or_raise(py)?;
            let trained = py.detach(|| {
                files.count(counters.counting(), &mut |progress| reporter.report(progress))?;
                stages.learn(&core, &training, counters, threads, &mut reporter)
            });
            let model = reporter.or_raise(py, trained)?;
            files.warn(py)?;
            tokenizer.install_superwords(model, &training.special_tokens, &stages);
            return Ok(None);
        }
        let mut bounded = tokenizer.bounded(py, &training, max_memory, folder, threads)?;
        let core = tokenizer.core(py)?;
        let mut unbounded = WordCounting::new(Arc::clone(core.pipeline()), threads);
        let trained = py.detach(|| {
            let counting = bounded.as_mut().map_or(&mut unbounded, |bounded| &mut bounded.counting.counting);
            files.count(counting, &mut |progress| reporter.report(progress))?;
            match bounded {
                Some(bounded) => bounded.train(&core, &training, &mut reporter),
                None => learn(&core, &training, unbounded, threads, &mut reporter),
            }
        });
        let model = reporter.or_raise(py, trained)?;
        files.warn(py)?;
        tokenizer.install(model, &training.special_tokens);
        Ok(None)
    }

    /// Trains the model on texts from an iterator of `str`, of lists of `str` or of Arrow columns, or on one such column.
    ///
    /// The trained model takes the place of the old one, once all is read; an error leaves the old model as it was.
    ///
    /// Args:
    ///     `iterator`: the texts.
    ///     `trainer`: the trainer; by default one for the kind of model, with default options.
    ///     `length`: how many texts there are, for progress alone.
    ///     `max_memory`: bytes that counting, and then training, may add to the memory of the process, such as `"8GB"`; as
    ///         `train` takes it.
    ///     `folder`: the folder for words that do not fit in memory; by default the system's folder for temporary files.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `FileError`: the folder cannot be written to.
    ///     `EmptyCorpusError`: there are no words in the texts.
    ///     `OptionError`: an option of the trainer is out of range, or `max_memory` is less than is needed.
    #[pyo3(signature = (
        iterator, trainer=None, length=None, *, max_memory=None, folder=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn train_from_iterator(
        &self,
        py: Python<'_>,
        iterator: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        length: Option<usize>,
        max_memory: Option<&Bound<'_, PyAny>>,
        folder: Option<FilePath>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let training = self.training(py, trainer)?;
        let mut reporter = training.reporter(py, on_progress)?;
        let threads = threads(num_threads);
        if let Some(stages) = self.superwords(py, &training, max_memory, folder.as_ref())? {
            let core = self.core(py)?;
            let mut counters = stages.counters(&core, threads).or_raise(py)?;
            counters.counting().begin_sources(1).or_raise(py)?(0, 0);
            count_into(py, iterator, Utf8Errors::Strict, counters.counting(), length, &mut reporter)?;
            let trained = py.detach(|| stages.learn(&core, &training, counters, threads, &mut reporter));
            let model = reporter.or_raise(py, trained)?;
            self.install_superwords(model, &training.special_tokens, &stages);
            return Ok(());
        }
        let bounded = self.bounded(py, &training, max_memory, folder, threads)?;
        let core = self.core(py)?;
        let trained = if let Some(mut bounded) = bounded {
            bounded.counting.counting.begin_sources(1).or_raise(py)?(0, 0);
            let counting = bounded.counting.counting;
            bounded.counting.counting =
                count_corpus(py, iterator, Utf8Errors::Strict, counting, length, &mut reporter)?;
            py.detach(|| bounded.train(&core, &training, &mut reporter))
        } else {
            let counting = WordCounting::new(Arc::clone(core.pipeline()), threads);
            let counting = count_corpus(py, iterator, Utf8Errors::Strict, counting, length, &mut reporter)?;
            py.detach(|| learn(&core, &training, counting, threads, &mut reporter))
        };
        let model = reporter.or_raise(py, trained)?;
        self.install(model, &training.special_tokens);
        Ok(())
    }
}

/// Counting in bounded memory, and the stages and the limit for the training that follows.
pub(super) struct BoundedTraining {
    pub(super) counting: BoundedCounting,
    stages: Stages,
    max_memory: u64,
    threads: usize,
}

impl BoundedTraining {
    /// The model that the trainer makes of the words.
    fn train(self, core: &Tokenizer, training: &Training, reporter: &mut Reporter) -> crate::Result<Model> {
        self.learn(training, reporter, |job, counts, stages, on_progress| {
            job.train(counts, stages, core.pipeline().model(), on_progress)
        })
    }

    /// Ends counting, and gives the counts to `learn`.
    pub(super) fn learn<T>(
        self,
        training: &Training,
        reporter: &mut Reporter,
        learn: impl FnOnce(&CountsTraining<'_>, &CountsFile, &Stages, &mut OnProgress<'_>) -> crate::Result<T>,
    ) -> crate::Result<T> {
        let counts = self.counting.finish(&mut |progress| reporter.report(progress))?;
        give_back();
        training.words.store(counts.summary().words as usize, Ordering::Relaxed);
        let job = CountsTraining {
            trainer: &training.trainer,
            max_memory: Some(self.max_memory),
            threads: self.threads,
        };
        let learnt = learn(&job, &counts, &self.stages, &mut |progress| reporter.report(progress));
        give_back();
        learnt
    }
}

impl PyTokenizer {
    /// Counting in `max_memory`, if that is given.
    pub(super) fn bounded(
        &self,
        py: Python<'_>,
        training: &Training,
        max_memory: Option<&Bound<'_, PyAny>>,
        folder: Option<FilePath>,
        threads: usize,
    ) -> PyResult<Option<BoundedTraining>> {
        let Some(max_memory) = max_memory.map(|size| bytes_of(py, size)).transpose()? else {
            return Ok(None);
        };
        let memory = usize::try_from(max_memory).unwrap_or(usize::MAX);
        let budget = Budget { memory, folder: folder_or_default(folder) };
        let stages = Stages::of(&self.shared.parts()).or_raise(py)?;
        let pipeline = Arc::clone(self.core(py)?.pipeline());
        training.trainer.check_model(pipeline.model()).or_raise(py)?;
        let counting = BoundedCounting::new(pipeline, stages.clone(), threads, budget, 0).or_raise(py)?;
        Ok(Some(BoundedTraining { counting, stages, max_memory, threads }))
    }

    pub(super) fn training(&self, py: Python<'_>, trainer: Option<&Bound<'_, PyAny>>) -> PyResult<Training> {
        let default;
        let trainer = if let Some(trainer) = trainer {
            trainer
        } else {
            default = default_trainer(py, &self.shared.state().model.get())?.into_bound(py);
            &default
        };
        let wrong = |_| PyTypeError::new_err("trainer must be a Trainer");
        let mut training = trainer.cast::<PyTrainer>().map_err(wrong)?.get().get();
        training.trainer.set_byte_level(self.shared.parts().spell_bytes());
        training.trainer.check_model(&self.shared.state().model.get()).or_raise(py)?;
        Ok(training)
    }

    /// Puts a trained model in place, for all who share the model if it is of the same kind, and adds the trainer's special
    /// tokens.
    pub(super) fn install(&self, model: Model, special_tokens: &[AddedToken]) {
        let stage = Arc::clone(&self.shared.state().model);
        if stage.get().kind() == model.kind() {
            stage.set(Arc::new(model));
        } else {
            let stage = Stage::new(Arc::new(model));
            self.shared.change(Concerns::Pipeline, |state| state.model = stage);
        }
        self.add(special_tokens);
    }
}

fn learn(
    core: &Tokenizer,
    training: &Training,
    counting: WordCounting,
    threads: usize,
    reporter: &mut Reporter,
) -> crate::Result<Model> {
    let words = counting.finish(&mut |progress| reporter.report(progress))?;
    training.words.store(words.len(), Ordering::Relaxed);
    let model = core.pipeline().model();
    let trained = training
        .trainer
        .train(Words::Table(words), model, threads, &mut |progress| reporter.report(progress));
    give_back();
    trained
}
