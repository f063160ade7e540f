//! Files of texts, as `lexmill.sources` hands them to the core.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use super::arguments::utf8_errors;
use super::arrow::taken_stream;
use super::errors::{OrRaise, exception};
use super::file_paths::{FilePath, InputPath};
use super::text_iterator::PyTextIterator;
use crate::corpus::files::DocumentFile;
use crate::corpus::inputs::InputSource;
use crate::corpus::remote::{self, url_of};
use crate::corpus::sources::{
    ArrowStream, CsvColumn, Format, OnError, Skipped, Source, SourceReader, count_source, sample,
};
use crate::structures::binary_formats::binary_format;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::WordCounting;

/// Files of one format, opened by a class of `lexmill.sources`, with a report of the records left out.
///
/// Args:
///     `paths`: the files, in the order of their texts.
///     `format`: `lines`, `json-lines`, `csv`, `parquet`, `arrow` or `documents`.
///     `column`: the name of the column; for CSV, also its number; for JSON lines, the keys that lead to the text, from
///         the outermost object inward.
///     `separator`: for CSV, the character between values; for documents, the text that ends each, or None for whole files.
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

/// The format that arguments describe, or the fault of the arguments.
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
        paths: Vec<InputPath>,
        format: &str,
        column: Option<ColumnArgument>,
        separator: Option<String>,
        errors: &str,
        on_error: &str,
    ) -> PyResult<Self> {
        let format =
            format_of(format, column, separator).map_err(|message| exception(py, "OptionError", message))?;
        let paths = paths.into_iter().map(|path| path.0).collect();
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

    /// The number of records left out so far, and the faults of the first ten.
    fn skipped(&self) -> (u64, Vec<String>) {
        self.skipped.report()
    }

    /// Texts of the first blocks of records; the bytes of all texts in these blocks; and how many bytes of the files, as they lie on
    /// the disk, the blocks took.
    ///
    /// Args:
    ///     `text_bytes`: bytes of text that are enough.
    ///     `file_bytes`: bytes of files that are enough.
    ///     `start`: of a plain file of lines, the byte from which on lines are taken.
    #[pyo3(signature = (text_bytes, file_bytes, start=0))]
    fn sample(
        &self,
        py: Python<'_>,
        text_bytes: u64,
        file_bytes: u64,
        start: u64,
    ) -> PyResult<(Vec<String>, u64, u64)> {
        let reader = self.reader().starting_at(start);
        let sampled = py.detach(|| sample(reader, &self.source, &self.skipped, text_bytes, file_bytes));
        sampled.or_raise(py).map(|sample| (sample.texts, sample.text_bytes, sample.file_bytes))
    }

    fn __iter__(&self) -> PyTextIterator {
        PyTextIterator::new(Arc::clone(&self.source), Arc::clone(&self.skipped))
    }
}

impl PyFileSource {
    fn reader(&self) -> SourceReader {
        SourceReader::new(Arc::clone(&self.source), Arc::clone(&self.skipped))
    }

    /// The source for a run that tokenizes it to files.
    pub(super) fn input_source(&self) -> InputSource {
        InputSource { source: Arc::clone(&self.source), skipped: Arc::clone(&self.skipped) }
    }
}

/// The files of a call, opened: paths, by their names, and objects of `lexmill.sources`.
pub(super) struct OpenedFiles(Vec<Py<PyFileSource>>);

impl OpenedFiles {
    /// Opens files whose texts are lines or records.
    ///
    /// # Errors
    /// The errors of `lexmill._data.source_names.opened`.
    pub(super) fn of(files: &Bound<'_, PyAny>, errors: &str) -> PyResult<Self> {
        utf8_errors(errors)?;
        let names = files.py().import("lexmill._data.source_names")?;
        names.call_method1("opened", (files, errors))?.extract().map(Self)
    }

