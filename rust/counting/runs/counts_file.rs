//! Word counts that are finished: one run.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::merge::Merge;
use super::reader::{Run, RunReader};
use super::summary::{Section, Spelling, Summary, Sums};
use super::writer::{RunWriter, too_many};
use crate::structures::atomic_file;
use crate::structures::parallel::{OnProgress, Progress};
use crate::{Error, Result};

/// Runs that are merged at a time, if memory holds their blocks.
const MOST_RUNS: usize = 64;

/// Memory that a run takes while it is merged: a block and its compressed bytes.
const BYTES_PER_RUN: usize = 1 << 20;

/// Words between two reports of progress.
const REPORT_EVERY: u64 = 1 << 16;

/// The distinct words of a corpus with their counts and first places, on disk.
///
/// A file that was not saved yet has no name and goes with the last value that holds it, also when the process is killed.
#[derive(Clone, Debug)]
pub struct CountsFile {
    run: Arc<Run>,
    section: Section,
    /// The summary of the section.
    summary: Summary,
}

/// Word counts that are to be added up.
#[derive(Clone, Debug)]
pub enum Addend {
    /// Counts whose file is open.
    Open(Box<CountsFile>),
    /// A file.
    File(PathBuf),
}

impl Addend {
    fn open(&self) -> Result<CountsFile> {
        match self {
            Self::Open(counts) => Ok((**counts).clone()),
            Self::File(path) => CountsFile::open(path),
        }
    }
}

impl CountsFile {
    /// Opens word counts that were saved.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a file that does not hold word counts.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(Self::of_run(Arc::new(Run::open(file, path)?)))
    }

    /// Puts the counts in place of the file at `path`, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        atomic_file::write_with(path, |file| self.run.copy_to(file))
    }

    /// The summary of the counts.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The phrases in the place of the words, spelled for the model by `spelling`; none if no phrases were counted.
    pub fn phrases(&self, spelling: Spelling) -> Option<Self> {
        if self.run.summary.stages.phrases.is_null() {
            return None;
        }
        let Sums { words, word_bytes, total } = self.run.summary.phrases;
        let summary = Summary { spelling, words, word_bytes, total, ..self.run.summary.clone() };
        Some(Self { run: Arc::clone(&self.run), section: Section::Phrases, summary })
    }

    /// The words in ascending order of their bytes.
    pub fn reader(&self) -> RunReader {
        self.reader_of(self.blocks())
    }

    /// The words of some blocks.
    pub(super) fn reader_of(&self, blocks: Range<usize>) -> RunReader {
        RunReader::of_section(Arc::clone(&self.run), self.section, blocks)
    }

    /// The blocks of the words.
    pub(super) fn blocks(&self) -> Range<usize> {
        self.run.blocks(self.section)
    }

    /// The sum of several counts of the same stages, in a file of `folder`, with at most about `memory` bytes.
    ///
    /// The outcome does not depend on the order of `all`. Files are opened where they are read, so that few are open at a time however
    /// many there are.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are none, or if stages or spellings differ; [`Error::Io`]; [`Error::Format`] for a damaged
    /// file; the errors of `on_progress`.
    pub fn merge(
        all: &[Addend],
        folder: &Path,
        memory: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        // Counts that do not fit together are refused before any are merged.
        let summary = summed(all)?;
        let runs = all.iter().map(|addend| Ok(addend.open()?.run));
        let run = merge_in_levels(runs, folder, memory, &summary, on_progress)?;
        Ok(Self::of_run(run))
    }

    /// Without the words that were seen fewer than `least` times. All phrases stay: frequent superwords are parts of rare phrases.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a damaged file; the errors of `on_progress`.
    pub fn trimmed(&self, least: u64, folder: &Path, on_progress: &mut OnProgress<'_>) -> Result<Self> {
        let mut reader = RunReader::new(Arc::clone(&self.run));
        let (mut done, total) = (0, self.summary().words);
        let mut summary = self.summary().clone();
        let run = write_run(folder, |writer| {
            while reader.advance()? {
                report(&mut done, "trim counts", total, on_progress)?;
                let word = reader.word();
                if word.count >= least || word.is_phrase() {
                    writer.push(word)?;
                } else {
                    summary.dropped_words += 1;
                    summary.dropped_total =
                        summary.dropped_total.checked_add(word.count).ok_or_else(too_many)?;
                }
            }
            Ok(summary)
        })?;
        Ok(Self::of_run(Arc::new(run)))
    }

    /// The file.
    pub(super) fn run(&self) -> Arc<Run> {
        Arc::clone(&self.run)
    }

    /// The counts of a run that was just written.
    pub(super) fn of_run(run: Arc<Run>) -> Self {
        let summary = run.summary.clone();
        Self { run, section: Section::Words, summary }
    }
}

/// The summary of all counts together, without the number of words.
///
/// # Errors
/// As [`CountsFile::merge`].
pub(super) fn summed(all: &[Addend]) -> Result<Summary> {
    let Some((first, others)) = all.split_first() else {
        return Err(Error::Unsupported("there are no word counts to merge".to_owned()));
    };
    let first = first.open()?;
    let mut summary = first.summary().clone();
    for other in others {
        let other = other.open()?;
        summary = sum(&summary, first.run.path(), other.summary(), other.run.path())?;
    }
    Ok(summary)
}

