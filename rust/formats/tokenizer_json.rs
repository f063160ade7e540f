//! `tokenizer.json`: the whole tokenizer in one file.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::components::Component;
use super::fields::Field;
use super::foreign::{BYTE_ORDER_MARK, hint_of_object, json_error, refuse_foreign};
use super::model_json::{self, ModelJson, json_text};
use super::{sentencepiece, vocab_files};
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::encoding::{Direction, Padding, Symbol};
use crate::tokenizer::{Components, PaddingLength, PaddingRule, Truncation, TruncationStrategy};
use crate::{Error, Result};

#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    version: Value,
    #[serde(default)]
    truncation: Value,
    #[serde(default)]
    padding: Value,
    /// Read one by one: the values of many would take several times the memory of their text.
    #[serde(borrow)]
    added_tokens: Option<&'a RawValue>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
}

/// The only version of the format.
const VERSION: &str = "1.0";

/// Reads a tokenizer.
///
/// The file's ids of added tokens are ignored: each added token takes the model's id of its text, or the next free id, by the rule of
/// [`added_tokens`](crate::added_tokens).
///
/// # Errors
/// [`Error::Format`], [`Error::UnknownComponent`] or [`Error::TokenNotInVocab`], naming the JSON path.
pub fn read(text: &str) -> Result<Components> {
    let wrong = |message: String| Error::Format { path: "tokenizer".to_owned(), message };
    let file: File<'_> = serde_json::from_str(text).map_err(|error| {
        // For JSON that is not an object, serde's message would describe this struct as another JSON type.
        let is_object = !error.is_data() || text.trim_start().starts_with('{');
        wrong(if is_object { json_error(&error, text) } else { "expected an object".to_owned() })
    })?;
    let version = Field::new("version", &file.version);
    if !file.version.is_null() && version.str()? != VERSION {
        return Err(
            version.error(format!("unknown version {}, this version knows {VERSION:?}", file.version))
        );
    }
    let Some(model) = file.model else {
        let object: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        return Err(wrong(format!("`model` is missing{}", hint_of_object(&object))));
    };
    let model = Arc::new(model_json::read(model.get())?);
    let mut added = AddedTokens::default();
    if let Some(tokens) = file.added_tokens {
        added.add(&read_added_tokens(tokens)?, model.vocab());
    }
    Ok(Components {
        normalizer: read_component(&file.normalizer)?,
        pre_tokenizer: read_component(&file.pre_tokenizer)?,
        post_processor: read_component(&file.post_processor)?,
        decoder: read_component(&file.decoder)?,
        model,
        added: Arc::new(added),
        truncation: optional(&file.truncation, "truncation", read_truncation)?,
        padding: optional(&file.padding, "padding", read_padding)?,
    })
}

/// Reads a tokenizer from the bytes of a file, which errors call `name`. A byte order mark before the JSON is passed over.
///
/// # Errors
/// The errors of [`read`], [`Error::FileNotUtf8`], and [`Error::Format`] for a file of another kind.
pub fn read_bytes(bytes: &[u8], name: &str) -> Result<Components> {
    let wrong = |message: &str| Error::Format { path: name.to_owned(), message: message.to_owned() };
    refuse_foreign(bytes, name)?;
    if bytes.starts_with(b"\n") && sentencepiece::read(bytes).is_ok() {
        return Err(wrong("this is a model of SentencePiece's; read it with Tokenizer.from_spm"));
    }
    let json = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let json = simdutf8::compat::from_utf8(json).map_err(|error| {
        let byte = (bytes.len() - json.len() + error.valid_up_to()) as u64;
        Error::FileNotUtf8 { origin: name.to_owned(), byte }
    })?;
    read(json).map_err(|error| match error {
        // The whole file has no path of its own.
        Error::Format { path, message } if path == "tokenizer" => {
            Error::Format { path: name.to_owned(), message }
        }
        error => error.in_file(name),
    })
}

