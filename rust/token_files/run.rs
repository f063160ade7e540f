//! The run: parts, then the files around them.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::counts::Counts;
use super::encoding::{BlockEncoder, EncodedBlock};
use super::feed::{Feed, for_each_fed};
use super::folder_files::finish_folder;
use super::joining::{Stream, is_joined, join_parts};
use super::layouts::PartKind;
use super::manifest::{Manifest, fnv_1a};
use super::options::Options;
use super::part_store::PartStore;
use super::parts::{Document, PartsFinisher, PartsWriter, too_many_tokens};
use super::shuffle::{MERGING, RunsWriter, merge_runs};
use crate::corpus::inputs::{FileBlock, FilesReader, InputFile, InputSource, Place, input_files};
use crate::corpus::sources::{AddedColumn, added_columns};
use crate::structures::folder_lock::FolderLock;
use crate::structures::parallel::{OnProgress, Parallelism, Progress, bounded_for_each, with_background};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};

const STAGE: &str = "tokenize";

/// Blocks a thread may be ahead of the one that is written.
const BLOCKS_AHEAD: usize = 8;

/// The treatment of a folder that holds token files already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse it.
    Refuse,
    /// Write the parts that are missing, if everything else is as it was.
    Resume,
    /// Remove them and begin again.
    Overwrite,
}

/// A run: its tokenizer, sources, folder and options.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The tokenizer.
    pub tokenizer: &'a Tokenizer,
    /// The contents of the tokenizer's file, which identify the tokenizer.
    pub tokenizer_json: &'a str,
    /// The records, in order.
    pub sources: &'a [InputSource],
    /// The folder of the files.
    pub folder: &'a Path,
    /// The options of the files.
    pub options: &'a Options,
    /// The treatment of a folder that holds token files already.
    pub existing: Existing,
    /// Takes the files of finished parts. The caller has compared the files in the store with a manifest that is in the folder.
    pub store: Option<&'a dyn PartStore>,
}

/// Tokenizes all records of some sources to files.
///
/// The files depend on the sources, the tokenizer and the options alone. Memory does not grow with the sources; one record and its
/// ids have to fit. Progress counts bytes of the input files whose ids are written.
///
/// With a `feed`, the documents come from the feed, which reads the files of the sources itself.
///
/// # Errors
/// [`Error::Output`] if the folder cannot be used; [`Error::Io`] with the file in question; the errors of the options, of reading
/// and of encoding, and of `feed`. Finished parts remain, for a run that resumes.
pub fn tokenize_files(
    run: &Run<'_>,
    feed: Option<&mut Feed<'_>>,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
) -> Result<Counts> {
    run.options.check(run.tokenizer)?;
    let width = run.options.width(run.tokenizer);
    let files = input_files(run.sources);
    files.iter().try_for_each(InputFile::check)?;
    let inputs = files.iter().map(|file| file.input.clone()).collect();
    let sources: Vec<_> = run.sources.iter().map(|input| Arc::clone(&input.source)).collect();
    let columns: Arc<[AddedColumn]> = added_columns(&sources, &run.options.columns)?.into();
    let options = run.options.to_json(width, &columns);
    let planned = Manifest::new(fingerprint(run.tokenizer_json), options, inputs);
    fs::create_dir_all(run.folder).map_err(Error::io("create", run.folder))?;
    let _lock = FolderLock::take(run.folder)?;
    let mut manifest = run.prepare(planned)?;
    if let Some(total) = manifest.total {
        run.clean_up_after(&manifest)?;
        return Ok(total);
    }
    run.store.map_or(Ok(()), PartStore::begin).map_err(Error::io("store", run.folder))?;
    let row_length = run.options.packing.map(|packing| packing.length);
    let (layout, offsets) = (run.options.layout, run.options.offsets);
    let row_columns = &run.options.all_row_columns();
    let loss = run.options.messages.as_ref().map(|messages| messages.loss);
    let kind = PartKind { layout, width, row_length, row_columns, added: &columns, offsets, loss };
    let sources = files.iter().map(|file| file.input.path.clone()).collect();
    // Parts that will be joined stay in the folder.
    let store = run.store.filter(|_| !is_joined(run.options));
    let mut finished = PartsFinisher::new(run.folder, run.options, store, manifest.parts.clone())?;
    let done = with_background(
        |part| finished.finish(part),
        |finisher| {
            let (folder, options) = (run.folder, run.options);
            let mut parts = PartsWriter::new(folder, options, kind, sources, &manifest.parts, finisher);
            if run.options.shuffle {
                run.write_shuffled(&files, &mut parts, feed, threads, on_progress)
            } else {
                run.write_in_order(&files, &mut parts, feed, threads, on_progress)
            }
        },
    )?;
    manifest.parts = finished.parts;
    on_progress(done)?;
    let total = manifest.parts.iter().try_fold(Counts::default(), |sum, part| sum.checked_add(part.counts));
    let total = total.ok_or_else(too_many_tokens)?;
    let splits = run.options.split_names();
    manifest.files = finish_folder(kind, run.folder, splits, &manifest)?;
    if is_joined(run.options) {
        let streams = &Stream::of_run(run.options);
        manifest.files = join_parts(run.folder, layout, width, streams, &manifest.parts, on_progress)?;
        manifest.parts.iter_mut().for_each(|part| part.files.clear());
    }
    manifest.total = Some(total);
    manifest.write(run.folder)?;
    run.clean_up_after(&manifest)?;
    Ok(total)
}

