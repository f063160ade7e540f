//! Rows of one length as ranges of tokens that are written already.
//!
//! An index has two NPY files. `slices.npy` has the slices of all rows one after the other: document, first token in it, and the token
//! after the last one. `row_splits.npy` has the number of slices before each row, and of all. The last slices of a window wait for
//! their rows, so memory does not grow with the documents.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::layouts::{HEADER, header, remove};
use super::manifest::FileEntry;
use super::manifest_file::{NAMES, write_manifest};
use super::options::{PackingMethod, check_row_length};
use super::packing::{EndToEnd, PackedCounts};
use super::part_file::PartFile;
use super::permutation::Permutation;
use crate::structures::atomic_file;
use crate::structures::best_fit::Bins;
use crate::structures::folder_lock::FolderLock;
use crate::structures::parallel::{OnProgress, Progress};
use crate::{Error, Result};

/// The stage that progress reports.
const STAGE: &str = "pack";

/// Slices that are packed together at most.
const WINDOW: usize = 1 << 20;

/// Documents from one report of progress to the next.
const REPORTED: u64 = 1 << 16;

/// The rows of an index: their length, and the order and division of documents.
#[derive(Clone, Copy, Debug)]
pub struct RowIndex {
    /// Tokens of a row.
    pub length: usize,
    /// How documents are divided among rows.
    pub method: PackingMethod,
    /// Decides the order of documents; without it they come in their own.
    pub seed: Option<u64>,
}

/// The tokens of a document from `start` to `end`, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    document: u64,
    start: u32,
    end: u32,
}

/// The files of an index that is being written.
struct IndexFiles {
    slices: PartFile,
    splits: PartFile,
    /// Slices that are written.
    written: u64,
    counts: PackedCounts,
}

impl IndexFiles {
    fn create(folder: &Path) -> Result<Self> {
        let create = |name: &str| PartFile::create(folder.join(name), HEADER);
        let mut files = Self {
            slices: create("slices.npy")?,
            splits: create("row_splits.npy")?,
            written: 0,
            counts: PackedCounts::default(),
        };
        files.splits.append(&0u64.to_le_bytes())?;
        Ok(files)
    }

    fn push(&mut self, slice: Slice) -> Result<()> {
        self.written += 1;
        let numbers = [slice.document, u64::from(slice.start), u64::from(slice.end)];
        numbers.iter().try_for_each(|number| self.slices.append(&number.to_le_bytes()))
    }

    fn end_row(&mut self, padding: u64) -> Result<()> {
        self.counts.rows += 1;
        self.counts.padding_tokens += padding;
        self.splits.append(&self.written.to_le_bytes())
    }

    /// Brings the files to the disk; answers their entries in a manifest.
    fn finish(self, folder: &Path) -> Result<BTreeMap<&'static str, FileEntry>> {
        let (slices, rows) = (self.written, self.counts.rows + 1);
        let mut files = [
            ("slices.npy", self.slices, header("<i8", &format!("({slices}, 3)"))),
            ("row_splits.npy", self.splits, header("<i8", &format!("({rows},)"))),
        ];
        let mut entries = BTreeMap::new();
        for (name, file, header) in &mut files {
            entries.insert(*name, file.sync(header)?);
        }
        files.into_iter().try_for_each(|(_, file, _)| file.rename())?;
        atomic_file::sync_folder(folder).map_err(Error::io("sync", folder))?;
        Ok(entries)
    }
}

impl RowIndex {
    /// Writes the index of documents of these lengths to a folder, in place of the one before, and completes its manifest, a JSON
    /// object, by sums and files. Zeros are documents without tokens.
    ///
    /// # Errors
    /// [`Error::InvalidOption`], [`Error::Io`]; [`Error::Output`] if another process writes to the folder; the errors of `on_progress`.
    pub fn write(
        &self,
        lengths: &[u32],
        folder: &Path,
        manifest: &str,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        check_row_length("length", self.length)?;
        let mut manifest: Map<String, Value> =
            serde_json::from_str(manifest).map_err(|error| Error::Custom(Box::new(error)))?;
        let _lock = FolderLock::take(folder)?;
        let mut files = IndexFiles::create(folder)?;
        let sums = self.write_rows(lengths, &mut files, on_progress)?;
        // Without a manifest the folder holds no index.
        NAMES.iter().try_for_each(|name| remove(&folder.join(name)))?;
        manifest.insert("total".to_owned(), sums);
        manifest.insert("files".to_owned(), json!(files.finish(folder)?));
        let json = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Custom(Box::new(error)))?;
        write_manifest(folder, &format!("{json}\n"))
    }

    /// Writes all rows; answers their sums.
    fn write_rows(
        &self,
        lengths: &[u32],
        files: &mut IndexFiles,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Value> {
        let mut end_to_end = EndToEnd::default();
        let (mut window, total, row) = (Vec::new(), lengths.len() as u64, self.length as u64);
        let order = self.seed.map(|seed| Permutation::new(total, seed));
        let (mut documents, mut tokens, mut filled) = (0u64, 0, 0);
        for at in 0..total {
            if at % REPORTED == 0 {
                on_progress(Progress { stage: STAGE, done: at, total })?;
            }
            let document = order.map_or(at, |order| order.at(at));
            let length = lengths[document as usize];
            if length == 0 {
                continue;
            }
            documents += 1;
            tokens += u64::from(length);
            end_to_end.push(u64::from(length), row);
            files.counts.cut_documents += u64::from(u64::from(length) > row);
            let mut start = 0;
            while start < length {
                let room = if self.method == PackingMethod::Concat { row - filled } else { row };
                let taken = room.min(u64::from(length - start)) as u32;
                let slice = Slice { document, start, end: start + taken };
                start += taken;
                if self.method == PackingMethod::Concat {
                    files.push(slice)?;
                    filled = (filled + u64::from(taken)) % row;
                    if filled == 0 {
                        files.end_row(0)?;
                    }
                } else {
                    window.push(slice);
                    if window.len() == WINDOW {
                        self.pack_window(&mut window, files)?;
                    }
                }
            }
        }
        if filled > 0 {
            files.end_row(row - filled)?;
        }
        self.pack_window(&mut window, files)?;
        if self.method == PackingMethod::Concat {
            files.counts.cut_documents = end_to_end.cut;
        } else {
            files.counts.concat_cut_documents = end_to_end.cut;
            files.counts.concat_padding_tokens = end_to_end.padding(row);
        }
        let mut sums = json!(files.counts);
        sums["documents"] = documents.into();
        sums["tokens"] = tokens.into();
        on_progress(Progress { stage: STAGE, done: total, total })?;
        Ok(sums)
    }

    fn pack_window(&self, window: &mut Vec<Slice>, files: &mut IndexFiles) -> Result<()> {
        let lengths: Vec<u32> = window.iter().map(|slice| slice.end - slice.start).collect();
        let is_decreasing = self.method == PackingMethod::BestFitDecreasing;
        let bins = Bins::best_fit(&lengths, self.length as u32, is_decreasing);
        for row in bins.iter() {
            let mut filled = 0;
            for &slice in row {
                filled += u64::from(lengths[slice as usize]);
                files.push(window[slice as usize])?;
            }
            files.end_row(self.length as u64 - filled)?;
        }
        window.clear();
        Ok(())
    }
}
