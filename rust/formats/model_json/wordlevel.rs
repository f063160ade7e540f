//! Word-level models in a `tokenizer.json`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{VocabJson, digits, kinds_of, vocab_json};
use crate::models::wordlevel::{SpacedWords, WordLevel};
use crate::{Error, Result};

/// The type of SentencePiece's word models. Only lexmill knows this type, so other readers refuse such a model.
pub(super) const SENTENCEPIECE: &str = "SentencePieceWord";

#[derive(Deserialize)]
pub(super) struct WordLevelJson<'a> {
    #[serde(borrow)]
    vocab: VocabJson<'a>,
    unk_token: String,
    #[serde(default)]
    byte_fallback: bool,
    /// One digit per token, in models of type [`SENTENCEPIECE`].
    #[serde(default)]
    sentencepiece_kinds: String,
}

pub(super) fn read(json: WordLevelJson<'_>) -> WordLevel {
    WordLevel::new(Arc::new(json.vocab.vocab()), json.unk_token)
}

/// Reads a word model of SentencePiece, whose tokens a Hugging Face model would not find.
pub(super) fn read_pieces(json: WordLevelJson<'_>) -> Result<WordLevel> {
    let kinds = kinds_of(&json.sentencepiece_kinds)?;
    let (byte_fallback, words) = (json.byte_fallback, read(json));
    if kinds.len() != words.vocab().id_bound() {
        return Err(Error::Unsupported(format!("{} kinds for {} words", kinds.len(), words.vocab().len())));
    }
    let spaced = SpacedWords { kinds: Arc::new(kinds), byte_fallback };
    Ok(words.with_spaced_words(Some(spaced)))
}

pub(super) fn write(wordlevel: &WordLevel) -> Value {
    if let Some(spaced) = wordlevel.spaced_words() {
        return json!({
            "type": SENTENCEPIECE,
            "vocab": vocab_json(wordlevel.vocab()),
            "unk_token": wordlevel.unk_token(),
            "byte_fallback": spaced.byte_fallback,
            "sentencepiece_kinds": digits(&spaced.kinds),
        });
    }
    json!({
        "type": "WordLevel",
        "vocab": vocab_json(wordlevel.vocab()),
        "unk_token": wordlevel.unk_token(),
    })
}
