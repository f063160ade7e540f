//! `tokenizer.json`: the whole tokenizer in one file.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::components::Component;
use super::fields::Field;
use super::model_json;
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
    #[serde(default)]
    added_tokens: Value,
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
    let file: File<'_> = serde_json::from_str(text).map_err(|error| {
        // For JSON that is not an object, serde's message would describe this struct as another JSON type.
        let is_object = !error.is_data() || text.trim_start().starts_with('{');
        let message = if is_object { error.to_string() } else { "expected an object".to_owned() };
        Error::Format { path: "tokenizer.json".to_owned(), message }
    })?;
    let version = Field::new("version", &file.version);
    if !file.version.is_null() && version.str()? != VERSION {
        return Err(
            version.error(format!("unknown version {}, this version knows {VERSION:?}", file.version))
        );
    }
    let Some(model) = file.model else {
        return Err(Error::Format {
            path: "tokenizer.json".to_owned(),
            message: "`model` is missing".to_owned(),
        });
    };
    let model = Arc::new(model_json::read(model.get())?);
    let mut added = AddedTokens::default();
    if !file.added_tokens.is_null() {
        let tokens = Field::new("added_tokens", &file.added_tokens).items()?;
        let tokens = tokens.iter().map(read_added_token).collect::<Result<Vec<_>>>()?;
        added.add(&tokens, model.vocab());
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

fn optional<T>(value: &Value, path: &str, read: impl FnOnce(&Field<'_>) -> Result<T>) -> Result<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    read(&Field::new(path, value)).map(Some)
}

fn read_component<C: Component>(value: &Value) -> Result<Option<C>> {
    optional(value, C::KEY, |field| C::from_json(&field.path, field.value))
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

/// An added token as files write it, without its id.
pub fn added_token_json(token: &AddedToken) -> Value {
    Value::Object(added_token_object(token))
}

fn added_token_object(token: &AddedToken) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("content".to_owned(), json!(token.content));
    let flags = [
        ("single_word", token.single_word),
        ("lstrip", token.lstrip),
        ("rstrip", token.rstrip),
        ("normalized", token.normalized),
        ("special", token.special),
    ];
    object.extend(flags.map(|(name, value)| (name.to_owned(), json!(value))));
    object
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

/// The whole tokenizer as JSON text; the same tokenizer always gives the same bytes.
///
/// # Errors
/// [`Error::Unsupported`] if a stage is a caller's own.
pub fn write(parts: &Components, pretty: bool) -> Result<String> {
    let file = to_value(parts)?;
    Ok(if pretty { format!("{file:#}") } else { file.to_string() })
}

/// The whole tokenizer as the JSON value of its file.
///
/// # Errors
/// As [`write()`].
pub fn to_value(parts: &Components) -> Result<Value> {
    let added = parts.added.sorted().into_iter().map(|(id, token)| {
        let mut object = Map::new();
        object.insert("id".to_owned(), json!(id));
        object.extend(added_token_object(token));
        Value::Object(object)
    });
    Ok(json!({
        "version": VERSION,
        "truncation": parts.truncation.as_ref().map(truncation_json),
        "padding": parts.padding.as_ref().map(padding_json),
        "added_tokens": added.collect::<Vec<_>>(),
        "normalizer": parts.normalizer.as_ref().map(Component::to_json).transpose()?,
        "pre_tokenizer": parts.pre_tokenizer.as_ref().map(Component::to_json).transpose()?,
        "post_processor": parts.post_processor.as_ref().map(Component::to_json).transpose()?,
        "decoder": parts.decoder.as_ref().map(Component::to_file).transpose()?,
        "model": model_json::write(&parts.model),
    }))
}
