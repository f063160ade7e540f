//! One value of an added column, and values one after the other as bytes.

use crate::{Error, Result};

/// The type of an added column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Strings.
    Text,
    /// Signed integers of 64 bits.
    Int64,
    /// Floating-point numbers of 64 bits.
    Float64,
    /// True or false.
    Bool,
}

impl ValueKind {
    /// The type with this name.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "string" => Ok(Self::Text),
            "int64" => Ok(Self::Int64),
            "float64" => Ok(Self::Float64),
            "bool" => Ok(Self::Bool),
            other => Err(Error::InvalidOption {
                name: "type of a column",
                value: other.to_owned(),
                expected: "string, int64, float64 or bool".to_owned(),
            }),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Bool => "bool",
        }
    }
}

/// A column that is kept beside the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// Its name; dots lead into objects and structs.
    pub name: String,
    /// The same, cut at the dots.
    pub keys: Vec<String>,
    /// The type of its values.
    pub kind: ValueKind,
}

impl AddedColumn {
    /// The column `name`.
    pub fn new(name: &str, kind: ValueKind) -> Self {
        let keys = name.split('.').map(str::to_owned).collect();
        Self { name: name.to_owned(), keys, kind }
    }
}

/// A value of an added column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddedValue<'a> {
    /// There is none.
    Null,
    /// A string.
    Text(&'a str),
    /// An integer.
    Int64(i64),
    /// A floating-point number.
    Float64(f64),
    /// True or false.
    Bool(bool),
}

impl AddedValue<'_> {
    /// Appends the value as bytes: a byte for its type, then the bytes of the value, with the length of a string before them.
    pub(in crate::corpus::sources) fn push_to(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Null => bytes.push(0),
            Self::Text(text) => {
                bytes.push(1);
                bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            }
            Self::Int64(value) => {
                bytes.push(2);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Self::Float64(value) => {
                bytes.push(3);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Self::Bool(value) => bytes.extend_from_slice(&[4, u8::from(value)]),
        }
    }

    /// Appends the value as one of `kind`: any value is also a string, and an integer is also a floating-point number.
    ///
    /// # Errors
    /// A message about a value that does not fit the column.
    pub(super) fn push_as(
        self,
        kind: ValueKind,
        name: &str,
        bytes: &mut Vec<u8>,
    ) -> std::result::Result<(), String> {
        match (self, kind) {
            (Self::Null, _)
            | (Self::Text(_), ValueKind::Text)
            | (Self::Int64(_), ValueKind::Int64)
            | (Self::Float64(_), ValueKind::Float64)
            | (Self::Bool(_), ValueKind::Bool) => self.push_to(bytes),
            (Self::Int64(value), ValueKind::Text) => AddedValue::Text(&value.to_string()).push_to(bytes),
            (Self::Float64(value), ValueKind::Text) => AddedValue::Text(&value.to_string()).push_to(bytes),
            (Self::Bool(value), ValueKind::Text) => AddedValue::Text(&value.to_string()).push_to(bytes),
            #[expect(clippy::cast_precision_loss, reason = "a column of this type was asked for")]
            (Self::Int64(value), ValueKind::Float64) => AddedValue::Float64(value as f64).push_to(bytes),
            (Self::Text(text), _) => return push_parsed(text, kind, name, bytes),
            (Self::Int64(value), _) => return Err(unfit(name, &value.to_string(), kind)),
            (Self::Float64(value), _) => return Err(unfit(name, &value.to_string(), kind)),
            (Self::Bool(value), _) => return Err(unfit(name, &value.to_string(), kind)),
        }
        Ok(())
    }
}

