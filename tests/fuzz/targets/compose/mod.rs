//! Whole tokenizers from bytes, as the JSON of a `tokenizer.json`.

mod models;
mod processors;
mod stages;

use serde_json::{Value, json};

use super::bytes::Bytes;

/// A `tokenizer.json`, which is not always valid.
pub(super) fn tokenizer(bytes: &mut Bytes<'_>) -> Value {
    let added_tokens: Vec<Value> = (0..bytes.below(5)).map(|_| added_token(bytes)).collect();
    let normalizer = bytes.flag().then(|| stages::normalizer(bytes, 2));
    let pre_tokenizer = (!bytes.one_in(4)).then(|| stages::pre_tokenizer(bytes, 2));
    let model = models::model(bytes);
    let post_processor = bytes.flag().then(|| processors::post_processor(bytes, 2));
    let decoder = bytes.flag().then(|| stages::decoder(bytes, 2));
    let truncation = bytes.one_in(4).then(|| truncation(bytes));
    let padding = bytes.one_in(4).then(|| padding(bytes));
    json!({
        "version": "1.0",
        "truncation": truncation,
        "padding": padding,
        "added_tokens": added_tokens,
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor,
        "decoder": decoder,
        "model": model,
    })
}

fn added_token(bytes: &mut Bytes<'_>) -> Value {
    let flags = bytes.byte();
    let flag = |bit: u8| flags >> bit & 1 == 1;
    json!({
        "id": bytes.below(40),
        "content": bytes.text(3),
        "single_word": flag(0),
        "lstrip": flag(1),
        "rstrip": flag(2),
        "normalized": flag(3),
        "special": flag(4),
    })
}

fn direction(bytes: &mut Bytes<'_>) -> &'static str {
    if bytes.flag() { "Left" } else { "Right" }
}

fn truncation(bytes: &mut Bytes<'_>) -> Value {
    json!({
        "direction": direction(bytes),
        "max_length": bytes.size(),
        "strategy": bytes.pick(&["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": bytes.size(),
    })
}

fn padding(bytes: &mut Bytes<'_>) -> Value {
    let strategy = if bytes.flag() { json!("BatchLongest") } else { json!({"Fixed": bytes.size()}) };
    json!({
        "strategy": strategy,
        "direction": direction(bytes),
        "pad_to_multiple_of": bytes.flag().then(|| bytes.size()),
        "pad_id": bytes.size() as u32,
        "pad_type_id": bytes.below(3),
        "pad_token": bytes.text(2),
    })
}
