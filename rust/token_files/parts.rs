//! Documents in, finished parts out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::counts::{Counts, PackedCounts};
use super::layouts::{self, CompleteFile, PartKind, PartWriter};
use super::loss::{learned, without_straddling};
use super::manifest::{Part, PartList, begin_list};
use super::masked_packing::RowPacker;
use super::options::Options;
use super::part_file::PartFile;
use super::part_store::PartStore;
use super::paths::remove;
use super::rows::Row;
use crate::corpus::inputs::Place;
use crate::structures::atomic_file;
use crate::structures::parallel::Background;
use crate::{Error, Result};

/// A document that is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    /// Its record.
    pub(super) place: Place,
    /// Ids in the width of the files.
    pub(super) ids: &'a [u8],
    /// Values of added columns, then the offsets of tokens, as [`Row`] has them; or the loss mask of a conversation.
    pub(super) added: &'a [u8],
    /// Broken records between the document before and this one.
    pub(super) skipped: u64,
}

/// Writes documents, in their order, to one part after the other.
pub(super) struct PartsWriter<'a, 'b> {
    folder: &'a Path,
    options: &'a Options,
    pub(super) kind: PartKind<'a>,
    /// The names of all input files.
    sources: Vec<String>,
    finisher: &'a mut Background<'b, ClosedPart>,
    /// The number of the next part, where it begins, and which splits have files.
    next: usize,
    begin: Place,
    has_files: [bool; 2],
    open: Option<OpenPart>,
    /// Records without ids before the first document that has some.
    before: Counts,
}

/// The part that is being written.
struct OpenPart {
    counts: Counts,
    bytes: u64,
    splits: [Option<Split>; 2],
}

/// The files of one split of a part.
struct Split {
    writer: Box<dyn PartWriter>,
    packer: Option<RowPacker>,
}

impl Split {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        match &mut self.packer {
            Some(packer) => packer.push(row, &mut *self.writer),
            None => self.writer.push(row),
        }
    }

    /// Completes the files; answers the counts of rows, and how many tokens are left out.
    fn finish(mut self, place: Place) -> Result<(Vec<CompleteFile>, PackedCounts, u64)> {
        let packed = self.packer.map(|packer| packer.finish(place, &mut *self.writer));
        let (counts, dropped) = packed.transpose()?.unwrap_or_default();
        Ok((self.writer.finish()?, counts, dropped))
    }
}

/// A complete part whose files are not yet on the disk under their names.
pub(super) struct ClosedPart {
    begin: Place,
    end: Place,
    counts: Counts,
    /// Files with their names from the folder of the run.
    files: Vec<(String, CompleteFile)>,
}

/// Brings closed parts to the disk, on a thread of its own: a disk may take as long for a part as encoding the next one.
pub(super) struct PartsFinisher<'a> {
    folder: &'a Path,
    splits: &'static [&'static str],
    store: Option<&'a dyn PartStore>,
    list: PartList,
    /// Finished parts, in memory and on the disk.
    pub(super) parts: Vec<Part>,
}

impl<'a> PartsFinisher<'a> {
    /// Continues after `finished` parts.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn new(
        folder: &'a Path,
        options: &Options,
        store: Option<&'a dyn PartStore>,
        finished: Vec<Part>,
    ) -> Result<Self> {
        let list = begin_list(folder, &finished)?;
        Ok(Self { folder, splits: options.split_names(), store, list, parts: finished })
    }

    /// Syncs the files of a part, renames them, moves them to the store if there is one, and lists them, in this order.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn finish(&mut self, part: ClosedPart) -> Result<()> {
        let ClosedPart { begin, end, counts, files: complete } = part;
        let (mut files, mut synced) = (BTreeMap::new(), Vec::new());
        for (name, CompleteFile { mut file, header }) in complete {
            files.insert(name, file.sync(&header)?);
            synced.push(file);
        }
        synced.into_iter().try_for_each(PartFile::rename)?;
        for split in self.splits {
            let folder = self.folder.join(split);
            if folder.is_dir() {
                atomic_file::sync_folder(&folder).map_err(Error::io("sync", &folder))?;
            }
        }
        let part = Part { begin, end, counts, files };
        if let Some(store) = self.store {
            let line = serde_json::to_string(&part).map_err(|error| Error::Custom(Box::new(error)))?;
            store.take(&line).map_err(Error::io("store", self.folder))?;
            part.files.keys().try_for_each(|name| remove(&self.folder.join(name)))?;
        }
        self.list.push(&part)?;
        self.parts.push(part);
        Ok(())
    }
}

