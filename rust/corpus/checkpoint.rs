//! Counting that can be killed and resumed: finished parts of the corpus are kept in a folder.
//!
//! A part is the records from one place on, about as many bytes as asked for. The part is counted for itself and saved, and then a
//! line of `parts.jsonl` says that the part is finished. The merged counts of all parts are the counts of the corpus, so resumed work
//! begins with the first record after the last finished part. `manifest.json` describes the work, and other work is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bounded_counting::BoundedCounting;
use super::inputs::{
    FileBlock, FilesReader, Input, InputFile, InputSource, Place, input_files, inputs_difference, read_once,
    resumed_inputs,
};
use crate::counting::runs::{Addend, Budget, CountsFile, Stages};
use crate::structures::append_log::AppendLog;
use crate::structures::atomic_file;
use crate::structures::folder_lock::{FolderLock, LOCK};
use crate::structures::parallel::{OnProgress, Progress};
use crate::tokenizer::{BlockEnd, CountedPipelines};
use crate::{Error, Result};

const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const PARTS: &str = "parts.jsonl";

/// The files whose words are counted, and the options of counting.
#[derive(Clone, Debug)]
pub struct CountingJob {
    /// The pipelines that cut texts into words and phrases.
    pub pipelines: CountedPipelines,
    /// The stages of the pipelines as JSON.
    pub stages: Stages,
    /// The files.
    pub sources: Vec<InputSource>,
    /// The number of the first file in the whole corpus.
    pub first_source: u32,
    /// Threads to count on.
    pub threads: usize,
    /// Memory and temporary files of a part.
    pub budget: Budget,
}

/// Where finished parts are kept.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// A folder that holds nothing else.
    pub folder: PathBuf,
    /// Bytes of records, decompressed, after which a part ends with its block.
    pub part_bytes: u64,
    /// True to continue after the finished parts that the folder has.
    pub resume: bool,
}

/// The work to which the parts of a folder belong.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format_version: u32,
    /// The version of the program: another one may cut other words.
    lexmill: String,
    stages: Stages,
    first_source: u32,
    inputs: Vec<Input>,
}

/// A part that is finished.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Part {
    /// The first record after the part.
    end: Place,
    /// Bytes of the file there that have been read, as it lies on the disk.
    read: u64,
    /// Broken records of the part, which were left out.
    #[serde(default)]
    skipped: u64,
}

impl Checkpoint {
    /// Counts the words of all files; finished parts stay in the folder, also afterwards.
    ///
    /// The counts are the same as without a checkpoint.
    ///
    /// # Errors
    /// [`Error::Output`] if the folder cannot be used, or holds anything that is no part of this work; [`Error::Io`]; the errors of
    /// reading, of the stages and of `on_progress`.
    pub fn count(&self, job: &CountingJob, on_progress: &mut OnProgress<'_>) -> Result<CountsFile> {
        let files = input_files(&job.sources);
        files.iter().try_for_each(InputFile::check)?;
        fs::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let _lock = FolderLock::take(&self.folder)?;
        let (mut parts, mut done) = self.finished(job, &files)?;
        if let Some(source) = job.sources.first() {
            source.skipped.add_earlier(parts.iter().map(|part| part.skipped).sum());
        }
        let mut log = AppendLog::create(self.folder.join(PARTS), &parts)?;
        let mut reader = PartReader::new(&files, parts.last().copied());
        while parts.is_empty() || !reader.is_done() {
            let counted = count_part(job, &files, self.part_bytes, &mut reader, done, on_progress)?;
            counted.save(&self.part_path(parts.len()))?;
            let begun = parts.last().map_or(0, |part: &Part| part.end.file);
            let read = &files[begun..files.len().min(reader.end.file + 1)];
            let skipped = read.iter().map(|file| file.skipped.take_before(u64::MAX).len() as u64).sum();
            let part = Part { skipped, ..reader.part() };
            parts.push(part);
            log.push(&part)?;
            done += counted.summary().bytes;
        }
        let counts: Vec<_> = (0..parts.len()).map(|number| Addend::File(self.part_path(number))).collect();
        CountsFile::merge(&counts, &job.budget.folder, job.budget.memory, on_progress)
    }