/// Appends the value of `kind` that `text` spells. Empty text spells no number and no truth value: it is null.
///
/// # Errors
/// A message about a value that does not fit the column.
pub(in crate::corpus::sources) fn push_parsed(
    text: &str,
    kind: ValueKind,
    name: &str,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    let value = match kind {
        ValueKind::Text => Some(AddedValue::Text(text)),
        _ if text.is_empty() => Some(AddedValue::Null),
        ValueKind::Int64 => text.parse().ok().map(AddedValue::Int64),
        // Rust also reads words such as `inf`; a number has a digit.
        ValueKind::Float64 => text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite() && text.bytes().any(|byte| byte.is_ascii_digit()))
            .map(AddedValue::Float64),
        ValueKind::Bool => match text {
            "true" => Some(AddedValue::Bool(true)),
            "false" => Some(AddedValue::Bool(false)),
            _ => None,
        },
    };
    value.ok_or_else(|| unfit(name, text, kind)).map(|value| value.push_to(bytes))
}

/// The message about a value that does not fit its column.
pub(super) fn unfit(name: &str, value: &str, kind: ValueKind) -> String {
    const SHOWN: usize = 40;
    let more = if value.chars().nth(SHOWN).is_some() { "..." } else { "" };
    let value: String = value.chars().take(SHOWN).collect();
    format!("column `{name}` has {value}{more} but must have {}", kind.name())
}

/// Values one after the other, as `push_to` wrote them.
#[derive(Clone, Debug)]
pub struct AddedValues<'a>(&'a [u8]);

impl<'a> AddedValues<'a> {
    /// Reads the values in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes after the values that were read.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next value; null for bytes that are no value.
    pub fn next_value(&mut self) -> AddedValue<'a> {
        self.take().unwrap_or(AddedValue::Null)
    }

    fn take(&mut self) -> Option<AddedValue<'a>> {
        let [kind] = self.array()?;
        Some(match kind {
            1 => {
                let length = u32::from_le_bytes(self.array()?) as usize;
                let (text, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                AddedValue::Text(std::str::from_utf8(text).ok()?)
            }
            2 => AddedValue::Int64(i64::from_le_bytes(self.array()?)),
            3 => AddedValue::Float64(f64::from_le_bytes(self.array()?)),
            4 => AddedValue::Bool(self.array() == Some([1])),
            _ => AddedValue::Null,
        })
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_back(
            texts in prop::collection::vec("\\PC{0,9}", 0..5),
            (int, float, truth) in (any::<i64>(), any::<f64>(), any::<bool>()),
            rest in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut values: Vec<_> = texts.iter().map(|text| AddedValue::Text(text)).collect();
            values.extend([AddedValue::Null, AddedValue::Int64(int), AddedValue::Float64(float), AddedValue::Bool(truth)]);
            let mut bytes = Vec::new();
            for value in &values {
                value.push_to(&mut bytes);
            }
            bytes.extend_from_slice(&rest);
            let mut read = AddedValues::new(&bytes);
            for value in values {
                prop_assert_eq!(read.next_value(), value);
            }
            prop_assert_eq!(read.rest(), rest);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(0..6u8, 0..40)) {
            let mut values = AddedValues::new(&bytes);
            for _ in 0..50 {
                let _ = values.next_value();
            }
        }
    }

    #[test]
    fn text_spells_values() {
        let parsed = |text: &str, kind| {
            let mut bytes = Vec::new();
            push_parsed(text, kind, "a", &mut bytes)?;
            Ok::<_, String>(format!("{:?}", AddedValues::new(&bytes).next_value()))
        };
        let cases = [
            ("7", ValueKind::Int64, "Int64(7)"),
            ("-7", ValueKind::Float64, "Float64(-7.0)"),
            ("1e3", ValueKind::Float64, "Float64(1000.0)"),
            ("true", ValueKind::Bool, "Bool(true)"),
            ("", ValueKind::Bool, "Null"),
            ("", ValueKind::Text, "Text(\"\")"),
        ];
        for (text, kind, value) in cases {
            assert_eq!(parsed(text, kind).as_deref(), Ok(value));
        }
        for (text, kind) in [
            ("7.5", ValueKind::Int64),
            ("9223372036854775808", ValueKind::Int64),
            ("inf", ValueKind::Float64),
            ("1e999", ValueKind::Float64),
            ("yes", ValueKind::Bool),
        ] {
            let message = format!("column `a` has {text} but must have {}", kind.name());
            assert_eq!(parsed(text, kind), Err(message));
        }
    }
}
