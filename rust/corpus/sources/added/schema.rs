//! The type of a column in a schema.

use std::path::Path;

use arrow_schema::{DataType, Fields};

use super::array_values::ArrayPath;
use super::value::{AddedColumn, ValueKind};
use crate::corpus::sources::column_paths::{find, push_names};
use crate::corpus::sources::columns::no_column;
use crate::corpus::sources::file_errors::named;
use crate::{Error, Result};

/// Where a column is among `fields`.
///
/// # Errors
/// [`Error::Format`] if it is absent, or its values cannot become values of the column's type.
pub(in crate::corpus::sources) fn path_of(
    fields: &Fields,
    column: &AddedColumn,
    path: &Path,
) -> Result<ArrayPath> {
    let (numbers, kind) = found(fields, &column.name, path)?;
    let is_fit = kind == column.kind
        || column.kind == ValueKind::Text
        || (kind, column.kind) == (ValueKind::Int64, ValueKind::Float64)
        || kind == ValueKind::Text;
    if !is_fit {
        let (name, kind, wanted) = (&column.name, kind.name(), column.kind.name());
        let message = format!("column `{name}` holds {kind} but must hold {wanted}");
        return Err(Error::Format { path: named(path), message });
    }
    Ok(ArrayPath { numbers, column: column.clone() })
}

/// The numbers that lead to a column among `fields`, and the type of its values.
///
/// # Errors
/// [`Error::Format`] if it is absent or no type of values.
pub(in crate::corpus::sources) fn found(
    fields: &Fields,
    name: &str,
    path: &Path,
) -> Result<(Vec<usize>, ValueKind)> {
    let mut numbers = Vec::new();
    let Some(found) = find(fields, name, &mut numbers) else {
        let mut names = Vec::new();
        push_names(fields, "", &mut names);
        return Err(no_column(name, names.into_iter(), path));
    };
    let Some(kind) = kind_of(found) else {
        let message =
            format!("column `{name}` holds {found} but must hold strings, integers, floats or booleans");
        return Err(Error::Format { path: named(path), message });
    };
    Ok((numbers, kind))
}

fn kind_of(found: &DataType) -> Option<ValueKind> {
    use DataType::{
        Binary, BinaryView, Boolean, Dictionary, Float16, Float32, Float64, Int8, Int16, Int32, Int64,
        LargeBinary, LargeUtf8, Null, UInt8, UInt16, UInt32, UInt64, Utf8, Utf8View,
    };
    match found {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | Null => Some(ValueKind::Text),
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Some(ValueKind::Int64),
        Float16 | Float32 | Float64 => Some(ValueKind::Float64),
        Boolean => Some(ValueKind::Bool),
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => kind_of(values),
        _ => None,
    }
}
