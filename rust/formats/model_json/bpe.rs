//! BPE models in a `tokenizer.json`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serializer};
use serde_json::Number;

use super::{List, Text, TokenIds, VocabJson, digits, kinds_of, wrong};
use crate::models::bpe::{Bpe, BpeOptions};
use crate::{Error, Result};

/// The type of models whose tokens have kinds. Only lexmill knows this type, so other readers refuse such a model.
pub(super) const SENTENCEPIECE: &str = "SentencePieceBPE";

#[derive(Deserialize)]
pub(super) struct BpeJson<'a> {
    dropout: Option<f32>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    fuse_unk: Option<bool>,
    #[serde(default)]
    byte_fallback: Option<bool>,
    #[serde(default)]
    ignore_merges: Option<bool>,
    #[serde(borrow)]
    vocab: VocabJson<'a>,
    #[serde(borrow)]
    merges: Vec<MergeJson<'a>>,
    /// One digit per token, in models of type [`SENTENCEPIECE`].
    #[serde(default)]
    sentencepiece_kinds: String,
    /// By id, in models of type [`SENTENCEPIECE`] that merge to unused tokens.
    #[serde(default)]
    sentencepiece_scores: Option<Vec<f32>>,
}

/// A pair of tokens, as a list or as one line with a space between them.
enum MergeJson<'a> {
    Pair(Text<'a>, Text<'a>),
    Line(Text<'a>),
}

// Written by hand, since serde's untagged enums copy each value to try one variant after the other.
impl<'de: 'a, 'a> Deserialize<'de> for MergeJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Merge;

        impl<'de> Visitor<'de> for Merge {
            type Value = MergeJson<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(r#"a merge as `"a b"` or `["a", "b"]`"#)
            }

            fn visit_borrowed_str<E: de::Error>(self, line: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(MergeJson::Line(Text(Cow::Borrowed(line))))
            }

            fn visit_str<E: de::Error>(self, line: &str) -> std::result::Result<Self::Value, E> {
                Ok(MergeJson::Line(Text(Cow::Owned(line.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut parts: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut part = |at| {
                    let part = parts.next_element::<Text<'de>>()?;
                    part.ok_or_else(|| de::Error::invalid_length(at, &self))
                };
                let (left, right) = (part(0)?, part(1)?);
                match parts.next_element::<IgnoredAny>()? {
                    None => Ok(MergeJson::Pair(left, right)),
                    Some(_) => Err(de::Error::invalid_length(3, &self)),
                }
            }
        }

        deserializer.deserialize_any(Merge)
    }
}

pub(super) fn read(json: BpeJson<'_>) -> Result<Bpe> {
    let merges = json.merges.iter().enumerate().map(|(rank, merge)| match merge {
        MergeJson::Pair(left, right) => Ok((&*left.0, &*right.0)),
        MergeJson::Line(line) => match line.0.split_once(' ').filter(|(_, right)| !right.contains(' ')) {
            Some(parts) => Ok(parts),
            None => Err(Error::Format {
                path: format!("model.merges[{rank}]"),
                message: format!(
                    "expected two tokens and one space, found {} parts in {:?}",
                    line.0.split(' ').count(),
                    line.0
                ),
            }),
        },
    });
    let merges = merges.collect::<Result<Vec<_>>>()?;
    let options = BpeOptions {
        unk_token: json.unk_token,
        continuing_subword_prefix: json.continuing_subword_prefix,
        end_of_word_suffix: json.end_of_word_suffix,
        dropout: json.dropout,
        alpha: None,
        fuse_unk: json.fuse_unk.unwrap_or(false),
        byte_fallback: json.byte_fallback.unwrap_or(false),
        ignore_merges: json.ignore_merges.unwrap_or(false),
        seed: None,
    };
    Bpe::new(json.vocab.vocab(), &merges, options)
}

/// Reads a model of version 2.0.
pub(super) fn read_version_2(json: BpeJson<'_>) -> Result<Bpe> {
    if let Some(rank) = json.merges.iter().position(|merge| matches!(merge, MergeJson::Line(_))) {
        let path = format!("model.merges[{rank}]");
        return Err(wrong(&path, "expected a list of two tokens, as version 2.0 has it"));
    }
    if json.dropout.is_some_and(|dropout| dropout > 0.0) {
        return Err(wrong("model.dropout", "version 2.0 has no dropout"));
    }
    read(json)
}

/// Reads a model whose tokens have kinds.
pub(super) fn read_pieces(mut json: BpeJson<'_>) -> Result<Bpe> {
    let kinds = kinds_of(&json.sentencepiece_kinds)?;
    let scores = json.sentencepiece_scores.take();
    let bpe = read(json)?.with_kinds(kinds)?;
    match scores {
        Some(scores) => bpe.with_scores(scores),
        None => Ok(bpe),
    }
}

/// The number with the decimal digits of a 32-bit float; its 64-bit value would have more digits.
fn short(number: f32) -> Option<Number> {
    number.to_string().parse().ok().and_then(Number::from_f64)
}

pub(super) fn write<S: Serializer>(
    bpe: &Bpe,
    most: usize,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let options = bpe.options();
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", if bpe.kinds().is_some() { SENTENCEPIECE } else { "BPE" })?;
    object.serialize_entry("dropout", &options.dropout.and_then(short))?;
    object.serialize_entry("unk_token", &options.unk_token)?;
    object.serialize_entry("continuing_subword_prefix", &options.continuing_subword_prefix)?;
    object.serialize_entry("end_of_word_suffix", &options.end_of_word_suffix)?;
    object.serialize_entry("fuse_unk", &options.fuse_unk)?;
    object.serialize_entry("byte_fallback", &options.byte_fallback)?;
    object.serialize_entry("ignore_merges", &options.ignore_merges)?;
    object.serialize_entry("vocab", &TokenIds(bpe.vocab(), most))?;
    object.serialize_entry("merges", &List(|| bpe.spelled_merges().take(most)))?;
    if let Some(kinds) = bpe.kinds() {
        object.serialize_entry("sentencepiece_kinds", &digits(kinds))?;
    }
    if let Some(scores) = bpe.scores() {
        object.serialize_entry("sentencepiece_scores", &List(|| scores.iter().copied().map(short)))?;
    }
    object.end()
}

/// Writes a model of version 2.0 as Hugging Face does: no options of unknown text for a byte-level model, which knows every byte, and null
/// for an empty affix.
pub(super) fn write_version_2<S: Serializer>(
    bpe: &Bpe,
    byte_level: bool,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let options = bpe.options();
    let [prefix, suffix] = options.affixes().map(|affix| Some(affix).filter(|affix| !affix.is_empty()));
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry("type", "BPE")?;
    object.serialize_entry("unk_token", &options.unk_token.as_ref().filter(|_| !byte_level))?;
    object.serialize_entry("continuing_subword_prefix", &prefix)?;
    object.serialize_entry("end_of_word_suffix", &suffix)?;
    object.serialize_entry("fuse_unk", &(options.fuse_unk && !byte_level))?;
    object.serialize_entry("byte_fallback", &(options.byte_fallback && !byte_level))?;
    object.serialize_entry("ignore_merges", &options.ignore_merges)?;
    object.serialize_entry("byte_level", &byte_level)?;
    object.serialize_entry("vocab", &TokenIds(bpe.vocab(), usize::MAX))?;
    object.serialize_entry("merges", &List(|| bpe.spelled_merges()))?;
    object.end()
}
