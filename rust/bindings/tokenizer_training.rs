//! `lexmill.Tokenizer`: training.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::arguments::{threads, utf8_errors};
use super::arrow::Column;
use super::errors::{OrRaise, exception};
use super::progress::Reporter;
use super::sources::TrainingFile;
use super::stage::Stage;
use super::texts::Texts;
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use super::trainers::{PyTrainer, Training, default_trainer};
use crate::added_tokens::AddedToken;
use crate::corpus::Utf8Errors;
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::structures::parallel::Progress;
use crate::tokenizer::{Tokenizer, WordCounting};
use crate::trainers::word_counts::WordCounts;

/// Texts are taken from a Python iterator until they make about this many bytes, then counted.
const ITERATOR_BYTES: usize = 16 << 20;

#[pymethods]
impl PyTokenizer {
    /// Trains the model on files, line by line, or on the texts of sources.
    ///
    /// The trained model takes the place of the one before, once all is read; an error leaves that as it was.
    ///
    /// Args:
    ///     `files`: paths of text files in UTF-8, whose lines are texts, and sources of `lexmill.sources`.
    ///     `trainer`: what learns; by default one for the kind of model, with default options.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `on_progress`: called with the stage, what is done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; what it raises ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or what `RAYON_NUM_THREADS` says.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `EmptyCorpusError`: there are no words in the files.
    ///     `OptionError`: an option of the trainer is out of range.
    #[pyo3(signature = (files, trainer=None, *, errors="strict", on_progress=None, num_threads=None))]
    fn train(
        &self,
        py: Python<'_>,
        files: Vec<TrainingFile>,
        trainer: Option<&Bound<'_, PyAny>>,
        errors: &str,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let training = self.training(py, trainer)?;
        let mut reporter = reporter(py, &training, on_progress)?;
        let (errors, threads) = (utf8_errors(errors)?, threads(num_threads));
        let core = self.core(py)?;
        let trained = py.detach(|| {
            let total = files.iter().map(TrainingFile::bytes).sum();
            let mut counting = WordCounting::new(Arc::clone(core.pipeline()), threads);
            for file in &files {
                file.count(&mut counting, errors, total, &mut |progress| reporter.report(progress))?;
            }
            learn(&core, &training, counting, threads, &mut reporter)
        });
        let model = reporter.or_raise(py, trained)?;
        files.iter().try_for_each(|file| file.warn(py))?;
        self.install(model, &training.special_tokens);
        Ok(())
    }

    /// Trains the model on texts from an iterator of `str`, of lists of `str` or of Arrow columns, or on one such column.
    ///
    /// The trained model takes the place of the one before, once all is read; an error leaves that as it was.
    ///
    /// Args:
    ///     `iterator`: the texts.
    ///     `trainer`: what learns; by default one for the kind of model, with default options.
    ///     `length`: how many texts there are, for progress alone.
    ///     `on_progress`: called with the stage, what is done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; what it raises ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or what `RAYON_NUM_THREADS` says.
    ///
    /// Raises:
    ///     `EmptyCorpusError`: there are no words in the texts.
    ///     `OptionError`: an option of the trainer is out of range.
    #[pyo3(signature = (iterator, trainer=None, length=None, *, on_progress=None, num_threads=None))]
    fn train_from_iterator(
        &self,
        py: Python<'_>,
        iterator: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        length: Option<usize>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let training = self.training(py, trainer)?;
        let mut reporter = reporter(py, &training, on_progress)?;
        let threads = threads(num_threads);
        let core = self.core(py)?;
        let counting = WordCounting::new(Arc::clone(core.pipeline()), threads);
        let counting = count_corpus(py, iterator, counting, length, &mut reporter)?;
        let trained = py.detach(|| learn(&core, &training, counting, threads, &mut reporter));
        let model = reporter.or_raise(py, trained)?;
        self.install(model, &training.special_tokens);
        Ok(())
    }
}

impl PyTokenizer {
    pub(super) fn training(&self, py: Python<'_>, trainer: Option<&Bound<'_, PyAny>>) -> PyResult<Training> {
        let default;
        let trainer = if let Some(trainer) = trainer {
            trainer
        } else {
            default = default_trainer(py, &self.shared.state().model.get())?.into_bound(py);
            &default
        };
        let wrong = |_| PyTypeError::new_err("trainer must be a Trainer");
        let training = trainer.cast::<PyTrainer>().map_err(wrong)?.get().get();
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

/// Counts the words of all texts of an iterator.
pub(super) fn count_corpus(
    py: Python<'_>,
    iterator: &Bound<'_, PyAny>,
    mut counting: WordCounting,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> PyResult<WordCounting> {
    let count = |texts: &Texts| {
        let counted = count(py, &mut counting, texts, length, reporter);
        reporter.or_raise(py, counted)
    };
    let mut batches = Batches { texts: Texts::new(Utf8Errors::Strict), count };
    batches.push_all(iterator)?;
    batches.count_if(0)?;
    Ok(counting)
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

/// Texts taken from Python and not counted yet, and what counts them.
struct Batches<F> {
    texts: Texts,
    count: F,
}

impl<F: FnMut(&Texts) -> PyResult<()>> Batches<F> {
    /// Takes all texts of an iterable or of a column.
    fn push_all(&mut self, items: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.push_column(items)? {
            return Ok(());
        }
        for item in items.try_iter()? {
            let item = item?;
            if item.is_instance_of::<PyString>() {
                self.push(&item)?;
            } else if !self.push_column(&item)? {
                for inner in item.try_iter()? {
                    self.push(&inner?)?;
                }
            }
        }
        Ok(())
    }

    /// False if the object offers no column.
    fn push_column(&mut self, items: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(mut column) = Column::of(items)? else { return Ok(false) };
        while self.texts.push_next(items.py(), &mut column)? {
            self.count_if(ITERATOR_BYTES)?;
        }
        Ok(true)
    }

    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let wrong = |_| exception(item.py(), "InputTypeError", "TextInputSequence must be str".to_owned());
        self.texts.push_str(item.cast().map_err(wrong)?)?;
        self.count_if(ITERATOR_BYTES)
    }

    /// Counts what has come together if it is as many bytes.
    fn count_if(&mut self, bytes: usize) -> PyResult<()> {
        if self.texts.bytes() < bytes {
            return Ok(());
        }
        let texts = std::mem::replace(&mut self.texts, Texts::new(Utf8Errors::Strict));
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
    learn_from_words(core, training, words, threads, reporter)
}

/// The model that the trainer makes of words in the order of their first appearance.
pub(super) fn learn_from_words(
    core: &Tokenizer,
    training: &Training,
    words: WordCounts,
    threads: usize,
    reporter: &mut Reporter,
) -> crate::Result<Model> {
    training.words.store(words.len(), Ordering::Relaxed);
    let model = core.pipeline().model();
    let trained = training.trainer.train(words, model, threads, &mut |progress| reporter.report(progress));
    give_back();
    trained
}
