//! Documents that are encoded elsewhere, in the order of their records.

use super::layouts::PartKind;
use super::parts::Document;
use crate::corpus::inputs::{InputFile, Place};
use crate::{Error, Result};

/// Encoded records of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FedBlock {
    /// The number of the file among all.
    pub file: usize,
    /// The number of each document's record in the file, ascending.
    pub records: Vec<u64>,
    /// The ids of all documents end to end.
    pub ids: Vec<u32>,
    /// For each id 1 if it is learned, 2 if it is learned and also has characters of other text, else 0.
    pub mask: Vec<u8>,
    /// Where documents begin among the ids, one more than there are documents.
    pub splits: Vec<usize>,
    /// Records that were left out before each document, and after the last one.
    pub skipped: Vec<u64>,
    /// Bytes of the file, as it lies on the disk, up to the end of the block.
    pub read: u64,
}

/// Each call returns the next block of the records from a place on, and `None` at the end. All calls get the same place.
pub type Feed<'a> = dyn FnMut(Place) -> Result<Option<FedBlock>> + 'a;

impl FedBlock {
    /// True if ids, masks and splits fit together.
    pub fn is_sound(&self) -> bool {
        let documents = self.records.len();
        let ends = [self.splits.first(), self.splits.last()];
        ends == [Some(&0), Some(&self.ids.len())]
            && self.splits.is_sorted()
            && [self.splits.len(), self.skipped.len()] == [documents + 1; 2]
            && self.mask.len() == self.ids.len()
    }
}

/// Calls `push` with the documents of all records from `begin` on; answers how many records were left out after the last document.
///
/// # Errors
/// The errors of `feed`, `push` and `report`; [`Error::Format`] for a file that was modified while it was read.
pub(super) fn for_each_fed(
    feed: &mut Feed<'_>,
    files: &[InputFile],
    kind: PartKind<'_>,
    begin: Place,
    mut push: impl FnMut(Document<'_>) -> Result<()>,
    mut report: impl FnMut(usize, u64) -> Result<()>,
) -> Result<u64> {
    let (mut skipped, mut ids, mut file) = (0, Vec::new(), begin.file);
    while let Some(block) = feed(begin)? {
        if !block.is_sound() || block.file >= files.len() {
            return Err(Error::Unsupported(
                "the ids, masks and splits of a block of documents do not fit together".to_owned(),
            ));
        }
        check_unchanged(&files[file..block.file.max(file)])?;
        file = block.file;
        for (at, (&record, bounds)) in block.records.iter().zip(block.splits.windows(2)).enumerate() {
            let tokens = bounds[0]..bounds[1];
            skipped += block.skipped[at];
            ids.clear();
            kind.width.push(&block.ids[tokens.clone()], &mut ids);
            let place = Place { file, byte: record };
            push(Document {
                place,
                ids: &ids,
                added: &block.mask[tokens],
                skipped: std::mem::take(&mut skipped),
            })?;
        }
        skipped += block.skipped[block.records.len()];
        report(file, block.read)?;
    }
    check_unchanged(&files[file.min(files.len())..])?;
    Ok(skipped)
}

fn check_unchanged(files: &[InputFile]) -> Result<()> {
    files.iter().try_for_each(InputFile::check_unchanged)
}
