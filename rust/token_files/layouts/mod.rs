//! The files of one part, in each layout.
//!
//! | file | holds |
//! |---|---|
//! | `megatron` | a file of ids, and an index in constant memory |
//! | `raw` | bare ids, with the header or the other files of a preset |
//! | `npy` | ids and row splits as numpy reads them |
//! | `added_batch` | values of added columns, and offsets, as record batches |
//! | `columns` | rows as record batches, for Arrow and Parquet |
//! | `offset_file` | records after a table of offsets, for `mds` and `litdata` |
//! | `mds` | shards of `MosaicML` streaming, and their index |
//! | `litdata` | chunks of litdata, and their index |
//! | `webdataset` | tar files of arrays |
//! | `riegeli` | the container of `array_record` |
//! | `array_record` | files that Grain reads |
//! | `loss_columns` | loss masks as columns of record batches |
//! | `loss_files` | loss masks as files beside the ids |

mod added_batch;
mod array_record;
mod columns;
mod litdata;
mod loss_columns;
mod loss_files;
mod mds;
mod megatron;
mod npy;
mod offset_file;
mod raw;
mod riegeli;
mod webdataset;

use std::path::Path;

use super::layout::{Layout, Preset};
use super::loss::LossForm;
use super::part_file::PartFile;
use super::rows::{Row, RowColumn};
use super::width::Width;
use crate::Result;
use crate::corpus::sources::AddedColumn;

pub(super) use array_record::MAGIC;
pub(super) use columns::{IDS, schema_of};
pub(super) use litdata::index as litdata_index;
pub(super) use loss_files::{FORMS, is_loss_file, loss_names};
pub(super) use mds::index as mds_index;
pub(super) use megatron::{documents_of, open_lengths, write_index};
pub(super) use npy::{HEADER, header};
pub(super) use riegeli::{BLOCK, read_records, record_end, record_start};

/// Takes the rows of one part.
pub(super) trait PartWriter {
    /// Adds a row.
    fn push(&mut self, row: Row<'_>) -> Result<()>;

    /// Completes the files; they are neither synced nor renamed.
    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>>;
}

/// A file that lacks nothing but its header.
#[derive(Debug)]
pub(super) struct CompleteFile {
    pub(super) file: PartFile,
    pub(super) header: Vec<u8>,
}

impl CompleteFile {
    fn without_header(file: PartFile) -> Self {
        Self { file, header: Vec::new() }
    }
}

/// The file of a part in one split, for the list of files in a folder.
pub(super) struct WrittenFile<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: u64,
    pub(super) rows: u64,
    pub(super) tokens: u64,
}

/// The properties that decide the form of a part's files.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartKind<'a> {
    pub(super) layout: Layout,
    pub(super) width: Width,
    /// Tokens of a packed row.
    pub(super) row_length: Option<usize>,
    /// Columns of packed rows.
    pub(super) row_columns: &'a [RowColumn],
    /// Columns of the sources that are kept beside the ids.
    pub(super) added: &'a [AddedColumn],
    /// True if the offsets of tokens are kept, too.
    pub(super) offsets: bool,
    /// The form of the loss masks of conversations.
    pub(super) loss: Option<LossForm>,
}

/// The names of the files of part `part`, the ids first.
fn file_names(layout: Layout, part: usize) -> Vec<String> {
    let named = |suffixes: &[&str]| suffixes.iter().map(|suffix| format!("part-{part:05}{suffix}")).collect();
    match layout {
        Layout::Megatron => named(&[".bin", ".idx"]),
        Layout::Arrow => vec![format!("data-{part:05}.arrow")],
        Layout::Parquet => named(&[".parquet"]),
        Layout::Npy => named(&[".npy", ".row_splits.npy"]),
        Layout::Mds => vec![format!("shard.{part:05}.mds")],
        Layout::WebDataset => named(&[".tar"]),
        Layout::Litdata => vec![format!("chunk-0-{part}.bin")],
        Layout::ArrayRecord => named(&[".array_record"]),
        Layout::Raw(Preset::NanoGpt | Preset::LlmC) => named(&[".bin"]),
        Layout::Raw(Preset::Datatrove) => named(&[".ds", ".ds.index", ".ds.metadata"]),
        Layout::Raw(Preset::Dolma) => named(&[".npy", ".csv.gz"]),
    }
}

