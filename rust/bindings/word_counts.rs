//! `lexmill.WordCounts`, and training from word counts.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::arguments::utf8_errors;
use super::arrow::counted_words_stream;
use super::errors::{OrRaise, exception};
use super::file_paths::FilePath;
use super::progress::Reporter;
use super::sources::OpenedFiles;
use super::threads::threads;
use super::tokenizer::PyTokenizer;
use super::trainers::{PySuperwordOptions, PyTrainer};
use super::training_texts::count_corpus;
use crate::corpus::{BoundedCounting, Checkpoint, CountingJob};
use crate::counting::runs::{Addend, Budget, CountedWord, CountsFile, RunReader, Spelling};
use crate::structures::freed_memory::give_back;
use crate::trainers::Trainer;

/// Memory for merging where no limit is given.
const MERGE_MEMORY: usize = 64 << 20;

/// The distinct words of a corpus, each with its count and the place of its first appearance, on disk.
///
/// `lexmill.count_words` makes them; words are ordered by their bytes. Counts that are not saved are deleted with the object.
#[pyclass(name = "WordCounts", module = "lexmill", frozen)]
pub(super) struct PyWordCounts {
    pub(super) counts: CountsFile,
}

#[pymethods]
impl PyWordCounts {
    /// Opens word counts that were saved.
    ///
    /// Args:
    ///     `path`: the file.
    ///
    /// Raises:
    ///     `FileError`: the file cannot be read.
    ///     `FormatError`: the file does not hold word counts, or is damaged.
    #[staticmethod]
    fn load(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        py.detach(|| CountsFile::open(&path)).or_raise(py).map(|counts| Self { counts })
    }

