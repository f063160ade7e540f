//! Word-level models in a `tokenizer.json`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{VocabJson, vocab_json};
use crate::models::wordlevel::WordLevel;

#[derive(Deserialize)]
pub(super) struct WordLevelJson<'a> {
    #[serde(borrow)]
    vocab: VocabJson<'a>,
    unk_token: String,
}

pub(super) fn read(json: WordLevelJson<'_>) -> WordLevel {
    WordLevel::new(Arc::new(json.vocab.vocab()), json.unk_token)
}

pub(super) fn write(wordlevel: &WordLevel) -> Value {
    json!({
        "type": "WordLevel",
        "vocab": vocab_json(wordlevel.vocab()),
        "unk_token": wordlevel.unk_token(),
    })
}
