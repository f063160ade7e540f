//! The run: what is there already, then parts, then the files around them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::encoding::{BlockEncoder, EncodedBlock};
use super::joining::{are_joined, is_joined, join_parts, joined_parts, remove_joining};
use super::layouts::{PartKind, file_names, finish_folder, folder_files, remove, side_names};
use super::manifest::{Counts, Manifest, Part, fnv_1a, remove_list};
use super::options::{Layout, Options};
use super::part_file::temporary;
use super::parts::{Document, PartsFinisher, PartsWriter, SPLITS, split_names};
use super::shuffle::{MERGING, RunsWriter, merge_runs, remove_runs, sorted_up_to};
use crate::corpus::inputs::{
    FileBlock, FilesReader, InputFile, InputSource, Place, input_files, resumed_inputs,
};
use crate::corpus::sources::{AddedColumn, added_columns};
use crate::structures::folder_lock::{FolderLock, LOCK};
use crate::structures::parallel::{OnProgress, Parallelism, Progress, bounded_for_each, with_background};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};

const STAGE: &str = "tokenize";

/// Blocks a thread may be ahead of the one that is written.
const BLOCKS_AHEAD: usize = 8;

/// What to do with a folder that holds token files already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse it.
    Refuse,
    /// Write the parts that are missing, if everything else is as it was.
    Resume,
    /// Remove them and begin again.
    Overwrite,
}

/// What a run is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The tokenizer.
    pub tokenizer: &'a Tokenizer,
    /// What identifies the tokenizer: its file's contents.
    pub tokenizer_json: &'a str,
    /// The records, in order.
    pub sources: &'a [InputSource],
    /// The folder of the files.
    pub folder: &'a Path,
    /// What is written.
    pub options: &'a Options,
    /// What to do if the folder is not empty.
    pub existing: Existing,
}

/// Tokenizes all records of some sources to files.
///
/// The files depend on the sources, the tokenizer and the options alone. Memory does not grow with the sources; one record and its
/// ids have to fit. Progress counts bytes of the input files whose ids are written.
///
/// # Errors
/// [`Error::Output`] if the folder cannot be used, [`Error::Io`] with the file in question, those of the options, of reading
/// and of encoding. Finished parts remain, for a run that resumes.
pub fn tokenize_files(run: &Run<'_>, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<Counts> {
    run.options.check(run.tokenizer)?;
    let width = run.options.width(run.tokenizer);
    let files = input_files(run.sources);
    files.iter().try_for_each(InputFile::check)?;
    let inputs = files.iter().map(|file| file.input.clone()).collect();
    let sources: Vec<_> = run.sources.iter().map(|input| Arc::clone(&input.source)).collect();
    let columns: Arc<[AddedColumn]> = added_columns(&sources, &run.options.columns)?.into();
    let options = run.options.to_json(width, &columns);
    let planned = Manifest::new(fingerprint(run.tokenizer_json), options, inputs);
    let failed = |source| Error::Io { action: "create", path: run.folder.to_owned(), source };
    fs::create_dir_all(run.folder).map_err(failed)?;
    let _lock = FolderLock::take(run.folder)?;
    let mut manifest = run.prepare(planned)?;
    if let Some(total) = manifest.total {
        run.clean_up_after(&manifest)?;
        return Ok(total);
    }
    let row_length = run.options.packing.map(|packing| packing.length);
    let (layout, offsets) = (run.options.layout, run.options.offsets);
    let kind = PartKind { layout, width, row_length, added: &columns, offsets };
    let sources = files.iter().map(|file| file.input.path.clone()).collect();
    let mut finished = PartsFinisher::new(run.folder, run.options, manifest.parts.clone())?;
    let done = with_background(
        |part| finished.finish(part),
        |finisher| {
            let (folder, options) = (run.folder, run.options);
            let mut parts = PartsWriter::new(folder, options, kind, sources, &manifest.parts, finisher);
            if run.options.shuffle {
                run.write_shuffled(&files, &mut parts, threads, on_progress)
            } else {
                run.write_in_order(&files, &mut parts, threads, on_progress)
            }
        },
    )?;
    manifest.parts = finished.parts;
    on_progress(done)?;
    let total = manifest.parts.iter().try_fold(Counts::default(), |sum, part| sum.checked_add(part.counts));
    let too_many = || Error::Unsupported(format!("the number of tokens exceeds the limit of {}", u64::MAX));
    let total = total.ok_or_else(too_many)?;
    let (layout, splits) = (run.options.layout, split_names(run.options));
    manifest.files = finish_folder(layout, run.folder, splits, &manifest)?;
    if is_joined(run.options) {
        manifest.files = join_parts(run.folder, layout, width, splits, &manifest.parts, on_progress)?;
        manifest.parts.iter_mut().for_each(|part| part.files.clear());
    }
    manifest.total = Some(total);
    manifest.write(run.folder)?;
    run.clean_up_after(&manifest)?;
    Ok(total)
}

