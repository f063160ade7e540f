//! The object of a `tokenizer.json`, whose fields are read one after the other.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Result;
use crate::formats::components::Component;
use crate::formats::fields::Field;

/// The fields of the object.
#[derive(Deserialize)]
pub(super) struct File<'a> {
    #[serde(default)]
    pub(super) version: Value,
    #[serde(default)]
    pub(super) truncation: Value,
    #[serde(default)]
    pub(super) padding: Value,
    #[serde(default)]
    pub(super) role_to_token: Value,
    /// Read one by one: the values of many would take several times the memory of their text.
    #[serde(borrow)]
    pub(super) added_tokens: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) normalizer: Value,
    #[serde(default)]
    pub(super) pre_tokenizer: Value,
    #[serde(default)]
    pub(super) post_processor: Value,
    #[serde(default)]
    pub(super) decoder: Value,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
}

/// The value of a field that may be null or absent.
///
/// # Errors
/// The errors of `read`.
pub(super) fn optional<T>(
    value: &Value,
    path: &str,
    read: impl FnOnce(&Field<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    read(&Field::new(path, value)).map(Some)
}

/// A stage that may be null or absent.
///
/// # Errors
/// The errors of [`Component::from_json`].
pub(super) fn read_component<C: Component>(value: &Value) -> Result<Option<C>> {
    optional(value, C::KEY, |field| C::from_json(&field.path, field.value))
}
