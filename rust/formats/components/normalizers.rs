//! Normalizers as JSON objects.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::sentencepiece::{charsmap, rules, rules_json};
use super::{Component, Field, custom, list, prepend_scheme, replacement, replacement_json, to_list};
use crate::Result;
use crate::normalizers::{Bert, Form, MetaspaceNormalizer, Normalizer};

const KNOWN: &str = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Nmt, ByteLevel, Precompiled, Replace, \
                     BertNormalizer, MetaspaceNormalizer, SentencePiece, Sequence";

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
            "MetaspaceNormalizer" => Ok(Self::Metaspace(MetaspaceNormalizer {
                replacement: field.require("replacement")?.char()?,
                prepend_scheme: prepend_scheme(&match field.get("prepend")? {
                    Some(scheme) => scheme,
                    None => field.require("prepend_scheme")?,
                })?,
                drop_whitespace: field.require("drop_whitespace")?.bool()?,
            })),
            "SentencePiece" => rules(&field).map(Self::SentencePiece),
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
            // Hugging Face 0.x would take an object with `prepend` for a `Prepend`, whatever its type.
            Self::Metaspace(MetaspaceNormalizer { replacement, prepend_scheme, drop_whitespace }) => json!({
                "type": "MetaspaceNormalizer",
                "replacement": replacement,
                "prepend_scheme": prepend_scheme.name(),
                "drop_whitespace": drop_whitespace,
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
                let mut object = rules_json(stage);
                object["type"] = json!("SentencePiece");
                object
            }
            Self::Sequence(stages) => json!({"type": "Sequence", "normalizers": to_list(stages)?}),
            Self::Custom(_) => return Err(custom("Normalizer")),
        })
    }
}

fn precompiled(stage: &Field<'_>) -> Result<Normalizer> {
    let charsmap = charsmap(&stage.require("precompiled_charsmap")?)?;
    let Some(rule) = stage.get("match")? else { return Ok(Normalizer::Precompiled(charsmap)) };
    match rule.str()? {
        LONGEST => Ok(Normalizer::Precompiled(charsmap.longest_first())),
        other => Err(rule.unknown("match", other, LONGEST)),
    }
}
