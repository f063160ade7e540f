//! Columns that are kept beside texts.
//!
//! | file | holds |
//! |---|---|
//! | `value` | one value, and values one after the other as bytes |
//! | `json_values` | values of a line of JSON |
//! | `array_values` | values of Arrow's arrays |
//! | `parquet_values` | values of a Parquet file, row by row beside its texts |
//! | `schema` | the type of a column in a schema |
//!
//! Readers of Parquet, Arrow and CSV append the values of a record to its block. The values of JSON lines are found by the thread that
//! encodes the record, together with its text. Either way a record has its values as bytes, in the order of the columns.

pub(super) mod array_values;
mod json_values;
pub(super) mod parquet_values;
mod schema;
mod value;

pub(super) use json_values::push_json_values;
pub(super) use schema::{found, path_of};
pub(super) use value::push_parsed;
pub use value::{AddedColumn, AddedValue, AddedValues, ValueKind};
