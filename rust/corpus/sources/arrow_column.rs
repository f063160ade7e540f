//! Blocks of the values of one column of Arrow record batches, from a file or from another library.

use std::io;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Fields};

use super::added::array_values::{ArrayPath, ArrayValues};
use super::columns::{BLOCK, Rows, decoded, no_column, no_texts};
use super::reader::RecordBlock;
use super::source::{Skipped, Source};
use crate::{Error, Result};

/// Record batches as arrays of structs, or the arrays of a single column.
pub(super) type Batches = Box<dyn Iterator<Item = std::result::Result<ArrayRef, ArrowError>> + Send>;

/// One column of a file or stream.
pub(super) struct ArrowColumn {
    batches: Batches,
    /// Where the column is: its number among the fields of the outermost struct, then of the next one inward.
    path: Vec<usize>,
    /// True if offsets and keys within arrays are still to be checked.
    is_foreign: bool,
    batch: Option<Texts>,
    rows: Rows,
    /// Columns that are kept beside it, and their arrays in the batch.
    added: Vec<ArrayPath>,
    values: Option<ArrayValues>,
}

impl ArrowColumn {
    /// The column at `path` of batches that have been checked as they were decoded.
    pub(super) fn of_decoded(batches: Batches, path: Vec<usize>, added: Vec<ArrayPath>) -> Self {
        let (rows, values) = (Rows::default(), None);
        Self { batches, path, is_foreign: false, batch: None, rows, added, values }
    }

    /// The column at `path` of batches that another library made in memory.
    pub(super) fn of_foreign(batches: Batches, path: Vec<usize>, added: Vec<ArrayPath>) -> Self {
        Self { is_foreign: true, ..Self::of_decoded(batches, path, added) }
    }

    /// True if rows of a batch remain.
    pub(super) fn is_within_batch(&self) -> bool {
        self.batch.as_ref().is_some_and(|texts| texts.next < texts.len)
    }

