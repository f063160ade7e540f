//! Models with small vocabularies.

use lexmill::byte_level::BYTE_TO_CHAR;
use serde_json::{Map, Value, json};

use super::super::bytes::Bytes;

pub(super) fn model(bytes: &mut Bytes<'_>) -> Value {
    match bytes.below(4) {
        0 => bpe(bytes),
        1 => unigram(bytes),
        2 => json!({
            "type": "WordPiece",
            "unk_token": bytes.pick(&["[UNK]", "a", "missing"]),
            "continuing_subword_prefix": bytes.pick(&["##", "", "a", "▁"]),
            "max_input_chars_per_word": bytes.size(),
            "vocab": vocab(bytes),
        }),
        _ => word_level(bytes),
    }
}

/// A digit for each of `len` pieces: mostly normal ones.
fn kinds(bytes: &mut Bytes<'_>, len: usize) -> String {
    (0..len).map(|_| *bytes.pick(&['1', '1', '1', '2', '3', '4', '5', '6'])).collect()
}

fn tokens(bytes: &mut Bytes<'_>) -> Vec<String> {
    let mut tokens = Vec::new();
    if bytes.flag() {
        tokens.extend(BYTE_TO_CHAR.iter().map(char::to_string));
    }
    if bytes.one_in(4) {
        tokens.extend((0..=255u8).map(|byte| format!("<0x{byte:02X}>")));
    }
    if !bytes.one_in(4) {
        tokens
            .extend(["<unk>", "[UNK]", "a", "b", "c", "##a", "##b", "▁", "▁a", "Ġ", "ab"].map(str::to_owned));
    }
    for _ in 0..bytes.below(20) {
        let token = bytes.text(3);
        tokens.push(if bytes.one_in(3) { format!("##{token}") } else { token });
    }
    tokens
}

fn vocab(bytes: &mut Bytes<'_>) -> Map<String, Value> {
    let tokens = tokens(bytes);
    let mut vocab = Map::new();
    let mut id = 0u32;
    let has_holes = bytes.one_in(4);
    for token in tokens {
        vocab.insert(token, json!(id));
        id = match if has_holes { bytes.below(16) } else { 0 } {
            1 => bytes.number(),
            2 => id,
            3 => id.saturating_add(7),
            _ => id.saturating_add(1),
        };
    }
    vocab
}

fn word_level(bytes: &mut Bytes<'_>) -> Value {
    let vocab = vocab(bytes);
    let (kind, byte_fallback) =
        (if bytes.one_in(3) { "SentencePieceWord" } else { "WordLevel" }, bytes.flag());
    let kinds = kinds(bytes, vocab.len());
    json!({
        "type": kind,
        "unk_token": bytes.pick(&["<unk>", "a", "missing"]),
        "byte_fallback": byte_fallback,
        "sentencepiece_kinds": kinds,
        "vocab": vocab,
    })
}

fn bpe(bytes: &mut Bytes<'_>) -> Value {
    let mut vocab = vocab(bytes);
    let mut names: Vec<String> = vocab.keys().cloned().collect();
    let prefix = bytes.one_in(5).then(|| *bytes.pick(&["##", "a", "", "Ġ"]));
    let suffix = bytes.one_in(5).then(|| *bytes.pick(&["</w>", "b", "", "Ġ"]));
    let mut merges = Vec::new();
    for _ in 0..bytes.below(24) {
        if names.is_empty() {
            break;
        }
        let mut name = || names[bytes.number() as usize % names.len()].clone();
        let (left, right) = (name(), name());
        let made = format!("{left}{}", right.strip_prefix(prefix.unwrap_or_default()).unwrap_or(&right));
        if !vocab.contains_key(&made) {
            vocab.insert(made.clone(), json!(vocab.len()));
            names.push(made);
        }
        merges.push(json!([left, right]));
    }
    let has_kinds = bytes.one_in(5);
    json!({
        "type": if has_kinds { "SentencePieceBPE" } else { "BPE" },
        "sentencepiece_kinds": if has_kinds { kinds(bytes, vocab.len()) } else { String::new() },
        "dropout": bytes.one_in(8).then(|| f32::from(bytes.byte()) / 200.0),
        "unk_token": bytes.flag().then(|| *bytes.pick(&["<unk>", "a", "missing"])),
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": bytes.flag(),
        "byte_fallback": bytes.flag(),
        "ignore_merges": bytes.flag(),
        "vocab": vocab,
        "merges": merges,
    })
}

fn unigram(bytes: &mut Bytes<'_>) -> Value {
    let tokens = tokens(bytes);
    let score = |bytes: &mut Bytes<'_>| match bytes.byte() % 32 {
        0 => 0.0,
        1 => -1e300,
        2 => 1e300,
        3 => f64::from(bytes.number()),
        other => -f64::from(other) / 3.0,
    };
    let pieces: Vec<Value> = tokens.iter().map(|token| json!([token, score(bytes)])).collect();
    let has_kinds = bytes.one_in(4);
    let kinds = has_kinds.then(|| kinds(bytes, pieces.len()));
    let unk_id = (!bytes.one_in(4)).then(|| bytes.number() as usize % pieces.len().max(1));
    json!({
        "type": "Unigram",
        "unk_id": unk_id,
        "vocab": pieces,
        "byte_fallback": bytes.flag(),
        "sentencepiece_kinds": kinds,
    })
}
