//! `lexmill.Tokenizer`: training, encoding and decoding.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};

use super::arguments::{ATTACHED_BYTES, OwnedInput, ids, inputs, sequence, texts, threads, training_text};
use super::arrays::PyTokenArrays;
use super::encoding::PyEncoding;
use super::errors::OrRaise;
use super::int_lists::list_of_rows;
use super::models::require_bpe;
use super::progress::Reporter;
use super::tokenizer::{PyTokenizer, wrong_errors, wrong_trainer};
use super::trainers::{PyTrainer, Training};
use crate::corpus::documents::read_documents;
use crate::engine::sink::Id;
use crate::models::Model;
use crate::models::bpe::Bpe;
use crate::tokenizer::{Ragged, Tokenizer, Utf8Errors, WordCounting};
use crate::trainers::bpe::BpeTrainer;

/// Texts are taken from a Python iterator until they make about this many bytes, then counted.
const ITERATOR_BYTES: usize = 16 << 20;

fn utf8_errors(name: &str) -> PyResult<Utf8Errors> {
    match name {
        "strict" => Ok(Utf8Errors::Strict),
        "replace" => Ok(Utf8Errors::Replace),
        other => Err(wrong_errors(other)),
    }
}

/// Calls `work`, letting other Python threads run unless it is over in no time.
fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < ATTACHED_BYTES { work() } else { py.detach(work) }
}

/// All ids of a tokenizer fit into 16 bits.
fn is_narrow(core: &Tokenizer) -> bool {
    core.id_bound() <= 1 << 16
}

fn encode_arrays(
    py: Python<'_>,
    core: &Tokenizer,
    texts: &[&str],
    add_special_tokens: bool,
    threads: usize,
) -> PyResult<PyTokenArrays> {
    fn encode<T: Id>(
        py: Python<'_>,
        core: &Tokenizer,
        texts: &[&str],
        special: bool,
        threads: usize,
    ) -> PyResult<Ragged<T>> {
        py.detach(|| core.encode_ids(texts, special, threads)).or_raise(py)
    }
    Ok(if is_narrow(core) {
        PyTokenArrays::of(py, encode::<u16>(py, core, texts, add_special_tokens, threads)?)
    } else {
        PyTokenArrays::of(py, encode::<u32>(py, core, texts, add_special_tokens, threads)?)
    })
}

