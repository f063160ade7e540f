//! Values of a line of JSON. Each column is a pass over the line, which builds nothing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::value::{AddedColumn, AddedValue, ValueKind, push_parsed, unfit};
use crate::corpus::sources::json_field::message_of;

/// Appends the values of the JSON object in `line`. A field that is absent or null is null. In a column of strings, a value that is no
/// string has its JSON text. `given` is the line as it was read, of which `line` may have other numbers in the same places.
///
/// # Errors
/// A message about the object, or about the first value that does not fit its column.
pub(in crate::corpus::sources) fn push_json_values(
    line: &[u8],
    given: &[u8],
    columns: &[AddedColumn],
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    for column in columns {
        let mut json = serde_json::Deserializer::from_slice(line);
        let found = Lookup(&column.keys).deserialize(&mut json);
        let found = found.map_err(|error| message_of(&error))?;
        let found = found.map_or("null", |found| {
            let at = found.get().as_ptr().addr() - line.as_ptr().addr();
            given
                .get(at..at + found.get().len())
                .and_then(|json| std::str::from_utf8(json).ok())
                .unwrap_or("null")
        });
        push_value(found, column, bytes)?;
    }
    Ok(())
}

fn push_value(json: &str, column: &AddedColumn, bytes: &mut Vec<u8>) -> Result<(), String> {
    let AddedColumn { name, kind, .. } = column;
    match json.as_bytes().first() {
        _ if json == "null" => AddedValue::Null.push_to(bytes),
        Some(b'"') if *kind == ValueKind::Text => {
            let text: Text = serde_json::from_str(json).map_err(|error| message_of(&error))?;
            AddedValue::Text(&text.0).push_to(bytes);
        }
        Some(b'"') => return Err(unfit(name, json, *kind)),
        _ => match not_finite(json).filter(|_| *kind == ValueKind::Float64) {
            Some(value) => AddedValue::Float64(value).push_to(bytes),
            None => return push_parsed(json, *kind, name, bytes),
        },
    }
    Ok(())
}

/// A number that Python's `json` writes and JSON has not.
fn not_finite(json: &str) -> Option<f64> {
    match json {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A string, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The value at a path of keys. Where a key is there twice, the last one counts.
struct Lookup<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Lookup<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            <&RawValue as serde::Deserialize>::deserialize(json).map(Some)
        } else {
            json.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for Lookup<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Text(key)) = map.next_key()? {
            match self.0.split_first() {
                Some((first, rest)) if *first == key => found = map.next_value_seed(Lookup(rest))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::corpus::sources::AddedValues;

    fn found(line: &str, name: &str, kind: ValueKind) -> Result<String, String> {
        let mut bytes = Vec::new();
        push_json_values(line.as_bytes(), line.as_bytes(), &[AddedColumn::new(name, kind)], &mut bytes)?;
        Ok(format!("{:?}", AddedValues::new(&bytes).next_value()))
    }

    #[test]
    fn values_are_found_wherever_they_are() {
        let line = r#"{"a": {"b": [1, {"c": 2}]}, "s": "x\n\u00e9", "n": 12, "t": true, "x": null, "n": -3}"#;
        let cases = [
            ("s", ValueKind::Text, r#"Text("x\né")"#),
            ("n", ValueKind::Text, r#"Text("-3")"#),
            ("n", ValueKind::Int64, "Int64(-3)"),
            ("n", ValueKind::Float64, "Float64(-3.0)"),
            ("t", ValueKind::Bool, "Bool(true)"),
            ("t", ValueKind::Text, r#"Text("true")"#),
            ("a.b", ValueKind::Text, r#"Text("[1, {\"c\": 2}]")"#),
            ("x", ValueKind::Bool, "Null"),
            ("s.deeper", ValueKind::Text, "Null"),
            ("a.b.c", ValueKind::Text, "Null"),
            ("absent", ValueKind::Int64, "Null"),
        ];
        for (name, kind, value) in cases {
            assert_eq!(found(line, name, kind).as_deref(), Ok(value), "{name}");
        }
        let message = "column `s` has \"x\\n\\u00e9\" but must have int64";
        assert_eq!(found(line, "s", ValueKind::Int64), Err(message.to_owned()));
        assert!(found(line, "a.b", ValueKind::Bool).is_err());
    }

    proptest! {
        #[test]
        fn lookups_match_naive(
            keys in prop::collection::vec("[ab\"é]|text", 0..4),
            values in prop::collection::vec(prop::sample::select(vec![
                json!(null), json!([{"a": "b"}]), json!({"a": {"b": 1}}), json!("te\"xt"), json!(1.5), json!(false)
            ]), 4),
            path in prop::collection::vec("[ab]", 1..3),
        ) {
            let object: serde_json::Map<_, _> = keys.into_iter().zip(values).collect();
            let line = Value::Object(object.clone()).to_string();
            let naive = path.iter().try_fold(&Value::Object(object), |value, key| value.get(key)).cloned();
            let expected = match naive.unwrap_or(Value::Null) {
                Value::Null => "Null".to_owned(),
                Value::String(text) => format!("Text({text:?})"),
                other => format!("Text({:?})", other.to_string()),
            };
            prop_assert_eq!(found(&line, &path.join("."), ValueKind::Text), Ok(expected));
        }
    }
}
