//! Objects of files as Python shows them: `Type(key=value, ...)`, in Hugging Face's spelling.

use serde_json::{Map, Value};

/// How many elements of a list or a vocabulary are shown; `...` stands for the rest.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// As `repr` shows.
    All,
    /// As `str` shows.
    Some,
}

/// Bytes of a text that `str` shows.
const LONGEST: usize = 100;

impl Extent {
    fn most(self) -> usize {
        match self {
            Self::All => usize::MAX,
            Self::Some => 5,
        }
    }
}

/// An object of a file, or any value in it.
///
/// An object with a type is shown as a call of it, any other as a dictionary. Texts are not escaped.
pub(super) fn shown(value: &Value, extent: Extent) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text, extent),
        Value::Array(items) => list(items, extent, |item| shown(item, extent)),
        Value::Object(members) => match (members.get("type").and_then(Value::as_str), single(members)) {
            (Some(kind), _) => call(kind, members, extent),
            (None, Some((key @ ("String" | "Regex"), value))) => format!("{key}({})", shown(value, extent)),
            (None, _) => dictionary(members, extent, |value| shown(value, extent)),
        },
    }
}

/// A call of `kind` with the members of an object.
pub(super) fn call(kind: &str, members: &Map<String, Value>, extent: Extent) -> String {
    let others = members.iter().filter(|(key, _)| *key != "type");
    let shown: Vec<_> = others.map(|(key, value)| format!("{key}={}", member(key, value, extent))).collect();
    format!("{kind}({})", shown.join(", "))
}

/// A member of a typed object; some that are names or lists in files are variants or tuples in the code.
fn member(key: &str, value: &Value, extent: Extent) -> String {
    match (key, value) {
        ("behavior" | "prepend_scheme" | "direction" | "strategy", Value::String(name)) => name.clone(),
        ("strategy", Value::Object(members)) => match single(members) {
            Some((key, value)) => format!("{key}({})", shown(value, extent)),
            None => shown(value, extent),
        },
        // The file has the shortest number that is the same in 32 bits.
        ("dropout", Value::Number(number)) => {
            f64::from(number.as_f64().unwrap_or_default() as f32).to_string()
        }
        ("sep" | "cls", Value::Array(items)) => tuple(items, extent),
        ("merges" | "vocab", Value::Array(items)) => list(items, extent, |item| match item {
            Value::Array(pair) => tuple(pair, extent),
            other => shown(other, extent),
        }),
        ("single" | "pair", Value::Array(pieces)) => list(pieces, extent, |value| piece(value, extent)),
        ("special_tokens", Value::Object(tokens)) => dictionary(tokens, extent, |token| match token {
            Value::Object(members) => call("SpecialToken", members, extent),
            other => shown(other, extent),
        }),
        ("truncation", Value::Object(members)) => call("TruncationParams", members, extent),
        ("padding", Value::Object(members)) => call("PaddingParams", members, extent),
        _ => shown(value, extent),
    }
}

/// A piece of a template.
fn piece(value: &Value, extent: Extent) -> String {
    let Value::Object(members) = value else { return shown(value, extent) };
    match single(members) {
        Some(("Sequence", value)) => {
            format!(
                "Sequence(id={}, type_id={})",
                value["id"].as_str().unwrap_or_default(),
                shown(&value["type_id"], extent)
            )
        }
        Some((kind, Value::Object(members))) => call(kind, members, extent),
        _ => shown(value, extent),
    }
}

/// A text between quotation marks, not escaped.
fn quoted(text: &str, extent: Extent) -> String {
    match extent {
        Extent::Some if text.len() > LONGEST => {
            format!("\"{}...\"", &text[..text.floor_char_boundary(LONGEST)])
        }
        _ => format!("\"{text}\""),
    }
}

fn tuple(items: &[Value], extent: Extent) -> String {
    format!("({})", items.iter().map(|item| shown(item, extent)).collect::<Vec<_>>().join(", "))
}

fn list(items: &[Value], extent: Extent, show: impl Fn(&Value) -> String) -> String {
    format!("[{}]", first(items.len(), extent, items.iter().map(show)))
}

fn dictionary(members: &Map<String, Value>, extent: Extent, show: impl Fn(&Value) -> String) -> String {
    let shown = members.iter().map(|(key, value)| format!("{}:{}", quoted(key, extent), show(value)));
    format!("{{{}}}", first(members.len(), extent, shown))
}

/// The first of `len` elements.
fn first(len: usize, extent: Extent, shown: impl Iterator<Item = String>) -> String {
    let rest = (len > extent.most()).then(|| "...".to_owned());
    shown.take(extent.most()).chain(rest).collect::<Vec<_>>().join(", ")
}

/// The only member of an object.
fn single(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    members.iter().next().filter(|_| members.len() == 1).map(|(key, value)| (key.as_str(), value))
}
