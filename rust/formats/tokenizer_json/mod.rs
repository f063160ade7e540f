//! `tokenizer.json`: the whole tokenizer in one file.

mod file;
mod parts;
mod version_2;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use file::{File, optional, read_component};
use parts::{
    AddedTokenJson, added_tokens_json, padding_json, read_added_tokens, read_padding, read_truncation,
    truncation_json,
};
pub use parts::{added_token_json, read_added_token_json};
use version_2::Version2;

use super::components::Component;
use super::fields::Field;
use super::foreign::{BYTE_ORDER_MARK, hint_of_object, json_error, refuse_foreign};
use super::model_json::{self, ModelJson, json_text};
pub use super::version::Version;
use super::{sentencepiece, vocab_files};
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::tokenizer::Components;
use crate::{Error, Result};

/// Reads a tokenizer.
///
/// Each added token takes the model's id of its text, or the next free id, by the rule of [`added_tokens`](crate::added_tokens). The
/// file's ids of added tokens are ignored; in version 2.0 they give the order of the tokens.
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
    let version = version(&file.version)?;
    let Some(model) = file.model else {
        let object: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        return Err(wrong(format!("`model` is missing{}", hint_of_object(&object))));
    };
    let (model, is_byte_level) = model_json::read_version(model.get(), version)?;
    let mut parts = Components::of_model(Arc::new(model));
    if let Some(tokens) = file.added_tokens {
        let mut numbered = read_added_tokens(tokens)?;
        if version == Version::Two {
            numbered.sort_by_key(|(id, _)| *id);
        }
        let tokens: Vec<AddedToken> = numbered.into_iter().map(|(_, token)| token).collect();
        let mut added = AddedTokens::default();
        added.add(&tokens, parts.model.vocab());
        parts.added = Arc::new(added);
    }
    parts.truncation = optional(&file.truncation, "truncation", read_truncation)?;
    parts.padding = optional(&file.padding, "padding", read_padding)?;
    match version {
        Version::One => {
            parts.normalizer = read_component(&file.normalizer)?;
            parts.pre_tokenizer = read_component(&file.pre_tokenizer)?;
            parts.post_processor = read_component(&file.post_processor)?;
            parts.decoder = read_component(&file.decoder)?;
        }
        Version::Two => {
            parts.role_to_token = optional(&file.role_to_token, "role_to_token", read_roles)?.map(Arc::new);
            version_2::read_stages(&file, is_byte_level, &mut parts)?;
        }
    }
    Ok(parts)
}

fn version(value: &Value) -> Result<Version> {
    if value.is_null() {
        return Ok(Version::One);
    }
    let field = Field::new("version", value);
    Version::from_name(field.str()?).ok_or_else(|| {
        let known = Version::NAMES.map(|(_, name)| format!("{name:?}")).join(" and ");
        field.error(format!("unknown version {value}, this version knows {known}"))
    })
}

fn read_roles(field: &Field<'_>) -> Result<BTreeMap<String, String>> {
    let roles = field.object()?.keys();
    roles.map(|role| Ok((role.clone(), field.require(role)?.str()?.to_owned()))).collect()
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

/// The object of a `tokenizer.json` of version 1.0.
#[derive(Serialize)]
struct Version1<'a> {
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

impl<'a> Version1<'a> {
    /// The object with at most `most` added tokens and the given object of the model.
    fn new(parts: &'a Components, most: usize, model: ModelJson<'a>) -> Result<Self> {
        Ok(Self {
            version: Version::One.name(),
            truncation: parts.truncation.as_ref().map(truncation_json),
            padding: parts.padding.as_ref().map(padding_json),
            added_tokens: added_tokens_json(parts, most),
            normalizer: parts.normalizer.as_ref().map(Component::to_json).transpose()?,
            pre_tokenizer: parts.pre_tokenizer.as_ref().map(Component::to_json).transpose()?,
            post_processor: parts.post_processor.as_ref().map(Component::to_json).transpose()?,
            decoder: parts.decoder.as_ref().map(Component::to_file).transpose()?,
            model,
        })
    }
}

/// The whole tokenizer as JSON text of version 1.0; the same tokenizer always gives the same bytes.
///
/// # Errors
/// [`Error::Unsupported`] if a stage is a caller's own.
pub fn write(parts: &Components, pretty: bool) -> Result<String> {
    Ok(json_text(&Version1::new(parts, usize::MAX, ModelJson::new(&parts.model))?, pretty))
}

/// The whole tokenizer as JSON text of version 2.0; without `pretty`, byte for byte as Hugging Face `tokenizers` 1.0 writes it.
///
/// With `is_lossy`, trimmed offsets and dropout are left out, which this version cannot hold. Ids stay the same, but for the random choices of
/// dropout.
///
/// # Errors
/// [`Error::Unsupported`], naming the part that this version cannot hold.
pub fn write_version_2(parts: &Components, pretty: bool, is_lossy: bool) -> Result<String> {
    let (file, losses) = Version2::new(parts)?;
    if !is_lossy {
        losses.refuse()?;
    }
    Ok(json_text(&file, pretty))
}

/// The parts that [`write_version_2`] leaves out if it is lossy.
///
/// # Errors
/// As [`write_version_2`] if it is lossy.
pub fn losses_of_version_2(parts: &Components) -> Result<Vec<&'static str>> {
    Version2::new(parts).map(|(_, losses)| losses.0)
}

/// The object of the file with the first `most` added tokens, tokens and merges alone, to be shown rather than read.
///
/// # Errors
/// As [`write()`].
pub fn beginning(parts: &Components, most: usize) -> Result<Value> {
    Ok(json!(Version1::new(parts, most, ModelJson::beginning(&parts.model, most))?))
}
