//! Objects of files as Python shows them: `Type(key=value, ...)`, in Hugging Face's spelling.

use std::fmt::Write;

use serde_json::{Map, Value};

/// How much of a list, a dictionary or a text is shown; `...` stands for the rest.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// As `repr` shows.
    Long,
    /// As `str` shows.
    Short,
}

impl Extent {
    /// Elements that are shown of a list or a dictionary.
    fn most(self) -> usize {
        match self {
            Self::Long => 99,
            Self::Short => 5,
        }
    }

    /// The number of elements to read: one more than are shown, which tells if there is a rest.
    pub(super) fn looked_at(self) -> usize {
        self.most() + 1
    }

    /// Bytes that are shown of a text.
    fn longest(self) -> usize {
        match self {
            Self::Long => usize::MAX,
            Self::Short => 100,
        }
    }
}

/// An object of a file, or any value in it.
///
/// An object with a type is shown as a call of it, any other as a dictionary. Texts are not escaped.
pub(super) fn shown(value: &Value, extent: Extent) -> String {
    let mut shown = Shown { text: String::new(), extent };
    shown.value(value);
    shown.text
}

/// A call of `kind` with the members of an object.
pub(super) fn called(kind: &str, members: &Map<String, Value>, extent: Extent) -> String {
    let mut shown = Shown { text: String::new(), extent };
    shown.call(kind, members);
    shown.text
}

/// The text so far.
struct Shown {
    text: String,
    extent: Extent,
}

impl Shown {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.push("None"),
            Value::Bool(true) => self.push("True"),
            Value::Bool(false) => self.push("False"),
            Value::Number(number) => self.number(number.as_f64().filter(|_| number.is_f64()), number),
            Value::String(text) => self.quoted(text),
            Value::Array(items) => self.list(items, Self::value),
            Value::Object(members) => match (members.get("type").and_then(Value::as_str), single(members)) {
                (Some(kind), _) => self.call(kind, members),
                (None, Some((key @ ("String" | "Regex"), value))) => {
                    self.push(key);
                    self.push("(");
                    self.value(value);
                    self.push(")");
                }
                (None, _) => self.dictionary(members, Self::value),
            },
        }
    }

    /// A number, which is `float` if it is none of the integers.
    fn number(&mut self, float: Option<f64>, number: &serde_json::Number) {
        // Writing to a string never fails.
        let _ = match float {
            Some(float) => write!(self.text, "{float}"),
            None => write!(self.text, "{number}"),
        };
    }

    fn call(&mut self, kind: &str, members: &Map<String, Value>) {
        self.push(kind);
        self.push("(");
        let others = members.iter().filter(|(key, _)| *key != "type");
        for (at, (key, value)) in others.enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.push(key);
            self.push("=");
            self.member(key, value);
        }
        self.push(")");
    }

    /// A member of a typed object; some that are names or lists in files are variants or tuples in the code.
    fn member(&mut self, key: &str, value: &Value) {
        match (key, value) {
            (
                "behavior" | "prepend_scheme" | "direction" | "strategy" | "progress_format",
                Value::String(name),
            ) => self.push(name),
            ("words", Value::Bool(has_words)) => self.push(if *has_words { "{...}" } else { "{}" }),
            ("strategy", Value::Object(members)) => match single(members) {
                Some((key, value)) => {
                    self.push(key);
                    self.push("(");
                    self.value(value);
                    self.push(")");
                }
                None => self.value(value),
            },
            // The file has the shortest number that is the same in 32 bits.
            ("dropout", Value::Number(number)) => {
                let dropout = number.as_f64().unwrap_or_default() as f32;
                self.number(Some(f64::from(dropout)), number);
            }
            ("sep" | "cls", Value::Array(items)) => self.tuple(items),
            ("merges" | "vocab", Value::Array(items)) => self.list(items, |shown, item| match item {
                Value::Array(pair) => shown.tuple(pair),
                other => shown.value(other),
            }),
            ("single" | "pair", Value::Array(pieces)) => self.list(pieces, Self::piece),
            ("special_tokens", Value::Object(tokens)) => {
                self.dictionary(tokens, |shown, token| match token {
                    Value::Object(members) => shown.call("SpecialToken", members),
                    other => shown.value(other),
                });
            }
            ("special_tokens", Value::Array(tokens)) => self.list(tokens, |shown, token| match token {
                Value::Object(members) => shown.call("AddedToken", members),
                other => shown.value(other),
            }),
            ("truncation", Value::Object(members)) => self.call("TruncationParams", members),
            ("padding", Value::Object(members)) => self.call("PaddingParams", members),
            _ => self.value(value),
        }
    }

    /// A piece of a template.
    fn piece(&mut self, value: &Value) {
        let Value::Object(members) = value else { return self.value(value) };
        match single(members) {
            Some(("Sequence", value)) => {
                self.push("Sequence(id=");
                self.push(value["id"].as_str().unwrap_or_default());
                self.push(", type_id=");
                self.value(&value["type_id"]);
                self.push(")");
            }
            Some((kind, Value::Object(members))) => self.call(kind, members),
            _ => self.value(value),
        }
    }

    /// A text between quotation marks, not escaped.
    fn quoted(&mut self, text: &str) {
        let shown = &text[..text.floor_char_boundary(self.extent.longest())];
        self.push("\"");
        self.push(shown);
        self.push(if shown.len() < text.len() { "...\"" } else { "\"" });
    }

    fn tuple(&mut self, items: &[Value]) {
        self.push("(");
        for (at, item) in items.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            self.value(item);
        }
        self.push(")");
    }

    fn list(&mut self, items: &[Value], show: impl Fn(&mut Self, &Value)) {
        self.push("[");
        self.first(items.iter(), show);
        self.push("]");
    }

    fn dictionary(&mut self, members: &Map<String, Value>, show: impl Fn(&mut Self, &Value)) {
        self.push("{");
        self.first(members.iter(), |shown, (key, value)| {
            shown.quoted(key);
            shown.push(":");
            show(shown, value);
        });
        self.push("}");
    }

    /// The first elements, as many as the extent has.
    fn first<T>(&mut self, items: impl Iterator<Item = T>, show: impl Fn(&mut Self, T)) {
        for (at, item) in items.enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            if at == self.extent.most() {
                return self.push("...");
            }
            show(self, item);
        }
    }
}

/// The only member of an object.
fn single(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    members.iter().next().filter(|_| members.len() == 1).map(|(key, value)| (key.as_str(), value))
}
