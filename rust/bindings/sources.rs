//! Files of texts, as `lexmill.sources` hands them to the core.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use super::arguments::{FilePath, utf8_errors};
use super::arrow::taken_stream;
use super::errors::{OrRaise, exception};
use crate::corpus::inputs::InputSource;
use crate::corpus::sources::{
    ArrowStream, CsvColumn, Format, OnError, RecordBlock, Skipped, Source, SourceReader, count_source,
};
use crate::corpus::{Utf8Errors, count_words};
use crate::structures::parallel::OnProgress;
use crate::tokenizer::WordCounting;

/// Files of one format, and what has been left out of them: what the classes of `lexmill.sources` open.
///
/// Args:
///     `paths`: the files, in the order of their texts.
///     `format`: `lines`, `json-lines`, `csv`, `parquet`, `arrow` or `documents`.
///     `column`: the name of the column; for CSV, also its number; for JSON lines, the keys that lead to the text, from
///         the outermost object inward.
///     `separator`: for CSV, what stands between values; for documents, what ends each of them, or None for whole files.
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

fn on_broken(py: Python<'_>, on_error: &str) -> PyResult<OnError> {
    match on_error {
        "raise" => Ok(OnError::Raise),
        "skip" => Ok(OnError::Skip),
        other => {
            let message = format!("on_error is {other} but must be raise or skip");
            Err(exception(py, "OptionError", message))
        }
    }
}

/// A column by its name or its number.
#[derive(FromPyObject)]
enum ColumnArgument {
    Name(String),
    Number(usize),
    Keys(Vec<String>),
}

/// The format that arguments describe, or what is wrong with them.
fn format_of(
    format: &str,
    column: Option<ColumnArgument>,
    separator: Option<String>,
) -> Result<Format, String> {
    match (format, column) {
        ("lines", _) => Ok(Format::Lines),
        ("json-lines", Some(ColumnArgument::Keys(field))) => Ok(Format::JsonLines { field }),
        ("csv", Some(ColumnArgument::Name(name))) => {
            Ok(Format::Csv { column: CsvColumn::Name(name), delimiter: delimiter(separator)? })
        }
        ("csv", Some(ColumnArgument::Number(number))) => {
            Ok(Format::Csv { column: CsvColumn::Number(number), delimiter: delimiter(separator)? })
        }
        ("parquet", Some(ColumnArgument::Name(column))) => Ok(Format::Parquet { column }),
        ("arrow", Some(ColumnArgument::Name(column))) => Ok(Format::ArrowIpc { column }),
        ("parquet" | "arrow", Some(ColumnArgument::Number(number))) => {
            Err(format!("column is {number} but must be a name"))
        }
        ("documents", _) if separator.as_ref().is_some_and(String::is_empty) => {
            Err("separator is empty but must be a text, or None for whole files".to_owned())
        }
        ("documents", _) => Ok(Format::Documents { separator }),
        ("json-lines" | "csv" | "parquet" | "arrow", _) => {
            Err(format!("format is {format}, which needs another kind of column"))
        }
        _ => {
            Err(format!("format is {format} but must be lines, json-lines, csv, parquet, arrow or documents"))
        }
    }
}

fn delimiter(separator: Option<String>) -> Result<u8, String> {
    let separator = separator.unwrap_or_else(|| ",".to_owned());
    match separator.as_bytes() {
        &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(byte),
        _ => Err(format!(
            "delimiter is '{separator}' but must be an ASCII character that is no quote and ends no line"
        )),
    }
}

#[pymethods]
impl PyFileSource {
    #[new]
    #[pyo3(signature = (paths, *, format="lines", column=None, separator=None, errors="strict", on_error="raise"))]
    fn new(
        py: Python<'_>,
        paths: Vec<FilePath>,
        format: &str,
        column: Option<ColumnArgument>,
        separator: Option<String>,
        errors: &str,
        on_error: &str,
    ) -> PyResult<Self> {
        let format =
            format_of(format, column, separator).map_err(|message| exception(py, "OptionError", message))?;
        let paths = paths.into_iter().map(PathBuf::from).collect();
        let source =
            Source { paths, format, errors: utf8_errors(errors)?, on_error: on_broken(py, on_error)? };
        Ok(Self { source: Arc::new(source), skipped: Arc::default() })
    }

    /// The stream of an object with `__arrow_c_stream__`, which is read once.
    ///
    /// Args:
    ///     `data`: the object.
    ///     `column`: the name of the column.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `on_error`: `raise`, or `skip` to leave out broken records.
    ///
    /// Raises:
    ///     `InputTypeError`: the object has no such method.
    ///     `OptionError`: an option has another value.
    #[staticmethod]
    #[pyo3(signature = (data, *, column, errors="strict", on_error="raise"))]
    fn of_stream(data: &Bound<'_, PyAny>, column: String, errors: &str, on_error: &str) -> PyResult<Self> {
        let (errors, on_error) = (utf8_errors(errors)?, on_broken(data.py(), on_error)?);
        let format = Format::ArrowStream { column, stream: Arc::new(ArrowStream::new(taken_stream(data)?)) };
        let source = Source { paths: vec![PathBuf::from("Arrow stream")], format, errors, on_error };
        Ok(Self { source: Arc::new(source), skipped: Arc::default() })
    }

    /// The files, in the order of their texts; none of a stream.
    fn paths(&self) -> Vec<OsString> {
        let is_stream = matches!(self.source.format, Format::ArrowStream { .. });
        let paths = self.source.paths.iter().filter(|_| !is_stream);
        paths.map(|path| path.clone().into_os_string()).collect()
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

impl PyFileSource {
    /// The source for a run that tokenizes it to files.
    pub(super) fn input_source(&self) -> InputSource {
        InputSource { source: Arc::clone(&self.source), skipped: Arc::clone(&self.skipped) }
    }
}

/// The texts of a source, one after the other.
#[pyclass(name = "TextIterator", module = "lexmill._core", frozen)]
pub(super) struct PyTextIterator {
    reading: Mutex<Reading>,
}

// Python's allocator aligns objects to 16 bytes, whatever they ask for.
const _: () = assert!(align_of::<PyTextIterator>() <= 16);

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
            self.source.for_each_text(&mut self.block, &self.skipped, |text, _| {
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

    /// The files, as work that is resumed sees them.
    pub(super) fn input_source(&self, errors: Utf8Errors) -> InputSource {
        match self {
            Self::Path(path) => {
                let (paths, format) = (vec![path.clone()], Format::Lines);
                let source = Source { paths, format, errors, on_error: OnError::Raise };
                InputSource { source: Arc::new(source), skipped: Arc::default() }
            }
            Self::Source(source) => source.get().input_source(),
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

    fn paths(&self) -> Vec<OsString> {
        match self {
            Self::Path(path) => vec![path.clone().into_os_string()],
            Self::Source(source) => source.get().paths(),
        }
    }

    /// Warns of files that are among `files` more than once.
    pub(super) fn warn_of_repeated(py: Python<'_>, files: &[Self]) -> PyResult<()> {
        let paths: Vec<OsString> = files.iter().flat_map(Self::paths).collect();
        py.import("lexmill._corpus_warnings")?.call_method1("warn_of_repeated", (paths,))?;
        Ok(())
    }

    /// Warns of the records that were left out.
    pub(super) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if let Self::Source(source) = self {
            py.import("lexmill._corpus_warnings")?.call_method1("warn_of_skipped", (source,))?;
        }
        Ok(())
    }
}