    /// Bytes on the disk; a file of unknown size counts as 0.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |source: &PyFileSource| source.reader().bytes().unwrap_or(0);
        self.0.iter().map(|source| bytes(source.get())).sum()
    }

    /// The files, as work that is resumed sees them.
    pub(super) fn input_sources(&self) -> Vec<InputSource> {
        self.0.iter().map(|source| source.get().input_source()).collect()
    }

    /// Counts the words of all texts.
    ///
    /// # Errors
    /// The errors of reading and counting.
    pub(super) fn count(
        &self,
        counting: &mut WordCounting,
        on_progress: &mut OnProgress<'_>,
    ) -> crate::Result<()> {
        let total = self.bytes();
        self.0.iter().try_for_each(|source| {
            let PyFileSource { source, skipped } = source.get();
            count_source(counting, source, skipped, total, on_progress)
        })
    }

    /// Warns of files that are given more than once.
    pub(super) fn warn_of_repeated(&self, py: Python<'_>) -> PyResult<()> {
        let paths: Vec<OsString> = self.0.iter().flat_map(|source| source.get().paths()).collect();
        py.import("lexmill._data.corpus_warnings")?.call_method1("warn_of_repeated", (paths,))?;
        Ok(())
    }

    /// Warns of the records that were left out.
    pub(super) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        self.0.iter().try_for_each(|source| warn_of_skipped(py, source))
    }
}

fn warn_of_skipped(py: Python<'_>, source: &Py<PyFileSource>) -> PyResult<()> {
    py.import("lexmill._data.corpus_warnings")?.call_method1("warn_of_skipped", (source,)).map(drop)
}

/// The files of documents of a call, opened.
pub(super) struct OpenedDocuments(Vec<OpenedDocument>);

#[derive(FromPyObject)]
enum OpenedDocument {
    Records(Py<PyFileSource>),
    Text(PathBuf),
}

impl OpenedDocuments {
    /// Opens the files of records that `files` names; files of text stay paths.
    ///
    /// # Errors
    /// The errors of `lexmill._data.documents.opened_documents`.
    pub(super) fn of(files: &Bound<'_, PyAny>, separator: Option<&str>, errors: &str) -> PyResult<Self> {
        utf8_errors(errors)?;
        let names = files.py().import("lexmill._data.documents")?;
        names.call_method1("opened_documents", (files, separator, errors))?.extract().map(Self)
    }

    /// The files for the core.
    pub(super) fn files(&self) -> Vec<DocumentFile> {
        let file = |file: &OpenedDocument| match file {
            OpenedDocument::Records(source) => DocumentFile::Records(source.get().input_source()),
            OpenedDocument::Text(path) => DocumentFile::Text(path.clone()),
        };
        self.0.iter().map(file).collect()
    }

    /// True if all inputs are regular files or files of a store: no pipe or other stream.
    pub(super) fn can_be_read_again(&self) -> bool {
        let is_file = |path: &Path| path.is_file() || url_of(path).is_some();
        let are_files = |source: &PyFileSource| {
            let paths = source.paths();
            !paths.is_empty() && paths.iter().all(|path| is_file(Path::new(path)))
        };
        self.0.iter().all(|file| match file {
            OpenedDocument::Records(source) => are_files(source.get()),
            OpenedDocument::Text(path) => is_file(path),
        })
    }

    /// Warns of the records that were left out.
    pub(super) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        self.0.iter().try_for_each(|file| match file {
            OpenedDocument::Records(source) => warn_of_skipped(py, source),
            OpenedDocument::Text(_) => Ok(()),
        })
    }
}

/// The kind of a file that begins with these bytes, as the end of a sentence; None if they may be text.
#[pyfunction]
pub(super) fn binary_start(start: &[u8]) -> Option<&'static str> {
    binary_format(start)
}

/// True if a path is a URL such as `s3://bucket/key`.
#[pyfunction]
pub(super) fn is_url(path: PathBuf) -> bool {
    url_of(&path).is_some()
}

/// True if no mark tells two versions of a file apart, each a list such as `etag abc; modified 1795790400`.
#[pyfunction]
#[pyo3(signature = (then, now))]
pub(super) fn is_same_version(then: Option<&str>, now: Option<&str>) -> bool {
    remote::is_same_version(then, now)
}

/// The path itself, which may be a URL.
#[pyfunction]
pub(super) fn input_path(path: InputPath) -> OsString {
    path.0.into_os_string()
}

/// The path itself, unless it is a URL.
#[pyfunction]
pub(super) fn local_path(path: FilePath) -> OsString {
    PathBuf::from(path).into_os_string()
}
