//! The `model` object of a `tokenizer.json`.

mod bpe;
mod unigram;
mod wordlevel;
mod wordpiece;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::version::Version;
use crate::models::Model;
use crate::models::piece_kind::PieceKind;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Model types that this version can read.
const KNOWN: &str = "BPE, Unigram, WordPiece, WordLevel, SentencePieceBPE, SentencePieceWord";

/// Just enough of a model to tell its type, which old files omit.
#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    merges: Option<serde::de::IgnoredAny>,
    max_input_chars_per_word: Option<serde::de::IgnoredAny>,
    unk_id: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    byte_level: Value,
}

impl Shape<'_> {
    fn kind(&self) -> &str {
        match &self.kind {
            Some(kind) => kind,
            None if self.merges.is_some() => "BPE",
            None if self.max_input_chars_per_word.is_some() => "WordPiece",
            None if self.unk_id.is_some() => "Unigram",
            None => "WordLevel",
        }
    }
}

/// The fields by which a model of version 2.0 is read or refused.
#[derive(Deserialize)]
struct Shape2<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    byte_level: Option<bool>,
    files: Option<serde::de::IgnoredAny>,
}

/// The vocabulary in file order. A token without escapes borrows its text from the file.
struct VocabJson<'a>(Vec<(Cow<'a, str>, u32)>);

impl VocabJson<'_> {
    /// If a token comes again, its last id counts, as if the earlier entries were absent: an earlier id may belong to another token.
    fn vocab(&self) -> Vocab {
        let filled = |entries: &mut dyn Iterator<Item = &(Cow<'_, str>, u32)>| {
            let mut vocab = Vocab::new();
            entries.for_each(|(token, id)| vocab.insert(token, *id));
            vocab
        };
        let vocab = filled(&mut self.0.iter());
        if vocab.len() == self.0.len() {
            return vocab;
        }
        let mut seen = HashSet::new();
        let last: Vec<_> = self.0.iter().rev().filter(|(token, _)| seen.insert(token)).collect();
        filled(&mut last.into_iter().rev())
    }
}

/// A string, which borrows from the file if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for VocabJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = VocabJson<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of tokens and ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some((Text(token), id)) = map.next_entry::<Text<'de>, u32>()? {
                    entries.push((token, id));
                }
                Ok(VocabJson(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// Reads the `model` object of a file of this version, and its `byte_level`, which version 1.0 does not have.
///
/// # Errors
/// As [`read`]; for version 2.0, also [`Error::Format`] for merges as lines, for vocabularies in other files, for dropout, and for a
/// `byte_level` that a BPE model lacks or another model has.
pub fn read_version(text: &str, version: Version) -> Result<(Model, bool)> {
    if version == Version::One {
        return Ok((read(text)?, false));
    }
    let shape: Shape2<'_> = parse(text)?;
    let Some(kind) = shape.kind else { return Err(wrong("model", "`type` is missing")) };
    if shape.files.is_some() {
        return Err(wrong("model.files", "vocabularies in other files are not read"));
    }
    match (&*kind, shape.byte_level) {
        ("BPE", Some(byte_level)) => Ok((Model::Bpe(bpe::read_version_2(parse(text)?)?), byte_level)),
        ("BPE", None) => Err(wrong("model", "`byte_level` is missing")),
        (_, None) => Ok((read_as(&kind, text)?, false)),
        (_, Some(_)) => Err(wrong("model.byte_level", "only a model of type BPE has it")),
    }
}

/// Reads the `model` object of version 1.0.
///
/// # Errors
/// [`Error::Format`], [`Error::UnknownComponent`] or [`Error::TokenNotInVocab`].
pub fn read(text: &str) -> Result<Model> {
    let shape: Shape<'_> = parse(text)?;
    if shape.byte_level == true {
        // Passed over, it would give other ids without notice.
        return Err(wrong(
            "model.byte_level",
            "only version 2.0 has it; set `version` of the file to \"2.0\"",
        ));
    }
    read_as(shape.kind(), text)
}

fn wrong(path: &str, message: &str) -> Error {
    Error::Format { path: path.to_owned(), message: message.to_owned() }
}

fn read_as(kind: &str, text: &str) -> Result<Model> {
    match kind {
        "BPE" => bpe::read(parse(text)?).map(Model::Bpe),
        "Unigram" => unigram::read(parse(text)?).map(Model::Unigram),
        "WordPiece" => parse(text).map(wordpiece::read).map(Model::WordPiece),
        "WordLevel" => parse(text).map(wordlevel::read).map(Model::WordLevel),
        bpe::SENTENCEPIECE => bpe::read_pieces(parse(text)?).map(Model::Bpe),
        wordlevel::SENTENCEPIECE => wordlevel::read_pieces(parse(text)?).map(Model::WordLevel),
        other => Err(Error::UnknownComponent {
            path: "model.type".to_owned(),
            kind: "model",
            value: other.to_owned(),
            known: KNOWN.to_owned(),
        }),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| Error::Format {
        path: match error.path().to_string().as_str() {
            "." => "model".to_owned(),
            path => format!("model.{path}"),
        },
        message: described(error.inner()),
    })
}

/// The message of an error in the object, without its line and column, which would be taken for places in the file.
fn described(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).filter(|_| error.is_data()).map_or(message.clone(), str::to_owned)
}

/// The `model` object, as JSON or as any other format of serde.
#[derive(Clone, Copy, Debug)]
pub struct ModelJson<'a> {
    model: &'a Model,
    /// Entries that each list of the model is cut to: the vocabulary, the merges, the pieces.
    most: usize,
    /// The `byte_level` of a file of version 2.0, where only BPE models have it.
    byte_level: Option<bool>,
}