/// Runs that wait to be merged, by level: a run of level n has been merged n times. As many runs of a level as can be merged at a time
/// make a run of the next level. So each word is written once a level, and each level has few open files.
#[derive(Debug, Default)]
pub(super) struct Levels(Vec<Vec<Arc<Run>>>);

impl Levels {
    /// Adds a run to a level, which may be the first one without runs.
    pub(super) fn push(&mut self, level: usize, run: Arc<Run>) {
        if level == self.0.len() {
            self.0.push(Vec::new());
        }
        self.0[level].push(run);
    }

    /// Takes the runs of the lowest level with `most` runs or more, and answers the level of their merge.
    pub(super) fn take_full(&mut self, most: usize) -> Option<(usize, Vec<Arc<Run>>)> {
        let level = self.0.iter().position(|runs| runs.len() >= most)?;
        Some((level + 1, std::mem::take(&mut self.0[level])))
    }

    /// All runs, the ones of the lowest level first.
    pub(super) fn into_runs(self) -> Vec<Arc<Run>> {
        self.0.into_iter().flatten().collect()
    }
}

/// One run of all `runs`, which are taken one by one and merged in [`Levels`].
pub(super) fn merge_in_levels(
    runs: impl Iterator<Item = Result<Arc<Run>>>,
    folder: &Path,
    memory: usize,
    summary: &Summary,
    on_progress: &mut OnProgress<'_>,
) -> Result<Arc<Run>> {
    let mut levels = Levels::default();
    for run in runs {
        levels.push(0, run?);
        while let Some((level, full)) = levels.take_full(at_once(memory)) {
            levels.push(level, merge_runs(full, folder, memory, summary, on_progress)?);
        }
    }
    // A single run of the last level is the outcome, unless it was merged from no others.
    let are_merged = levels.0.len() > 1;
    match &levels.into_runs()[..] {
        [run] if are_merged => Ok(Arc::clone(run)),
        rest => merge_runs(rest.to_vec(), folder, memory, summary, on_progress),
    }
}

/// How many runs are merged at a time.
pub(super) fn at_once(memory: usize) -> usize {
    (memory / BYTES_PER_RUN).clamp(2, MOST_RUNS)
}

/// One run of all `runs`, a few at a time.
pub(super) fn merge_runs(
    mut runs: Vec<Arc<Run>>,
    folder: &Path,
    memory: usize,
    summary: &Summary,
    on_progress: &mut OnProgress<'_>,
) -> Result<Arc<Run>> {
    loop {
        let rest = runs.split_off(runs.len().min(at_once(memory)));
        let total = runs.iter().map(|run| run.summary.words + run.summary.phrases.words).sum();
        let mut merge = Merge::new(runs)?;
        let mut done = 0;
        let merged = write_run(folder, |writer| {
            while let Some(word) = merge.next()? {
                writer.push(word)?;
                report(&mut done, "merge counts", total, on_progress)?;
            }
            Ok(summary.clone())
        })?;
        runs = rest;
        runs.push(Arc::new(merged));
        if let [run] = &runs[..] {
            return Ok(Arc::clone(run));
        }
    }
}

/// Counts a word, and reports progress now and then.
pub(super) fn report(
    done: &mut u64,
    stage: &'static str,
    total: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<()> {
    *done += 1;
    if done.is_multiple_of(REPORT_EVERY) {
        on_progress(Progress { stage, done: *done, total })
    } else {
        Ok(())
    }
}

/// A run in a file without a name; `write` fills it and returns its summary.
pub(super) fn write_run(
    folder: &Path,
    write: impl FnOnce(&mut RunWriter<'_>) -> Result<Summary>,
) -> Result<Run> {
    let file = tempfile::tempfile_in(folder).map_err(Error::io("write word counts to", folder))?;
    let mut writer = RunWriter::new(&file, folder)?;
    let summary = write(&mut writer)?;
    writer.finish(&summary)?;
    Run::open(file, folder)
}

/// The summary of two counts together, without the number of words.
fn sum(one: &Summary, one_path: &Path, other: &Summary, other_path: &Path) -> Result<Summary> {
    let refused = |why: &str| {
        let (one, other) = (one_path.display(), other_path.display());
        Error::Unsupported(format!("the word counts in {one} and {other} cannot be merged: {why}"))
    };
    if let Some((stage, ..)) = one.stages.difference(&other.stages) {
        return Err(refused(&format!("{stage} differs")));
    }
    if one.spelling != other.spelling {
        return Err(refused("the spelling of words differs"));
    }
    // A word that one side dropped may be kept by the other, with too small a count.
    if one.dropped_words > 0 || other.dropped_words > 0 {
        return Err(refused("rare words are missing; merge first, and trim then"));
    }
    let add = |one: u64, other: u64| one.checked_add(other).ok_or_else(too_many);
    Ok(Summary { texts: add(one.texts, other.texts)?, bytes: add(one.bytes, other.bytes)?, ..one.clone() })
}