impl Run<'_> {
    /// Writes documents to parts as they come; answers the last report.
    fn write_in_order(
        &self,
        files: &[InputFile],
        parts: &mut PartsWriter<'_, '_>,
        feed: Option<&mut Feed<'_>>,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Progress> {
        let (kind, begin, total) = (parts.kind, parts.begin(), total_bytes(files));
        let push = |document: Document<'_>| parts.push(document);
        let skipped = self.for_each_document(files, kind, begin, feed, threads, on_progress, push)?;
        parts.add_unwritten(0, skipped);
        parts.finish(Place { file: files.len(), byte: 0 })?;
        Ok(Progress { stage: STAGE, done: total, total })
    }

    /// Sorts documents in runs on the disk, then writes the runs, merged, to parts; answers the last report.
    fn write_shuffled(
        &self,
        files: &[InputFile],
        parts: &mut PartsWriter<'_, '_>,
        feed: Option<&mut Feed<'_>>,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Progress> {
        let (begin, end) = (parts.begin(), Place { file: files.len(), byte: 0 });
        if begin == end {
            return Ok(Progress { stage: MERGING, done: 0, total: 0 });
        }
        let Options { seed, part_bytes, .. } = *self.options;
        let mut runs = RunsWriter::open(self.folder, seed, part_bytes)?;
        if runs.end() < end {
            let (kind, first, total) = (parts.kind, runs.end(), total_bytes(files));
            let push = |document: Document<'_>| runs.push(document);
            let skipped = self.for_each_document(files, kind, first, feed, threads, on_progress, push)?;
            runs.add_skipped(skipped);
            runs.finish(end)?;
            on_progress(Progress { stage: STAGE, done: total, total })?;
        }
        let begin = if parts.is_first() { None } else { Some(begin) };
        if begin.is_none() {
            let (empty, skipped) = runs.unwritten();
            parts.add_unwritten(empty, skipped);
        }
        let push = |document: Document<'_>| parts.push(document);
        let total = merge_runs(self.folder, &runs, seed, begin, files.len(), push, on_progress)?;
        parts.finish(end)?;
        Ok(Progress { stage: MERGING, done: total, total })
    }

    /// Calls `push` with the documents of all records from `begin` on, in their order; answers how many broken records come after
    /// the last document.
    #[expect(clippy::too_many_arguments, reason = "one call for documents of all origins")]
    fn for_each_document(
        &self,
        files: &[InputFile],
        kind: PartKind<'_>,
        begin: Place,
        feed: Option<&mut Feed<'_>>,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
        mut push: impl FnMut(Document<'_>) -> Result<()>,
    ) -> Result<u64> {
        let total = total_bytes(files);
        if let Some(feed) = feed {
            let before = bytes_before(files);
            let report = |file: usize, read| {
                let size = files[file].input.bytes.unwrap_or(0);
                on_progress(Progress { stage: STAGE, done: before[file] + size.min(read), total })
            };
            return for_each_fed(feed, files, kind, begin, push, report);
        }
        let encoder = BlockEncoder::new(self.tokenizer, self.options, files, kind.width, begin, kind.added)?;
        let mut reader = FilesReader::new(files, begin).keeping(kind.added.into());
        self.tokenizer.pipeline().prepare(total as usize, threads);
        let (on_progress, done) = (RefCell::new(on_progress), RefCell::new(Done::new(files, begin)));
        let report = || {
            let progress = Progress { stage: STAGE, done: done.borrow().bytes().min(total), total };
            (*on_progress.borrow_mut())(progress)
        };
        let (mut skipped, mut file) = (0, begin.file);
        let take = |block: EncodedBlock| {
            let (mut start, mut added_start) = (0, 0);
            while file < block.file {
                skipped += files[file].skipped.take_before(u64::MAX).len() as u64;
                file += 1;
            }
            let mut broken = files[file].skipped.take_before(block.end).into_iter().peekable();
            for (at, &(byte, end)) in block.documents.iter().enumerate() {
                let place = Place { file: block.file, byte };
                let added_end = block.added_ends.get(at).copied().unwrap_or(0);
                let added = &block.added[std::mem::replace(&mut added_start, added_end)..added_end];
                while broken.next_if(|&at| at < byte).is_some() {
                    skipped += 1;
                }
                push(Document {
                    place,
                    ids: &block.ids[start..end],
                    added,
                    skipped: std::mem::take(&mut skipped),
                })?;
                start = end;
            }
            skipped += broken.count() as u64;
            done.borrow_mut().add(&block);
            encoder.reuse(block);
            report()
        };
        let parallelism = Parallelism { threads, interrupt: Some(&report) };
        let work = |_, block: &mut FileBlock, state: &mut Option<_>| {
            let (text_encoder, scratch) = match state {
                Some(state) => state,
                none => none.insert(encoder.start()?),
            };
            encoder.encode(block, text_encoder, scratch)
        };
        let ahead = threads * BLOCKS_AHEAD;
        bounded_for_each(ahead, |block| reader.next(block), parallelism, |_| None, drop, work, take)?;
        let rest = files[file.min(files.len())..].iter().map(|file| file.skipped.take_before(u64::MAX).len());
        Ok(skipped + rest.sum::<usize>() as u64)
    }
}

