//! Word counts on disk, as sorted runs.
//!
//! A run is a file of distinct words in the order of their bytes, each with its count and the place where it first appeared. The
//! phrases of superwords are words with a mark before them, which puts them at the end.
//! Counting in bounded memory writes a run whenever a table is full and merges the runs at the end. The outcome is a run as well,
//! held by a [`CountsFile`]. So runs of many machines are merged in the same way, in any order, to the same bytes.
//!
//! | file | holds |
//! |---|---|
//! | `word` | a counted word and the place of its first appearance |
//! | `block` | words of a run, each spelled without the first bytes that it shares with the word before |
//! | `summary` | the summary in the footer of a run |
//! | `writer`, `reader` | a run as a file |
//! | `merge` | several runs as one |
//! | `counts_file` | a finished run, to be saved, opened, merged, trimmed and trained from |
//! | `mixture` | counts of several domains as one, each multiplied by a factor |
//! | `training_words` | the words as trainers read them |
//! | `training_memory` | how much memory training takes |
//! | `overflow` | where counters write runs while they count |
//!
//! Layout of a run: 8 bytes of magic; blocks, each a zstd frame with its checksum; the footer, a zstd frame too, with the index
//! of the blocks and the [`Summary`]; the lengths of the footer, compressed and not, as little-endian 64-bit numbers; the magic
//! again.

mod block;
mod counts_file;
mod merge;
mod mixture;
mod overflow;
mod reader;
mod summary;
#[cfg(test)]
mod tests;
mod training_memory;
mod training_words;
mod word;
mod writer;

pub use counts_file::{Addend, CountsFile};
pub use overflow::{Budget, Overflow, PhraseOverflow};
pub use reader::{Run, RunReader};
pub use summary::{Spelling, Stages, Summary, Sums};
pub use training_words::{OrderedWords, SortedWords};
pub use word::{CountedWord, Place};