    /// Writes the counts to a file, whole or not at all.
    ///
    /// Args:
    ///     `path`: the file.
    ///
    /// Raises:
    ///     `FileError`: the file cannot be written.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        py.detach(|| self.counts.save(&path)).or_raise(py)
    }

    /// The sum of several counts or files of counts; their order does not matter.
    #[staticmethod]
    #[pyo3(signature = (counts, *, max_memory=None, folder=None, on_progress=None))]
    fn _merge(
        py: Python<'_>,
        counts: Vec<Bound<'_, PyAny>>,
        max_memory: Option<usize>,
        folder: Option<FilePath>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let addend = |one: Bound<'_, PyAny>| match one.cast::<Self>() {
            Ok(counts) => Ok(Addend::Open(Box::new(counts.get().counts.clone()))),
            Err(_) => Ok(Addend::File(one.extract::<FilePath>()?.to_path_buf())),
        };
        let all = counts.into_iter().map(addend).collect::<PyResult<Vec<_>>>()?;
        let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
        let (folder, memory) = (folder_or_default(folder), max_memory.unwrap_or(MERGE_MEMORY));
        let merged =
            py.detach(|| CountsFile::merge(&all, &folder, memory, &mut |progress| reporter.report(progress)));
        reporter.or_raise(py, merged).map(|counts| Self { counts })
    }

    /// The sum of several counts, each multiplied by its factor; their order numbers the sources.
    #[staticmethod]
    #[pyo3(signature = (domains, *, max_memory=None, folder=None, on_progress=None))]
    fn _mix(
        py: Python<'_>,
        domains: Vec<(Py<Self>, u64)>,
        max_memory: Option<usize>,
        folder: Option<FilePath>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let domains: Vec<(CountsFile, u64)> =
            domains.into_iter().map(|(counts, factor)| (counts.get().counts.clone(), factor)).collect();
        let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
        let (folder, memory) = (folder_or_default(folder), max_memory.unwrap_or(MERGE_MEMORY));
        let mixed = py
            .detach(|| CountsFile::mix(&domains, &folder, memory, &mut |progress| reporter.report(progress)));
        reporter.or_raise(py, mixed).map(|counts| Self { counts })
    }

    /// The bytes of all words, each as often as it was counted.
    #[pyo3(signature = (on_progress=None))]
    fn _counted_bytes(&self, py: Python<'_>, on_progress: Option<Py<PyAny>>) -> PyResult<u128> {
        let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
        let bytes = py.detach(|| self.counts.counted_bytes(&mut |progress| reporter.report(progress)));
        reporter.or_raise(py, bytes)
    }

    /// Counts without the words that were seen fewer than `min_count` times.
    ///
    /// Args:
    ///     `min_count`: the least count of a word that is kept.
    ///     `folder`: the folder for the result until it is saved; by default the system's folder for temporary files.
    ///
    /// Raises:
    ///     `FileError`: the result cannot be written.
    #[pyo3(signature = (min_count, *, folder=None))]
    fn trim(&self, py: Python<'_>, min_count: u64, folder: Option<FilePath>) -> PyResult<Self> {
        let (folder, mut reporter) = (folder_or_default(folder), Reporter::silent());
        let trimmed =
            py.detach(|| self.counts.trimmed(min_count, &folder, &mut |progress| reporter.report(progress)));
        reporter.or_raise(py, trimmed).map(|counts| Self { counts })
    }

    /// The sum of all counts.
    #[getter]
    fn total(&self) -> u64 {
        self.counts.summary().total
    }

    /// About how many bytes training from the counts adds at most to the memory of the process. Reads all words.
    ///
    /// Args:
    ///     `trainer`: the trainer; by default a `BpeTrainer` with default options.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `FormatError`: the counts are damaged.
    #[pyo3(signature = (trainer=None, num_threads=None))]
    fn training_memory(
        &self,
        py: Python<'_>,
        trainer: Option<&Bound<'_, PyTrainer>>,
        num_threads: Option<usize>,
    ) -> PyResult<u64> {
        let trainer = trainer.map_or_else(Trainer::default, |trainer| trainer.get().get().trainer);
        py.detach(|| self.counts.training_memory(&trainer, threads(num_threads))).or_raise(py)
    }

    /// Distinct phrases, from which superwords are learnt; 0 if none were counted.
    #[getter]
    fn phrases(&self) -> u64 {
        self.counts.summary().phrases.words
    }

    /// How many texts were counted.
    #[getter]
    fn texts(&self) -> u64 {
        self.counts.summary().texts
    }

    /// Bytes of sources that were read, as they lie on the disk.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.counts.summary().bytes
    }

    /// Distinct words that `trim` left out.
    #[getter]
    fn dropped_words(&self) -> u64 {
        self.counts.summary().dropped_words
    }

    /// The sum of the counts of the words that `trim` left out.
    #[getter]
    fn dropped_total(&self) -> u64 {
        self.counts.summary().dropped_total
    }

    /// The stages that decide the words of a text, as JSON: normalizer, pre-tokenizer and added tokens; and the pre-tokenizer of
    /// phrases, if these were counted.
    #[getter]
    fn stages(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.counts.summary().stages)
            .map_err(|error| exception(py, "LexmillError", error.to_string()))
    }

    /// The words as a stream of Arrow batches, in the order of their bytes, with the columns `word` (as the model sees it), `count`,
    /// `source` and `place`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types of columns are the consumer's business: it may cast.
        let _ = requested_schema;
        counted_words_stream(py, self.counts.reader(), self.counts.summary().spelling)
    }

    fn __len__(&self) -> usize {
        self.counts.summary().words as usize
    }

    fn __repr__(&self) -> String {
        let summary = self.counts.summary();
        let phrases = match summary.phrases.words {
            0 => String::new(),
            phrases => format!(", phrases={phrases}"),
        };
        format!(
            "WordCounts(words={}, total={}, texts={}{phrases})",
            summary.words, summary.total, summary.texts
        )
    }

    fn __iter__(&self) -> PyCountedWords {
        let reader = Mutex::new(self.counts.reader());
        PyCountedWords { reader, spelling: self.counts.summary().spelling }
    }
}

