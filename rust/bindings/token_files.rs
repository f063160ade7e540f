//! Tokenizing to disk, as `lexmill.token_files` asks for it.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::errors::{OrRaise, exception};
use super::file_paths::FilePath;
use super::numpy_loading::load_numpy;
use super::progress::Reporter;
use super::remote::PyPartStore;
use super::sources::PyFileSource;
use super::threads::threads;
use super::token_feed::MessagesArgument;
use super::tokenizer::PyTokenizer;
use crate::corpus::inputs::InputSource;
use crate::corpus::sources::ValueKind;
use crate::token_files::{
    self, Existing, Feed, Layout, Options, Packing, PackingMethod, PartStore, RowColumn, RowIndex, Run,
    Width, arrow_batches,
};

/// Tokenizes the records of sources to the files of a folder; see `lexmill.tokenize_files`.
#[pyfunction]
#[pyo3(signature = (
    tokenizer, sources, folder, *, format, preset, begin_id, end_id, add_special_tokens, pack, packing, pad_id, pack_columns,
    validation, seed, shuffle, part_bytes, signed, columns, offsets, join, messages, existing, store, num_threads, on_progress
))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "options of a Python call")]
pub(super) fn tokenize_files(
    py: Python<'_>,
    tokenizer: &Bound<'_, PyTokenizer>,
    sources: Vec<Py<PyFileSource>>,
    folder: FilePath,
    format: &str,
    preset: Option<&str>,
    begin_id: Option<u32>,
    end_id: Option<u32>,
    add_special_tokens: bool,
    pack: Option<usize>,
    packing: &str,
    pad_id: Option<u32>,
    pack_columns: Vec<String>,
    validation: f64,
    seed: u64,
    shuffle: bool,
    part_bytes: u64,
    signed: bool,
    columns: Vec<(String, Option<String>)>,
    offsets: bool,
    join: bool,
    messages: Option<MessagesArgument>,
    existing: &str,
    store: Option<Py<PyAny>>,
    num_threads: Option<usize>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let existing = match existing {
        "refuse" => Existing::Refuse,
        "resume" => Existing::Resume,
        "overwrite" => Existing::Overwrite,
        other => {
            let message = format!("existing is {other} but must be refuse, resume or overwrite");
            return Err(exception(py, "OptionError", message));
        }
    };
    let columns = columns.into_iter().map(|(name, kind)| {
        let kind = kind.map(|kind| ValueKind::named(&kind)).transpose()?;
        Ok((name, kind))
    });
    let method = PackingMethod::named(packing).or_raise(py)?;
    let (messages, mut feed) = messages.map(MessagesArgument::parts).transpose().or_raise(py)?.unzip();
    let row_columns = pack_columns.iter().map(|name| RowColumn::named(name));
    let options = Options {
        layout: Layout::named(format, preset).or_raise(py)?,
        begin_id,
        end_id,
        add_special_tokens,
        packing: pack.map(|length| Packing { length, pad_id, method }),
        row_columns: row_columns.collect::<crate::Result<_>>().or_raise(py)?,
        validation,
        seed,
        shuffle,
        part_bytes,
        signed,
        columns: columns.collect::<crate::Result<_>>().or_raise(py)?,
        offsets,
        join,
        messages,
    };
    let store = store.map(PyPartStore);
    let (core, shared) = (tokenizer.get().core(py)?, tokenizer.get());
    let sources: Vec<InputSource> = sources.iter().map(|source| source.get().input_source()).collect();
    let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
    let (threads, folder): (_, &Path) = (threads(num_threads), &folder);
    let outcome = py.detach(|| {
        let tokenizer_json = &shared.identity()?;
        let (tokenizer, sources, options) = (&*core, &sources[..], &options);
        let store = store.as_ref().map(|store| store as &dyn PartStore);
        let run = Run { tokenizer, tokenizer_json, sources, folder, options, existing, store };
        let mut next = feed.as_mut().map(|feed| move |begin| feed.next(begin));
        let next = next.as_mut().map(|next| next as &mut Feed<'_>);
        token_files::tokenize_files(&run, next, threads, &mut |progress| reporter.report(progress))
    });
    let outcome = reporter.or_raise(py, outcome).map(drop);
    match feed {
        Some(mut feed) => feed.or_raise(outcome),
        None => outcome,
    }
}

/// Joins the Megatron files of finished runs to one pair of files in a folder; see `lexmill.merge_token_files`.
#[pyfunction]
#[pyo3(signature = (folders, out, *, overwrite, on_progress))]
pub(super) fn merge_token_files(
    py: Python<'_>,
    folders: Vec<FilePath>,
    out: FilePath,
    overwrite: bool,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
    let outcome = py.detach(|| {
        token_files::merge_token_files(&folders, &out, overwrite, &mut |progress| reporter.report(progress))
    });
    reporter.or_raise(py, outcome).map(drop)
}

/// The manifest of a folder of token files as JSON, if there is one.
#[pyfunction]
pub(super) fn read_token_manifest(py: Python<'_>, folder: FilePath) -> PyResult<Option<String>> {
    py.detach(|| token_files::read_manifest(&folder)).or_raise(py)
}

/// Puts a manifest, as JSON, into a folder of token files, in place of the one before.
#[pyfunction]
pub(super) fn write_token_manifest(py: Python<'_>, folder: FilePath, manifest: &str) -> PyResult<()> {
    py.detach(|| token_files::write_manifest(&folder, manifest)).or_raise(py)
}

/// The special ids that the post-processor puts before and after each text; None if it does more than that.
#[pyfunction]
pub(super) fn special_affixes(
    py: Python<'_>,
    tokenizer: &Bound<'_, PyTokenizer>,
) -> PyResult<Option<(Vec<u32>, Vec<u32>)>> {
    tokenizer.get().core(py)?.special_affixes().or_raise(py)
}

/// For each record batch its rows, and the bytes of the file at which offsets and values begin.
type Batches = Vec<(u64, u64, u64)>;

/// The bits of the integers in a column of lists of an Arrow stream, and where its record batches lie: for each its number of rows, and
/// the bytes of the file at which offsets and values of the column begin. The columns before it must have lists of integers, too.
#[pyfunction]
pub(super) fn arrow_stream_batches(
    py: Python<'_>,
    path: FilePath,
    column: &str,
) -> PyResult<(usize, Batches)> {
    let found = py.detach(|| arrow_batches(&path, column)).or_raise(py)?;
    Ok((found.bits, found.batches))
}

/// For each row group of a Parquet file of token files its number of rows, and of values in a column of lists.
#[pyfunction]
pub(super) fn parquet_token_groups(
    py: Python<'_>,
    path: FilePath,
    column: &str,
) -> PyResult<Vec<(u64, u64)>> {
    py.detach(|| token_files::parquet_groups(&path, column)).or_raise(py)
}

/// Ids end to end, and where rows begin and end.
type GroupArrays<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>);