impl<'a> ModelJson<'a> {
    /// The whole object.
    pub fn new(model: &'a Model) -> Self {
        Self { model, most: usize::MAX, byte_level: None }
    }

    /// The object with the first `most` entries of each list alone, to be shown rather than read.
    pub fn beginning(model: &'a Model, most: usize) -> Self {
        Self { model, most, byte_level: None }
    }

    /// The whole object in a file of version 2.0.
    pub fn version_2(model: &'a Model, byte_level: bool) -> Self {
        Self { model, most: usize::MAX, byte_level: Some(byte_level) }
    }

    /// The object as JSON text; the same model always gives the same bytes.
    pub fn text(self, pretty: bool) -> String {
        json_text(&self, pretty)
    }
}

impl Serialize for ModelJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match (self.model, self.byte_level) {
            (Model::Bpe(bpe), None) => bpe::write(bpe, self.most, serializer),
            (Model::Bpe(bpe), Some(byte_level)) => bpe::write_version_2(bpe, byte_level, serializer),
            (Model::Unigram(unigram), None) => unigram::write(unigram, self.most, serializer),
            (Model::Unigram(unigram), Some(_)) => unigram::write_version_2(unigram, serializer),
            (Model::WordPiece(wordpiece), _) => wordpiece::write(wordpiece, self.most, serializer),
            (Model::WordLevel(wordlevel), None) => wordlevel::write(wordlevel, self.most, serializer),
            (Model::WordLevel(wordlevel), Some(_)) => wordlevel::write_version_2(wordlevel, serializer),
        }
    }
}

/// JSON text of a value whose keys are strings, and which therefore always has one.
pub(super) fn json_text(value: &impl Serialize, pretty: bool) -> String {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    text.unwrap_or_else(|error| unreachable!("an object of a file is JSON: {error}"))
}

/// Kinds of pieces, from a string with one digit per piece: the numbers of SentencePiece's files.
fn kinds_of(digits: &str) -> Result<Vec<PieceKind>> {
    let kind = |c: char| {
        let number = c.to_digit(10).map(u64::from);
        number.and_then(PieceKind::from_number).ok_or_else(|| Error::Format {
            path: "model.sentencepiece_kinds".to_owned(),
            message: format!("expected a digit from 1 to 6, found {c:?}"),
        })
    };
    digits.chars().map(kind).collect()
}

fn digits(kinds: &[PieceKind]) -> String {
    kinds.iter().map(|&kind| (kind as u8).to_string()).collect()
}

/// The first `most` tokens of a vocabulary with their ids, by ascending id, as an object.
pub(super) struct TokenIds<'a>(pub(super) &'a Vocab, pub(super) usize);

impl Serialize for TokenIds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.first_by_id(self.1))
    }
}

/// The items of `entries`, as a list; a closure since a value may be serialized more than once.
struct List<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
