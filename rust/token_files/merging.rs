//! Folders of several runs that become one pair of files, as of one run over all their sources.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;
use serde_json::{Value, json};

use super::counts::Counts;
use super::existing::{other_file, remove_all};
use super::joining::{Stream, index_file};
use super::layout::Layout;
use super::layouts::{documents_of, open_lengths};
use super::manifest::{Manifest, Part};
use super::part_file::FileEntry;
use super::part_file::{PartFile, temporary};
use super::paths::{SPLITS, joined, within};
use super::width::Width;
use crate::corpus::inputs::Place;
use crate::structures::atomic_file;
use crate::structures::folder_lock::FolderLock;
use crate::structures::parallel::{OnProgress, Progress};
use crate::{Error, Result};

/// The stage that progress reports.
const STAGE: &str = "merge";

/// Bytes that are copied at a time.
const BLOCK: usize = 1 << 20;

/// The options that all folders have to share.
const SHARED: [&str; 5] = ["format", "dtype", "begin_token", "end_token", "add_special_tokens"];

/// Joins the Megatron files of finished runs, in the order of `folders`, to one pair of files in `out`, or one for each split.
///
/// Memory does not grow with the files. The folders stay as they are. A merge that was cut short begins again.
///
/// # Errors
/// [`Error::Output`] for a folder whose run is not finished or has other files than `megatron`, that was made by another tokenizer or with
/// other options than the first, or whose files are not as they were written; also if `out` holds something, unless it holds token files
/// and is to be overwritten; [`Error::InvalidOption`] without folders; [`Error::Io`].
pub fn merge_token_files(
    folders: &[PathBuf],
    out: &Path,
    is_overwriting: bool,
    on_progress: &mut OnProgress<'_>,
) -> Result<Counts> {
    let runs = folders.iter().map(|folder| finished(folder)).collect::<Result<Vec<_>>>()?;
    let Some(first) = runs.first() else {
        let (value, expected) = ("empty".to_owned(), "at least one folder".to_owned());
        return Err(Error::InvalidOption { name: "folders", value, expected });
    };
    for (folder, run) in folders.iter().zip(&runs) {
        check_alike(folder, run, first)?;
    }
    let width = match first.options["dtype"].as_str() {
        Some("uint16") => Width::U16,
        _ => Width::I32,
    };
    let mut manifest = planned(first, &runs);
    fs::create_dir_all(out).map_err(Error::io("create", out))?;
    if folders.iter().any(|folder| is_same(folder, out)) {
        return Err(refused(out, "it is one of the folders that are merged; choose a folder of its own"));
    }
    let _lock = FolderLock::take(out)?;
    prepare(out, &manifest, is_overwriting)?;
    let total = manifest.total.take().unwrap_or_default();
    let splits: &[&'static str] = if is_split(first) { &SPLITS } else { &[""] };
    let bytes = runs.iter().flat_map(|run| entries(run).into_iter().map(|(_, entry)| entry.bytes)).sum();
    let mut done = 0;
    let mut report = |copied| {
        done += copied;
        on_progress(Progress { stage: STAGE, done, total: bytes })
    };
    for split in splits {
        let names = Stream { split, loss: None }.files(Layout::Megatron);
        let merged = merge_split(folders, &runs, split, out, &names, width, &mut report)?;
        manifest.files.extend(names.into_iter().zip(merged));
    }
    manifest.total = Some(total);
    manifest.write(out)?;
    on_progress(Progress { stage: STAGE, done: bytes, total: bytes })?;
    Ok(total)
}

fn refused(path: &Path, message: impl Into<String>) -> Error {
    Error::Output { path: path.to_owned(), message: message.into() }
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The manifest of a finished run.
fn finished(folder: &Path) -> Result<Manifest> {
    let manifest = Manifest::read(folder)?.ok_or_else(|| refused(folder, "it holds no token files"))?;
    if manifest.total.is_none() {
        return Err(refused(folder, "its run is not finished; pass resume=True to tokenize_files"));
    }
    Ok(manifest)
}

/// Refuses a run whose files cannot be merged with the files of the first run.
fn check_alike(folder: &Path, run: &Manifest, first: &Manifest) -> Result<()> {
    let option = |run: &Manifest, name: &str| run.options.get(name).cloned().unwrap_or(Value::Null);
    let format = option(run, "format");
    if format != "megatron" {
        return Err(refused(folder, format!("its format is {format}, but only megatron files are merged")));
    }
    if !option(run, "messages").is_null() {
        return Err(refused(folder, "it has loss masks, but only files without masks are merged"));
    }
    if run.tokenizer != first.tokenizer {
        let message =
            format!("its tokenizer is {} but that of the first folder is {}", run.tokenizer, first.tokenizer);
        return Err(refused(folder, message));
    }
    for name in SHARED {
        let (is, was) = (option(run, name), option(first, name));
        if is != was {
            return Err(refused(folder, format!("its {name} is {is} but that of the first folder is {was}")));
        }
    }
    if is_split(run) != is_split(first) {
        return Err(refused(folder, "only some of the folders have documents for validation"));
    }
    Ok(())
}

fn is_split(run: &Manifest) -> bool {
    run.options.get("validation").and_then(Value::as_f64).is_some_and(|share| share > 0.0)
}

/// The manifest of the merged files: the runs are its parts.
fn planned(first: &Manifest, runs: &[Manifest]) -> Manifest {
    let mut options = first.options.clone();
    options["join"] = json!(true);
    options["merged"] = json!(runs.len());
    let inputs = runs.iter().flat_map(|run| run.inputs.clone()).collect();
    let mut manifest = Manifest::new(first.tokenizer.clone(), options, inputs);
    let mut file = 0;
    for run in runs {
        let (begin, counts) = (Place { file, byte: 0 }, run.total.unwrap_or_default());
        file += run.inputs.len();
        manifest.parts.push(Part { begin, end: Place { file, byte: 0 }, counts, files: BTreeMap::new() });
    }
    let add = |sum: Counts, part: &Part| sum.checked_add(part.counts);
    manifest.total = manifest.parts.iter().try_fold(Counts::default(), add);
    manifest
}

/// Makes `out` ready: nothing is in it but the manifest of this merge.
fn prepare(out: &Path, planned: &Manifest, is_overwriting: bool) -> Result<()> {
    match Manifest::read(out)? {
        None => {
            if let Some(other) = other_file(out)? {
                let message = format!("it holds {other}, which is no token file; choose a folder of its own");
                return Err(refused(out, message));
            }
        }
        Some(found) if is_overwriting || (found.total.is_none() && found.options.get("merged").is_some()) => {
            remove_all(out, &found)?;
        }
        Some(_) => return Err(refused(out, "it holds token files; pass overwrite=True to begin again")),
    }
    Manifest { total: None, parts: Vec::new(), ..planned.clone() }.write(out)
}

/// All files of a run with their names, in the order of documents.
fn entries(run: &Manifest) -> Vec<(&String, &FileEntry)> {
    run.parts.iter().flat_map(|part| &part.files).chain(&run.files).collect()
}

/// The lengths of all documents of a split, while these are merged.
fn lengths_path(out: &Path, split: &str) -> PathBuf {
    out.join(joined(split, "tokens.lengths"))
}

/// Merges the pairs of one split; answers the two files.
fn merge_split(
    folders: &[PathBuf],
    runs: &[Manifest],
    split: &str,
    out: &Path,
    names: &[String],
    width: Width,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<[FileEntry; 2]> {
    let target = out.join(&names[0]);
    let within_split = target.parent().unwrap_or(out);
    fs::create_dir_all(within_split).map_err(Error::io("create", within_split))?;
    let mut ids = PartFile::create(target.clone(), 0)?;
    let mut lengths = PartFile::create(lengths_path(out, split), 0)?;
    let mut documents = 0;
    for (folder, run) in folders.iter().zip(runs) {
        for (name, entry) in entries(run) {
            let path = folder.join(name);
            if within(split, name).is_none() {
                continue;
            }
            match path.extension().and_then(|suffix| suffix.to_str()) {
                Some("bin") => copy(&path, entry, Some(&mut ids), report)?,
                Some("idx") => {
                    copy(&path, entry, None, report)?;
                    let count = documents_of(entry.bytes);
                    let damaged = || refused(&path, "it is not as it was written");
                    let index = open_lengths(&path, width, count)?.ok_or_else(damaged)?;
                    append(&path, index.take(count * 4), &mut lengths)?;
                    documents += count;
                }
                _ => {}
            }
        }
    }
    let entry = ids.sync(&[])?;
    lengths.sync(&[])?;
    let index = index_file(out.join(&names[1]), width, documents, &temporary(lengths.path()))?;
    ids.rename()?;
    atomic_file::sync_folder(within_split).map_err(Error::io("sync", within_split))?;
    Ok([entry, index])
}

fn append(path: &Path, mut source: impl Read, target: &mut PartFile) -> Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        let read = source.read(&mut block);
        match read.map_err(Error::io("read", path))? {
            0 => return Ok(()),
            read => target.append(&block[..read])?,
        }
    }
}

/// Reads a file, and copies it if a `target` is given. Compares the file's size and checksum with its entry in the manifest.
fn copy(
    path: &Path,
    entry: &FileEntry,
    mut target: Option<&mut PartFile>,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let failed = Error::io("read", path);
    let mut file = BufReader::with_capacity(0, File::open(path).map_err(failed)?);
    let (mut block, mut crc, mut bytes) = (vec![0; BLOCK], Crc::new(), 0);
    loop {
        let read = file.read(&mut block).map_err(failed)?;
        if read == 0 {
            break;
        }
        crc.update(&block[..read]);
        bytes += read as u64;
        target.as_mut().map_or(Ok(()), |target| target.append(&block[..read]))?;
        report(read as u64)?;
    }
    if (bytes, format!("{:08x}", crc.sum())) == (entry.bytes, entry.crc32.clone()) {
        return Ok(());
    }
    Err(refused(path, "it is not as it was written"))
}
