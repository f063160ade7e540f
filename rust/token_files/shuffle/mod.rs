//! A seeded global shuffle of documents, in bounded memory.
//!
//! | file | holds |
//! |---|---|
//! | `rank` | the order: a hash of the seed and the record, then the record |
//! | `sorted_runs` | documents in, sorted runs of them on the disk out |
//! | `run_reader` | the documents of one run, from any rank on |
//! | `merge` | all runs at once, in the order of ranks |
//!
//! This is an external merge sort by rank. Each document has a rank that the seed and its place in the sources decide. While sources
//! are tokenized, documents are collected until they have as many bytes as a run may have, sorted, and written as one run, which
//! is synced and listed in `runs.jsonl`. Then all runs are merged, and the documents go to parts as without a shuffle. So the documents
//! come in the order of their ranks, for runs of any size, and a run of the program that resumes goes on after the last sorted run or
//! part. Runs take as much room as the ids, and 32 bytes a document.

mod merge;
mod rank;
mod run_reader;
mod sorted_runs;

pub(super) use merge::{MERGING, merge_runs};
pub(super) use sorted_runs::{RunsWriter, remove_runs, sorted_up_to};
