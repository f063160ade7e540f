//! `lexmill.trainers.ParityBpeTrainer`: training a tokenizer.

use std::sync::Arc;

use pyo3::prelude::*;

use super::errors::OrRaise;
use super::progress::{ProgressFormat, Reporter};
use super::threads::threads;
use super::tokenizer::PyTokenizer;
use super::trainers::{ParityTraining, PyParityBpeTrainer};
use super::training_texts::count_corpus;
use crate::corpus::Utf8Errors;
use crate::models::Model;
use crate::models::bpe::BpeOptions;
use crate::structures::freed_memory::give_back;
use crate::tokenizer::WordCounting;
use crate::trainers::bpe::parity::ParityBpeTrainer;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

#[pymethods]
impl PyParityBpeTrainer {
    /// Trains a tokenizer on one iterator of texts for each language. Its model becomes a new `BPE`.
    ///
    /// An error leaves the model as it was.
    ///
    /// Args:
    ///     `tokenizer`: the tokenizer to train; its normalizer and pre-tokenizer cut the texts into words.
    ///     `train_iterators`: for each language an iterator of `str`, of lists of `str` or of Arrow columns, or one such column.
    ///     `dev_iterators`: for each language the texts that compression is measured on; None measures it on the training texts.
    ///     `ratio`: the compression rate to aim at, for each language; None means the trainer's. Dev sets take precedence.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `EmptyCorpusError`: there are no words in the texts of any language.
    ///     `OptionError`: no iterators, another number of dev sets or ratios than of languages, or a `ratio`, `alpha` or
    ///         `window_size` out of range.
    #[pyo3(signature = (
        tokenizer, train_iterators, dev_iterators=None, ratio=None, *, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature, progress and threads")]
    fn train_from_iterator(
        &self,
        py: Python<'_>,
        tokenizer: &Bound<'_, PyTokenizer>,
        train_iterators: Vec<Bound<'_, PyAny>>,
        dev_iterators: Option<Vec<Bound<'_, PyAny>>>,
        ratio: Option<Vec<f64>>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<()> {
        let ParityTraining { trainer, special_tokens, show_progress } = self.get();
        let (threads, ratio) = (threads(num_threads), ratio.or(trainer.ratio.clone()));
        let trainer = ParityBpeTrainer { ratio, threads, ..trainer };
        trainer.check(train_iterators.len(), dev_iterators.as_ref().map(Vec::len)).or_raise(py)?;
        let mut reporter = match on_progress {
            Some(callback) => Reporter::to(callback),
            None if show_progress => Reporter::shown(py, ProgressFormat::Terminal)?,
            None => Reporter::silent(),
        };
        let tokenizer = tokenizer.get();
        let pipeline = Arc::clone(tokenizer.core(py)?.pipeline());
        let mut corpora = Corpora::default();
        let mut count_all = |iterators: &[Bound<'_, PyAny>]| {
            let count = |iterator| {
                let counting = WordCounting::new(Arc::clone(&pipeline), threads);
                let counting = count_corpus(py, iterator, Utf8Errors::Strict, counting, None, &mut reporter)?;
                let counted =
                    py.detach(|| corpora.finish(counting, &mut |progress| reporter.report(progress)));
                reporter.or_raise(py, counted)
            };
            iterators.iter().map(count).collect::<PyResult<Vec<WordCounts>>>()
        };
        let words = count_all(&train_iterators)?;
        let dev = dev_iterators.map(|iterators| count_all(&iterators)).transpose()?;
        let trained = py.detach(|| {
            if words.iter().all(WordCounts::is_empty) {
                return Err(Error::EmptyCorpus { texts: corpora.texts, bytes: corpora.bytes });
            }
            let trained = trainer.train(&words, dev.as_deref(), &mut |progress| reporter.report(progress));
            drop((words, dev));
            give_back();
            let options = BpeOptions {
                continuing_subword_prefix: trainer.continuing_subword_prefix.clone(),
                end_of_word_suffix: trainer.end_of_word_suffix.clone(),
                ..BpeOptions::default()
            };
            trained?.into_model(options).map(Model::Bpe)
        });
        let model = reporter.or_raise(py, trained)?;
        tokenizer.install(model, &special_tokens);
        Ok(())
    }
}

/// Texts and bytes counted so far.
#[derive(Debug, Default)]
struct Corpora {
    texts: u64,
    bytes: u64,
}

impl Corpora {
    /// The words of a corpus; there may be none.
    fn finish(
        &mut self,
        counting: WordCounting,
        on_progress: &mut crate::structures::parallel::OnProgress<'_>,
    ) -> Result<WordCounts> {
        self.texts += counting.texts();
        self.bytes += counting.bytes();
        match counting.finish(on_progress) {
            Err(Error::EmptyCorpus { .. }) => Ok(WordCounts::new()),
            finished => finished,
        }
    }
}
