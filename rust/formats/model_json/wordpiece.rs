//! WordPiece models in a `tokenizer.json`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{VocabJson, vocab_json};
use crate::models::wordpiece::{WordPiece, WordPieceOptions};

#[derive(Deserialize)]
pub(super) struct WordPieceJson<'a> {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    #[serde(borrow)]
    vocab: VocabJson<'a>,
}

pub(super) fn read(json: WordPieceJson<'_>) -> WordPiece {
    let options = WordPieceOptions {
        unk_token: json.unk_token,
        continuing_subword_prefix: json.continuing_subword_prefix,
        max_input_chars_per_word: json.max_input_chars_per_word,
    };
    WordPiece::new(Arc::new(json.vocab.vocab()), options)
}

pub(super) fn write(wordpiece: &WordPiece) -> Value {
    let options = wordpiece.options();
    json!({
        "type": "WordPiece",
        "unk_token": options.unk_token,
        "continuing_subword_prefix": options.continuing_subword_prefix,
        "max_input_chars_per_word": options.max_input_chars_per_word,
        "vocab": vocab_json(wordpiece.vocab()),
    })
}
