//! Reads JSON values; errors name the path of the value.

use serde_json::{Map, Value};

use crate::{Error, Result};

/// A JSON value and the path that leads to it.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> Field<'a> {
    pub(super) fn new(path: impl Into<String>, value: &'a Value) -> Self {
        Self { path: path.into(), value }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::Format { path: self.path.clone(), message: message.into() }
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        let mut shown = self.value.to_string();
        if shown.len() > 60 {
            shown.truncate(shown.floor_char_boundary(60));
            shown.push_str("...");
        }
        self.error(format!("expected {what}, found {shown}"))
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    /// The member `key`, unless it is absent or null.
    pub(super) fn get(&self, key: &str) -> Result<Option<Self>> {
        let value = self.object()?.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Field::new(format!("{}.{key}", self.path), value)))
    }

    pub(super) fn require(&self, key: &str) -> Result<Self> {
        self.get(key)?.ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    pub(super) fn str(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub(super) fn char(&self) -> Result<char> {
        let mut chars = self.str()?.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(self.expected("a single character")),
        }
    }

    pub(super) fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(super) fn u32(&self) -> Result<u32> {
        let number = self.value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.expected("an integer from 0 to 4294967295"))
    }

    pub(super) fn usize(&self) -> Result<usize> {
        let number = self.value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| self.expected("an integer from 0"))
    }

    pub(super) fn items(&self) -> Result<Vec<Self>> {
        let items = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(at, value)| Field::new(format!("{}[{at}]", self.path), value))
            .collect())
    }

    pub(super) fn bool_or(&self, key: &str, default: bool) -> Result<bool> {
        self.get(key)?.map_or(Ok(default), |field| field.bool())
    }

    pub(super) fn unknown(&self, kind: &'static str, value: &str, known: &str) -> Error {
        Error::UnknownComponent {
            path: self.path.clone(),
            kind,
            value: value.to_owned(),
            known: known.to_owned(),
        }
    }
}
