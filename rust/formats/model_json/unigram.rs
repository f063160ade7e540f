//! The `model` object of a unigram model.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Text;
use crate::models::unigram::{Unigram, UnigramOptions};
use crate::{Error, Result};

#[derive(Deserialize)]
pub(super) struct UnigramJson<'a> {
    unk_id: Option<u32>,
    /// Scores are read as Hugging Face reads them: the last bit of one in four is not that of the nearest double.
    #[serde(borrow)]
    vocab: Vec<(Text<'a>, f64)>,
    #[serde(default)]
    byte_fallback: bool,
}

pub(super) fn read(json: UnigramJson<'_>) -> Result<Unigram> {
    let pieces: Vec<(Cow<'_, str>, f64)> =
        json.vocab.into_iter().map(|(Text(piece), score)| (piece, score)).collect();
    let options = UnigramOptions {
        unk_id: json.unk_id,
        byte_fallback: json.byte_fallback,
        ..UnigramOptions::default()
    };
    Unigram::new(&pieces, options).map_err(|error| match error {
        Error::UnknownId { .. } => {
            Error::Format { path: "model.unk_id".to_owned(), message: error.to_string() }
        }
        error => error,
    })
}

pub(super) fn write(unigram: &Unigram) -> Value {
    let vocab: Vec<Value> = unigram.pieces().map(|(piece, score)| json!([piece, score])).collect();
    let options = unigram.options();
    json!({
        "type": "Unigram",
        "unk_id": options.unk_id,
        "vocab": vocab,
        "byte_fallback": options.byte_fallback,
    })
}