/// Reads a `tokenizer.json`.
///
/// # Errors
/// The errors of [`read_bytes`], and [`Error::Io`].
pub fn read_file(path: &Path) -> Result<Components> {
    read_bytes(&vocab_files::read_bytes(path)?, &path.display().to_string())
}

fn optional<T>(value: &Value, path: &str, read: impl FnOnce(&Field<'_>) -> Result<T>) -> Result<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    read(&Field::new(path, value)).map(Some)
}

fn read_component<C: Component>(value: &Value) -> Result<Option<C>> {
    optional(value, C::KEY, |field| C::from_json(&field.path, field.value))
}

/// An added token as all published files have it.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "options of the file format")]
struct UsualToken {
    /// Must be there; the order of the tokens decides.
    #[serde(rename = "id")]
    _id: u32,
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

fn read_added_tokens(text: &RawValue) -> Result<Vec<AddedToken>> {
    let Ok(tokens) = serde_json::from_str::<Vec<&RawValue>>(text.get()) else {
        let list = read_value("added_tokens", text)?;
        return Err(Field::new("added_tokens", &list).expected("a list"));
    };
    let token = |(at, text): (usize, &&RawValue)| {
        // A valid file needs no tree of values; the tree names the place of an error.
        if let Ok(UsualToken { _id: _, content, single_word, lstrip, rstrip, normalized, special }) =
            serde_json::from_str(text.get())
        {
            return Ok(AddedToken { content, single_word, lstrip, rstrip, normalized, special });
        }
        let path = format!("added_tokens[{at}]");
        let value = read_value(&path, text)?;
        read_added_token(&Field::new(path, &value))
    };
    tokens.iter().enumerate().map(token).collect()
}

fn read_value(path: &str, text: &RawValue) -> Result<Value> {
    let error =
        |error: serde_json::Error| Error::Format { path: path.to_owned(), message: error.to_string() };
    serde_json::from_str(text.get()).map_err(error)
}

fn read_added_token(field: &Field<'_>) -> Result<AddedToken> {
    let flag = |key| field.require(key)?.bool();
    field.require("id")?.u32()?;
    Ok(AddedToken {
        content: field.require("content")?.str()?.to_owned(),
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
        normalized: flag("normalized")?,
        special: flag("special")?,
    })
}

fn read_direction(field: &Field<'_>) -> Result<Direction> {
    let Some(direction) = field.get("direction")? else { return Ok(Direction::Right) };
    match direction.str()? {
        "Left" => Ok(Direction::Left),
        "Right" => Ok(Direction::Right),
        other => Err(direction.unknown("direction", other, "Left, Right")),
    }
}

fn read_truncation(field: &Field<'_>) -> Result<Truncation> {
    let strategy = field.require("strategy")?;
    let name = strategy.str()?;
    let found = TruncationStrategy::NAMES.into_iter().find(|&(_, _, known)| known == name);
    let Some((found, ..)) = found else {
        let known = TruncationStrategy::NAMES.map(|(_, _, name)| name).join(", ");
        return Err(strategy.unknown("strategy", name, &known));
    };
    Ok(Truncation {
        direction: read_direction(field)?,
        max_length: field.require("max_length")?.usize()?,
        strategy: found,
        stride: field.require("stride")?.usize()?,
    })
}

fn read_padding(field: &Field<'_>) -> Result<PaddingRule> {
    let strategy = field.require("strategy")?;
    let length = match strategy.value.as_str() {
        Some("BatchLongest") => PaddingLength::BatchLongest,
        Some(other) => return Err(strategy.unknown("strategy", other, "BatchLongest, {\"Fixed\": n}")),
        None => PaddingLength::Fixed(strategy.require("Fixed")?.usize()?),
    };
    let symbol =
        Symbol { id: field.require("pad_id")?.u32()?, text: field.require("pad_token")?.str()?.into() };
    let multiple = field.get("pad_to_multiple_of")?;
    Ok(PaddingRule {
        length,
        pad_to_multiple_of: multiple.map(|multiple| multiple.usize()).transpose()?,
        padding: Padding {
            symbol,
            type_id: field.require("pad_type_id")?.u32()?,
            direction: read_direction(field)?,
        },
    })
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Left => "Left",
        Direction::Right => "Right",
    }
}

/// Reads an added token as pickles carry it.
pub fn read_added_token_json(value: &Value) -> Option<AddedToken> {
    let flag = |key: &str| value[key].as_bool();
    Some(AddedToken {
        content: value["content"].as_str()?.to_owned(),
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
        normalized: flag("normalized")?,
        special: flag("special")?,
    })
}

/// An added token as files write it.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "options of the file format")]
struct AddedTokenJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    content: &'a str,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

impl<'a> AddedTokenJson<'a> {
    fn new(id: Option<u32>, token: &'a AddedToken) -> Self {
        let AddedToken { content, single_word, lstrip, rstrip, normalized, special } = token;
        let (single_word, lstrip, rstrip) = (*single_word, *lstrip, *rstrip);
        Self { id, content, single_word, lstrip, rstrip, normalized: *normalized, special: *special }
    }
}

/// An added token as files write it, without its id.
pub fn added_token_json(token: &AddedToken) -> Value {
    json!(AddedTokenJson::new(None, token))
}

fn truncation_json(truncation: &Truncation) -> Value {
    json!({
        "direction": direction_name(truncation.direction),
        "max_length": truncation.max_length,
        "strategy": truncation.strategy.name(),
        "stride": truncation.stride,
    })
}

fn padding_json(rule: &PaddingRule) -> Value {
    json!({
        "strategy": match rule.length {
            PaddingLength::BatchLongest => json!("BatchLongest"),
            PaddingLength::Fixed(length) => json!({"Fixed": length}),
        },
        "direction": direction_name(rule.padding.direction),
        "pad_to_multiple_of": rule.pad_to_multiple_of,
        "pad_id": rule.padding.symbol.id,
        "pad_type_id": rule.padding.type_id,
        "pad_token": &*rule.padding.symbol.text,
    })
}

/// The object of a `tokenizer.json`.
#[derive(Serialize)]
struct TokenizerJson<'a> {
    version: &'static str,
    truncation: Option<Value>,
    padding: Option<Value>,
    added_tokens: Vec<AddedTokenJson<'a>>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    decoder: Option<Value>,
    model: ModelJson<'a>,
}