/// The values of a column of lists in a row group of Parquet token files, end to end, and the places where its rows begin and end.
/// Values beyond 31 bits are negative.
#[pyfunction]
pub(super) fn parquet_token_group<'py>(
    py: Python<'py>,
    path: FilePath,
    group: usize,
    column: &str,
) -> PyResult<GroupArrays<'py>> {
    load_numpy(py)?;
    let (ids, splits) = py.detach(|| token_files::parquet_group(&path, group, column)).or_raise(py)?;
    Ok((ids.into_pyarray(py), splits.into_pyarray(py)))
}

/// Positions in a file, and numbers of bytes.
type RowArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The position and the size in bytes of the ids of each row, in a tar file of arrays of the type `dtype`.
#[pyfunction]
pub(super) fn tar_token_rows<'py>(py: Python<'py>, path: FilePath, dtype: &str) -> PyResult<RowArrays<'py>> {
    load_numpy(py)?;
    let width = Width::named(dtype).or_raise(py)?;
    let (starts, sizes) = py.detach(|| token_files::tar_rows(&path, width)).or_raise(py)?;
    Ok((starts.into_pyarray(py), sizes.into_pyarray(py)))
}

/// The position and the size in bytes of each record of an `ArrayRecord` file. A block header of 24 bytes interrupts records at every
/// multiple of 64 KiB.
#[pyfunction]
pub(super) fn array_record_rows(py: Python<'_>, path: FilePath) -> PyResult<RowArrays<'_>> {
    load_numpy(py)?;
    let (starts, sizes) = py.detach(|| token_files::array_record_rows(&path)).or_raise(py)?;
    Ok((starts.into_pyarray(py), sizes.into_pyarray(py)))
}

/// Writes the index of rows of one length over documents of these lengths to a folder, and completes its manifest, a JSON object; see
/// `lexmill.pack_tokens`.
#[pyfunction]
#[pyo3(signature = (lengths, folder, *, length, packing, seed, manifest, on_progress))]
#[expect(clippy::too_many_arguments, reason = "options of a Python call")]
pub(super) fn write_row_index(
    py: Python<'_>,
    lengths: PyReadonlyArray1<'_, u32>,
    folder: FilePath,
    length: usize,
    packing: &str,
    seed: Option<u64>,
    manifest: &str,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let index = RowIndex { length, method: PackingMethod::named(packing).or_raise(py)?, seed };
    let (lengths, folder): (&[u32], &Path) = (lengths.as_slice()?, &folder);
    let mut reporter = on_progress.map_or_else(Reporter::silent, Reporter::to);
    let outcome =
        py.detach(|| index.write(lengths, folder, manifest, &mut |progress| reporter.report(progress)));
    reporter.or_raise(py, outcome)
}
