//! Shared by columns of all formats: rows that become values of a block, and the errors of a column.

use std::path::Path;

use super::file_errors::named;
use super::record_block::{RecordBlock, Value};
use super::source::{Skipped, Source};
use crate::pipeline::LONGEST_TEXT;
use crate::{Error, Result};

/// Bytes of values in a block, as a rule.
pub(super) const BLOCK: usize = 1 << 18;

/// Names of columns that an error shows.
const SHOWN: usize = 30;

/// The rows of a file up to the next one.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows so far.
    pub(super) count: u64,
    /// Bytes of their values, and one for each row, so that even empty texts have different offsets.
    pub(super) offset: u64,
}

impl Rows {
    /// Adds the value of the next row to `block`; `None` is a null, which is a broken record.
    ///
    /// # Errors
    /// [`Error::Format`] for a null, unless such records are left out; [`Error::RecordTooLong`].
    pub(super) fn push(
        &mut self,
        value: Option<&[u8]>,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
    ) -> Result<()> {
        let (row, offset) = (self.count, block.file_offset + self.offset);
        self.count += 1;
        self.offset += value.map_or(0, |value| value.len() as u64) + 1;
        let Some(value) = value else {
            let (path, message) = (&source.paths[block.file], "the value is null".to_owned());
            return source.broken(path, (row, offset), &message, skipped);
        };
        if value.len() > LONGEST_TEXT {
            let place = source.format.place(&source.paths[block.file], row);
            return Err(Error::RecordTooLong { place, limit: LONGEST_TEXT });
        }
        block.bytes.extend_from_slice(value);
        block.values.push(Value { end: block.bytes.len(), offset: offset - block.offset, place: row });
        Ok(())
    }
}

/// The error of a file that has the columns `others`, but no column `name`.
pub(super) fn no_column<'a>(
    name: &str,
    others: impl Iterator<Item = impl Into<std::borrow::Cow<'a, str>>>,
    path: &Path,
) -> Error {
    let mut others = others.map(Into::into);
    let shown = others.by_ref().take(SHOWN).collect::<Vec<_>>().join(", ");
    let more = match others.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("there is no column `{name}`, only {shown}{more}");
    Error::Format { path: named(path), message }
}

/// The error of a column of values that are no texts.
pub(super) fn no_texts(name: &str, found: &str, path: &Path) -> Error {
    let message = format!("column `{name}` holds {found} but must hold strings, or bytes that are UTF-8");
    Error::Format { path: named(path), message }
}
