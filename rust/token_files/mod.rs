//! Tokenizes sources larger than memory to files that training programs read.
//!
//! | file | holds |
//! |---|---|
//! | `options` | the contents of the files, and which options fit together |
//! | `layout` | the layouts, their names, and the options that each takes |
//! | `rows` | rows, and integers about the tokens of packed rows |
//! | `width` | how integers are stored |
//! | `encoding` | blocks of records and their ids |
//! | `parts` | documents in, finished parts out |
//! | `packing` | documents in rows of one length |
//! | `packing_options` | the length of rows, and the division of documents among them |
//! | `loss` | loss masks of conversations: their forms, and the layouts that have these |
//! | `masked_packing` | documents with loss masks in rows of one length |
//! | `feed` | documents that are encoded elsewhere |
//! | `row_index` | rows of one length as ranges of tokens that are written already |
//! | `permutation` | a seeded order of numbers, in constant memory |
//! | `layouts` | the files of a part in each layout |
//! | `part_file` | a file under a temporary name |
//! | `folder_files` | the files of a folder that belong to no part |
//! | `paths` | names of files in a folder |
//! | `counts` | documents, tokens and rows of a part, or of all parts |
//! | `manifest` | the tokenizer, options and inputs of a folder, and its finished parts |
//! | `manifest_file` | the file of a manifest: JSON, or the metadata of a Parquet file |
//! | `arrow_batches` | where the columns of an Arrow stream lie, for readers that memory-map it |
//! | `tar_rows` | the positions of ids in a tar file of arrays |
//! | `array_record_rows` | the positions of records in an `ArrayRecord` file |
//! | `shuffle` | a seeded order of all documents, by sorted runs on the disk |
//! | `parquet_rows` | the ids of Parquet files, for readers |
//! | `joining` | parts that become one file, or one pair of files |
//! | `merging` | folders of several runs that become one |
//! | `existing` | the contents of a folder before a run, and the part of them that the run may continue |
//! | `run` | all of this, to the last file |
//!
//! All threads encode blocks of records, and the calling thread appends documents in their order. A block of a plain file of lines is a
//! range of bytes, which the thread that encodes the block reads; of other files one thread at a time reads a block. Closed parts are
//! synced on a background thread.
//! When a part has as many bytes as asked for, the next document begins another one. So where a part ends depends on where it begins
//! and on the records that follow, and neither on threads nor on an earlier run that was cut short. A part is *finished* once its
//! files are on the disk under their names and a line of `parts.jsonl` says so. A run that resumes begins with the record after the
//! last finished part.
//!
//! With a [`PartStore`], the files of a part are moved to the store before the part is listed. So the folder holds two parts at most.

mod array_record_rows;
mod arrow_batches;
mod counts;
mod encoding;
mod existing;
mod feed;
mod folder_files;
mod joining;
mod layout;
mod layouts;
mod loss;
mod manifest;
mod manifest_file;
mod masked_packing;
mod merging;
mod options;
mod packing;
mod packing_options;
mod parquet_rows;
mod part_file;
mod part_store;
mod parts;
mod paths;
mod permutation;
mod row_index;
mod rows;
mod run;
mod shuffle;
mod tar_rows;
mod width;

pub use array_record_rows::array_record_rows;
pub use arrow_batches::arrow_batches;
pub use counts::Counts;
pub use feed::{FedBlock, Feed};
pub use layout::{Layout, Preset};
pub use loss::{LossForm, Messages};
pub use manifest_file::{read_manifest, write_manifest};
pub use merging::merge_token_files;
pub use options::Options;
pub use packing_options::{LONGEST_ROW, Packing, PackingMethod};
pub use parquet_rows::{GroupRows, parquet_group, parquet_groups};
pub use part_store::PartStore;
pub use row_index::RowIndex;
pub use rows::RowColumn;
pub use run::{Existing, Run, tokenize_files};
pub use tar_rows::tar_rows;
pub use width::Width;
