//! WordPiece models in a `tokenizer.json`.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serializer};

use super::{TokenIds, VocabJson};
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

pub(super) fn write<S: Serializer>(
    wordpiece: &WordPiece,
    most: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let options = wordpiece.options();
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", "WordPiece")?;
    object.serialize_entry("unk_token", &options.unk_token)?;
    object.serialize_entry("continuing_subword_prefix", &options.continuing_subword_prefix)?;
    object.serialize_entry("max_input_chars_per_word", &options.max_input_chars_per_word)?;
    object.serialize_entry("vocab", &TokenIds(wordpiece.vocab(), most))?;
    object.end()
}