impl<'a> TokenizerJson<'a> {
    /// The object with at most `most` added tokens, and around the object of the model.
    fn new(parts: &'a Components, most: usize, model: ModelJson<'a>) -> Result<Self> {
        let added = parts.added.sorted().into_iter().take(most);
        Ok(Self {
            version: VERSION,
            truncation: parts.truncation.as_ref().map(truncation_json),
            padding: parts.padding.as_ref().map(padding_json),
            added_tokens: added.map(|(id, token)| AddedTokenJson::new(Some(id), token)).collect(),
            normalizer: parts.normalizer.as_ref().map(Component::to_json).transpose()?,
            pre_tokenizer: parts.pre_tokenizer.as_ref().map(Component::to_json).transpose()?,
            post_processor: parts.post_processor.as_ref().map(Component::to_json).transpose()?,
            decoder: parts.decoder.as_ref().map(Component::to_file).transpose()?,
            model,
        })
    }
}

/// The whole tokenizer as JSON text; the same tokenizer always gives the same bytes.
///
/// # Errors
/// [`Error::Unsupported`] if a stage is a caller's own.
pub fn write(parts: &Components, pretty: bool) -> Result<String> {
    Ok(json_text(&TokenizerJson::new(parts, usize::MAX, ModelJson::new(&parts.model))?, pretty))
}

/// The object of the file with the first `most` added tokens, tokens and merges alone, to be shown rather than read.
///
/// # Errors
/// As [`write()`].
pub fn beginning(parts: &Components, most: usize) -> Result<Value> {
    Ok(json!(TokenizerJson::new(parts, most, ModelJson::beginning(&parts.model, most))?))
}
