//! Documents in, sorted runs of them on the disk out.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rank::Rank;
use super::run_reader::Header;
use crate::corpus::inputs::Place;
use crate::structures::append_log::AppendLog;
use crate::structures::atomic_file;
use crate::token_files::part_file::PartFile;
use crate::token_files::parts::Document;
use crate::token_files::paths::remove;
use crate::{Error, Result};

/// The folder of runs, within the folder of the token files. It is there only while the token files are written.
const FOLDER: &str = "shuffle";
/// The list of runs.
const LIST: &str = "runs.jsonl";

/// Bytes of documents in a run at most, unless a single document has more.
const LARGEST_RUN: u64 = 1 << 27;

/// Bytes of a run from one mark to the next.
pub(super) const MARKED: u64 = 1 << 20;

/// A run that is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SortedRun {
    /// The first record after the records of the run.
    pub(super) end: Place,
    /// Bytes of its file.
    pub(super) bytes: u64,
    pub(super) documents: u64,
    /// Documents without tokens, which the run does not hold.
    pub(super) empty: u64,
    /// Broken records, which are left out.
    #[serde(default)]
    pub(super) skipped: u64,
}

/// The file of a run.
pub(super) fn run_path(folder: &Path, run: usize) -> PathBuf {
    folder.join(FOLDER).join(format!("run-{run:05}.ids"))
}

/// A document that waits for its run.
struct Waiting {
    rank: Rank,
    /// Where its ids and its added values begin.
    ids: usize,
    added: usize,
}

/// Writes documents to one sorted run after the other.
pub(in crate::token_files) struct RunsWriter<'a> {
    folder: &'a Path,
    seed: u64,
    /// Bytes of documents in a run.
    limit: u64,
    pub(super) runs: Vec<SortedRun>,
    list: AppendLog<SortedRun>,
    waiting: Vec<Waiting>,
    ids: Vec<u8>,
    added: Vec<u8>,
    empty: u64,
    skipped: u64,
}

