//! `lexmill.Tokenizer`: training.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyMapping, PyString};

use super::arguments::{FilePath, threads};
use super::arrow::Column;
use super::counts_training::{check_unweighted, options_of_training, train_domains};
use super::errors::{OrRaise, exception};
use super::progress::Reporter;
use super::sources::OpenedFiles;
use super::stage::Stage;
use super::texts::{Texts, has_other_items, kind_of};
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use super::trainers::{PyTrainer, Training, default_trainer};
use super::word_counts::{bytes_of, folder_or_default};
use crate::added_tokens::AddedToken;
use crate::corpus::{BoundedCounting, Utf8Errors};
use crate::counting::runs::{Budget, Stages};
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::structures::parallel::Progress;
use crate::tokenizer::{Components, CountsTraining, SuperwordStages, Tokenizer, WordCounting};
use crate::trainers::bpe::BpeTrainer;
use crate::trainers::{Trainer, Words};

/// Texts are taken from a Python iterator until they make about this many bytes, then counted.
const ITERATOR_BYTES: usize = 16 << 20;

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
    ///     `weights`: of domains, how often each is counted, as `lexmill.merge_counts` takes it.
    ///     `shares`: of domains, the parts of the mixture, as `lexmill.merge_counts` takes it.
    ///     `max_memory`: bytes that counting, and then training, may add to the memory of the process, such as `"8GB"`. Counting
    ///         writes words that do not fit to `folder`. Training that would take more does not start: the error tells how much it
    ///         needs, and which rare words to leave out. The limit does not change the result.
    ///     `folder`: the folder for words that do not fit in memory; by default the system's folder for temporary files.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     None; of domains, the tokens of each by its name, see `lexmill.DomainTokens`.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
    ///     `FormatError`: a file that should be text is of another format, or a record holds no text.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `EmptyCorpusError`: there are no words in the files, or in those of a domain.
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
        let mut reporter = reporter(py, &training, on_progress)?;
        let threads = threads(num_threads);
        if let Some(stages) = tokenizer.superwords(py, &training, max_memory, folder.as_ref())? {
            let core = tokenizer.core(py)?;
            let mut counters = stages.counters(&core, threads).or_raise(py)?;
            let trained = py.detach(|| {
                for counting in counters.countings() {
                    files.count(counting, &mut |progress| reporter.report(progress))?;
                }
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
                Some(bounded) => bounded.learn(&core, &training, &mut reporter),
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
        let mut reporter = reporter(py, &training, on_progress)?;
        let threads = threads(num_threads);
        if let Some(stages) = self.superwords(py, &training, max_memory, folder.as_ref())? {
            let core = self.core(py)?;
            let mut counters = stages.counters(&core, threads).or_raise(py)?;
            for counting in counters.countings() {
                counting.begin_sources(1).or_raise(py)?(0, 0);
            }
            let countings = counters.countings();
            count_corpora(py, iterator, Utf8Errors::Strict, countings, length, &mut reporter)?;
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
            py.detach(|| bounded.learn(&core, &training, &mut reporter))
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
struct BoundedTraining {
    counting: BoundedCounting,
    stages: Stages,
    max_memory: u64,
    threads: usize,
}

impl BoundedTraining {
    /// The model that the trainer makes of the words.
    fn learn(self, core: &Tokenizer, training: &Training, reporter: &mut Reporter) -> crate::Result<Model> {
        let counts = self.counting.finish(&mut |progress| reporter.report(progress))?;
        give_back();
        training.words.store(counts.summary().words as usize, Ordering::Relaxed);
        let job = CountsTraining {
            trainer: &training.trainer,
            max_memory: Some(self.max_memory),
            threads: self.threads,
        };
        let model = core.pipeline().model();
        let trained = job.train(&counts, &self.stages, model, &mut |progress| reporter.report(progress));
        give_back();
        trained
    }
}

impl PyTokenizer {
    /// Counting in `max_memory`, if that is given.
    fn bounded(
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

    /// The two phases of a training with superwords.
    fn superwords<'a>(
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
    fn install_superwords(
        &self,
        model: Model,
        special_tokens: &[AddedToken],
        training: &SuperwordTraining<'_>,
    ) {
        let stage = Stage::new(training.stages.pre_tokenizer().clone());
        self.shared.change(Concerns::Pipeline, |state| state.pre_tokenizer = Some(stage));
        self.install(model, special_tokens);
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

/// Training in two phases.
struct SuperwordTraining<'a> {
    trainer: &'a BpeTrainer,
    stages: SuperwordStages,
    parts: Components,
    budget: Option<Budget>,
}

/// Counters for the words of both phases.
enum SuperwordCounters {
    InMemory([WordCounting; 2]),
    OnDisk([BoundedCounting; 2], Budget),
}

impl SuperwordCounters {
    fn countings(&mut self) -> [&mut WordCounting; 2] {
        match self {
            Self::InMemory(countings) => countings.each_mut(),
            Self::OnDisk(countings, _) => countings.each_mut().map(|counting| &mut counting.counting),
        }
    }
}

impl SuperwordTraining<'_> {
    fn counters(&self, core: &Tokenizer, threads: usize) -> crate::Result<SuperwordCounters> {
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
    fn learn(
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

/// Iterates over texts.
///
/// # Errors
/// `InputTypeError`, with the name of the object, if it cannot be iterated or [`has_other_items`].
fn texts_in<'py>(
    items: &Bound<'py, PyAny>,
    name: impl FnOnce() -> PyResult<String>,
) -> PyResult<Bound<'py, PyIterator>> {
    if !has_other_items(items) {
        match items.try_iter() {
            Err(error) if error.is_instance_of::<PyTypeError>(items.py()) => {}
            iterator => return iterator,
        }
    }
    let message = format!(
        "{} is {} but must be texts: an iterable of str or of lists of str, or a column; of rows of a table pass the texts alone",
        name()?,
        kind_of(items)?
    );
    Err(exception(items.py(), "InputTypeError", message))
}

/// Counts the words of all texts of an iterator.
pub(super) fn count_corpus(
    py: Python<'_>,
    iterator: &Bound<'_, PyAny>,
    errors: Utf8Errors,
    mut counting: WordCounting,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> PyResult<WordCounting> {
    count_corpora(py, iterator, errors, [&mut counting], length, reporter)?;
    Ok(counting)
}

/// Counts the words of all texts of an iterator in several ways.
fn count_corpora<const N: usize>(
    py: Python<'_>,
    iterator: &Bound<'_, PyAny>,
    errors: Utf8Errors,
    mut countings: [&mut WordCounting; N],
    length: Option<usize>,
    reporter: &mut Reporter,
) -> PyResult<()> {
    let count = |texts: &Texts| {
        let counted =
            countings.iter_mut().try_for_each(|counting| count(py, counting, texts, length, reporter));
        reporter.or_raise(py, counted)
    };
    let mut batches = Batches { texts: Texts::new(errors), errors, count };
    batches.push_all(iterator)?;
    batches.count_if(0)
}

pub(super) fn reporter(
    py: Python<'_>,
    training: &Training,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Reporter> {
    match on_progress {
        Some(callback) => Ok(Reporter::to(callback)),
        None if training.show_progress => Reporter::shown(py, training.progress_format),
        None => Ok(Reporter::silent()),
    }
}

/// Texts taken from Python and not counted yet, and the function that counts them.
struct Batches<F> {
    texts: Texts,
    errors: Utf8Errors,
    count: F,
}

impl<F: FnMut(&Texts) -> PyResult<()>> Batches<F> {
    /// Takes all texts of an iterable or of a column.
    fn push_all(&mut self, items: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.push_column(items)? {
            return Ok(());
        }
        for (number, item) in texts_in(items, || Ok("iterator".to_owned()))?.enumerate() {
            let item = item?;
            if item.is_instance_of::<PyString>() {
                self.push(&item)?;
            } else if !self.push_column(&item)? {
                let name = || Ok(format!("item {number} of the iterator"));
                for (inner_number, inner) in texts_in(&item, name)?.enumerate() {
                    let inner = inner?;
                    if !inner.is_instance_of::<PyString>() {
                        let kind = kind_of(&inner)?;
                        let message = format!(
                            "text {inner_number} of item {number} of the iterator is {kind} but must be str"
                        );
                        return Err(exception(items.py(), "InputTypeError", message));
                    }
                    self.push(&inner)?;
                }
            }
        }
        Ok(())
    }

    /// False if the object offers no column.
    fn push_column(&mut self, items: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(mut column) = Column::of_texts(items)? else { return Ok(false) };
        while self.texts.push_next(items.py(), &mut column)? {
            self.count_if(ITERATOR_BYTES)?;
        }
        Ok(true)
    }

    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        self.texts.push_str(item.cast()?)?;
        self.count_if(ITERATOR_BYTES)
    }

    /// Counts the texts that have come together, if these have at least `bytes` bytes.
    fn count_if(&mut self, bytes: usize) -> PyResult<()> {
        if self.texts.bytes() < bytes {
            return Ok(());
        }
        let texts = std::mem::replace(&mut self.texts, Texts::new(self.errors));
        (self.count)(&texts)
    }
}

fn count(
    py: Python<'_>,
    counting: &mut WordCounting,
    texts: &Texts,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> crate::Result<()> {
    py.detach(|| {
        counting.add_texts(texts.as_slice())?;
        let total = length.map_or(0, |length| length as u64);
        reporter.report(Progress { stage: "count words", done: counting.texts(), total })
    })
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
