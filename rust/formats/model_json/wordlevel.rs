//! Word-level models in a `tokenizer.json`.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serializer};

use super::{TokenIds, VocabJson, digits, kinds_of};
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

pub(super) fn write<S: Serializer>(
    wordlevel: &WordLevel,
    most: usize,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let spaced = wordlevel.spaced_words();
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", if spaced.is_some() { SENTENCEPIECE } else { "WordLevel" })?;
    object.serialize_entry("vocab", &TokenIds(wordlevel.vocab(), most))?;
    object.serialize_entry("unk_token", wordlevel.unk_token())?;
    if let Some(spaced) = spaced {
        object.serialize_entry("byte_fallback", &spaced.byte_fallback)?;
        object.serialize_entry("sentencepiece_kinds", &digits(&spaced.kinds))?;
    }
    object.end()
}

pub(super) fn write_version_2<S: Serializer>(
    wordlevel: &WordLevel,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", "WordLevel")?;
    object.serialize_entry("unk_token", wordlevel.unk_token())?;
    object.serialize_entry("vocab", &TokenIds(wordlevel.vocab(), usize::MAX))?;
    object.end()
}