    fn part_path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("part-{number:05}.counts"))
    }

    /// The parts that are finished, and the bytes of files that were read for them; the manifest is there afterwards.
    fn finished(&self, job: &CountingJob, files: &[InputFile]) -> Result<(Vec<Part>, u64)> {
        let refused = |message: String| Error::Output { path: self.folder.clone(), message };
        let planned = Manifest {
            format_version: VERSION,
            lexmill: env!("CARGO_PKG_VERSION").to_owned(),
            stages: job.stages.clone(),
            first_source: job.first_source,
            inputs: files.iter().map(|file| file.input.clone()).collect(),
        };
        if let Some(once) = read_once(&planned.inputs) {
            return Err(refused(format!("a checkpoint reads files, and {once}")));
        }
        let path = self.folder.join(MANIFEST);
        let Some(found) = read_manifest(&path)? else {
            if let Some(other) = other_file(&self.folder)? {
                let message =
                    format!("it holds {other}, which is no part of a checkpoint; choose a folder of its own");
                return Err(refused(message));
            }
            planned.write(&path)?;
            return Ok((Vec::new(), 0));
        };
        if !self.resume {
            let message =
                "it holds a checkpoint; pass resume=True to go on, or remove the folder to begin again";
            return Err(refused(message.to_owned()));
        }
        let mut parts = AppendLog::<Part>::read(&self.folder.join(PARTS))?;
        let (mut end, mut done, mut sound) = (Place::default(), 0u64, 0);
        for (number, part) in parts.iter().enumerate() {
            if part.end < end || part.end.file > found.inputs.len() {
                break;
            }
            end = part.end;
            match CountsFile::open(&self.part_path(number)) {
                Ok(part) => done = done.saturating_add(part.summary().bytes),
                // A part that is missing or damaged is counted again, with all parts after it.
                Err(Error::Format { .. }) => break,
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
            sound += 1;
        }
        parts.truncate(sound);
        let read = parts.last().map_or_else(Place::default, |part| part.end);
        if let Some(difference) = found.difference(&planned, read) {
            return Err(refused(format!("cannot resume: {difference}")));
        }
        let inputs = resumed_inputs(&found.inputs, &planned.inputs, read);
        if inputs != found.inputs {
            // The list goes first: parts after the sound ones may be of inputs that were others.
            AppendLog::create(self.folder.join(PARTS), &parts)?;
            Manifest { inputs, ..planned }.write(&path)?;
        }
        Ok((parts, done))
    }
}

/// The manifest at `path`, if there is one.
fn read_manifest(path: &Path) -> Result<Option<Manifest>> {
    let json = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        json => json.map_err(Error::io("read", path))?,
    };
    let foreign = |message: String| Error::Output { path: path.to_owned(), message };
    let found: Manifest = serde_json::from_slice(&json)
        .map_err(|error| foreign(format!("it is not a manifest of word counts: {error}")))?;
    if found.format_version != VERSION {
        let version = found.format_version;
        return Err(foreign(format!("it has format version {version}, but this is {VERSION}")));
    }
    Ok(Some(found))
}

/// A file or folder that is no part of a checkpoint.
fn other_file(folder: &Path) -> Result<Option<String>> {
    let failed = Error::io("read", folder);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        // A temporary file of the manifest may be there if the first write of one was cut short.
        if name != LOCK && !name.starts_with(".lexmill-") {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

impl Manifest {
    /// Puts the manifest in its place.
    fn write(&self, path: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self).map_err(|error| Error::Custom(Box::new(error)))?;
        atomic_file::write(path, format!("{json}\n").as_bytes())
    }

    /// The first difference between this manifest and the manifest of the work to be done, in words; none if the work may continue
    /// after the records before `read`.
    fn difference(&self, now: &Self, read: Place) -> Option<String> {
        if self.lexmill != now.lexmill {
            return Some(format!("the version of lexmill was {} but is {}", self.lexmill, now.lexmill));
        }
        if let Some((stage, then, is)) = self.stages.difference(&now.stages) {
            return Some(format!("{stage} was {then} but is {is}"));
        }
        if self.first_source != now.first_source {
            return Some(format!("first_source was {} but is {}", self.first_source, now.first_source));
        }
        inputs_difference(&self.inputs, &now.inputs, read)
    }
}

/// Reads the records of one part after the other.
struct PartReader<'a> {
    files: FilesReader<'a>,
    /// The number of all files.
    count: usize,
    /// The end of the last block.
    end: Place,
    /// Bytes of the file there, as it lies on the disk, that blocks had to read, and how many of them parts have counted.
    read: u64,
    counted: u64,
}

