//! Rows of one length as ranges of tokens that are written already.
//!
//! An index has two NPY files. `slices.npy` has the slices of all rows one after the other: document, first token in it, and the token
//! after the last one. `row_splits.npy` has the number of slices before each row, and of all. The last slices of a window wait for
//! their rows, so memory does not grow with the documents.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::counts::PackedCounts;
use super::layouts::{HEADER, header};
use super::manifest_file::{NAMES, write_manifest};
use super::packing::EndToEnd;
use super::packing_options::{PackingMethod, check_row_length};
use super::part_file::FileEntry;
use super::part_file::PartFile;
use super::paths::remove;
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

    /// Brings the files to the disk; answers their entries in the manifest.
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
        let mut rows = RowWriter::new(*self, folder)?;
        let total = lengths.len() as u64;
        let order = self.seed.map(|seed| Permutation::new(total, seed));
        for at in 0..total {
            if at % REPORTED == 0 {
                on_progress(Progress { stage: STAGE, done: at, total })?;
            }
            let document = order.map_or(at, |order| order.at(at));
            rows.push(document, lengths[document as usize])?;
        }
        let (sums, files) = rows.finish()?;
        on_progress(Progress { stage: STAGE, done: total, total })?;
        // Without a manifest the folder holds no index.
        NAMES.iter().try_for_each(|name| remove(&folder.join(name)))?;
        manifest.insert("total".to_owned(), sums);
        manifest.insert("files".to_owned(), json!(files.finish(folder)?));
        let json = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Custom(Box::new(error)))?;
        write_manifest(folder, &format!("{json}\n"))
    }
}

/// Divides documents among rows.
struct RowWriter {
    index: RowIndex,
    files: IndexFiles,
    /// Slices that wait for their rows.
    window: Vec<Slice>,
    /// Tokens of the last row, end to end.
    filled: u64,
    end_to_end: EndToEnd,
    documents: u64,
    tokens: u64,
}

impl RowWriter {
    fn new(index: RowIndex, folder: &Path) -> Result<Self> {
        let (files, window, end_to_end) = (IndexFiles::create(folder)?, Vec::new(), EndToEnd::default());
        Ok(Self { index, files, window, filled: 0, end_to_end, documents: 0, tokens: 0 })
    }

    /// Adds a document, unless it has no tokens.
    fn push(&mut self, document: u64, tokens: u32) -> Result<()> {
        if tokens == 0 {
            return Ok(());
        }
        let length = self.index.length as u32;
        self.documents += 1;
        self.tokens += u64::from(tokens);
        self.end_to_end.push(u64::from(tokens), u64::from(length));
        if self.index.method == PackingMethod::Concat {
            return self.push_end_to_end(document, tokens);
        }
        self.files.counts.cut_documents += u64::from(tokens > length);
        for start in (0..tokens).step_by(self.index.length) {
            self.window.push(Slice { document, start, end: tokens.min(start.saturating_add(length)) });
            if self.window.len() == WINDOW {
                self.pack_window()?;
            }
        }
        Ok(())
    }

    fn push_end_to_end(&mut self, document: u64, tokens: u32) -> Result<()> {
        let (length, mut start) = (self.index.length as u64, 0);
        while start < tokens {
            let taken = u64::from(tokens - start).min(length - self.filled);
            let end = start + taken as u32;
            self.files.push(Slice { document, start, end })?;
            start = end;
            self.filled = (self.filled + taken) % length;
            if self.filled == 0 {
                self.files.end_row(0)?;
            }
        }
        Ok(())
    }

    fn pack_window(&mut self) -> Result<()> {
        let lengths: Vec<u32> = self.window.iter().map(|slice| slice.end - slice.start).collect();
        let is_decreasing = self.index.method == PackingMethod::BestFitDecreasing;
        let bins = Bins::best_fit(&lengths, self.index.length as u32, is_decreasing);
        for row in bins.iter() {
            let mut filled = 0;
            for &slice in row {
                filled += u64::from(lengths[slice as usize]);
                self.files.push(self.window[slice as usize])?;
            }
            self.files.end_row(self.index.length as u64 - filled)?;
        }
        self.window.clear();
        Ok(())
    }

