//! Documents in, finished parts out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::layouts::{self, CompleteFile, PartKind, PartWriter, Row};
use super::manifest::{Counts, Part, PartList};
use super::options::Options;
use super::packing::Packer;
use crate::corpus::inputs::Place;
use crate::structures::atomic_file;
use crate::{Error, Result};

/// The folders of the splits within the folder of a run.
pub(super) const SPLITS: [&str; 2] = ["train", "validation"];

/// The folders of a run's splits, named from its own folder; with one split this is the folder itself, by an empty name.
pub(super) fn split_names(options: &Options) -> &'static [&'static str] {
    if options.splits() == 1 { &[""] } else { &SPLITS }
}

/// Writes documents, in their order, to one part after the other.
pub(super) struct PartsWriter<'a> {
    pub(super) folder: &'a Path,
    pub(super) options: &'a Options,
    pub(super) kind: PartKind,
    /// Finished parts, in memory and on the disk.
    pub(super) parts: Vec<Part>,
    pub(super) list: PartList,
    /// The names of all input files.
    pub(super) sources: Vec<String>,
    pub(super) open: Option<OpenPart>,
    /// Empty documents before the first other one.
    pub(super) empty: u64,
}

/// The part that is being written.
pub(super) struct OpenPart {
    counts: Counts,
    bytes: u64,
    splits: [Option<Split>; 2],
}

/// The files of one split of a part.
struct Split {
    writer: Box<dyn PartWriter>,
    packer: Option<Packer>,
}

impl Split {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let Self { writer, packer: Some(packer) } = self else { return self.writer.push(row) };
        packer.push(row.ids, |ids, starts| writer.push(Row { ids, starts, ..row }))
    }

    /// Completes the files; answers how many tokens are left out.
    fn finish(mut self, place: Place) -> Result<(Vec<CompleteFile>, u64)> {
        let writer = &mut self.writer;
        let dropped = self.packer.as_mut().map_or(Ok(0), |packer| {
            packer.finish(|ids, starts| writer.push(Row { ids, starts, place, source: "" }))
        })?;
        Ok((self.writer.finish()?, dropped))
    }
}

impl PartsWriter<'_> {
    /// Adds a document.
    ///
    /// # Errors
    /// [`Error::Io`], and those of the layout.
    pub(super) fn push(&mut self, place: Place, ids: &[u8]) -> Result<()> {
        if ids.is_empty() {
            *self.open.as_mut().map_or(&mut self.empty, |open| &mut open.counts.empty) += 1;
            return Ok(());
        }
        let is_full = |open: &OpenPart| open.bytes + ids.len() as u64 > self.options.part_bytes;
        if self.open.as_ref().is_some_and(is_full) {
            self.close(place)?;
        }
        let is_validation = draw(self.options.seed, place) < self.options.validation;
        let mut open = self.open.take().unwrap_or_else(|| {
            let counts = Counts { empty: std::mem::take(&mut self.empty), ..Counts::default() };
            OpenPart { counts, bytes: 0, splits: [None, None] }
        });
        let split = &mut open.splits[usize::from(is_validation)];
        let split = match split {
            Some(split) => split,
            none => none.insert(self.open_split(usize::from(is_validation))?),
        };
        split.push(Row { ids, starts: &[], place, source: &self.sources[place.file] })?;
        let tokens = (ids.len() / self.kind.width.bytes()) as u64;
        open.bytes += ids.len() as u64;
        open.counts.documents += 1;
        open.counts.tokens += tokens;
        open.counts.validation_documents += u64::from(is_validation);
        open.counts.validation_tokens += if is_validation { tokens } else { 0 };
        self.open = Some(open);
        Ok(())
    }

    fn open_split(&self, split: usize) -> Result<Split> {
        let folder = self.split_folder(split);
        fs::create_dir_all(&folder).map_err(|source| Error::Io {
            action: "create",
            path: folder.clone(),
            source,
        })?;
        let writer = layouts::open(self.kind, &folder, self.parts.len())?;
        let packer = self.options.packing.map(|packing| Packer::new(packing, self.kind.width.bytes()));
        Ok(Split { writer, packer })
    }

    fn split_folder(&self, split: usize) -> PathBuf {
        self.folder.join(split_names(self.options)[split])
    }

    /// Ends the open part before the record at `end`: its files reach the disk, get their names, and are listed, in this order.
    ///
    /// # Errors
    /// [`Error::Io`], and those of the layout.
    pub(super) fn close(&mut self, end: Place) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let (mut counts, mut files, mut synced) = (open.counts, BTreeMap::new(), Vec::new());
        for (number, split) in open.splits.into_iter().enumerate() {
            let Some(split) = split else { continue };
            let name = split_names(self.options)[number];
            let (complete, dropped) = split.finish(end)?;
            counts.dropped_tokens += dropped;
            for CompleteFile { mut file, header } in complete {
                let entry = file.sync(&header)?;
                let base = file.path().file_name().unwrap_or_default().to_string_lossy();
                let name = if name.is_empty() { base.into_owned() } else { format!("{name}/{base}") };
                files.insert(name, entry);
                synced.push(file);
            }
        }
        synced.into_iter().try_for_each(super::part_file::PartFile::rename)?;
        for split in 0..self.options.splits() {
            let folder = self.split_folder(split);
            if folder.is_dir() {
                let failed = |source| Error::Io { action: "sync", path: folder.clone(), source };
                atomic_file::sync_folder(&folder).map_err(failed)?;
            }
        }
        let begin = self.parts.last().map_or_else(Place::default, |part| part.end);
        let part = Part { begin, end, counts, files };
        self.list.push(&part)?;
        self.parts.push(part);
        Ok(())
    }

    /// Ends the last part. A split without any document gets files all the same, so that it can be opened.
    ///
    /// # Errors
    /// Those of [`Self::close`].
    pub(super) fn finish(&mut self, end: Place) -> Result<()> {
        if self.parts.is_empty() && self.open.is_none() {
            let counts = Counts { empty: self.empty, ..Counts::default() };
            self.open = Some(OpenPart { counts, bytes: 0, splits: [None, None] });
        }
        if let Some(mut open) = self.open.take() {
            for split in 0..self.options.splits() {
                if open.splits[split].is_none() && !self.has_files(split) {
                    open.splits[split] = Some(self.open_split(split)?);
                }
            }
            self.open = Some(open);
        }
        self.close(end)
    }

    /// Whether a finished part has files of a split.
    fn has_files(&self, split: usize) -> bool {
        let name = split_names(self.options)[split];
        self.parts.iter().flat_map(|part| part.files.keys()).any(|file| file.starts_with(name))
    }
}

/// A number from 0 to 1 that depends on the seed and the record alone.
fn draw(seed: u64, place: Place) -> f64 {
    let mixed = mix(mix(mix(seed) ^ place.file as u64) ^ place.byte);
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let share = (mixed >> 11) as f64 / (1u64 << 53) as f64;
    share
}

/// One step of the generator `SplitMix64` from a state.
fn mix(state: u64) -> u64 {
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