    /// Bytes of values before the next row.
    pub(super) fn offset(&self) -> u64 {
        self.rows.offset
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// The error that `failed` makes of an error of the batches; the errors of [`Rows::push`] and of [`RecordBlock::end_added`].
    pub(super) fn next(
        &mut self,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<bool> {
        block.bytes.clear();
        let first = self.rows.count;
        while block.bytes.len() + block.added.len() < BLOCK {
            let Some(texts) = &mut self.batch else {
                self.batch = decoded(|| self.next_batch(), io_error).map_err(&failed)?;
                if self.batch.is_none() {
                    break;
                }
                continue;
            };
            if texts.next == texts.len {
                self.batch = None;
                continue;
            }
            let mark = block.mark();
            self.rows.push(texts.value(texts.next), block, source, skipped)?;
            if let Some(values) = &self.values {
                let outcome = values.push(texts.next, &mut block.added);
                block.end_added(mark, outcome, source, skipped)?;
            }
            texts.next += 1;
        }
        Ok(self.rows.count > first)
    }

    fn next_batch(&mut self) -> std::result::Result<Option<Texts>, ArrowError> {
        let Some(batch) = self.batches.next() else { return Ok(None) };
        let batch = batch?;
        if !self.added.is_empty() {
            self.values = Some(ArrayValues::new(&batch, &self.added, self.is_foreign)?);
        }
        Texts::new(batch, &self.path, self.is_foreign).map(Some)
    }
}

/// The texts of one batch.
struct Texts {
    /// Arrays whose nulls make a text null: the structs around it, and the keys of a dictionary.
    outer: Vec<ArrayRef>,
    /// Of a dictionary, the row of `values` that each row refers to.
    keys: Option<Vec<usize>>,
    values: ArrayRef,
    next: usize,
    len: usize,
}

impl Texts {
    fn new(batch: ArrayRef, path: &[usize], is_foreign: bool) -> std::result::Result<Self, ArrowError> {
        let (mut outer, mut values) = (Vec::new(), batch);
        for &number in path {
            let inner = values.as_struct_opt().and_then(|fields| fields.columns().get(number).cloned());
            let lacking = || ArrowError::SchemaError("a batch has other columns than the schema".to_owned());
            outer.push(std::mem::replace(&mut values, inner.ok_or_else(lacking)?));
        }
        if is_foreign {
            values.to_data().validate_full()?;
        }
        let len = values.len();
        let dictionary = values.as_any_dictionary_opt();
        let Some(dictionary) = dictionary else {
            return Ok(Self { outer, keys: None, values, next: 0, len });
        };
        // Without values all keys are null.
        let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        let inner = dictionary.values().clone();
        outer.push(std::mem::replace(&mut values, inner));
        Ok(Self { outer, keys: Some(keys), values, next: 0, len })
    }

    /// The text of a row, unless it is null.
    fn value(&self, row: usize) -> Option<&[u8]> {
        if self.outer.iter().any(|array| array.is_null(row)) {
            return None;
        }
        let row = match &self.keys {
            Some(keys) => *keys.get(row)?,
            None => row,
        };
        let values = &self.values;
        if values.is_null(row) {
            return None;
        }
        match values.data_type() {
            DataType::Utf8 => Some(values.as_string::<i32>().value(row).as_bytes()),
            DataType::LargeUtf8 => Some(values.as_string::<i64>().value(row).as_bytes()),
            DataType::Utf8View => Some(values.as_string_view().value(row).as_bytes()),
            DataType::Binary => Some(values.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Some(values.as_binary::<i64>().value(row)),
            DataType::BinaryView => Some(values.as_binary_view().value(row)),
            _ => None,
        }
    }
}

/// Where the column `name` is among `fields`: names of structs come before it, with dots between them.
///
/// # Errors
/// [`Error::Format`] if it is absent or holds no texts.
pub(super) fn column_path(fields: &Fields, name: &str, path: &Path) -> Result<Vec<usize>> {
    let mut numbers = Vec::new();
    let Some(found) = find(fields, name, &mut numbers) else {
        let mut names = Vec::new();
        push_names(fields, "", &mut names);
        return Err(no_column(name, names.into_iter(), path));
    };
    check_texts(found, name, path).map(|()| numbers)
}

/// Refuses a type that is no text.
///
/// # Errors
/// [`Error::Format`] with the type.
pub(super) fn check_texts(found: &DataType, name: &str, path: &Path) -> Result<()> {
    let is_text = |found: &DataType| {
        use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
        matches!(found, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
    };
    match found {
        // All values are null.
        DataType::Null => Ok(()),
        DataType::Dictionary(_, values) if is_text(values) => Ok(()),
        found if is_text(found) => Ok(()),
        found => Err(no_texts(name, &found.to_string(), path)),
    }
}

/// The type of the column `name`; its numbers are added to `numbers`.
pub(super) fn find<'a>(fields: &'a Fields, name: &str, numbers: &mut Vec<usize>) -> Option<&'a DataType> {
    for (number, field) in fields.iter().enumerate() {
        numbers.push(number);
        if field.name() == name {
            return Some(field.data_type());
        }
        if let DataType::Struct(inner) = field.data_type()
            && let Some(rest) =
                name.strip_prefix(field.name().as_str()).and_then(|rest| rest.strip_prefix('.'))
            && let Some(found) = find(inner, rest, numbers)
        {
            return Some(found);
        }
        numbers.pop();
    }
    None
}

/// The names of all columns that are no structs.
pub(super) fn push_names(fields: &Fields, outer: &str, names: &mut Vec<String>) {
    for field in fields {
        let name = format!("{outer}{}", field.name());
        match field.data_type() {
            DataType::Struct(inner) => push_names(inner, &format!("{name}."), names),
            _ => names.push(name),
        }
    }
}

/// The operating system's error, or [`io::ErrorKind::InvalidData`] with the message.
pub(crate) fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        ArrowError::IpcError(message)
        | ArrowError::ParseError(message)
        | ArrowError::CDataInterface(message) => io::Error::new(io::ErrorKind::InvalidData, message),
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}