impl<'a, 'b> PartsWriter<'a, 'b> {
    /// Continues after `finished` parts; closed parts go to `finisher`.
    pub(super) fn new(
        folder: &'a Path,
        options: &'a Options,
        kind: PartKind<'a>,
        sources: Vec<String>,
        finished: &[Part],
        finisher: &'a mut Background<'b, ClosedPart>,
    ) -> Self {
        let names = options.split_names();
        let files = || finished.iter().flat_map(|part| part.files.keys());
        let has_files =
            |split: usize| names.get(split).is_some_and(|name| files().any(|file| file.starts_with(name)));
        Self {
            folder,
            options,
            kind,
            sources,
            finisher,
            next: finished.len(),
            begin: finished.last().map_or_else(Place::default, |part| part.end),
            has_files: [has_files(0), has_files(1)],
            open: None,
            before: Counts::default(),
        }
    }

    /// The first record of the next part.
    pub(super) fn begin(&self) -> Place {
        self.begin
    }

    /// True if no part has been begun.
    pub(super) fn is_first(&self) -> bool {
        self.next == 0 && self.open.is_none()
    }

    /// Counts documents without tokens, and broken records, that come after the last document.
    pub(super) fn add_unwritten(&mut self, empty: u64, skipped: u64) {
        let counts = self.open.as_mut().map_or(&mut self.before, |open| &mut open.counts);
        counts.empty += empty;
        counts.skipped += skipped;
    }

    /// Adds a document.
    ///
    /// # Errors
    /// [`Error::Io`], and the errors of the layout.
    pub(super) fn push(&mut self, document: Document<'_>) -> Result<()> {
        let Document { place, ids, added, skipped } = document;
        self.add_unwritten(u64::from(ids.is_empty()), skipped);
        if ids.is_empty() {
            return Ok(());
        }
        let is_full = |open: &OpenPart| open.bytes + ids.len() as u64 > self.options.part_bytes;
        if self.open.as_ref().is_some_and(is_full) {
            self.close(place)?;
        }
        let is_validation = draw(self.options.seed, place) < self.options.validation;
        let mut open = self.open.take().unwrap_or_else(|| OpenPart {
            counts: std::mem::take(&mut self.before),
            bytes: 0,
            splits: [None, None],
        });
        let split = &mut open.splits[usize::from(is_validation)];
        let split = match split {
            Some(split) => split,
            none => none.insert(self.open_split(usize::from(is_validation))?),
        };
        let (added, marks): (&[u8], &[u8]) =
            if self.kind.loss.is_some() { (&[], added) } else { (added, &[]) };
        let (mask, straddling) = without_straddling(marks);
        split.push(Row {
            ids,
            starts: &[],
            padding: 0,
            place,
            source: &self.sources[place.file],
            added,
            mask: &mask,
        })?;
        let tokens = (ids.len() / self.kind.width.bytes()) as u64;
        open.bytes += ids.len() as u64;
        open.counts.documents += 1;
        open.counts.tokens += tokens;
        open.counts.validation_documents += u64::from(is_validation);
        open.counts.validation_tokens += if is_validation { tokens } else { 0 };
        let to_learn = learned(&mask);
        open.counts.loss_tokens += to_learn;
        open.counts.straddling += straddling;
        open.counts.no_loss_documents += u64::from(self.kind.loss.is_some() && to_learn == 0);
        self.open = Some(open);
        Ok(())
    }

