//! The `model` object of a `tokenizer.json`.

mod unigram;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Number, Value, json};

use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Kinds of models that files may hold and this version knows.
const KNOWN: &str = "BPE, Unigram";

/// Just enough of a model to tell its kind, which old files leave out.
#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    merges: Option<serde::de::IgnoredAny>,
    max_input_chars_per_word: Option<serde::de::IgnoredAny>,
    unk_id: Option<serde::de::IgnoredAny>,
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

#[derive(Deserialize)]
struct BpeJson<'a> {
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
}

/// The vocabulary in file order, with its text borrowed from the file where it has no escapes.
struct VocabJson<'a>(Vec<(Cow<'a, str>, u32)>);

/// A string that borrows from the file where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a merge as `\"a b\"` or `[\"a\", \"b\"]`")]
enum MergeJson<'a> {
    Pair(#[serde(borrow)] Text<'a>, Text<'a>),
    Line(#[serde(borrow)] Text<'a>),
}

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

/// Reads the `model` object.
///
/// # Errors
/// [`Error::Format`], [`Error::UnknownComponent`] or [`Error::TokenNotInVocab`].
pub fn read(text: &str) -> Result<Model> {
    let shape: Shape<'_> = parse(text)?;
    match shape.kind() {
        "BPE" => read_bpe(parse(text)?).map(Model::Bpe),
        "Unigram" => unigram::read(parse(text)?).map(Model::Unigram),
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
        message: error.inner().to_string(),
    })
}

fn read_bpe(json: BpeJson<'_>) -> Result<Bpe> {
    let mut vocab = Vocab::new();
    for (token, id) in &json.vocab.0 {
        vocab.insert(token, *id);
    }
    let merges = json.merges.iter().enumerate().map(|(rank, merge)| match merge {
        MergeJson::Pair(left, right) => Ok((&*left.0, &*right.0)),
        MergeJson::Line(line) => match line.0.split(' ').collect::<Vec<_>>().as_slice() {
            &[left, right] => Ok((left, right)),
            parts => Err(Error::Format {
                path: format!("model.merges[{rank}]"),
                message: format!(
                    "expected two tokens and one space, found {} parts in {:?}",
                    parts.len(),
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
        fuse_unk: json.fuse_unk.unwrap_or(false),
        byte_fallback: json.byte_fallback.unwrap_or(false),
        ignore_merges: json.ignore_merges.unwrap_or(false),
        seed: None,
    };
    Bpe::new(vocab, &merges, options)
}

/// The `model` object.
pub fn write(model: &Model) -> Value {
    match model {
        Model::Bpe(bpe) => write_bpe(bpe),
        Model::Unigram(unigram) => unigram::write(unigram),
    }
}

fn write_bpe(bpe: &Bpe) -> Value {
    let options = bpe.options();
    let token = |id| bpe.vocab().token(id).unwrap_or_default();
    let vocab: Map<String, Value> =
        bpe.vocab().sorted_by_id().into_iter().map(|(token, id)| (token.to_owned(), json!(id))).collect();
    let merges: Vec<Value> =
        bpe.merges().iter().map(|&(left, right)| json!([token(left), token(right)])).collect();
    // A 32-bit number is written with its own few digits, not those of its 64-bit neighbour.
    let dropout =
        options.dropout.and_then(|dropout| dropout.to_string().parse().ok().and_then(Number::from_f64));
    json!({
        "type": "BPE",
        "dropout": dropout,
        "unk_token": options.unk_token,
        "continuing_subword_prefix": options.continuing_subword_prefix,
        "end_of_word_suffix": options.end_of_word_suffix,
        "fuse_unk": options.fuse_unk,
        "byte_fallback": options.byte_fallback,
        "ignore_merges": options.ignore_merges,
        "vocab": vocab,
        "merges": merges,
    })
}
