//! Unigram models in a `tokenizer.json`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Text, digits, kinds_of};
use crate::models::unigram::{Unigram, UnigramOptions};
use crate::{Error, Result};

#[derive(Deserialize)]
pub(super) struct UnigramJson<'a> {
    unk_id: Option<u32>,
    /// Pieces and scores. Scores are rounded as in Hugging Face: one in four differs from the nearest double in its
    /// last bit.
    #[serde(borrow)]
    vocab: Vec<(Text<'a>, f64)>,
    #[serde(default)]
    byte_fallback: bool,
    /// One digit per piece, see [`kinds_of`]; Hugging Face ignores it.
    #[serde(default)]
    sentencepiece_kinds: Option<String>,
}

pub(super) fn read(json: UnigramJson<'_>) -> Result<Unigram> {
    let pieces: Vec<(Cow<'_, str>, f64)> =
        json.vocab.into_iter().map(|(Text(piece), score)| (piece, score)).collect();
    let options = UnigramOptions {
        unk_id: json.unk_id,
        byte_fallback: json.byte_fallback,
        ..UnigramOptions::default()
    };
    let kinds = json.sentencepiece_kinds.map(|kinds| kinds_of(&kinds)).transpose()?;
    Unigram::with_kinds(&pieces, kinds, options).map_err(|error| match error {
        Error::UnknownId { .. } => {
            Error::Format { path: "model.unk_id".to_owned(), message: error.to_string() }
        }
        error => error,
    })
}

pub(super) fn write(unigram: &Unigram) -> Value {
    let vocab: Vec<Value> = unigram.pieces().map(|(piece, score)| json!([piece, written(score)])).collect();
    let options = unigram.options();
    let mut object = json!({
        "type": "Unigram",
        "unk_id": options.unk_id,
        "vocab": vocab,
        "byte_fallback": options.byte_fallback,
    });
    if let Some(kinds) = unigram.kinds() {
        object["sentencepiece_kinds"] = json!(digits(kinds));
    }
    object
}

/// How many steps a score may be read off from the nearest double: seldom more than one.
const MOST_OFF: usize = 4;

/// What to write so that `score` is read: else it would move a little each time that a file is read and saved.
///
/// There is such a number for every score that was read; of others some move once.
fn written(score: f64) -> f64 {
    let is_read = |near: &f64| {
        let read: Option<f64> = serde_json::from_str(&json!(near).to_string()).ok();
        read == Some(score)
    };
    let (mut above, mut below) = (score, score);
    for _ in 0..=MOST_OFF {
        if let Some(near) = [above, below].into_iter().find(is_read) {
            return near;
        }
        (above, below) = (above.next_up(), below.next_down());
    }
    score
}