/// The words of counts in the order of their bytes: tuples of a word as the model sees it, its count, and the number of the source
/// and the place there where it was first seen.
#[pyclass(name = "CountedWords", module = "lexmill._core", frozen)]
pub(super) struct PyCountedWords {
    reader: Mutex<RunReader>,
    spelling: Spelling,
}

#[pymethods]
impl PyCountedWords {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(String, u64, u32, u64)>> {
        // Without the interpreter: another thread that reads the same words may hold the lock.
        let next = py.detach(|| {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            if !reader.advance()? {
                return Ok(None);
            }
            let CountedWord { word, count, first } = reader.word();
            let mut text = String::new();
            self.spelling.push(word, &mut text);
            Ok(Some((text, count, first.source, first.at)))
        });
        next.or_raise(py)
    }
}

/// A number of bytes from a number, or from a text with a unit.
pub(super) fn bytes_of(py: Python<'_>, size: &Bound<'_, PyAny>) -> PyResult<u64> {
    py.import("lexmill._data.word_counts")?.call_method1("_bytes_of", (size,))?.extract()
}

pub(super) fn folder_or_default(folder: Option<FilePath>) -> PathBuf {
    folder.map_or_else(std::env::temp_dir, PathBuf::from)
}

#[pymethods]
impl PyTokenizer {
    /// Counts the words of files and sources, or of an iterator, for `lexmill.count_words`.
    #[pyo3(signature = (
        files, *, iterator=None, superwords=None, max_memory=None, folder=None, checkpoint=None, first_source=0,
        errors="strict", on_progress=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of `lexmill.count_words`")]
    fn _count_words(
        &self,
        py: Python<'_>,
        files: &Bound<'_, PyAny>,
        iterator: Option<&Bound<'_, PyAny>>,
        superwords: Option<&Bound<'_, PySuperwordOptions>>,
        max_memory: Option<usize>,
        folder: Option<FilePath>,
        checkpoint: Option<(FilePath, u64, bool)>,
        first_source: u32,
        errors: &str,
        on_progress: Option<Py<PyAny>>,
        num_threads: Option<usize>,
    ) -> PyResult<PyWordCounts> {
        let files = OpenedFiles::of(files, errors)?;
        files.warn_of_repeated(py)?;
        let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
        let threads = threads(num_threads);
        let budget = Budget { memory: max_memory.unwrap_or(usize::MAX), folder: folder_or_default(folder) };
        let (pipelines, stages) = self.counted(py, superwords.map(|options| &options.get().0))?;
        if let Some((folder, part_bytes, resume)) = checkpoint {
            let checkpoint = Checkpoint { folder: folder.into(), part_bytes, resume };
            let sources = files.input_sources();
            let job = CountingJob { pipelines, stages, sources, first_source, threads, budget };
            let counted = py.detach(|| {
                let counts = checkpoint.count(&job, &mut |progress| reporter.report(progress));
                give_back();
                counts
            });
            let counts = reporter.or_raise(py, counted)?;
            files.warn(py)?;
            return Ok(PyWordCounts { counts });
        }
        let mut bounded =
            BoundedCounting::new(pipelines, stages, threads, budget, first_source).or_raise(py)?;
        if let Some(iterator) = iterator {
            bounded.counting.begin_sources(1).or_raise(py)?(0, 0);
            bounded.counting =
                count_corpus(py, iterator, utf8_errors(errors)?, bounded.counting, None, &mut reporter)?;
        }
        let counted = py.detach(|| {
            files.count(&mut bounded.counting, &mut |progress| reporter.report(progress))?;
            let counts = bounded.finish(&mut |progress| reporter.report(progress));
            give_back();
            counts
        });
        let counts = reporter.or_raise(py, counted)?;
        files.warn(py)?;
        Ok(PyWordCounts { counts })
    }
}