    /// Ends the last rows; answers the sums, and the files, which lack their headers.
    fn finish(mut self) -> Result<(Value, IndexFiles)> {
        let length = self.index.length as u64;
        if self.filled > 0 {
            self.files.end_row(length - self.filled)?;
        }
        self.pack_window()?;
        let counts = &mut self.files.counts;
        if self.index.method == PackingMethod::Concat {
            counts.cut_documents = self.end_to_end.cut;
        } else {
            counts.concat_cut_documents = self.end_to_end.cut;
            counts.concat_padding_tokens = self.end_to_end.padding(length);
        }
        let mut sums = json!(counts);
        sums["documents"] = self.documents.into();
        sums["tokens"] = self.tokens.into();
        Ok((sums, self.files))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::token_files::packing::{PackedRow, Packer};
    use crate::token_files::packing_options::Packing;

    /// The 64-bit integers of an NPY file.
    fn integers(path: &Path) -> Vec<u64> {
        let bytes = std::fs::read(path).expect("it is there");
        let words = bytes[HEADER..].as_chunks::<8>().0;
        words.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    /// The slices of each row of an index, and the sums of its manifest.
    fn written(index: RowIndex, lengths: &[u32]) -> (Vec<Vec<[u64; 3]>>, Value) {
        let folder = tempfile::tempdir().expect("room on the disk");
        index.write(lengths, folder.path(), "{}", &mut |_| Ok(())).expect("room on the disk");
        let slices = integers(&folder.path().join("slices.npy"));
        let splits = integers(&folder.path().join("row_splits.npy"));
        let slices = slices.as_chunks::<3>().0;
        let rows = splits.windows(2).map(|ends| slices[ends[0] as usize..ends[1] as usize].to_vec());
        let manifest = std::fs::read(folder.path().join(NAMES[0])).expect("it is there");
        let manifest: Value = serde_json::from_slice(&manifest).expect("it is JSON");
        (rows.collect(), manifest["total"].clone())
    }

    #[test]
    fn golden_cases() {
        let golden: Value =
            serde_json::from_str(include_str!("../../tests/golden/packing.json")).expect("the file is JSON");
        for case in golden["cases"].as_array().expect("there are cases") {
            let numbers = |value: &Value| serde_json::from_value::<Vec<u32>>(value.clone()).expect("lengths");
            let method = PackingMethod::named(case["packing"].as_str().expect("a name")).expect("a method");
            let length = case["length"].as_u64().expect("a length") as usize;
            let (rows, _) = written(RowIndex { length, method, seed: None }, &numbers(&case["lengths"]));
            assert_eq!(json!(rows), case["rows"], "{}", case["name"]);
        }
    }

    #[test]
    fn a_full_window_is_packed_before_the_next() {
        let index = RowIndex { length: 10, method: PackingMethod::BestFit, seed: None };
        let (rows, _) = written(index, &vec![3; WINDOW + 5]);
        let whole = WINDOW / 3;
        let sizes: Vec<usize> = rows[whole - 1..].iter().map(Vec::len).collect();
        // The last row of the window, and the rows of the other five.
        assert_eq!(sizes, [3, WINDOW % 3, 3, 2]);
    }

    proptest! {
        #![proptest_config(cases(60))]

        #[test]
        fn rows_of_an_index_are_rows_of_files(
            lengths in prop::collection::vec(0..30u32, 0..40),
            length in 1..20usize,
            seed in prop::option::of(any::<u64>()),
            method in prop::sample::select(vec![PackingMethod::Concat, PackingMethod::BestFit, PackingMethod::BestFitDecreasing]),
        ) {
            let (rows, sums) = written(RowIndex { length, method, seed }, &lengths);
            let total = lengths.len() as u64;
            let order: Vec<u64> = (0..total).map(|at| seed.map_or(at, |seed| Permutation::new(total, seed).at(at))).collect();
            // Each token is its document and its place there; zeros are padding.
            let ids = |document: u64, start: u64, end: u64| -> Vec<u8> {
                (start..end).flat_map(|at| ((document as u32) << 8 | (at as u32 + 1)).to_le_bytes()).collect()
            };
            let mut packer = Packer::new(Packing { length, pad_id: Some(0), method }, 4);
            let mut expected = Vec::new();
            let mut emit = |row: PackedRow<'_>| {
                expected.push(row.ids[..row.ids.len() - row.padding * 4].to_vec());
                Ok(())
            };
            for &document in &order {
                packer.push(&ids(document, 0, u64::from(lengths[document as usize])), &mut emit).expect("nothing fails");
            }
            let (counts, _) = packer.finish(&mut emit).expect("nothing fails");
            let ids_of = |row: &Vec<[u64; 3]>| row.iter().flat_map(|&[document, start, end]| ids(document, start, end)).collect();
            prop_assert_eq!(rows.iter().map(ids_of).collect::<Vec<Vec<u8>>>(), expected);
            let mut counts = json!(counts);
            counts["documents"] = lengths.iter().filter(|&&length| length > 0).count().into();
            counts["tokens"] = lengths.iter().sum::<u32>().into();
            prop_assert_eq!(sums, counts);
        }
    }
}