#[pymethods]
impl PyTokenizer {
    /// Trains the model on files, line by line.
    #[pyo3(signature = (files, trainer=None, *, errors="strict", on_progress=None, num_threads=None))]
    fn train(
        &self,
        py: Python<'_>,
        files: Vec<PathBuf>,
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
            let total = files.iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
            let mut counting = WordCounting::new(Arc::clone(core.pipeline()), threads);
            for file in &files {
                counting.add_file(file, errors, total, &mut |progress| reporter.report(progress))?;
            }
            learn(&core, &training, counting, threads, &mut reporter)
        });
        let model = reporter.or_raise(py, trained)?;
        self.install(model, &training);
        Ok(())
    }

    /// Trains the model on texts from an iterator of `str` or of lists of `str`.
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
        let mut counting = WordCounting::new(Arc::clone(core.pipeline()), threads);
        let mut batch = Batch::default();
        for item in iterator.try_iter()? {
            let item = item?;
            if item.is_instance_of::<PyString>() {
                batch.push(training_text(&item)?);
            } else {
                for inner in item.try_iter()? {
                    batch.push(training_text(&inner?)?);
                }
            }
            if batch.bytes >= ITERATOR_BYTES {
                let counted = count(py, &mut counting, &mut batch, length, &mut reporter);
                if counted.is_err() {
                    return reporter.or_raise(py, counted);
                }
            }
        }
        let counted = count(py, &mut counting, &mut batch, length, &mut reporter);
        let trained = match counted {
            Ok(()) => py.detach(|| learn(&core, &training, counting, threads, &mut reporter)),
            Err(error) => Err(error),
        };
        let model = reporter.or_raise(py, trained)?;
        self.install(model, &training);
        Ok(())
    }

    /// Encodes one text or a pair.
    #[pyo3(signature = (sequence, pair=None, is_pretokenized=false, add_special_tokens=true))]
    fn encode(
        &self,
        py: Python<'_>,
        sequence: &Bound<'_, PyAny>,
        pair: Option<&Bound<'_, PyAny>>,
        is_pretokenized: bool,
        add_special_tokens: bool,
    ) -> PyResult<PyEncoding> {
        let first = self::sequence(sequence, is_pretokenized)?;
        let second = pair.map(|pair| self::sequence(pair, is_pretokenized)).transpose()?;
        let input = OwnedInput { first, second };
        let core = self.core(py)?;
        let bytes = input.bytes();
        detached(py, bytes, || core.encode(input.borrow(), add_special_tokens))
            .or_raise(py)
            .map(PyEncoding::of)
    }

    /// Encodes texts or pairs.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true, *, num_threads=None))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Vec<PyEncoding>> {
        let owned = inputs(input, is_pretokenized)?;
        let core = self.core(py)?;
        let threads = threads(num_threads);
        let bytes = owned.iter().map(OwnedInput::bytes).sum();
        let encodings = detached(py, bytes, || {
            let inputs: Vec<_> = owned.iter().map(OwnedInput::borrow).collect();
            core.encode_batch(&inputs, add_special_tokens, threads)
        });
        Ok(encodings.or_raise(py)?.into_iter().map(PyEncoding::of).collect())
    }

    /// As `encode_batch`: offsets cost nothing here until they are read.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true, *, num_threads=None))]
    fn encode_batch_fast(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Vec<PyEncoding>> {
        self.encode_batch(py, input, is_pretokenized, add_special_tokens, num_threads)
    }

    /// Encodes texts to one array of ids.
    #[pyo3(signature = (texts, *, add_special_tokens=true, num_threads=None))]
    fn encode_batch_arrays(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<PyTokenArrays> {
        let owned = self::texts(texts)?;
        let texts: Vec<&str> = owned.iter().map(|text| &**text).collect();
        encode_arrays(py, &*self.core(py)?, &texts, add_special_tokens, threads(num_threads))
    }

    /// Encodes files to one array of ids: a row a file, or a row for each document between separators.
    #[pyo3(signature = (paths, separator=None, *, errors="strict", add_special_tokens=true, num_threads=None))]
    fn encode_files_arrays(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        separator: Option<&str>,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<PyTokenArrays> {
        let errors = utf8_errors(errors)?;
        let files = py.detach(|| read_documents(&paths, separator, errors)).or_raise(py)?;
        encode_arrays(py, &*self.core(py)?, &files.documents(), add_special_tokens, threads(num_threads))
    }

    /// Encodes texts to lists of ids.
    #[pyo3(signature = (texts, *, add_special_tokens=true, num_threads=None))]
    fn encode_batch_ids<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let owned = self::texts(texts)?;
        let texts: Vec<&str> = owned.iter().map(|text| &**text).collect();
        let core = self.core(py)?;
        let threads = threads(num_threads);
        let bytes = texts.iter().map(|text| text.len()).sum();
        let rows = detached(py, bytes, || core.encode_ids::<u32>(&texts, add_special_tokens, threads));
        list_of_rows(py, &rows.or_raise(py)?)
    }

    /// Number of tokens of each text.
    #[pyo3(signature = (texts, *, add_special_tokens=true, num_threads=None))]
    fn count_tokens<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let owned = self::texts(texts)?;
        let texts: Vec<&str> = owned.iter().map(|text| &**text).collect();
        let core = self.core(py)?;
        let threads = threads(num_threads);
        let counts = py.detach(|| core.count_tokens(&texts, add_special_tokens, threads)).or_raise(py)?;
        Ok(counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py))
    }

    /// The text of ids; with `strict` an id without a token is an error, otherwise it is passed over.
    #[pyo3(signature = (ids, skip_special_tokens=true, *, strict=false))]
    fn decode(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
    ) -> PyResult<String> {
        let ids = self::ids(ids)?;
        let core = self.core(py)?;
        if strict {
            core.check_ids(&ids).or_raise(py)?;
        }
        detached(py, ids.len() * 4, || core.decode(&ids, skip_special_tokens)).or_raise(py)
    }

    /// The texts of lists of ids.
    #[pyo3(signature = (sequences, skip_special_tokens=true, *, strict=false))]
    fn decode_batch(
        &self,
        py: Python<'_>,
        sequences: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
    ) -> PyResult<Vec<String>> {
        let rows = sequences.try_iter()?.map(|row| ids(&row?)).collect::<PyResult<Vec<_>>>()?;
        let core = self.core(py)?;
        if strict {
            rows.iter().try_for_each(|row| core.check_ids(row)).or_raise(py)?;
        }
        py.detach(|| {
            rows.iter().map(|row| core.decode(row, skip_special_tokens)).collect::<crate::Result<_>>()
        })
        .or_raise(py)
    }
}

