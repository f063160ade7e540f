//! `lexmill.Tokenizer`: continued training.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::errors::{OrRaise, exception};
use super::file_paths::FilePath;
use super::models::{PyModel, wrap};
use super::progress::Reporter;
use super::properties::unsigned;
use super::sources::OpenedFiles;
use super::stage::Stage;
use super::threads::threads;
use super::tokenizer::PyTokenizer;
use super::tokenizer_training::BoundedTraining;
use super::trainers::{PyTrainer, Training};
use super::training_texts::count_corpus;
use super::word_counts::{PyWordCounts, bytes_of};
use crate::corpus::Utf8Errors;
use crate::counting::runs::Stages;
use crate::structures::freed_memory::give_back;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{CountsTraining, Tokenizer, WordCounting};
use crate::trainers::continued::{Continued, PresentTokens, Replacement};
use crate::trainers::word_counts::WordCounts;
use crate::trainers::{Trainer, Words};

/// The tokens that were replaced, by id.
type Replaced = BTreeMap<u32, String>;

#[pymethods]
impl PyTokenizer {
    /// Trains the model further: tokens keep their ids, and new tokens follow after the largest id or replace unused tokens.
    ///
    /// The model first cuts the words of the files, so new tokens are made of its own. A `BPE` keeps its merges, a `Unigram` the scores
    /// of its pieces, and text that contains no new token is encoded as before. Prefix, suffix and unknown token are the model's. Added
    /// tokens after the model's vocabulary become tokens of the model. An error leaves the model as it was.
    ///
    /// Args:
    ///     `files`: as `train` takes them.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model. Its special tokens get the first new ids,
    ///         unless they are tokens already.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's. The present number changes nothing, unless tokens
    ///         are replaced.
    ///     `replace`: `"unused"` to give new tokens first the ids of tokens that the files do not use; a number limits how many tokens are replaced.
    ///         Never replaced are characters, bytes, added tokens, and tokens from which used tokens are merged. By default no token is replaced.
    ///     `max_words`: the most words of a new token, for a `BPE` with superwords.
    ///     `max_memory`: bytes that counting, and then training, may add to the memory of the process, as `train` takes it.
    ///     `folder`: the folder for words that do not fit in memory; by default the system's folder for temporary files.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     The replaced tokens by id, in ascending order: rows of an embedding whose meaning changes.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
    ///     `FormatError`: a file that should be text is of another format, or a record holds no text.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `EmptyCorpusError`: there are no words in the files.
    ///     `OptionError`: there is no `vocab_size`, or it is too small for the present tokens, new special tokens and new characters; or an
    ///         option of the trainer is out of range, or `max_memory` is less than is needed; or the model cannot be continued.
    #[pyo3(signature = (
        files, trainer=None, *, vocab_size=None, replace=None, max_words=None, max_memory=None, folder=None, errors="strict", on_progress=None,
        num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training(
        &self,
        py: Python<'_>,
        files: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<i64>,
        replace: Option<&Bound<'_, PyAny>>,
        max_words: Option<i64>,
        max_memory: Option<&Bound<'_, PyAny>>,
        folder: Option<FilePath>,
        errors: &str,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Replaced> {
        let files = OpenedFiles::of(files, errors)?;
        let continuation = self.continuation(py, trainer, [vocab_size, max_words], replace, num_threads)?;
        let Continuation { training, core, threads, .. } = &continuation;
        files.warn_of_repeated(py)?;
        let mut reporter = training.reporter(py, on_progress)?;
        let mut bounded = self.bounded(py, training, max_memory, folder, *threads)?;
        let mut unbounded = WordCounting::new(Arc::clone(core.pipeline()), *threads);
        let continued = py.detach(|| {
            let counting = bounded.as_mut().map_or(&mut unbounded, |bounded| &mut bounded.counting.counting);
            files.count(counting, &mut |progress| reporter.report(progress))?;
            continuation.learn(bounded, unbounded, &mut reporter)
        });
        let continued = reporter.or_raise(py, continued)?;
        files.warn(py)?;
        Ok(self.install_continued(continued, training))
    }

    /// Trains the model further, as `continue_training` does, on texts from an iterator.
    ///
    /// Args:
    ///     `iterator`: the texts, as `train_from_iterator` takes them.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model.
    ///     `length`: how many texts there are, for progress alone.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's.
    ///     `replace`: `"unused"` or a number, as `continue_training` takes it.
    ///     `max_words`: the most words of a new token.
    ///     `max_memory`: bytes that counting, and then training, may add to the memory of the process, as `train` takes it.
    ///     `folder`: the folder for words that do not fit in memory; by default the system's folder for temporary files.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     The replaced tokens by id, in ascending order.
    ///
    /// Raises:
    ///     `FileError`: the folder cannot be written to.
    ///     `EmptyCorpusError`: there are no words in the texts.
    ///     `OptionError`: as for `continue_training`.
    #[pyo3(signature = (
        iterator, trainer=None, length=None, *, vocab_size=None, replace=None, max_words=None, max_memory=None, folder=None, on_progress=None,
        num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training_from_iterator(
        &self,
        py: Python<'_>,
        iterator: &Bound<'_, PyAny>,
        trainer: Option<&Bound<'_, PyAny>>,
        length: Option<usize>,
        vocab_size: Option<i64>,
        replace: Option<&Bound<'_, PyAny>>,
        max_words: Option<i64>,
        max_memory: Option<&Bound<'_, PyAny>>,
        folder: Option<FilePath>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Replaced> {
        let continuation = self.continuation(py, trainer, [vocab_size, max_words], replace, num_threads)?;
        let Continuation { training, core, threads, .. } = &continuation;
        let mut reporter = training.reporter(py, on_progress)?;
        let mut bounded = self.bounded(py, training, max_memory, folder, *threads)?;
        let mut counting = WordCounting::new(Arc::clone(core.pipeline()), *threads);
        if let Some(bounded) = &mut bounded {
            std::mem::swap(&mut counting, &mut bounded.counting.counting);
            counting.begin_sources(1).or_raise(py)?(0, 0);
        }
        counting = count_corpus(py, iterator, Utf8Errors::Strict, counting, length, &mut reporter)?;
        if let Some(bounded) = &mut bounded {
            std::mem::swap(&mut counting, &mut bounded.counting.counting);
        }
        let continued = py.detach(|| continuation.learn(bounded, counting, &mut reporter));
        let continued = reporter.or_raise(py, continued)?;
        Ok(self.install_continued(continued, training))
    }

    /// Trains the model further, as `continue_training` does, on word counts.
    ///
    /// Args:
    ///     `counts`: counts of the words that this tokenizer's normalizer, pre-tokenizer and added tokens make of texts.
    ///     `trainer`: the trainer, with its options; by default one for the kind of model.
    ///     `vocab_size`: tokens in all, added tokens included; by default the trainer's.
    ///     `replace`: `"unused"` or a number, as `continue_training` takes it.
    ///     `max_words`: the most words of a new token.
    ///     `max_memory`: bytes that training may add to the memory of the process, such as `"8GB"`; if it would take more by
    ///         `counts.training_memory(trainer)`, it does not start.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     The replaced tokens by id, in ascending order.
    ///
    /// Raises:
    ///     `EmptyCorpusError`: there are no words.
    ///     `FormatError`: the counts are damaged.
    ///     `OptionError`: the counts were made by other stages, or training would take more than `max_memory`; and as for `continue_training`.
    #[pyo3(signature = (
        counts, trainer=None, *, vocab_size=None, replace=None, max_words=None, max_memory=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn continue_training_from_counts(
        &self,
        py: Python<'_>,
        counts: &PyWordCounts,
        trainer: Option<&Bound<'_, PyAny>>,
        vocab_size: Option<i64>,
        replace: Option<&Bound<'_, PyAny>>,
        max_words: Option<i64>,
        max_memory: Option<&Bound<'_, PyAny>>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Replaced> {
        let continuation = self.continuation(py, trainer, [vocab_size, max_words], replace, num_threads)?;
        let Continuation { training, core, present, threads } = &continuation;
        let mut reporter = training.reporter(py, on_progress)?;
        let stages = Stages::of(&self.shared.parts()).or_raise(py)?;
        let job = CountsTraining {
            trainer: &training.trainer,
            max_memory: max_memory.map(|size| bytes_of(py, size)).transpose()?,
            threads: *threads,
        };
        let continued = py.detach(|| {
            training.words.store(counts.counts.summary().words as usize, Ordering::Relaxed);
            let model = core.pipeline().model();
            let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
            let continued = job.continue_training(&counts.counts, &stages, model, present, on_progress);
            give_back();
            continued
        });
        let continued = reporter.or_raise(py, continued)?;
        Ok(self.install_continued(continued, training))
    }
}

/// Learns further tokens for `model` from counted words, and returns the model with them, and the replaced tokens by id; `added` are added
/// tokens with their ids.
///
/// The words are taken as they are, first seen first.
#[pyfunction]
#[pyo3(signature = (model, words, trainer, *, added=None, replace=None, num_threads=None))]
pub(in crate::bindings) fn continue_training_words(
    py: Python<'_>,
    model: &Bound<'_, PyModel>,
    words: Vec<(String, u64)>,
    trainer: &Bound<'_, PyTrainer>,
    added: Option<Vec<(String, u32)>>,
    replace: Option<usize>,
    num_threads: Option<usize>,
) -> PyResult<(Py<PyAny>, Replaced)> {
    let (model, trainer) = (model.get().stage.get(), trainer.get().get().trainer);
    let present = PresentTokens::new(model.vocab(), &added.unwrap_or_default()).or_raise(py)?;
    let present = present.replaced_by(replace.map(|most| Replacement { most, named: HashSet::new() }));
    let words: WordCounts = words.into_iter().collect();
    let mut reporter = Reporter::silent();
    let continued = py.detach(|| {
        let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
        trainer.continue_training(Words::Table(words), &model, &present, threads(num_threads), on_progress)
    });
    let Continued { model, replaced } = reporter.or_raise(py, continued)?;
    Ok((wrap(py, Stage::new(Arc::new(model)))?, replaced.into_iter().collect()))
}

/// How the training of a tokenizer is continued.
struct Continuation {
    training: Training,
    core: Arc<Tokenizer>,
    present: PresentTokens,
    threads: usize,
}

impl Continuation {
    /// The model with the tokens that the trainer makes of the words, which were counted in bounded memory or not.
    fn learn(
        &self,
        bounded: Option<BoundedTraining>,
        unbounded: WordCounting,
        reporter: &mut Reporter,
    ) -> crate::Result<Continued> {
        let Self { training, core, present, threads } = self;
        let model = core.pipeline().model();
        if let Some(bounded) = bounded {
            return bounded.learn(training, reporter, |job, counts, stages, on_progress| {
                job.continue_training(counts, stages, model, present, on_progress)
            });
        }
        let on_progress: &mut OnProgress<'_> = &mut |progress| reporter.report(progress);
        let words = unbounded.finish(on_progress)?;
        training.words.store(words.len(), Ordering::Relaxed);
        let continued =
            training.trainer.continue_training(Words::Table(words), model, present, *threads, on_progress);
        give_back();
        continued
    }
}

/// How many tokens may be replaced, if any.
fn most_replaced(py: Python<'_>, replace: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let Some(given) = replace else { return Ok(None) };
    if given.cast::<PyString>().is_ok_and(|name| name == "unused") {
        return Ok(Some(usize::MAX));
    }
    if given.cast::<PyBool>().is_err()
        && let Ok(most) = given.extract::<i64>()
    {
        return unsigned(py, "replace", most).map(Some);
    }
    let message = format!("replace is {} but must be \"unused\" or a number of tokens", given.repr()?);
    Err(exception(py, "OptionError", message))
}

impl PyTokenizer {
    fn continuation(
        &self,
        py: Python<'_>,
        trainer: Option<&Bound<'_, PyAny>>,
        [vocab_size, max_words]: [Option<i64>; 2],
        replace: Option<&Bound<'_, PyAny>>,
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
        if let Some(max_words) = max_words {
            let Trainer::Bpe(trainer) = &mut training.trainer else {
                let message = format!(
                    "max_words is {max_words} but must be None, since only a BPE may learn tokens of several words"
                );
                return Err(exception(py, "OptionError", message));
            };
            trainer.max_words = Some(unsigned(py, "max_words", max_words)?);
        }
        let most = most_replaced(py, replace)?;
        let (core, parts) = (self.core(py)?, self.shared.parts());
        let vocab = core.pipeline().model().vocab();
        let added: Vec<(String, u32)> =
            parts.added.sorted().into_iter().map(|(id, token)| (token.content.clone(), id)).collect();
        let replacement = most.map(|most| Replacement { most, named: parts.named_ids() });
        let present = PresentTokens::new(vocab, &added).or_raise(py)?.replaced_by(replacement);
        Ok(Continuation { training, core, present, threads: threads(num_threads) })
    }

    fn install_continued(&self, continued: Continued, training: &Training) -> Replaced {
        self.install(continued.model, &training.special_tokens);
        continued.replaced.into_iter().collect()
    }
}
