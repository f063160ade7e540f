//! Version 2.0 of `tokenizer.json`, the files of Hugging Face `tokenizers` 1.0.
//!
//! It differs from version 1.0 in three places:
//!
//! * `byte_level` of the model stands for the pre-tokenizer and the decoder `ByteLevel`, see [`cuts`].
//! * The normalizer `MetaspaceNormalizer` and a `Split` stand for the pre-tokenizer `Metaspace`, see [`metaspace`].
//! * Templates have ids instead of names, see [`templates`].
//!
//! The reader puts the stages of 1.0 in their place, so that a file of either version gives the same tokenizer.

mod cuts;
mod losses;
mod metaspace;
mod templates;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::file::{File, optional, read_component};
use super::parts::{AddedTokenJson, added_tokens_json, padding_json, truncation_json};
use crate::decoders::Decoder;
use crate::formats::components::Component;
use crate::formats::fields::Field;
use crate::formats::model_json::ModelJson;
use crate::formats::version::Version;
use crate::models::Model;
use crate::normalizers::{MetaspaceNormalizer, Normalizer};
use crate::pre_tokenizers::PreTokenizer;
use crate::processors::PostProcessor;
use crate::tokenizer::Components;
use crate::{Error, Result};
use cuts::{Cuts, missing_byte};
use losses::{Losses, unsupported};

/// Fields that this version requires and 1.0 does not, by the type of the stage. They may be null.
const REQUIRED: [(&str, &str); 3] =
    [("BertNormalizer", "strip_accents"), ("FixedLength", "length"), ("Metaspace", "prepend_scheme")];

/// Reads the stages of a file into `parts`, which has the model and the added tokens.
///
/// # Errors
/// [`Error::Format`] or [`Error::UnknownComponent`], naming the JSON path.
pub(super) fn read_stages(file: &File<'_>, is_byte_level: bool, parts: &mut Components) -> Result<()> {
    // Version 1.0 has a default here.
    optional(&file.padding, "padding", |field| field.require("direction").map(drop))?;
    let normalizer: Option<Normalizer> = read_component(&file.normalizer)?;
    let cuts = optional(&file.pre_tokenizer, PreTokenizer::KEY, Cuts::read)?.unwrap_or_default();
    for (key, value) in [
        (Normalizer::KEY, &file.normalizer),
        (PreTokenizer::KEY, &file.pre_tokenizer),
        (Decoder::KEY, &file.decoder),
    ] {
        check_required(&Field::new(key, value))?;
    }
    let (normalizer, mut cuts) = metaspace::to_version_1(normalizer, cuts);
    parts.decoder = read_component(&file.decoder)?;
    if is_byte_level {
        check_bytes(&parts.model)?;
        cuts.add_byte_level();
        // Hugging Face decodes such models from their bytes, and never asks the decoder.
        parts.decoder =
            Some(Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true });
    }
    parts.normalizer = normalizer;
    parts.pre_tokenizer = cuts.pre_tokenizer();
    parts.post_processor =
        optional(&file.post_processor, PostProcessor::KEY, |field| templates::read(field, parts))?;
    Ok(())
}

fn check_bytes(model: &Model) -> Result<()> {
    let Model::Bpe(bpe) = model else { return Ok(()) };
    let Some(byte) = missing_byte(bpe) else { return Ok(()) };
    let message = format!("the vocabulary has no token for byte 0x{byte:02X}, whose text would be lost");
    Err(Error::Format { path: "model.byte_level".to_owned(), message })
}

/// Checks that a stage, and each stage of a sequence, has all fields of [`REQUIRED`].
fn check_required(field: &Field<'_>) -> Result<()> {
    let Some(object) = field.value.as_object() else { return Ok(()) };
    let kind = object.get("type").and_then(Value::as_str);
    for (known, key) in REQUIRED {
        if kind == Some(known) && !object.contains_key(key) {
            return Err(field.error(format!("`{key}` is missing")));
        }
    }
    for key in ["normalizers", "pretokenizers", "decoders"] {
        if let Some(stages) = field.get(key)?.filter(|stages| stages.value.is_array()) {
            stages.items()?.iter().try_for_each(check_required)?;
        }
    }
    Ok(())
}

