//! Added tokens, truncation and padding, which both versions of the format spell alike.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::added_tokens::AddedToken;
use crate::encoding::{Direction, Padding, Symbol};
use crate::formats::fields::Field;
use crate::tokenizer::{Components, PaddingLength, PaddingRule, Truncation, TruncationStrategy};
use crate::{Error, Result};

/// An added token as all published files have it.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "options of the file format")]
struct UsualToken {
    id: u32,
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

/// Added tokens in the order of the file, with the ids that it gives them.
pub(super) fn read_added_tokens(text: &RawValue) -> Result<Vec<(u32, AddedToken)>> {
    let Ok(tokens) = serde_json::from_str::<Vec<&RawValue>>(text.get()) else {
        let list = read_value("added_tokens", text)?;
        return Err(Field::new("added_tokens", &list).expected("a list"));
    };
    let token = |(at, text): (usize, &&RawValue)| {
        // A valid file needs no tree of values; the tree names the place of an error.
        if let Ok(UsualToken { id, content, single_word, lstrip, rstrip, normalized, special }) =
            serde_json::from_str(text.get())
        {
            return Ok((id, AddedToken { content, single_word, lstrip, rstrip, normalized, special }));
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

fn read_added_token(field: &Field<'_>) -> Result<(u32, AddedToken)> {
    let flag = |key| field.require(key)?.bool();
    let id = field.require("id")?.u32()?;
    let token = AddedToken {
        content: field.require("content")?.str()?.to_owned(),
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
        normalized: flag("normalized")?,
        special: flag("special")?,
    };
    Ok((id, token))
}

fn read_direction(field: &Field<'_>) -> Result<Direction> {
    let Some(direction) = field.get("direction")? else { return Ok(Direction::Right) };
    match direction.str()? {
        "Left" => Ok(Direction::Left),
        "Right" => Ok(Direction::Right),
        other => Err(direction.unknown("direction", other, "Left, Right")),
    }
}

pub(super) fn read_truncation(field: &Field<'_>) -> Result<Truncation> {
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

pub(super) fn read_padding(field: &Field<'_>) -> Result<PaddingRule> {
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
pub(super) struct AddedTokenJson<'a> {
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
    pub(super) fn new(id: Option<u32>, token: &'a AddedToken) -> Self {
        let AddedToken { content, single_word, lstrip, rstrip, normalized, special } = token;
        let (single_word, lstrip, rstrip) = (*single_word, *lstrip, *rstrip);
        Self { id, content, single_word, lstrip, rstrip, normalized: *normalized, special: *special }
    }
}

/// An added token as files write it, without its id.
pub fn added_token_json(token: &AddedToken) -> Value {
    json!(AddedTokenJson::new(None, token))
}

pub(super) fn truncation_json(truncation: &Truncation) -> Value {
    json!({
        "direction": direction_name(truncation.direction),
        "max_length": truncation.max_length,
        "strategy": truncation.strategy.name(),
        "stride": truncation.stride,
    })
}

pub(super) fn padding_json(rule: &PaddingRule) -> Value {
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

/// The first `most` added tokens, by ascending id.
pub(super) fn added_tokens_json(parts: &Components, most: usize) -> Vec<AddedTokenJson<'_>> {
    let added = parts.added.sorted().into_iter().take(most);
    added.map(|(id, token)| AddedTokenJson::new(Some(id), token)).collect()
}
