//! `lexmill.Tokenizer`: continued training.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

use super::arguments::threads;
use super::errors::{OrRaise, exception};
use super::models::{PyModel, wrap};
use super::progress::Reporter;
use super::properties::unsigned;
use super::sources::OpenedFiles;
use super::stage::Stage;
use super::tokenizer::PyTokenizer;
use super::tokenizer_training::reporter;
use super::trainers::{PyTrainer, Training};
use super::training_texts::count_corpus;
use super::word_counts::{PyWordCounts, bytes_of};
use crate::corpus::Utf8Errors;
use crate::counting::runs::Stages;
use crate::models::Model;
use crate::structures::freed_memory::give_back;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{CountsTraining, Tokenizer, WordCounting};
use crate::trainers::Words;
use crate::trainers::word_counts::WordCounts;

#[pymethods]
impl PyTokenizer {
    /// Trains the model further: all tokens keep their ids, and new tokens follow after the largest id.
    ///
    /// The model first cuts the words of the files, so new tokens are made of its own. A `BPE` keeps its merges, a `Unigram` the scores
    /// of its pieces, and text that contains no new token is encoded as before. Prefix, suffix and unknown token are the model's. Added
    /// tokens after the model's vocabulary become tokens of the model. An error leaves the model as it was.
    ///
    /// Args:
    ///     `files`: as `train` takes them.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model. Its special tokens get the first new ids,
    ///         unless they are tokens already.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's. The present number changes nothing.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read, or a folder or pattern has no files.
    ///     `FormatError`: a file that should be text is of another format, or a record holds no text.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `EmptyCorpusError`: there are no words in the files.
    ///     `OptionError`: there is no `vocab_size`, or it is too small for the present tokens, new special tokens and new characters; or an
    ///         option of the trainer is out of range; or the model cannot be continued.
    #[pyo3(signature = (
        files, trainer=None, *, vocab_size=None, errors="strict", on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training(
        &self,
        py: Python<'_>,
        files: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<i64>,
        errors: &str,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let files = OpenedFiles::of(files, errors)?;
        let continuation = self.continuation(py, trainer, vocab_size, num_threads)?;
        files.warn_of_repeated(py)?;
        let mut reporter = reporter(py, &continuation.training, on_progress)?;
        let core = self.core(py)?;
        let mut counting = WordCounting::new(Arc::clone(core.pipeline()), continuation.threads);
        let continued = py.detach(|| {
            files.count(&mut counting, &mut |progress| reporter.report(progress))?;
            continuation.learn(&core, counting, &mut reporter)
        });
        let model = reporter.or_raise(py, continued)?;
        files.warn(py)?;
        self.install(model, &continuation.training.special_tokens);
        Ok(())
    }

    /// Trains the model further, as `continue_training` does, on texts from an iterator.
    ///
    /// Args:
    ///     `iterator`: the texts, as `train_from_iterator` takes them.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model.
    ///     `length`: how many texts there are, for progress alone.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `EmptyCorpusError`: there are no words in the texts.
    ///     `OptionError`: as of `continue_training`.
    #[pyo3(signature = (
        iterator, trainer=None, length=None, *, vocab_size=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training_from_iterator(
        &self,
        py: Python<'_>,
        iterator: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        length: Option<usize>,
        vocab_size: Option<i64>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let continuation = self.continuation(py, trainer, vocab_size, num_threads)?;
        let mut reporter = reporter(py, &continuation.training, on_progress)?;
        let core = self.core(py)?;
        let counting = WordCounting::new(Arc::clone(core.pipeline()), continuation.threads);
        let counting = count_corpus(py, iterator, Utf8Errors::Strict, counting, length, &mut reporter)?;
        let continued = py.detach(|| continuation.learn(&core, counting, &mut reporter));
        let model = reporter.or_raise(py, continued)?;
        self.install(model, &continuation.training.special_tokens);
        Ok(())
    }