impl<'a> RunsWriter<'a> {
    /// Goes on after the runs that are in `folder`, as far as their files are as they were written. No run has more bytes than a part.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::token_files) fn open(folder: &'a Path, seed: u64, part_bytes: u64) -> Result<Self> {
        let inner = folder.join(FOLDER);
        fs::create_dir_all(&inner).map_err(Error::io("create", &inner))?;
        let mut runs: Vec<SortedRun> = AppendLog::read(&inner.join(LIST))?;
        let is_whole = |(number, run): (usize, &SortedRun)| {
            run_path(folder, number).metadata().is_ok_and(|data| data.is_file() && data.len() == run.bytes)
        };
        let mut end = Place::default();
        let follows = |run: &SortedRun| std::mem::replace(&mut end, run.end) <= run.end;
        let whole = runs.iter().enumerate().map(is_whole).zip(runs.iter().map(follows));
        let whole = whole.take_while(|&(is_whole, follows)| is_whole && follows).count();
        runs.truncate(whole);
        remove_files(&inner, |run| run >= whole)?;
        let list = AppendLog::create(inner.join(LIST), &runs)?;
        let limit = part_bytes.min(LARGEST_RUN);
        let (waiting, ids, added) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { folder, seed, limit, runs, list, waiting, ids, added, empty: 0, skipped: 0 })
    }

    /// The first record that is in no run.
    pub(in crate::token_files) fn end(&self) -> Place {
        self.runs.last().map_or_else(Place::default, |run| run.end)
    }

    /// Documents of all runs that have no tokens, and broken records.
    pub(in crate::token_files) fn unwritten(&self) -> (u64, u64) {
        let add = |(empty, skipped): (u64, u64), run: &SortedRun| {
            (empty.saturating_add(run.empty), skipped.saturating_add(run.skipped))
        };
        self.runs.iter().fold((0, 0), add)
    }

    /// Counts broken records after the last document.
    pub(in crate::token_files) fn add_skipped(&mut self, records: u64) {
        self.skipped += records;
    }

    /// Adds a document.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::token_files) fn push(&mut self, document: Document<'_>) -> Result<()> {
        let Document { place, ids, added, skipped } = document;
        self.skipped += skipped;
        if ids.is_empty() {
            self.empty += 1;
            return Ok(());
        }
        let bytes = self.ids.len() + self.added.len() + ids.len() + added.len();
        if !self.waiting.is_empty() && bytes as u64 > self.limit {
            self.close(place)?;
        }
        let rank = Rank::new(self.seed, place);
        self.waiting.push(Waiting { rank, ids: self.ids.len(), added: self.added.len() });
        self.ids.extend_from_slice(ids);
        self.added.extend_from_slice(added);
        Ok(())
    }

    /// Ends the last run before `end`, and lets go of the memory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::token_files) fn finish(&mut self, end: Place) -> Result<()> {
        if self.end() < end {
            self.close(end)?;
        }
        (self.waiting, self.ids, self.added) = (Vec::new(), Vec::new(), Vec::new());
        Ok(())
    }

    /// Writes the documents that wait as a run that ends before the record at `end`.
    fn close(&mut self, end: Place) -> Result<()> {
        let ends = self.waiting.iter().skip(1).map(|next| (next.ids, next.added));
        let ends = ends.chain([(self.ids.len(), self.added.len())]).collect::<Vec<_>>();
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        order.sort_unstable_by_key(|&at| self.waiting[at].rank);
        let path = run_path(self.folder, self.runs.len());
        let mut file = PartFile::create(path.clone(), 0)?;
        let (mut marks, mut next_mark) = (Vec::new(), MARKED);
        for at in order {
            let (Waiting { rank, ids, added }, (ids_end, added_end)) = (&self.waiting[at], ends[at]);
            if file.bytes() >= next_mark {
                marks.push((file.bytes(), rank.place));
                next_mark = file.bytes() + MARKED;
            }
            let header = Header { place: rank.place, ids: ids_end - ids, added: added_end - added };
            file.append(&header.to_bytes())?;
            file.append(&self.ids[*ids..ids_end])?;
            file.append(&self.added[*added..added_end])?;
        }
        let records = file.bytes();
        for &(byte, place) in &marks {
            [byte, place.file as u64, place.byte].iter().try_for_each(|it| file.append(&it.to_le_bytes()))?;
        }
        [records, marks.len() as u64].iter().try_for_each(|it| file.append(&it.to_le_bytes()))?;
        let bytes = file.sync(&[])?.bytes;
        file.rename()?;
        let inner = self.folder.join(FOLDER);
        atomic_file::sync_folder(&inner).map_err(Error::io("sync", &inner))?;
        let documents = self.waiting.len() as u64;
        let (empty, skipped) = (std::mem::take(&mut self.empty), std::mem::take(&mut self.skipped));
        let run = SortedRun { end, bytes, documents, empty, skipped };
        self.list.push(&run)?;
        self.runs.push(run);
        self.waiting.clear();
        self.ids.clear();
        self.added.clear();
        Ok(())
    }
}

/// The first record that is in no run of `folder`, as its list says.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::token_files) fn sorted_up_to(folder: &Path) -> Result<Place> {
    let runs: Vec<SortedRun> = AppendLog::read(&folder.join(FOLDER).join(LIST))?;
    Ok(runs.iter().map(|run| run.end).max().unwrap_or_default())
}

/// Removes all runs of `folder`, and their folder if nothing else is in it.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::token_files) fn remove_runs(folder: &Path) -> Result<()> {
    let inner = folder.join(FOLDER);
    // The list goes first: while it is there, its runs are.
    remove(&inner.join(LIST))?;
    remove_files(&inner, |_| true)?;
    // A folder that is not empty stays.
    let _ = fs::remove_dir(&inner);
    Ok(())
}

/// Removes the files of runs, finished or not, whose numbers are `unwanted`.
fn remove_files(inner: &Path, unwanted: impl Fn(usize) -> bool) -> Result<()> {
    let Ok(entries) = fs::read_dir(inner) else { return Ok(()) };
    for entry in entries {
        let name = match entry {
            Ok(entry) => entry.file_name().to_string_lossy().into_owned(),
            Err(source) => return Err(Error::io("read", inner)(source)),
        };
        let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).unwrap_or(&name);
        let number = stem.strip_prefix("run-").and_then(|rest| rest.strip_suffix(".ids"));
        if number.and_then(|number| number.parse().ok()).is_some_and(&unwanted) {
            remove(&inner.join(&name))?;
        }
    }
    Ok(())
}
