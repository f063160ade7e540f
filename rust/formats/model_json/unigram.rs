//! Unigram models in a `tokenizer.json`.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{List, Text, digits, kinds_of};
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

pub(super) fn write<S: Serializer>(
    unigram: &Unigram,
    most: usize,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    // A model that is shown is not read again.
    let score = |score| if most == usize::MAX { written(score) } else { score };
    write_pieces(unigram, || unigram.pieces().take(most).map(|(piece, own)| (piece, score(own))), serializer)
}

/// Writes a model of version 2.0: scores have the spelling of Hugging Face `tokenizers` 1.0.
pub(super) fn write_version_2<S: Serializer>(
    unigram: &Unigram,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    write_pieces(unigram, || unigram.pieces().map(|(piece, score)| (piece, spelled(score))), serializer)
}

fn write_pieces<S: Serializer, I: Iterator<Item: Serialize>>(
    unigram: &Unigram,
    pieces: impl Fn() -> I,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let options = unigram.options();
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", "Unigram")?;
    object.serialize_entry("unk_id", &options.unk_id)?;
    object.serialize_entry("vocab", &List(pieces))?;
    object.serialize_entry("byte_fallback", &options.byte_fallback)?;
    if let Some(kinds) = unigram.kinds() {
        object.serialize_entry("sentencepiece_kinds", &digits(kinds))?;
    }
    object.end()
}

/// The most digits after the decimal point that are tried: 16 tell any double from its neighbours, and one more.
const MOST_DIGITS: usize = 17;

/// The first spelling that is read back as `score`: the shortest in full, then with an exponent and ever more digits. `None`, which is
/// written as null, for a score that is not finite.
fn spelled(score: f64) -> Option<Box<RawValue>> {
    let mut shortest = score.to_string();
    if !shortest.contains('.') {
        shortest.push_str(".0");
    }
    let longer = (0..=MOST_DIGITS).map(|digits| format!("{score:.digits$e}"));
    let is_read_back =
        |text: &String| serde_json::from_str(text).is_ok_and(|read: f64| read.to_bits() == score.to_bits());
    let found = std::iter::once(shortest).chain(longer).find(is_read_back);
    RawValue::from_string(found.unwrap_or_else(|| written(score).to_string())).ok()
}

/// How many steps a score may be read off from the nearest double: seldom more than one.
const MOST_OFF: usize = 4;

/// Bytes of the longest number that JSON needs for a double, and a few more.
const LONGEST_NUMBER: usize = 32;

/// The number to write so that `score` is read back: else the score would move a little each time that a file is read and saved.
///
/// There is such a number for every score that was read from a file. Some other scores move once.
fn written(score: f64) -> f64 {
    let (mut above, mut below) = (score, score);
    for _ in 0..=MOST_OFF {
        if let Some(near) = [above, below].into_iter().find(|&near| read_back(near) == Some(score)) {
            return near;
        }
        (above, below) = (above.next_up(), below.next_down());
    }
    score
}

/// The number that is read where `score` was written; on the stack, as there are many scores.
fn read_back(score: f64) -> Option<f64> {
    let mut text = [0; LONGEST_NUMBER];
    let mut rest = &mut text[..];
    serde_json::to_writer(&mut rest, &score).ok()?;
    let len = LONGEST_NUMBER - rest.len();
    serde_json::from_slice(&text[..len]).ok()
}
