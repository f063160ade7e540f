//! All sorted runs at once, in the order of ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::rank::Rank;
use super::run_reader::RunReader;
use super::sorted_runs::{RunsWriter, run_path};
use crate::corpus::inputs::Place;
use crate::structures::parallel::{OnProgress, Progress};
use crate::token_files::parts::Document;
use crate::{Error, Result};

/// The stage that progress reports.
pub(in crate::token_files) const MERGING: &str = "shuffle";

/// Bytes of the buffers of all runs together, as far as each has at least as many as the second number says.
const BUFFERS: usize = 1 << 26;
const LEAST_BUFFER: usize = 1 << 13;
const LARGEST_BUFFER: usize = 1 << 20;

/// Runs whose files stay open; systems allow a process few more than a thousand.
const KEPT_OPEN: usize = 256;

/// Bytes from one report of progress to the next.
const REPORTED: u64 = 1 << 20;

/// Calls `push` with all documents of `runs` in the order of their ranks, from the rank of the record `begin` on. Answers the
/// bytes of the runs, which progress counts.
///
/// # Errors
/// [`Error::Io`]; [`Error::Output`] for a run that is not as it was written; the errors of `push` and of `on_progress`.
pub(in crate::token_files) fn merge_runs(
    folder: &Path,
    runs: &RunsWriter<'_>,
    seed: u64,
    begin: Option<Place>,
    files: usize,
    push: impl FnMut(Document<'_>) -> Result<()>,
    on_progress: &mut OnProgress<'_>,
) -> Result<u64> {
    let total = runs.runs.iter().map(|run| run.bytes).sum();
    let begin = begin.map(|place| Rank::new(seed, place));
    let buffer = (BUFFERS / runs.runs.len().max(1)).clamp(LEAST_BUFFER, LARGEST_BUFFER);
    let is_kept_open = runs.runs.len() <= KEPT_OPEN;
    let open = |run| RunReader::open(run_path(folder, run), seed, begin, buffer, is_kept_open);
    let readers = (0..runs.runs.len()).map(open).collect::<Result<Vec<_>>>()?;
    merge(readers, folder, files, push, total, on_progress).map(|()| total)
}

fn merge(
    mut readers: Vec<RunReader>,
    folder: &Path,
    files: usize,
    mut push: impl FnMut(Document<'_>) -> Result<()>,
    total: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<()> {
    let ranks = readers.iter().enumerate().filter_map(|(run, reader)| Some(Reverse((reader.rank()?, run))));
    let mut heads: BinaryHeap<_> = ranks.collect();
    let (mut document, mut done, mut reported) = (Vec::new(), 0, 0);
    on_progress(Progress { stage: MERGING, done, total })?;
    while let Some(Reverse((_, run))) = heads.pop() {
        let Some((place, ids)) = readers[run].take(&mut document)? else { continue };
        if place.file >= files {
            let message = "its sorted runs name a file that is not among the sources".to_owned();
            return Err(Error::Output { path: folder.to_owned(), message });
        }
        let (ids, added) = document.split_at(ids);
        push(Document { place, ids, added, skipped: 0 })?;
        heads.extend(readers[run].rank().map(|rank| Reverse((rank, run))));
        done += document.len() as u64;
        if done - reported > REPORTED {
            reported = done;
            on_progress(Progress { stage: MERGING, done: done.min(total), total })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    proptest! {
        #![proptest_config(cases(150))]

        #[test]
        fn merged_runs_match_naive(
            lengths in prop::collection::vec((0..40usize, 0..5usize), 0..120),
            limit in 1..400u64,
            (seed, cut) in (any::<u64>(), any::<prop::sample::Index>()),
        ) {
            let folder = tempfile::tempdir().expect("room on the disk");
            let documents: Vec<(Place, Vec<u8>, Vec<u8>)> = lengths.iter().enumerate().map(|(at, &(ids, added))| {
                let place = Place { file: at / 50, byte: at as u64 % 50 * 7 };
                (place, vec![at as u8; ids], vec![!(at as u8); added])
            }).collect();
            let end = Place { file: 3, byte: 0 };
            // A writer that is dropped in the middle loses only the documents that are in no run.
            let stop = cut.index(lengths.len() + 1);
            let mut writer = RunsWriter::open(folder.path(), seed, limit).expect("room");
            for (place, ids, added) in &documents[..stop] {
                writer.push(Document { place: *place, ids, added, skipped: 1 }).expect("room");
            }
            let mut writer = RunsWriter::open(folder.path(), seed, limit).expect("room");
            let begin = writer.end();
            for (place, ids, added) in documents.iter().filter(|(place, ..)| *place >= begin) {
                // Broken records before the first one are in the last run.
                let skipped = u64::from(*place > begin || begin == Place::default());
                writer.push(Document { place: *place, ids, added, skipped }).expect("room");
            }
            writer.finish(end).expect("room");
            let empty = lengths.iter().filter(|&&(ids, _)| ids == 0).count();
            prop_assert_eq!(writer.unwritten(), (empty as u64, lengths.len() as u64));
            let mut naive: Vec<_> = documents.into_iter().filter(|(_, ids, _)| !ids.is_empty()).collect();
            naive.sort_by_key(|&(place, ..)| Rank::new(seed, place));
            for from in [None, naive.get(cut.index(naive.len().max(1)))] {
                let from = from.map(|&(place, ..)| place);
                let mut found = Vec::new();
                let push = |document: Document<'_>| {
                    found.push((document.place, document.ids.to_vec(), document.added.to_vec()));
                    Ok(())
                };
                merge_runs(folder.path(), &writer, seed, from, 3, push, &mut |_| Ok(())).expect("it merges");
                let first = from.map_or(0, |place| naive.iter().position(|it| it.0 == place).expect("it is there"));
                prop_assert_eq!(&found[..], &naive[first..]);
            }
        }

        #[test]
        fn a_damaged_run_is_no_panic(
            lengths in prop::collection::vec(1..40usize, 1..40),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let folder = tempfile::tempdir().expect("room on the disk");
            let mut writer = RunsWriter::open(folder.path(), 1, 1 << 20).expect("room");
            for (at, &length) in lengths.iter().enumerate() {
                let document = Document { place: Place { file: 0, byte: at as u64 }, ids: &vec![1; length], added: &[], skipped: 0 };
                writer.push(document).expect("room");
            }
            writer.finish(Place { file: 1, byte: 0 }).expect("room");
            let path = run_path(folder.path(), 0);
            let mut bytes = std::fs::read(&path).expect("it is there");
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            std::fs::write(&path, bytes).expect("it may be written");
            let begin = Some(Place { file: 0, byte: 3 });
            let _ = merge_runs(folder.path(), &writer, 1, begin, 1, |_| Ok(()), &mut |_| Ok(()));
        }
    }

    #[test]
    fn marks_lead_to_any_document_of_a_large_run() {
        let folder = tempfile::tempdir().expect("room on the disk");
        let mut writer = RunsWriter::open(folder.path(), 5, u64::MAX).expect("room");
        let places: Vec<Place> = (0..5000).map(|byte| Place { file: 0, byte }).collect();
        for &place in &places {
            writer.push(Document { place, ids: &[7; 1000], added: &[], skipped: 0 }).expect("room");
        }
        writer.finish(Place { file: 1, byte: 0 }).expect("room");
        assert_eq!(writer.runs.len(), 1);
        let mut ranks: Vec<Rank> = places.iter().map(|&place| Rank::new(5, place)).collect();
        ranks.sort_unstable();
        for first in [0, 1, 1015, 1016, 2500, 4999] {
            let mut found = Vec::new();
            let push = |document: Document<'_>| {
                found.push(document.place);
                Ok(())
            };
            let begin = Some(ranks[first].place);
            merge_runs(folder.path(), &writer, 5, begin, 1, push, &mut |_| Ok(())).expect("it merges");
            assert!(found.iter().eq(ranks[first..].iter().map(|rank| &rank.place)));
        }
    }
}
