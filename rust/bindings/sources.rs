//! Files of texts, as `lexmill.sources` hands them to the core.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use super::arguments::{FilePath, utf8_errors};
use super::errors::{OrRaise, exception};
use crate::corpus::sources::{
    CsvColumn, Format, OnError, RecordBlock, Skipped, Source, SourceReader, count_source,
};
use crate::corpus::{Utf8Errors, count_words};
use crate::structures::parallel::OnProgress;
use crate::tokenizer::WordCounting;

/// Files of one format, and what has been left out of them: what the classes of `lexmill.sources` open.
///
/// Args:
///     `paths`: the files, in the order of their texts.
///     `field`: for JSON lines, the keys that lead to the text, from the outermost object inward.
///     `column`: for CSV, the name or the number of the column. Without a field or a column, lines are texts.
///     `delimiter`: for CSV, what stands between values.
///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
///     `on_error`: `raise`, or `skip` to leave out broken records.
///
/// Raises:
///     `OptionError`: an option has another value.
#[pyclass(name = "FileSource", module = "lexmill._core", frozen)]
pub(super) struct PyFileSource {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
}

/// A column by its name or its number.
#[derive(FromPyObject)]
enum ColumnArgument {
    Name(String),
    Number(usize),
}

#[pymethods]
impl PyFileSource {
    #[new]
    #[pyo3(signature = (paths, *, field=None, column=None, delimiter=',', errors="strict", on_error="raise"))]
    fn new(
        py: Python<'_>,
        paths: Vec<FilePath>,
        field: Option<Vec<String>>,
        column: Option<ColumnArgument>,
        delimiter: char,
        errors: &str,
        on_error: &str,
    ) -> PyResult<Self> {
        let on_error = match on_error {
            "raise" => OnError::Raise,
            "skip" => OnError::Skip,
            other => {
                let message = format!("on_error is {other} but must be raise or skip");
                return Err(exception(py, "OptionError", message));
            }
        };
        let is_usable = delimiter.is_ascii() && !matches!(delimiter, '"' | '\r' | '\n');
        let Some(delimiter) = u8::try_from(delimiter).ok().filter(|_| is_usable) else {
            let message = format!(
                "delimiter is {delimiter:?} but must be an ASCII character that is no quote and ends no line"
            );
            return Err(exception(py, "OptionError", message));
        };
        let format = match (field, column) {
            (Some(field), _) => Format::JsonLines { field },
            (None, Some(ColumnArgument::Name(name))) => {
                Format::Csv { column: CsvColumn::Name(name), delimiter }
            }
            (None, Some(ColumnArgument::Number(number))) => {
                Format::Csv { column: CsvColumn::Number(number), delimiter }
            }
            (None, None) => Format::Lines,
        };
        let paths = paths.into_iter().map(PathBuf::from).collect();
        let source = Source { paths, format, errors: utf8_errors(errors)?, on_error };
        Ok(Self { source: Arc::new(source), skipped: Arc::default() })
    }

    /// Records left out so far, and what was wrong with the first ten.
    fn skipped(&self) -> (u64, Vec<String>) {
        self.skipped.report()
    }

    fn __iter__(&self) -> PyTextIterator {
        let (source, skipped) = (Arc::clone(&self.source), Arc::clone(&self.skipped));
        let reader = SourceReader::new(Arc::clone(&source), Arc::clone(&skipped));
        let reading = Reading { source, skipped, reader, block: RecordBlock::default(), texts: Vec::new() };
        PyTextIterator { reading: Mutex::new(reading) }
    }
}

/// The texts of a source, one after the other.
#[pyclass(name = "TextIterator", module = "lexmill._core", frozen)]
pub(super) struct PyTextIterator {
    reading: Mutex<Reading>,
}

struct Reading {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
    reader: SourceReader,
    block: RecordBlock,
    /// Texts of the block that have not been given out, the last one first.
    texts: Vec<String>,
}

impl Reading {
    fn next(&mut self) -> crate::Result<Option<String>> {
        while self.texts.is_empty() {
            if !self.reader.next(&mut self.block)? {
                return Ok(None);
            }
            let texts = &mut self.texts;
            self.source.for_each_text(&self.block, &self.skipped, |text, _| {
                texts.push(text.to_owned());
                Ok(())
            })?;
            texts.reverse();
        }
        Ok(self.texts.pop())
    }
}

#[pymethods]
impl PyTextIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| self.reading.lock().unwrap_or_else(PoisonError::into_inner).next()).or_raise(py)
    }
}

/// One of the files that a training is given: a path, whose lines are texts, or an object of `lexmill.sources`.
pub(super) enum TrainingFile {
    Path(PathBuf),
    Source(Py<PyFileSource>),
}

impl<'py> FromPyObject<'_, 'py> for TrainingFile {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let class = item.py().import("lexmill.sources")?.getattr("Source")?;
        if item.is_instance(&class)? {
            let opened = item.call_method0("_open")?;
            return Ok(Self::Source(opened.cast_into::<PyFileSource>()?.unbind()));
        }
        item.extract::<FilePath>().map(|path| Self::Path(path.into()))
    }
}

impl TrainingFile {
    /// Bytes on the disk; 0 if they are not known.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Path(path) => path.metadata().map_or(0, |data| data.len()),
            Self::Source(source) => {
                let PyFileSource { source, skipped } = source.get();
                SourceReader::new(Arc::clone(source), Arc::clone(skipped)).bytes().unwrap_or(0)
            }
        }
    }

    /// Counts the words of all texts.
    ///
    /// # Errors
    /// Those of reading and counting.
    pub(super) fn count(
        &self,
        counting: &mut WordCounting,
        errors: Utf8Errors,
        total: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> crate::Result<()> {
        match self {
            Self::Path(path) => count_words(counting, path, errors, total, on_progress),
            Self::Source(source) => {
                let PyFileSource { source, skipped } = source.get();
                count_source(counting, source, skipped, total, on_progress)
            }
        }
    }

    /// Warns of the records that were left out.
    pub(super) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if let Self::Source(source) = self {
            py.import("lexmill.sources")?.call_method1("_warn_of_skipped", (source,))?;
        }
        Ok(())
    }
}