/// Bytes of all input files on the disk.
fn total_bytes(files: &[InputFile]) -> u64 {
    files.iter().map(|file| file.input.bytes.unwrap_or(0)).sum()
}

/// Bytes of all files before each.
fn bytes_before(files: &[InputFile]) -> Vec<u64> {
    let mut sum = 0;
    let before = files.iter().map(|file| {
        let before = sum;
        sum += file.input.bytes.unwrap_or(0);
        before
    });
    before.collect()
}

/// Bytes of input files whose ids are written.
struct Done {
    /// Bytes of all files before each.
    before: Vec<u64>,
    file: usize,
    read: u64,
    passed_over: u64,
}

impl Done {
    fn new(files: &[InputFile], begin: Place) -> Self {
        Self { before: bytes_before(files), file: begin.file, read: 0, passed_over: 0 }
    }

    fn add(&mut self, block: &EncodedBlock) {
        if block.file != self.file {
            (self.file, self.read) = (block.file, 0);
        }
        self.read += block.read;
        self.passed_over = block.passed_over;
    }

    fn bytes(&self) -> u64 {
        self.before.get(self.file).copied().unwrap_or(0) + self.passed_over + self.read
    }
}

/// An identifier of a tokenizer: a hash of its file, and the length of the file.
fn fingerprint(json: &str) -> String {
    format!("{:016x}-{}", fnv_1a(json.as_bytes()), json.len())
}