impl<'a> PartReader<'a> {
    /// Begins after `last`.
    fn new(files: &'a [InputFile], last: Option<Part>) -> Self {
        let Part { end, read: counted, .. } = last.unwrap_or_default();
        Self { files: FilesReader::new(files, end), count: files.len(), end, read: 0, counted }
    }

    /// The part that ends where this has read up to.
    fn part(&self) -> Part {
        Part { end: self.end, read: self.counted, skipped: 0 }
    }

    fn is_done(&self) -> bool {
        self.end.file == self.count
    }

    fn next(&mut self, block: &mut FileBlock) -> Result<bool> {
        if !self.files.next(block)? {
            (self.end, self.read, self.counted) = (Place { file: self.count, byte: 0 }, 0, 0);
            return Ok(false);
        }
        if block.file != self.end.file {
            (self.read, self.counted) = (0, 0);
        }
        self.end = Place { file: block.file, byte: block.records.end };
        self.read += block.records.read;
        // Bytes that an earlier process read ahead are counted once.
        let read = self.counted.max(block.records.passed_over() + self.read);
        block.records.read = read - self.counted;
        self.counted = read;
        Ok(true)
    }
}

/// A block of a part.
#[derive(Debug, Default)]
struct PartBlock {
    block: FileBlock,
    /// Bytes of the part's files before the file of the block.
    before: u64,
}

/// Counts the records that `reader` reads until they have `part_bytes` bytes; `done` bytes were read for parts before.
fn count_part(
    job: &CountingJob,
    files: &[InputFile],
    part_bytes: u64,
    reader: &mut PartReader<'_>,
    done: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<CountsFile> {
    let CountingJob { pipelines, stages, threads, budget, first_source, .. } = job.clone();
    let mut bounded = BoundedCounting::new(pipelines, stages, threads, budget, first_source)?;
    let begin_source = bounded.counting.begin_sources(files.len())?;
    let total: u64 = files.iter().map(|file| file.input.bytes.unwrap_or(0)).sum();
    let begin = reader.end;
    let (mut before, mut taken) = (0, 0);
    let next = |part: &mut PartBlock| {
        let last = reader.end;
        if taken >= part_bytes || !reader.next(&mut part.block)? {
            return Ok(false);
        }
        if reader.end.file == last.file {
            taken += reader.end.byte - last.byte;
        } else {
            before += last.byte;
            taken += reader.end.byte;
        }
        part.before = before;
        begin_source(part.block.file, before);
        Ok(true)
    };
    let read = |part: &mut PartBlock, each: &mut dyn FnMut(&str, u64) -> Result<()>| {
        let PartBlock { block, before } = part;
        let file = block.file;
        block.for_each_text(files, |text, byte| {
            // A block may begin with records of the part before.
            if (Place { file, byte }) < begin { Ok(()) } else { each(text, *before + byte) }
        })?;
        let records = &block.records;
        Ok(BlockEnd { offset: *before + records.end, read: records.read })
    };
    // Text takes more room decompressed; the estimate only decides how many threads are worth their start.
    let bytes = part_bytes.min(total.saturating_mul(4));
    let mut report = |progress: Progress| on_progress(Progress { done: done + progress.done, ..progress });
    bounded.counting.add_blocks(bytes, next, read, total, &mut report)?;
    bounded.finish(on_progress)
}