/// What an earlier run has left that is as it was written.
struct Sound {
    /// The first parts, as many as have all their files.
    parts: usize,
    /// Whether joining may go on, or has not begun.
    is_joining: bool,
    /// Whether the run was finished and lacks no file.
    is_complete: bool,
}

impl Run<'_> {
    /// The manifest to go on with: that of the folder, or a new one.
    fn prepare(&self, planned: Manifest) -> Result<Manifest> {
        let refused = |message: String| Error::Output { path: self.folder.to_owned(), message };
        let Some(found) = Manifest::read(self.folder)? else {
            if let Some(other) = other_file(self.folder)? {
                let message = format!("it holds {other}, which is no token file; choose a folder of its own");
                return Err(refused(message));
            }
            planned.write(self.folder)?;
            return Ok(planned);
        };
        match self.existing {
            Existing::Refuse => {
                let state = if found.total.is_some() { "" } else { " of a run that was not finished" };
                Err(refused(format!(
                    "it holds token files{state}; pass resume=True to go on or overwrite=True to begin again"
                )))
            }
            Existing::Resume => {
                let sound = self.sound_parts(&found)?;
                let read = self.read_for(&found, &sound)?;
                match found.difference(&planned, read) {
                    Some(difference) => Err(refused(format!("cannot resume: {difference}"))),
                    None => self.go_on(found, &planned, &sound, read),
                }
            }
            Existing::Overwrite => {
                remove_all(self.folder, &found)?;
                planned.write(self.folder)?;
                Ok(planned)
            }
        }
    }

    /// Looks which parts have their files as they were written.
    fn sound_parts(&self, found: &Manifest) -> Result<Sound> {
        let is_there = |(name, bytes): (&String, u64)| {
            self.folder.join(name).metadata().is_ok_and(|data| data.is_file() && data.len() == bytes)
        };
        let has_files = |part: &&Part| part.files.iter().all(|(name, entry)| is_there((name, entry.bytes)));
        let (layout, splits) = (self.options.layout, split_names(self.options));
        // Parts that were joined have no files of their own any more.
        let joined = if found.total.is_none() { joined_parts(self.folder)? } else { 0 };
        let is_joining = joined == 0 || are_joined(self.folder, layout, splits, &found.parts, joined);
        let joined = if is_joining { joined } else { 0 };
        let whole = joined + found.parts.iter().skip(joined).take_while(has_files).count();
        let has_others = found.files.iter().all(|(name, entry)| is_there((name, entry.bytes)));
        let is_complete = found.total.is_some() && whole == found.parts.len() && has_others;
        // Of a finished run, parts that were joined have no files left to go on with.
        let is_lost = found.total.is_some() && !is_complete && is_joined(self.options);
        Ok(Sound { parts: if is_lost { 0 } else { whole }, is_joining, is_complete })
    }

    /// The first record that no sound part or sorted run has read.
    fn read_for(&self, found: &Manifest, sound: &Sound) -> Result<Place> {
        let all = Place { file: found.inputs.len(), byte: 0 };
        Ok(match found.parts[..sound.parts].last() {
            _ if sound.is_complete => all,
            // All documents are sorted before the first part is written.
            Some(_) if self.options.shuffle => all,
            None if self.options.shuffle => sorted_up_to(self.folder)?,
            last => last.map_or_else(Place::default, |part| part.end),
        })
    }

    /// The manifest with its sound parts, and with the inputs of which the others are made.
    fn go_on(&self, mut found: Manifest, planned: &Manifest, sound: &Sound, read: Place) -> Result<Manifest> {
        if !sound.is_joining {
            remove_joining(self.folder, self.options.layout, split_names(self.options))?;
        }
        let inputs = resumed_inputs(&found.inputs, &planned.inputs, read);
        let is_reopened = found.total.is_some() && !sound.is_complete;
        found.parts.truncate(sound.parts);
        if is_reopened || inputs != found.inputs {
            (found.total, found.files, found.inputs) = (None, BTreeMap::new(), inputs);
            found.write_unfinished(self.folder)?;
        }
        remove_begun_parts(self.folder, self.options.layout, found.parts.len())?;
        Ok(found)
    }

    /// Writes documents to parts as they come; answers the last report.
    fn write_in_order(
        &self,
        files: &[InputFile],
        parts: &mut PartsWriter<'_, '_>,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Progress> {
        let (kind, begin, total) = (parts.kind, parts.begin(), total_bytes(files));
        let push = |document: Document<'_>| parts.push(document);
        let skipped = self.for_each_document(files, kind, begin, threads, on_progress, push)?;
        parts.add_unwritten(0, skipped);
        parts.finish(Place { file: files.len(), byte: 0 })?;
        Ok(Progress { stage: STAGE, done: total, total })
    }

    /// Sorts documents in runs on the disk, then writes the runs, merged, to parts; answers the last report.
    fn write_shuffled(
        &self,
        files: &[InputFile],
        parts: &mut PartsWriter<'_, '_>,
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
            let skipped = self.for_each_document(files, kind, first, threads, on_progress, push)?;
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
    fn for_each_document(
        &self,
        files: &[InputFile],
        kind: PartKind<'_>,
        begin: Place,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
        mut push: impl FnMut(Document<'_>) -> Result<()>,
    ) -> Result<u64> {
        let total = total_bytes(files);
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

    /// Removes what is of no use beside a complete manifest.
    fn clean_up_after(&self, manifest: &Manifest) -> Result<()> {
        remove_list(self.folder)?;
        if self.options.shuffle {
            remove_runs(self.folder)?;
        }
        if is_joined(self.options) {
            remove_joining(self.folder, self.options.layout, split_names(self.options))?;
            (0..manifest.parts.len())
                .try_for_each(|part| remove_part(self.folder, self.options.layout, part))?;
            remove_split_folders(self.folder);
        }
        Ok(())
    }
}

/// Bytes of all input files on the disk.
fn total_bytes(files: &[InputFile]) -> u64 {
    files.iter().map(|file| file.input.bytes.unwrap_or(0)).sum()
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
        let mut sum = 0;
        let before = files.iter().map(|file| {
            let before = sum;
            sum += file.input.bytes.unwrap_or(0);
            before
        });
        Self { before: before.collect(), file: begin.file, read: 0, passed_over: 0 }
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

/// What identifies a tokenizer: a hash of its file, and the length of that.
fn fingerprint(json: &str) -> String {
    format!("{:016x}-{}", fnv_1a(json.as_bytes()), json.len())
}

/// A file or folder that no run has made.
pub(super) fn other_file(folder: &Path) -> Result<Option<String>> {
    let failed = |source| Error::Io { action: "read", path: folder.to_owned(), source };
    let names = fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(failed));
    let names = names.collect::<Result<Vec<_>>>()?;
    // A temporary file of the manifest may be there if the first write of one was cut short.
    Ok(names.into_iter().filter(|name| name != LOCK && !name.starts_with(".lexmill-")).min())
}

/// Removes the files of a part, finished or not.
fn remove_part(folder: &Path, layout: Layout, part: usize) -> Result<()> {
    for split in ["", SPLITS[0], SPLITS[1]] {
        let folder = folder.join(split);
        for name in file_names(layout, part).iter().chain(&side_names(layout, part)) {
            let path = folder.join(name);
            remove(&temporary(&path))?;
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes what a killed run has left of the parts after `finished` ones: one that was on its way to the disk, and the next.
fn remove_begun_parts(folder: &Path, layout: Layout, finished: usize) -> Result<()> {
    (finished..finished + 2).try_for_each(|part| remove_part(folder, layout, part))
}

/// Removes the folders of splits, unless something else is there.
fn remove_split_folders(folder: &Path) {
    for split in SPLITS {
        // What is not empty stays.
        let _ = fs::remove_dir(folder.join(split));
    }
}

/// Removes all files of an earlier run, but for the manifest, which is replaced.
pub(super) fn remove_all(folder: &Path, found: &Manifest) -> Result<()> {
    let option = |name: &str| found.options.get(name).and_then(|value| value.as_str());
    let layout = Layout::named(option("format").unwrap_or_default(), option("preset"))?;
    remove_joining(folder, layout, &["", SPLITS[0], SPLITS[1]])?;
    (0..found.parts.len()).try_for_each(|part| remove_part(folder, layout, part))?;
    remove_begun_parts(folder, layout, found.parts.len())?;
    for name in folder_files(layout, &["", SPLITS[0], SPLITS[1]]) {
        let path = folder.join(name);
        remove(&temporary(&path))?;
        remove(&path)?;
    }
    remove_list(folder)?;
    remove_runs(folder)?;
    remove_split_folders(folder);
    Ok(())
}
