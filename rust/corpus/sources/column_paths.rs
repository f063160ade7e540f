//! Where a column is in a schema of Arrow's.

use std::path::Path;

use arrow_schema::{DataType, Fields};

use super::columns::{no_column, no_texts};
#[cfg(doc)]
use crate::Error;
use crate::Result;

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
