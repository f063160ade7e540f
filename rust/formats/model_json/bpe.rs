//! Byte-pair encoders in a `tokenizer.json`.

use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::{Text, VocabJson, vocab_json};
use crate::models::bpe::{Bpe, BpeOptions};
use crate::{Error, Result};

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
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a merge as `\"a b\"` or `[\"a\", \"b\"]`")]
enum MergeJson<'a> {
    Pair(#[serde(borrow)] Text<'a>, Text<'a>),
    Line(#[serde(borrow)] Text<'a>),
}

pub(super) fn read(json: BpeJson<'_>) -> Result<Bpe> {
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
    Bpe::new(json.vocab.vocab(), &merges, options)
}

pub(super) fn write(bpe: &Bpe) -> Value {
    let options = bpe.options();
    let token = |id| bpe.vocab().token(id).unwrap_or_default();
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
        "vocab": vocab_json(bpe.vocab()),
        "merges": merges,
    })
}
