//! `lexmill.Tokenizer`: training from word counts, also of several domains.

use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use super::errors::{OrRaise, exception};
use super::threads::threads;
use super::tokenizer::PyTokenizer;
use super::word_counts::{PyWordCounts, bytes_of};
use crate::counting::runs::{CountsFile, Stages};
use crate::structures::freed_memory::give_back;
use crate::tokenizer::{CountedTokens, CountsTraining};

#[pymethods]
impl PyTokenizer {
    /// Trains the model on word counts, with the same result as from the texts.
    ///
    /// The trained model takes the place of the old one; an error leaves the old model as it was.
    ///
    /// Args:
    ///     `counts`: counts of the words that this tokenizer's normalizer, pre-tokenizer and added tokens make of texts; or a
    ///         dictionary of such counts, or of their files, by the names of domains.
    ///     `trainer`: the trainer; by default one for the kind of model, with default options.
    ///     `weights`: how often each domain is counted, as `lexmill.merge_counts` takes it.
    ///     `shares`: the share of each domain in the mixture, as `lexmill.merge_counts` takes it.
    ///     `max_memory`: bytes that training may add to the memory of the process, such as `"8GB"`; if it would take more by
    ///         `counts.training_memory(trainer)`, it does not start.
    ///     `on_progress`: called with the stage, the work done, the total, the seconds left and the bytes of memory taken, see
    ///         `lexmill.OnProgress`; an exception of the call ends the training.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     None; for domains, the tokens of each domain by name, see `lexmill.DomainTokens`.
    ///
    /// Raises:
    ///     `OptionError`: the counts were made by other stages, or training would take more than `max_memory`, or an option of
    ///         the trainer is out of range, or weights are wrong.
    ///     `EmptyCorpusError`: there are no words.
    ///     `FormatError`: the counts are damaged.
    #[pyo3(signature = (
        counts, trainer=None, *, weights=None, shares=None, max_memory=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn train_from_counts<'py>(
        this: &Bound<'py, Self>,
        counts: &Bound<'py, PyAny>,
        trainer: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        shares: Option<&Bound<'py, PyAny>>,
        max_memory: Option<&Bound<'py, PyAny>>,
        on_progress: Option<&Bound<'py, PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = this.py();
        if counts.cast::<PyMapping>().is_ok() {
            this.get().training(py, trainer)?;
            let options = options_of_training(py, weights, shares, max_memory, on_progress, num_threads)?;
            return train_domains(this, "train_from_counts", counts, trainer, &options).map(Some);
        }
        check_unweighted(py, weights, shares)?;
        let counts = counts.cast::<PyWordCounts>()?;
        let max_memory = max_memory.map(|size| bytes_of(py, size)).transpose()?;
        let options = CountsOptions { max_memory, num_threads };
        let on_progress = on_progress.map(|callback| callback.clone().unbind());
        this.get().learn_from_counts(py, counts.get(), &[], trainer, options, on_progress)?;
        Ok(None)
    }

    /// Trains the model on the word counts of a mixture, for `lexmill._data.mixtures`.
    ///
    /// Returns for each domain the bytes and the tokens of its words, how many words have no token, and how many distinct tokens
    /// there are.
    #[pyo3(signature = (
        counts, domains, trainer, *, max_memory=None, on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    fn _train_mixture(
        &self,
        py: Python<'_>,
        counts: &PyWordCounts,
        domains: Vec<Py<PyWordCounts>>,
        trainer: Option<&Bound<'_, PyAny>>,
        max_memory: Option<u64>,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<Vec<(u128, u128, u128, usize)>> {
        let domains: Vec<CountsFile> =
            domains.into_iter().map(|domain| domain.get().counts.clone()).collect();
        let options = CountsOptions { max_memory, num_threads };
        let all = self.learn_from_counts(py, counts, &domains, trainer, options, on_progress)?;
        Ok(all
            .into_iter()
            .map(|domain| (domain.bytes, domain.tokens, domain.without_tokens, domain.used()))
            .collect())
    }
}

/// The options of training from counts, apart from the trainer.
struct CountsOptions {
    max_memory: Option<u64>,
    num_threads: Option<usize>,
}

impl PyTokenizer {
    /// Trains the model on counts, and tells the tokens that it gives to each of `domains`.
    fn learn_from_counts(
        &self,
        py: Python<'_>,
        counts: &PyWordCounts,
        domains: &[CountsFile],
        trainer: Option<&Bound<'_, PyAny>>,
        options: CountsOptions,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<CountedTokens>> {
        let CountsOptions { max_memory, num_threads } = options;
        let training = self.training(py, trainer)?;
        let mut reporter = training.reporter(py, on_progress)?;
        let stages = Stages::of(&self.shared.parts()).or_raise(py)?;
        let threads = threads(num_threads);
        let job = CountsTraining { trainer: &training.trainer, max_memory, threads };
        let core = self.core(py)?;
        let model = core.pipeline().model();
        if let Some(superwords) = self.superwords(py, &training, None, None)? {
            let superwords = superwords.within(max_memory);
            let counts = (&counts.counts, domains);
            let trained =
                py.detach(|| superwords.learn_domains(&core, &training, counts, threads, &mut reporter));
            let (model, tokens) = reporter.or_raise(py, trained)?;
            self.install_superwords(model, &training.special_tokens, &superwords);
            return Ok(tokens);
        }
        let trained = py.detach(|| {
            training.words.store(counts.counts.summary().words as usize, Ordering::Relaxed);
            let on_progress = &mut |progress| reporter.report(progress);
            let trained = job.train(&counts.counts, &stages, model, on_progress);
            give_back();
            let trained = trained?;
            let of = |domain: &CountsFile| CountedTokens::of(domain, &trained, threads, on_progress);
            let tokens = domains.iter().map(of).collect::<crate::Result<Vec<_>>>()?;
            Ok((trained, tokens))
        });
        let (model, tokens) = reporter.or_raise(py, trained)?;
        self.install(model, &training.special_tokens);
        Ok(tokens)
    }
}

/// The keywords that all training on domains takes.
pub(super) fn options_of_training<'py>(
    py: Python<'py>,
    weights: Option<&Bound<'py, PyAny>>,
    shares: Option<&Bound<'py, PyAny>>,
    max_memory: Option<&Bound<'py, PyAny>>,
    on_progress: Option<&Bound<'py, PyAny>>,
    num_threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    for (name, value) in
        [("weights", weights), ("shares", shares), ("max_memory", max_memory), ("on_progress", on_progress)]
    {
        options.set_item(name, value)?;
    }
    options.set_item("num_threads", num_threads)?;
    Ok(options)
}

/// Trains on domains by a function of `lexmill._data.mixtures`.
pub(super) fn train_domains<'py>(
    tokenizer: &Bound<'py, PyTokenizer>,
    function: &str,
    domains: &Bound<'py, PyAny>,
    trainer: Option<&Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let mixtures = tokenizer.py().import("lexmill._data.mixtures")?;
    mixtures.getattr(function)?.call((tokenizer, domains, trainer), Some(options))
}

/// # Errors
/// `OptionError` for weights or shares, which only domains have.
pub(super) fn check_unweighted(
    py: Python<'_>,
    weights: Option<&Bound<'_, PyAny>>,
    shares: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    for (name, value) in [("weights", weights), ("shares", shares)] {
        if let Some(value) = value {
            let message = format!(
                "{name} is {} but the texts have no domains; pass a dictionary of them by name",
                value.repr()?.to_cow()?
            );
            return Err(exception(py, "OptionError", message));
        }
    }
    Ok(())
}
