//! Tar files of NPY files, as `WebDataset` reads them. The names of files that belong together share all up to the first dot.

use std::io::Read;
use std::path::PathBuf;

use tar::{Builder, EntryType, Header};

use super::npy::header;
use super::{CompleteFile, IDS, PartKind, PartWriter};
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::{Row, RowColumn};
use crate::token_files::width::Width;
use crate::{Error, Result};

/// Permissions of a file in a tar file.
const MODE: u32 = 0o644;

pub(super) struct WebDataset {
    tar: Builder<PartFile>,
    path: PathBuf,
    part: usize,
    width: Width,
    row_length: usize,
    columns: Vec<RowColumn>,
    array: Vec<u8>,
    rows: u64,
}

impl WebDataset {
    pub(super) fn create(paths: &[PathBuf], part: usize, kind: PartKind<'_>) -> Result<Self> {
        let (path, columns) = (paths[0].clone(), kind.row_columns.to_vec());
        let tar = Builder::new(PartFile::create(path.clone(), 0)?);
        let (width, row_length) = (kind.width, kind.row_length.unwrap_or(0));
        Ok(Self { tar, path, part, width, row_length, columns, array: Vec::new(), rows: 0 })
    }

    /// Adds an array of the row.
    fn add(&mut self, name: &str, width: Width, array: &[u8]) -> Result<()> {
        let head = header(width.descr(), &format!("({},)", array.len() / width.bytes()));
        let mut entry = Header::new_ustar();
        entry.set_entry_type(EntryType::Regular);
        entry.set_size((head.len() + array.len()) as u64);
        entry.set_mode(MODE);
        // No user and no time of day: the same input gives the same bytes.
        entry.set_uid(0);
        entry.set_gid(0);
        entry.set_mtime(0);
        let (tar, path) = (&mut self.tar, format!("{:05}-{:08}.{name}.npy", self.part, self.rows));
        let written = entry.set_path(path).and_then(|()| {
            entry.set_cksum();
            tar.append(&entry, Read::chain(&head[..], array))
        });
        written.map_err(Error::io("write", &self.path))
    }
}

impl PartWriter for WebDataset {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.add(IDS, self.width, row.ids)?;
        let mut array = std::mem::take(&mut self.array);
        for at in 0..self.columns.len() {
            let column = self.columns[at];
            array.clear();
            column.push_bytes(row, self.row_length, &mut array);
            self.add(column.name(), Width::I32, &array)?;
        }
        self.array = array;
        self.rows += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let file = self.tar.into_inner().map_err(Error::io("write", &self.path))?;
        Ok(vec![CompleteFile::without_header(file)])
    }
}