impl PyTokenizer {
    fn training(&self, py: Python<'_>, trainer: Option<&Bound<'_, PyAny>>) -> PyResult<Training> {
        let default;
        let trainer = if let Some(trainer) = trainer {
            trainer
        } else {
            default = super::trainers::PyBpeTrainer::default_object(py)?.into_bound(py);
            &default
        };
        let training = trainer.cast::<PyTrainer>().map_err(|_| wrong_trainer())?.get().get();
        require_bpe(py, &self.shared.state().model.get())?;
        Ok(training)
    }

    /// Puts a trained model in place, for all who share it, and adds the trainer's special tokens.
    fn install(&self, model: Bpe, training: &Training) {
        let stage = Arc::clone(&self.shared.state().model);
        stage.set(Arc::new(Model::Bpe(model)));
        self.add(&training.special_tokens);
    }
}

fn reporter(py: Python<'_>, training: &Training, on_progress: Option<Py<PyAny>>) -> PyResult<Reporter> {
    match on_progress {
        Some(callback) => Ok(Reporter::to(callback)),
        None if training.show_progress => Reporter::shown(py, training.progress_format),
        None => Ok(Reporter::silent()),
    }
}

/// Texts taken from an iterator and not counted yet.
#[derive(Default)]
struct Batch {
    texts: Vec<PyBackedStr>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, text: PyBackedStr) {
        self.bytes += text.len();
        self.texts.push(text);
    }
}

fn count(
    py: Python<'_>,
    counting: &mut WordCounting,
    batch: &mut Batch,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> crate::Result<()> {
    let result = py.detach(|| {
        let texts: Vec<&str> = batch.texts.iter().map(|text| &**text).collect();
        counting.add_texts(&texts)?;
        let total = length.map_or(0, |length| length as u64);
        reporter.report(crate::structures::progress::Progress {
            stage: "count words",
            done: counting.texts(),
            total,
        })
    });
    *batch = Batch::default();
    result
}

/// Trains on counted words; the model's other options stay.
fn learn(
    core: &Tokenizer,
    training: &Training,
    counting: WordCounting,
    threads: usize,
    reporter: &mut Reporter,
) -> crate::Result<Bpe> {
    let words = counting.finish()?;
    let trainer = BpeTrainer { threads, ..training.trainer.clone() };
    let trained = trainer.train(words, &mut |progress| reporter.report(progress))?;
    let Model::Bpe(model) = &**core.pipeline().model();
    let mut options = model.options().clone();
    options.continuing_subword_prefix = trainer.continuing_subword_prefix;
    options.end_of_word_suffix = trainer.end_of_word_suffix;
    trained.into_model(options)
}
