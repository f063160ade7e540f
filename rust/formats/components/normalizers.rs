//! Normalizers as JSON objects.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Component, Field, custom, list, replacement, replacement_json, to_list};
use crate::Result;
use crate::normalizers::{Bert, Charsmap, Form, Normalizer, SentencePiece, SentencePieceOptions};

const KNOWN: &str = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Nmt, ByteLevel, Precompiled, Replace, \
                     BertNormalizer, SentencePiece, Sequence";

/// The value of `match` for rules of which the longest match wins, as in SentencePiece.
const LONGEST: &str = "longest";

impl Component for Normalizer {
    const KEY: &'static str = "normalizer";

    fn from_json(path: &str, value: &Value) -> Result<Self> {
        let field = Field::new(path, value);
        match field.require("type")?.str()? {
            "BertNormalizer" => Ok(Self::Bert(Bert {
                clean_text: field.require("clean_text")?.bool()?,
                handle_chinese_chars: field.require("handle_chinese_chars")?.bool()?,
                strip_accents: field.get("strip_accents")?.map(|field| field.bool()).transpose()?,
                lowercase: field.require("lowercase")?.bool()?,
            })),
            "Lowercase" => Ok(Self::Lowercase),
            "Strip" => Ok(Self::Strip {
                left: field.require("strip_left")?.bool()?,
                right: field.require("strip_right")?.bool()?,
            }),
            "StripAccents" => Ok(Self::StripAccents),
            "Prepend" => Ok(Self::Prepend(field.require("prepend")?.str()?.to_owned())),
            "Nmt" => Ok(Self::Nmt),
            "ByteLevel" => Ok(Self::ByteLevel),
            "Precompiled" => precompiled(&field),
            "Replace" => Ok(Self::Replace(replacement(&field)?)),
            "SentencePiece" => sentencepiece(&field),
            "Sequence" => Ok(Self::Sequence(list(&field, "normalizers")?)),
            other => match Form::NAMES.into_iter().find(|&(_, name)| name == other) {
                Some((form, _)) => Ok(Self::Unicode(form)),
                None => Err(field.unknown("normalizer", other, KNOWN)),
            },
        }
    }

    fn to_json(&self) -> Result<Value> {
        Ok(match self {
            Self::Unicode(form) => json!({"type": form.name()}),
            Self::Lowercase => json!({"type": "Lowercase"}),
            Self::Strip { left, right } => json!({"type": "Strip", "strip_left": left, "strip_right": right}),
            Self::Bert(Bert { clean_text, handle_chinese_chars, strip_accents, lowercase }) => json!({
                "type": "BertNormalizer",
                "clean_text": clean_text,
                "handle_chinese_chars": handle_chinese_chars,
                "strip_accents": strip_accents,
                "lowercase": lowercase,
            }),
            Self::StripAccents => json!({"type": "StripAccents"}),
            Self::Prepend(prefix) => json!({"type": "Prepend", "prepend": prefix}),
            Self::Nmt => json!({"type": "Nmt"}),
            Self::ByteLevel => json!({"type": "ByteLevel"}),
            Self::Precompiled(charsmap) => {
                let mut object = json!({
                    "type": "Precompiled",
                    "precompiled_charsmap": BASE64_STANDARD.encode(charsmap.blob()),
                });
                // An extra key, since Hugging Face ignores keys that it does not know.
                if charsmap.is_longest_first() {
                    object["match"] = json!(LONGEST);
                }
                object
            }
            Self::Replace(replacement) => replacement_json(replacement),
            Self::SentencePiece(stage) => {
                let options = stage.options();
                let charsmap =
                    options.charsmap.as_ref().map(|charsmap| BASE64_STANDARD.encode(charsmap.blob()));
                json!({
                    "type": "SentencePiece",
                    "precompiled_charsmap": charsmap,
                    "user_defined_symbols": options.user_defined_symbols,
                    "add_dummy_prefix": options.add_dummy_prefix,
                    "remove_extra_whitespaces": options.remove_extra_whitespaces,
                    "escape_whitespaces": options.escape_whitespaces,
                    "treat_whitespace_as_suffix": options.treat_whitespace_as_suffix,
                })
            }
            Self::Sequence(stages) => json!({"type": "Sequence", "normalizers": to_list(stages)?}),
            Self::Custom(_) => return Err(custom("Normalizer")),
        })
    }
}

fn sentencepiece(stage: &Field<'_>) -> Result<Normalizer> {
    let charsmap = stage.get("precompiled_charsmap")?.map(|field| charsmap(&field)).transpose()?;
    let symbols = stage.require("user_defined_symbols")?.items()?;
    let symbols = symbols.iter().map(|symbol| symbol.str().map(str::to_owned)).collect::<Result<_>>()?;
    let flag = |key| stage.require(key)?.bool();
    let options = SentencePieceOptions {
        charsmap: charsmap.map(Charsmap::longest_first),
        user_defined_symbols: symbols,
        add_dummy_prefix: flag("add_dummy_prefix")?,
        remove_extra_whitespaces: flag("remove_extra_whitespaces")?,
        escape_whitespaces: flag("escape_whitespaces")?,
        treat_whitespace_as_suffix: flag("treat_whitespace_as_suffix")?,
    };
    SentencePiece::new(options).map(Normalizer::SentencePiece)
}

fn charsmap(field: &Field<'_>) -> Result<Charsmap> {
    let blob = BASE64_STANDARD.decode(field.str()?).map_err(|_| field.error("not base64"))?;
    Charsmap::new(&blob).map_err(|error| field.error(error.to_string()))
}

fn precompiled(stage: &Field<'_>) -> Result<Normalizer> {
    let charsmap = charsmap(&stage.require("precompiled_charsmap")?)?;
    let Some(rule) = stage.get("match")? else { return Ok(Normalizer::Precompiled(charsmap)) };
    match rule.str()? {
        LONGEST => Ok(Normalizer::Precompiled(charsmap.longest_first())),
        other => Err(rule.unknown("match", other, LONGEST)),
    }
}