/// The object of a file, with its fields in the order in which Hugging Face writes them.
#[derive(Serialize)]
pub(super) struct Version2<'a> {
    version: &'static str,
    truncation: Option<Value>,
    padding: Option<Value>,
    role_to_token: Option<&'a BTreeMap<String, String>>,
    added_tokens: Vec<AddedTokenJson<'a>>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    decoder: Option<Value>,
    model: ModelJson<'a>,
}

impl<'a> Version2<'a> {
    /// The object, and the parts that it lacks.
    ///
    /// # Errors
    /// [`Error::Unsupported`], naming a part that this version cannot hold and that may change ids.
    pub(super) fn new(parts: &'a Components) -> Result<(Self, Losses)> {
        let mut cuts = Cuts::of(parts.pre_tokenizer.as_ref());
        let is_byte_level = cuts.take_byte_level(&parts.model)?;
        if is_byte_level && !matches!(parts.decoder, Some(Decoder::ByteLevel { .. })) {
            return Err(unsupported("the pre-tokenizer `ByteLevel` without the decoder `ByteLevel`"));
        }
        let normalizers = metaspace::to_version_2(parts.normalizer.as_ref(), &mut cuts)?;
        check_model(&parts.model)?;
        let mut losses = Losses::default();
        if let Model::Bpe(bpe) = &*parts.model {
            let has_dropout = bpe.options().dropout.is_some_and(|dropout| dropout > 0.0);
            losses.note(has_dropout, "`dropout` of the model");
        }
        let post_processor = match &parts.post_processor {
            Some(stage) => templates::to_json(stage, parts, &mut losses)?,
            None => None,
        };
        let file = Self {
            version: Version::Two.name(),
            truncation: parts.truncation.as_ref().map(truncation_json),
            padding: parts.padding.as_ref().map(padding_json),
            role_to_token: parts.role_to_token.as_deref().filter(|roles| !roles.is_empty()),
            added_tokens: added_tokens_json(parts, usize::MAX),
            normalizer: normalizer_json(&normalizers)?,
            pre_tokenizer: cuts.to_json()?,
            post_processor,
            decoder: parts.decoder.as_ref().map(Component::to_file).transpose()?.map(decoder_json),
            model: ModelJson::version_2(&parts.model, is_byte_level),
        };
        Ok((file, losses))
    }
}

/// The normalizer as an object. One stage is written alone, without a sequence around it.
fn normalizer_json(stages: &[Normalizer]) -> Result<Option<Value>> {
    if stages.iter().any(|stage| matches!(stage, Normalizer::SentencePiece(_))) {
        return Err(unsupported("the normalizer `SentencePiece`"));
    }
    let mut objects = stages.iter().map(one_normalizer_json).collect::<Result<Vec<Value>>>()?;
    if objects.len() > 1 {
        return Ok(Some(json!({"type": "Sequence", "normalizers": objects})));
    }
    Ok(objects.pop())
}

fn one_normalizer_json(stage: &Normalizer) -> Result<Value> {
    let Normalizer::Metaspace(MetaspaceNormalizer { replacement, prepend_scheme, drop_whitespace }) = stage
    else {
        return stage.to_json();
    };
    Ok(json!({
        "type": "MetaspaceNormalizer",
        "replacement": replacement,
        "prepend": prepend_scheme.name(),
        "drop_whitespace": drop_whitespace,
    }))
}

/// A decoder's object in version 2.0: `ByteLevel` has no options, and `Metaspace` no `split`, which decoding does not use.
fn decoder_json(mut decoder: Value) -> Value {
    match decoder["type"].as_str() {
        Some("ByteLevel") => return json!({"type": "ByteLevel"}),
        Some("Metaspace") => {
            if let Some(object) = decoder.as_object_mut() {
                object.shift_remove("split");
            }
        }
        Some("Sequence") => {
            for stage in decoder["decoders"].as_array_mut().into_iter().flatten() {
                *stage = decoder_json(stage.take());
            }
        }
        _ => {}
    }
    decoder
}

fn check_model(model: &Model) -> Result<()> {
    match model {
        Model::Bpe(bpe) if bpe.kinds().is_some() => Err(unsupported("a BPE model with kinds of pieces")),
        Model::WordLevel(words) if words.spaced_words().is_some() => {
            Err(unsupported("a word model of SentencePiece"))
        }
        Model::WordPiece(words) if words.vocab().id(&words.options().unk_token).is_none() => Err(
            unsupported(format_args!("the unknown token `{}`, which has no id", words.options().unk_token)),
        ),
        _ => Ok(()),
    }
}