    fn open_split(&mut self, split: usize) -> Result<Split> {
        self.has_files[split] = true;
        let folder = self.folder.join(self.options.split_names()[split]);
        if !folder.is_dir() {
            fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
            // Files are synced with their folder, and this one is an entry of the run's.
            atomic_file::sync_folder(self.folder).map_err(Error::io("sync", self.folder))?;
        }
        let writer = layouts::open(self.kind, &folder, self.next)?;
        let has_masks = self.kind.loss.is_some();
        let packer = self.options.packing.map(|packing| RowPacker::new(packing, self.kind.width, has_masks));
        Ok(Split { writer, packer })
    }

    /// Ends the open part before the record at `end`, and hands its files on.
    ///
    /// # Errors
    /// [`Error::Io`], and the errors of the layout and of [`PartsFinisher::finish`].
    pub(super) fn close(&mut self, end: Place) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let (mut counts, mut files) = (open.counts, Vec::new());
        for (number, split) in open.splits.into_iter().enumerate() {
            let Some(split) = split else { continue };
            let (complete, mut packed, dropped) = split.finish(end)?;
            packed.validation_rows = if number > 0 { packed.rows } else { 0 };
            counts.dropped_tokens += dropped;
            counts.packed = counts.packed.checked_add(packed).ok_or_else(too_many_tokens)?;
            let folder = self.options.split_names()[number];
            files.extend(complete.into_iter().map(|complete| {
                let name = complete.file.path().file_name().unwrap_or_default().to_string_lossy();
                let name = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
                (name, complete)
            }));
        }
        let begin = std::mem::replace(&mut self.begin, end);
        self.next += 1;
        self.finisher.push(ClosedPart { begin, end, counts, files })
    }

    /// Ends the last part. A split without any document gets files all the same, so that it can be opened.
    ///
    /// # Errors
    /// As [`Self::close`].
    pub(super) fn finish(&mut self, end: Place) -> Result<()> {
        if self.next == 0 && self.open.is_none() {
            let counts = std::mem::take(&mut self.before);
            self.open = Some(OpenPart { counts, bytes: 0, splits: [None, None] });
        }
        if let Some(mut open) = self.open.take() {
            for split in 0..self.options.splits() {
                if !self.has_files[split] {
                    open.splits[split] = Some(self.open_split(split)?);
                }
            }
            self.open = Some(open);
        }
        self.close(end)
    }
}

/// The error for sums beyond 64 bits.
pub(super) fn too_many_tokens() -> Error {
    Error::Unsupported(format!("the number of tokens exceeds the limit of {}", u64::MAX))
}

/// A number from 0 to 1 that depends on the seed and the record alone.
fn draw(seed: u64, place: Place) -> f64 {
    let mixed = record_hash(seed, place);
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let share = (mixed >> 11) as f64 / (1u64 << 53) as f64;
    share
}

/// A hash of the seed and the record.
pub(super) fn record_hash(seed: u64, place: Place) -> u64 {
    mix(mix(mix(seed) ^ place.file as u64) ^ place.byte)
}

/// One step of the generator `SplitMix64` from a state.
pub(super) fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_same_for_ever_and_evenly_spread() {
        // SplitMix64's first number from the state 0, as its author gives it.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        for seed in [0, 1] {
            let drawn = |byte: u64| draw(seed, Place { file: 3, byte: byte * 100 });
            let below = (0..100_000).filter(|&byte| drawn(byte) < 0.1).count();
            assert!((9_500..10_500).contains(&below), "{below}");
        }
        let (one, other) = (draw(0, Place { file: 0, byte: 1 }), draw(0, Place { file: 1, byte: 0 }));
        assert!((one - other).abs() > 1e-9);
    }
}
