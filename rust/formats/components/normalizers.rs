//! Normalizers as JSON objects.

use serde_json::{Value, json};

use super::{Component, Field, list, replacement, replacement_json, to_list};
use crate::Result;
use crate::normalizers::{Form, Normalizer};

const KNOWN: &str = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Sequence";

impl Component for Normalizer {
    const KEY: &'static str = "normalizer";

    fn from_json(path: &str, value: &Value) -> Result<Self> {
        let field = Field::new(path, value);
        match field.require("type")?.str()? {
            "Lowercase" => Ok(Self::Lowercase),
            "Strip" => Ok(Self::Strip {
                left: field.require("strip_left")?.bool()?,
                right: field.require("strip_right")?.bool()?,
            }),
            "StripAccents" => Ok(Self::StripAccents),
            "Prepend" => Ok(Self::Prepend(field.require("prepend")?.str()?.to_owned())),
            "Replace" => Ok(Self::Replace(replacement(&field)?)),
            "Sequence" => Ok(Self::Sequence(list(&field, "normalizers")?)),
            other => match Form::NAMES.into_iter().find(|&(_, name)| name == other) {
                Some((form, _)) => Ok(Self::Unicode(form)),
                None => Err(field.unknown("normalizer", other, KNOWN)),
            },
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Unicode(form) => json!({"type": form.name()}),
            Self::Lowercase => json!({"type": "Lowercase"}),
            Self::Strip { left, right } => json!({"type": "Strip", "strip_left": left, "strip_right": right}),
            Self::StripAccents => json!({"type": "StripAccents"}),
            Self::Prepend(prefix) => json!({"type": "Prepend", "prepend": prefix}),
            Self::Replace(replacement) => replacement_json(replacement),
            Self::Sequence(stages) => json!({"type": "Sequence", "normalizers": to_list(stages)}),
        }
    }
}
