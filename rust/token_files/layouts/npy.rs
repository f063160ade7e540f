//! NPY files: the ids of a part, and its row splits.

use std::path::PathBuf;

use super::{CompleteFile, PartKind, PartWriter};
use crate::Result;
use crate::token_files::loss::LossForm;
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::{Row, RowColumn};
use crate::token_files::width::Width;

/// Bytes of a header; its text is padded, since the length of the array is known last.
pub(in crate::token_files) const HEADER: usize = 128;

/// The header of an array; `shape` is a tuple in Python's spelling.
pub(in crate::token_files) fn header(descr: &str, shape: &str) -> Vec<u8> {
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&((HEADER - 10) as u16).to_le_bytes());
    header.extend_from_slice(
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").as_bytes(),
    );
    // Two numbers of 20 digits leave room.
    header.resize(HEADER - 1, b' ');
    header.push(b'\n');
    header
}

pub(super) struct Npy {
    ids: PartFile,
    /// Tokens before each row, and all of them.
    splits: PartFile,
    /// An integer for each token of packed rows.
    columns: Vec<(RowColumn, PartFile)>,
    values: Vec<u8>,
    /// Loss masks, a value for each token.
    loss: Option<(LossForm, PartFile)>,
    width: Width,
    /// Of an array of rows, the tokens of each.
    row_length: Option<usize>,
    rows: u64,
    tokens: u64,
}

impl Npy {
    pub(super) fn create(
        paths: &[PathBuf],
        columns: impl Iterator<Item = (RowColumn, PathBuf)>,
        loss: Option<(LossForm, PathBuf)>,
        kind: PartKind<'_>,
    ) -> Result<Self> {
        let ids = PartFile::create(paths[0].clone(), HEADER)?;
        let mut splits = PartFile::create(paths[1].clone(), HEADER)?;
        splits.append(&0u64.to_le_bytes())?;
        let columns = columns.map(|(column, path)| Ok((column, PartFile::create(path, HEADER)?)));
        let (columns, values) = (columns.collect::<Result<_>>()?, Vec::new());
        let loss = loss.map(|(form, path)| Ok((form, PartFile::create(path, HEADER)?))).transpose()?;
        let (width, row_length) = (kind.width, kind.row_length);
        Ok(Self { ids, splits, columns, values, loss, width, row_length, rows: 0, tokens: 0 })
    }

    /// Ends documents of packed rows after so many tokens of the part.
    fn split_at(&mut self, tokens: u64) -> Result<()> {
        self.splits.append(&tokens.to_le_bytes())
    }
}

impl PartWriter for Npy {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let begin = self.tokens;
        self.tokens += (row.ids.len() / self.width.bytes()) as u64;
        self.rows += 1;
        self.ids.append(row.ids)?;
        if let Some((form, file)) = &mut self.loss {
            self.values.clear();
            form.push(row.ids, row.mask, self.width, &mut self.values);
            file.append(&self.values)?;
        }
        let Some(length) = self.row_length else { return self.split_at(self.tokens) };
        for (column, file) in &mut self.columns {
            self.values.clear();
            column.push_bytes(row, length, &mut self.values);
            file.append(&self.values)?;
        }
        // The array begins with 0 already; a document that goes on in the next row is split there.
        row.starts
            .iter()
            .skip(usize::from(begin == 0))
            .try_for_each(|&start| self.split_at(begin + start as u64))
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<CompleteFile>> {
        if self.row_length.is_some() && self.tokens > 0 {
            self.split_at(self.tokens)?;
        }
        let shape = match self.row_length {
            Some(length) => format!("({}, {length})", self.rows),
            None => format!("({},)", self.tokens),
        };
        let splits = (self.splits.bytes() - HEADER as u64) / 8;
        let of_rows = self.columns.into_iter().map(|(_, file)| (file, Width::I32.descr(), shape.clone()));
        let of_loss =
            self.loss.map(|(form, file)| (file, form.width().unwrap_or(Width::I32).descr(), shape.clone()));
        let files =
            [(self.ids, self.width.descr(), shape.clone()), (self.splits, "<i8", format!("({splits},)"))];
        let files = files.into_iter().chain(of_rows).chain(of_loss);
        Ok(files.map(|(file, descr, shape)| CompleteFile { file, header: header(descr, &shape) }).collect())
    }
}
