//! The one field of a JSON object that is a text. All other fields are passed over without being built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Appends the text at `field` of the JSON object in `line` to `text`.
///
/// Where a key is there twice, both have to be texts, and the last one counts.
///
/// # Errors
/// What is wrong with the object, in words.
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
        // A record is one line, so serde's line number says nothing.
        Err(message) => Err(message.replace(" at line 1 column ", " at byte ")),
    };
    if outcome.is_err() {
        text.truncate(start);
    }
    outcome
}

/// Whether the text was in the object, which has to be all that there is.
fn deserialized<'de>(
    field: Field<'_>,
    mut json: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
) -> Result<bool, String> {
    let found = field.deserialize(&mut json).and_then(|found| json.end().map(|()| found));
    found.map_err(|error| error.to_string())
}

/// What lies at `path`: an object as long as there are keys, then a text. Answers whether the text was there.
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
        assert_eq!(wrong("[1]"), "invalid type: sequence, expected an object at byte 0");
        assert_eq!(wrong(r#"{"text": "a"} x"#), "trailing characters at byte 15");
        assert_eq!(wrong(r#"{"text": "a"#), "EOF while parsing a string at byte 11");
        assert_eq!(wrong(r#"{"text": "\ud800"}"#), "unexpected end of hex escape at byte 17");
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
