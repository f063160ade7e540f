//! The columns that a caller names, with their types.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_schema::Fields;

use super::added::{AddedColumn, ValueKind, found, parquet_values};
use super::file_errors::{STDIN, failed, named};
use super::source::{Format, Source};
use super::{arrow_ipc, compression};
use crate::{Error, Result};

/// The columns with their types. If no type is asked for a column, the first file decides. Parquet and Arrow give the type in the file's
/// schema, with integers and floats widened to 64 bits; JSON lines and CSV give strings.
///
/// # Errors
/// [`Error::InvalidOption`] for sources of plain text, which have no columns; [`Error::Format`] if the column is absent or its type
/// is no string, number or truth value; [`Error::Unsupported`] for Arrow on standard input, which cannot be read twice; the errors of reading.
pub fn added_columns(
    sources: &[Arc<Source>],
    wanted: &[(String, Option<ValueKind>)],
) -> Result<Vec<AddedColumn>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let is_plain = |source: &&Arc<Source>| matches!(source.format, Format::Lines | Format::Documents { .. });
    if let Some(source) = sources.iter().find(is_plain) {
        let path = source.paths.first().map_or_else(String::new, |path| format!(" {}", named(path)));
        return Err(Error::InvalidOption {
            name: "columns",
            value: "given".to_owned(),
            expected: format!("absent for sources of plain text such as{path}"),
        });
    }
    let first = sources.iter().find_map(|source| Some((source, source.paths.first()?)));
    let fields = match first {
        Some((source, path)) if wanted.iter().any(|(_, kind)| kind.is_none()) => schema_of(source, path)?,
        _ => None,
    };
    let column = |(name, kind): &(String, Option<ValueKind>)| {
        let kind = match (kind, &fields, first) {
            (Some(kind), ..) => *kind,
            (None, Some(fields), Some((_, path))) => found(fields, name, path)?.1,
            _ => ValueKind::Text,
        };
        Ok(AddedColumn::new(name, kind))
    };
    wanted.iter().map(column).collect()
}

/// The schema of a file, if its format has one.
fn schema_of(source: &Source, path: &Path) -> Result<Option<Fields>> {
    let is_stdin = path.as_os_str() == STDIN;
    match &source.format {
        Format::ArrowIpc { .. } if is_stdin => Err(Error::Unsupported(
            "standard input is read only once; name the types of columns, as in columns={\"url\": \"string\"}".to_owned(),
        )),
        Format::Parquet { .. } => parquet_values::schema(path).map(|schema| Some(schema.fields().clone())),
        Format::ArrowIpc { .. } => {
            let read = Arc::new(AtomicU64::new(0));
            let opened = compression::open(path, &read).map_err(|source| failed("open", path, source));
            arrow_ipc::schema(opened?, path, &read).map(|schema| Some(schema.fields().clone()))
        }
        Format::ArrowStream { stream, .. } => stream.fields(path),
        _ => Ok(None),
    }
}
