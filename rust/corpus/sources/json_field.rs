//! The one field of a JSON object that is a text. All other fields are passed over without being built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Appends the text at `field` of the JSON object in `line` to `text`.
///
/// Where a key is there twice, both have to be texts, and the last one counts.
///
/// # Errors
/// A message about the object.
pub(super) fn push_field(line: &[u8], field: &[String], text: &mut String) -> Result<(), String> {
    let start = text.len();
    let found = Field { path: field, text: &mut *text, start };
    // Bytes that are known to be UTF-8 are not checked again, string by string.
    let outcome = match simdutf8::basic::from_utf8(line) {
        Ok(line) => deserialized(found, serde_json::Deserializer::from_str(line)),
        Err(_) => deserialized(found, serde_json::Deserializer::from_slice(line)),
    };
    let outcome = match outcome {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("there is no field `{}`", field.join("."))),
        Err(message) if line.trim_ascii_start().starts_with(b"[") => Err(format!(
            "{message}; a line that begins with [ is a list: JSON lines have an object in each line"
        )),
        Err(message) => Err(message),
    };
    if outcome.is_err() {
        text.truncate(start);
    }
    outcome
}

/// Numbers that Python's `json` writes and JSON has not, with numbers of JSON of the same length.
const NOT_FINITE: [(&[u8], &[u8]); 3] =
    [(b"NaN", b"0.0"), (b"Infinity", b"0.000000"), (b"-Infinity", b"-0.000000")];

/// `line` with zeros in the place of `NaN`, `Infinity` and `-Infinity`, so that all else keeps its place; none if it has none of them
/// outside strings. Only lines that cannot be read as they are need this.
pub(super) fn with_finite_numbers(line: &[u8]) -> Option<Vec<u8>> {
    let (mut made, mut at, mut is_changed) = (line.to_vec(), 0, false);
    while at < line.len() {
        let rest = &line[at..];
        if rest[0] == b'"' {
            at += string_len(rest);
        } else if let Some((word, zero)) = NOT_FINITE.iter().find(|(word, _)| rest.starts_with(word)) {
            made[at..at + word.len()].copy_from_slice(zero);
            (at, is_changed) = (at + word.len(), true);
        } else {
            at += 1;
        }
    }
    is_changed.then_some(made)
}

/// Bytes of the string that `json` begins with, its quotes included.
fn string_len(json: &[u8]) -> usize {
    let mut at = 1;
    while at < json.len() && json[at] != b'"' {
        at += if json[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(json.len())
}

/// The message of serde about a record. Its line number says nothing: a record is one line of a file whose lines we count.
pub(super) fn message_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message
        .strip_suffix(&place)
        .map_or(message.clone(), |message| format!("{message} at byte {}", error.column()))
}

/// True if the text was in the object. Anything after the object is an error.
fn deserialized<'de>(
    field: Field<'_>,
    mut json: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
) -> Result<bool, String> {
    let found = field.deserialize(&mut json).and_then(|found| json.end().map(|()| found));
    found.map_err(|error| message_of(&error))
}

/// The text at `path`: each key is looked up in an object, and the last one has the text. Answers true if the text was there.
struct Field<'a> {
    path: &'a [String],
    text: &'a mut String,
    /// Where the text begins.
    start: usize,
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        if self.path.is_empty() { json.deserialize_str(self) } else { json.deserialize_map(self) }
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.path.is_empty() { "a text" } else { "an object" })
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        self.text.truncate(self.start);
        self.text.push_str(value);
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Some((key, rest)) = self.path.split_first() else { return Ok(false) };
        let mut is_found = false;
        while let Some(Key(found)) = map.next_key()? {
            if found == *key {
                let field = Field { path: rest, text: &mut *self.text, start: self.start };
                is_found = map.next_value_seed(field)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(is_found)
    }
}

/// A key, borrowed from the line unless it is escaped.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn found(line: &str, field: &[&str]) -> Result<String, String> {
        let field: Vec<String> = field.iter().map(|&key| key.to_owned()).collect();
        let mut text = "before ".to_owned();
        push_field(line.as_bytes(), &field, &mut text)?;
        Ok(text.trim_start_matches("before ").to_owned())
    }

    #[test]
    fn a_field_is_found_wherever_it_is() {
        assert_eq!(
            found(r#"{"id": [1, {"text": 2}], "text": "a\n\u00e9"}"#, &["text"]),
            Ok("a\né".to_owned())
        );
        assert_eq!(found(r#"{"a": {"b": {"c": "x"}, "c": "y"}}"#, &["a", "b", "c"]), Ok("x".to_owned()));
        assert_eq!(found(r#" {"a":"x","a":"y"} "#, &["a"]), Ok("y".to_owned()));
        assert_eq!(found(r#"{"a": "x"}"#, &["a"]), Ok("x".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let wrong = |line| found(line, &["text"]).expect_err("no text");
        assert_eq!(wrong("{}"), "there is no field `text`");
        assert_eq!(wrong(r#"{"text": null}"#), "invalid type: null, expected a text at byte 13");
        assert_eq!(wrong(r#"{"text": {"text": ""}}"#), "invalid type: map, expected a text at byte 9");
        assert!(
            wrong("[1]").starts_with(
                "invalid type: sequence, expected an object at byte 0; a line that begins with ["
            )
        );
        assert_eq!(wrong(r#"{"text": "a"} x"#), "trailing characters at byte 15");
        assert_eq!(wrong(r#"{"text": "a"#), "EOF while parsing a string at byte 11");
        assert_eq!(wrong(r#"{"text": "\ud800"}"#), "unexpected end of hex escape at byte 17");
    }

    #[test]
    fn numbers_that_are_not_finite_become_zeros_in_their_place() {
        let line = br#"{"a\"NaN": NaN, "b": [-Infinity, {"c": Infinity}], "NaN": "NaN\\", "x": NaN}"#;
        let made = br#"{"a\"NaN": 0.0, "b": [-0.000000, {"c": 0.000000}], "NaN": "NaN\\", "x": 0.0}"#;
        assert_eq!(with_finite_numbers(line).as_deref(), Some(&made[..]));
        assert_eq!(with_finite_numbers(br#"{"NaN": "Infinity", "a": 1"#), None);
        assert_eq!(with_finite_numbers(br#"{"cut \"#), None);
    }

    proptest! {
        #[test]
        fn push_field_matches_naive(
            text in "\\PC{0,8}",
            other in prop::sample::select(vec![json!(null), json!([{"a": "b"}]), json!({"a": {"text": 1}}), json!("text")]),
            keys in prop::collection::vec("[ab\"é]|text", 0..4),
            at in 0..4usize,
        ) {
            let mut object = serde_json::Map::new();
            for (place, key) in keys.iter().enumerate() {
                let value = if place == at { json!({"text": text}) } else { other.clone() };
                object.insert(key.clone(), value);
            }
            let line = Value::Object(object.clone()).to_string();
            for key in ["a", "text", "\""] {
                let naive = object.get(key).and_then(|value| value.get("text")).and_then(Value::as_str);
                let found = found(&line, &[key, "text"]).ok();
                prop_assert_eq!(found.as_deref(), naive);
            }
        }
    }
}