    /// Trains the model further, as `continue_training` does, on word counts.
    ///
    /// Args:
    ///     `counts`: counts of the words that this tokenizer's normalizer, pre-tokenizer and added tokens make of texts.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's.
    ///     `max_memory`: bytes that training may add to the memory of the process, such as `"8GB"`; if it would take more by
    ///         `counts.training_memory(trainer)`, it does not start.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `EmptyCorpusError`: there are no words.
    ///     `FormatError`: the counts are damaged.
    ///     `OptionError`: the counts were made by other stages, or training would take more than `max_memory`; and as of
    ///         `continue_training`.
    #[pyo3(signature = (
        counts, trainer=None, *, vocab_size=None, max_memory=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training_from_counts(
        &self,
        py: Python<'_>,
        counts: &PyWordCounts,
        trainer: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<i64>,
        max_memory: Option<&Bound<'_, PyAny>>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let continuation = self.continuation(py, trainer, vocab_size, num_threads)?;
        let Continuation { training, added, threads } = &continuation;
        let mut reporter = reporter(py, training, on_progress)?;
        let stages = Stages::of(&self.shared.parts()).or_raise(py)?;
        let job = CountsTraining {
            trainer: &training.trainer,
            max_memory: max_memory.map(|size| bytes_of(py, size)).transpose()?,
            threads: *threads,
        };
        let core = self.core(py)?;
        let continued = py.detach(|| {
            training.words.store(counts.counts.summary().words as usize, Ordering::Relaxed);
            let model = core.pipeline().model();
            let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
            let continued = job.continue_training(&counts.counts, &stages, model, added, on_progress);
            give_back();
            continued
        });
        let model = reporter.or_raise(py, continued)?;
        self.install(model, &training.special_tokens);
        Ok(())
    }
}

/// Learns further tokens for `model` from counted words, and returns the model with them; `added` are added tokens with their ids.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (model, words, trainer, *, added=None, num_threads=None))]
pub(in crate::bindings) fn continue_training_words(
    py: Python<'_>,
    model: &Bound<'_, PyModel>,
    words: Vec<(String, u64)>,
    trainer: &Bound<'_, PyTrainer>,
    added: Option<Vec<(String, u32)>>,
    num_threads: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let added = added.unwrap_or_default();
    let (model, trainer) = (model.get().stage.get(), trainer.get().get().trainer);
    let words: WordCounts = words.into_iter().collect();
    let mut reporter = Reporter::silent();
    let continued = py.detach(|| {
        let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
        trainer.continue_training(Words::Table(words), &model, &added, threads(num_threads), on_progress)
    });
    let model = reporter.or_raise(py, continued)?;
    wrap(py, Stage::new(Arc::new(model)))
}

/// How the training of a tokenizer is continued.
struct Continuation {
    training: Training,
    /// The added tokens with their ids.
    added: Vec<(String, u32)>,
    threads: usize,
}

impl Continuation {
    /// The model with the tokens that the trainer makes of the words.
    fn learn(
        &self,
        core: &Tokenizer,
        counting: WordCounting,
        reporter: &mut Reporter,
    ) -> crate::Result<Model> {
        let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
        let words = counting.finish(on_progress)?;
        self.training.words.store(words.len(), Ordering::Relaxed);
        let (trainer, model) = (&self.training.trainer, core.pipeline().model());
        let continued =
            trainer.continue_training(Words::Table(words), model, &self.added, self.threads, on_progress);
        give_back();
        continued
    }
}

impl PyTokenizer {
    fn continuation(
        &self,
        py: Python<'_>,
        trainer: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<i64>,
        num_threads: Option<usize>,
    ) -> PyResult<Continuation> {
        if trainer.is_none() && vocab_size.is_none() {
            let message = "vocab_size is None but must be a number of tokens if there is no trainer";
            return Err(exception(py, "OptionError", message.to_owned()));
        }
        let mut training = self.training(py, trainer)?;
        if let Some(vocab_size) = vocab_size {
            training.trainer.set_vocab_size(unsigned(py, "vocab_size", vocab_size)?);
        }
        let state = self.shared.state();
        let added = state.added.sorted().into_iter().map(|(id, token)| (token.content.clone(), id)).collect();
        Ok(Continuation { training, added, threads: threads(num_threads) })
    }
}
