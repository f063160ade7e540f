//! Rows, and columns of integers about the tokens of packed rows.

use crate::corpus::inputs::Place;
use crate::{Error, Result};

/// The unit of writing: a document, or a row of packed documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// Ids in the width of the files.
    pub(super) ids: &'a [u8],
    /// Of a packed row, where slices and the padding begin, and the tokens of padding.
    pub(super) starts: &'a [i32],
    pub(super) padding: usize,
    /// The record of a document.
    pub(super) place: Place,
    /// The file of this record.
    pub(super) source: &'a str,
    /// Values of added columns, then the offsets of tokens: pairs of 32-bit integers.
    pub(super) added: &'a [u8],
    /// Of a conversation, 1 for each token to learn, and 0 for each other token.
    pub(super) mask: &'a [u8],
}

/// A column of packed rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowColumn {
    /// Where slices and the padding begin in the row; each packed row of a layout with columns has it.
    Starts,
    /// The place of each token in its slice, from 0.
    PositionIds,
    /// The number of each token's slice in the row, from 1; of padding, 0.
    DocumentIds,
    /// The starts, and the length of the row.
    CuSeqlens,
}

impl RowColumn {
    /// The columns that are written if they are asked for.
    const OPTIONAL: [Self; 3] = [Self::PositionIds, Self::DocumentIds, Self::CuSeqlens];

    /// The columns with an integer for each token.
    pub(super) const OF_TOKENS: [Self; 2] = [Self::PositionIds, Self::DocumentIds];

    /// The column of this name.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::OPTIONAL.into_iter().find(|column| column.name() == name);
        found.ok_or_else(|| Error::InvalidOption {
            name: "pack_columns",
            value: name.to_owned(),
            expected: "position_ids, document_ids or cu_seqlens".to_owned(),
        })
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starts => "seq_start_id",
            Self::PositionIds => "position_ids",
            Self::DocumentIds => "document_ids",
            Self::CuSeqlens => "cu_seqlens",
        }
    }

    /// Appends the integers of a row of `length` tokens as bytes, little-endian.
    pub(super) fn push_bytes(self, row: Row<'_>, length: usize, bytes: &mut Vec<u8>) {
        let mut values = Vec::new();
        self.push(row, length, &mut values);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    /// Appends the integers of a row of `length` tokens.
    pub(super) fn push(self, row: Row<'_>, length: usize, values: &mut Vec<i32>) {
        let ends = row.starts.iter().skip(1).copied().chain([length as i32]);
        match self {
            Self::Starts => values.extend_from_slice(row.starts),
            Self::CuSeqlens => values.extend(row.starts.iter().copied().chain([length as i32])),
            Self::PositionIds => {
                values.extend(row.starts.iter().zip(ends).flat_map(|(start, end)| 0..end - start));
            }
            Self::DocumentIds => {
                let begin = values.len();
                for (number, (&start, end)) in (1..).zip(row.starts.iter().zip(ends)) {
                    values.extend((start..end).map(|_| number));
                }
                let end = begin + length;
                values[end - row.padding..end].fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_their_definitions_say() {
        let row = Row {
            ids: &[7, 8, 9, 5, 0, 0],
            starts: &[0, 3, 4],
            padding: 2,
            place: Place::default(),
            source: "",
            added: &[],
            mask: &[],
        };
        let expected: [(RowColumn, &[i32]); 4] = [
            (RowColumn::Starts, &[0, 3, 4]),
            (RowColumn::PositionIds, &[0, 1, 2, 0, 0, 1]),
            (RowColumn::DocumentIds, &[1, 1, 1, 2, 0, 0]),
            (RowColumn::CuSeqlens, &[0, 3, 4, 6]),
        ];
        for (column, integers) in expected {
            let mut values = vec![4];
            column.push(row, 6, &mut values);
            assert_eq!(values[1..], *integers, "{column:?}");
        }
        assert!(RowColumn::named("seq_start_id").is_err());
    }
}