/// The names of files that are there only while part `part` is written.
fn side_names(layout: Layout, part: usize) -> Vec<String> {
    let suffixes: &[&str] = match layout {
        Layout::Megatron => &[".lengths"],
        Layout::Mds | Layout::Litdata => &offset_file::OffsetFile::SIDE,
        _ => &[],
    };
    suffixes.iter().map(|suffix| format!("part-{part:05}{suffix}")).collect()
}

/// The name of the file of a column, for the layout that has such files.
fn column_name(column: RowColumn, part: usize) -> String {
    format!("part-{part:05}.{}.npy", column.name())
}

/// The names of all files that part `part` may have, with any options, finished or not.
pub(super) fn possible_names(layout: Layout, part: usize) -> Vec<String> {
    let mut names = file_names(layout, part);
    names.extend(side_names(layout, part));
    if layout == Layout::Npy {
        names.extend(RowColumn::OF_TOKENS.map(|column| column_name(column, part)));
    }
    names.extend(loss_files::possible_names(layout, part));
    names
}

/// The file of a part with these rows, in a layout that has one file, and the folder that it is in.
#[cfg(test)]
pub(super) fn written(
    layout: Layout,
    width: Width,
    rows: &[Vec<u8>],
) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("room on the disk");
    let kind = PartKind {
        layout,
        width,
        row_length: None,
        row_columns: &[],
        added: &[],
        offsets: false,
        loss: None,
    };
    let mut writer = open(kind, folder.path(), 0).expect("a temporary file");
    for ids in rows {
        let row = Row {
            ids,
            starts: &[],
            padding: 0,
            place: crate::corpus::inputs::Place::default(),
            source: "",
            added: &[],
            mask: &[],
        };
        writer.push(row).expect("there is room");
    }
    for mut complete in writer.finish().expect("there is room") {
        complete.file.sync(&complete.header).expect("there is room");
        complete.file.rename().expect("a free name");
    }
    let path = folder.path().join(&file_names(layout, 0)[0]);
    (folder, path)
}

/// Opens the files of part `part` in `folder`.
///
/// # Errors
/// [`crate::Error::Io`].
pub(super) fn open(kind: PartKind<'_>, folder: &Path, part: usize) -> Result<Box<dyn PartWriter>> {
    let names = file_names(kind.layout, part);
    let paths: Vec<_> =
        names.iter().chain(&side_names(kind.layout, part)).map(|name| folder.join(name)).collect();
    let ids: Box<dyn PartWriter> = match kind.layout {
        Layout::Megatron => Box::new(megatron::Megatron::create(&paths, kind.width)?),
        Layout::Arrow => Box::new(columns::Columns::arrow(&paths, kind)?),
        Layout::Parquet => Box::new(columns::Columns::parquet(&paths, kind)?),
        Layout::Npy => {
            let columns = kind.row_columns.iter().filter(|column| RowColumn::OF_TOKENS.contains(column));
            let columns = columns.map(|&column| (column, folder.join(column_name(column, part))));
            let loss = kind.loss.map(|form| (form, loss_files::file_of(kind.layout, form, folder, part)));
            Box::new(npy::Npy::create(&paths, columns, loss, kind)?)
        }
        Layout::Mds => Box::new(mds::Mds::create(&paths, kind)?),
        Layout::WebDataset => Box::new(webdataset::WebDataset::create(&paths, part, kind)?),
        Layout::Litdata => Box::new(litdata::Litdata::create(&paths)?),
        Layout::ArrayRecord => Box::new(array_record::ArrayRecord::create(&paths)?),
        Layout::Raw(preset) => raw::create(preset, &paths, kind.width)?,
    };
    loss_files::beside(ids, kind, folder, part)
}
