//! Normalizers, pre-tokenizers and decoders.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::super::bytes::Bytes;

/// Patterns of published tokenizers, and others: without matches, with empty ones, with look-around.
const PATTERNS: &[&str] = &[
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\p{N}",
    r"\s+",
    " {2,}",
    r"(?<!\n)^",
    r"\b",
    r"a*?",
    r"(?<=a)b",
    r".(?!b)",
    r"[日本a]{1,2}",
    r"\w+|[^\w\s]+",
    "",
    r"^",
    r"$",
    r"(?i:ss)",
];

/// Rules that make spaces of line ends and odd ones, take characters away, and leave spaces and marks at either end.
const SMALL_CHARSMAP: &str = include_str!("charsmap.base64");

fn pattern(bytes: &mut Bytes<'_>) -> Value {
    if bytes.flag() { json!({"String": bytes.text(2)}) } else { json!({"Regex": bytes.pick(PATTERNS)}) }
}

fn behavior(bytes: &mut Bytes<'_>) -> Value {
    json!(bytes.pick(&["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]))
}

fn metaspace(bytes: &mut Bytes<'_>) -> Value {
    json!({
        "type": "Metaspace",
        "replacement": bytes.pick(&["▁", "▁", "▁", "a", " ", "日"]),
        "prepend_scheme": bytes.pick(&["always", "never", "first"]),
        "split": bytes.flag(),
    })
}

fn byte_level(bytes: &mut Bytes<'_>) -> Value {
    json!({
        "type": "ByteLevel",
        "add_prefix_space": bytes.flag(),
        "trim_offsets": bytes.flag(),
        "use_regex": bytes.flag(),
    })
}

/// SentencePiece's rules: a small table, or a few arbitrary entries and texts.
fn charsmap(bytes: &mut Bytes<'_>) -> String {
    if !bytes.one_in(4) {
        return SMALL_CHARSMAP.to_owned();
    }
    let entries = bytes.below(64) * 4;
    let mut blob = (entries as u32).to_le_bytes().to_vec();
    blob.extend((0..entries).map(|_| bytes.byte()));
    blob.extend(bytes.text(8).bytes());
    BASE64_STANDARD.encode(blob)
}

pub(super) fn normalizer(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    match bytes.below(if depth == 0 { 15 } else { 18 }) {
        0 => json!({"type": "NFC"}),
        1 => json!({"type": "NFD"}),
        2 => json!({"type": "NFKC"}),
        3 => json!({"type": "NFKD"}),
        4 => json!({"type": "Lowercase"}),
        5 => json!({"type": "Strip", "strip_left": bytes.flag(), "strip_right": bytes.flag()}),
        6 => json!({"type": "StripAccents"}),
        7 => json!({"type": "Prepend", "prepend": bytes.text(2)}),
        8 => json!({"type": "Nmt"}),
        9 => json!({"type": "ByteLevel"}),
        10 => {
            json!({"type": "Precompiled", "precompiled_charsmap": charsmap(bytes), "match": bytes.flag().then_some("longest")})
        }
        11 | 12 => json!({"type": "Replace", "pattern": pattern(bytes), "content": bytes.text(2)}),
        13 => json!({
            "type": "BertNormalizer",
            "clean_text": bytes.flag(),
            "handle_chinese_chars": bytes.flag(),
            "strip_accents": bytes.pick(&[None, Some(false), Some(true)]),
            "lowercase": bytes.flag(),
        }),
        14 => {
            let symbols: Vec<String> = (0..bytes.below(4)).map(|_| bytes.text(2)).collect();
            json!({
                "type": "SentencePiece",
                "precompiled_charsmap": bytes.flag().then(|| charsmap(bytes)),
                "user_defined_symbols": symbols,
                "add_dummy_prefix": bytes.flag(),
                "remove_extra_whitespaces": bytes.flag(),
                "escape_whitespaces": bytes.flag(),
                "treat_whitespace_as_suffix": bytes.flag(),
            })
        }
        _ => {
            let stages: Vec<Value> = (0..bytes.below(6)).map(|_| normalizer(bytes, depth - 1)).collect();
            json!({"type": "Sequence", "normalizers": stages})
        }
    }
}

pub(super) fn pre_tokenizer(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    match bytes.below(if depth == 0 { 14 } else { 18 }) {
        0 | 1 => byte_level(bytes),
        2 | 3 => metaspace(bytes),
        4 | 5 => json!({
            "type": "Split",
            "pattern": pattern(bytes),
            "behavior": behavior(bytes),
            "invert": bytes.flag(),
        }),
        6 => json!({"type": "Whitespace"}),
        7 => json!({"type": "WhitespaceSplit"}),
        8 => json!({"type": "BertPreTokenizer"}),
        9 => json!({"type": "Digits", "individual_digits": bytes.flag()}),
        10 => json!({"type": "Punctuation", "behavior": behavior(bytes)}),
        11 => json!({"type": "CharDelimiterSplit", "delimiter": bytes.char()}),
        12 => json!({"type": "UnicodeScripts"}),
        13 => json!({"type": "FixedLength", "length": bytes.size()}),
        _ => {
            let stages: Vec<Value> = (0..bytes.below(5)).map(|_| pre_tokenizer(bytes, depth - 1)).collect();
            json!({"type": "Sequence", "pretokenizers": stages})
        }
    }
}

pub(super) fn decoder(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    match bytes.below(if depth == 0 { 9 } else { 12 }) {
        0 => byte_level(bytes),
        1 => json!({"type": "Replace", "pattern": pattern(bytes), "content": bytes.text(2)}),
        2 => json!({"type": "ByteFallback"}),
        3 => json!({"type": "Fuse"}),
        4 => {
            json!({"type": "Strip", "content": bytes.pick(&[" ", "a", "日"]), "start": bytes.size(), "stop": bytes.size()})
        }
        5 => metaspace(bytes),
        6 => json!({"type": "BPEDecoder", "suffix": bytes.text(2)}),
        7 => json!({
            "type": "CTC",
            "pad_token": bytes.text(2),
            "word_delimiter_token": bytes.text(2),
            "cleanup": bytes.flag(),
        }),
        8 => json!({"type": "WordPiece", "prefix": bytes.text(2), "cleanup": bytes.flag()}),
        _ => {
            let stages: Vec<Value> = (0..bytes.below(5)).map(|_| decoder(bytes, depth - 1)).collect();
            json!({"type": "Sequence", "decoders": stages})
        }
    }
}
