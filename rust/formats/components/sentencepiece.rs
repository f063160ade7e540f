//! SentencePiece's rules and its decoder as JSON objects.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Field;
use crate::Result;
use crate::decoders::SentencePieceDecoder;
use crate::sentencepiece::{Charsmap, SentencePiece, SentencePieceOptions};

/// Reads the rules of a normalizer or a denormalizer.
pub(super) fn rules(stage: &Field<'_>) -> Result<SentencePiece> {
    let charsmap = stage.get("precompiled_charsmap")?.map(|field| charsmap(&field)).transpose()?;
    let symbols = stage.require("user_defined_symbols")?.items()?;
    let symbols = symbols.iter().map(|symbol| symbol.str().map(str::to_owned)).collect::<Result<_>>()?;
    let flag = |key| stage.require(key)?.bool();
    SentencePiece::new(SentencePieceOptions {
        charsmap: charsmap.map(Charsmap::longest_first),
        user_defined_symbols: symbols,
        add_dummy_prefix: flag("add_dummy_prefix")?,
        remove_extra_whitespaces: flag("remove_extra_whitespaces")?,
        escape_whitespaces: flag("escape_whitespaces")?,
        treat_whitespace_as_suffix: flag("treat_whitespace_as_suffix")?,
    })
}

/// Reads a table of rules.
pub(super) fn charsmap(field: &Field<'_>) -> Result<Charsmap> {
    let blob = BASE64_STANDARD.decode(field.str()?).map_err(|_| field.error("not base64"))?;
    Charsmap::new(&blob).map_err(|error| field.error(error.to_string()))
}

/// The rules as [`rules`] reads them.
pub(super) fn rules_json(rules: &SentencePiece) -> Value {
    let options = rules.options();
    let charsmap = options.charsmap.as_ref().map(|charsmap| BASE64_STANDARD.encode(charsmap.blob()));
    json!({
        "precompiled_charsmap": charsmap,
        "user_defined_symbols": options.user_defined_symbols,
        "add_dummy_prefix": options.add_dummy_prefix,
        "remove_extra_whitespaces": options.remove_extra_whitespaces,
        "escape_whitespaces": options.escape_whitespaces,
        "treat_whitespace_as_suffix": options.treat_whitespace_as_suffix,
    })
}

/// Reads a decoder.
pub(super) fn decoder(stage: &Field<'_>) -> Result<SentencePieceDecoder> {
    let unk_token = stage.get("unk_token")?.map(|field| field.str().map(str::to_owned)).transpose()?;
    Ok(SentencePieceDecoder {
        unk_token,
        unk_surface: stage.require("unk_surface")?.str()?.to_owned(),
        byte_fallback: stage.require("byte_fallback")?.bool()?,
        add_dummy_prefix: stage.require("add_dummy_prefix")?.bool()?,
        remove_extra_whitespaces: stage.require("remove_extra_whitespaces")?.bool()?,
        denormalizer: stage.get("denormalizer")?.map(|field| rules(&field)).transpose()?,
    })
}

/// The decoder as [`decoder`] reads it.
pub(super) fn decoder_json(decoder: &SentencePieceDecoder) -> Value {
    json!({
        "type": "SentencePiece",
        "unk_token": decoder.unk_token,
        "unk_surface": decoder.unk_surface,
        "byte_fallback": decoder.byte_fallback,
        "add_dummy_prefix": decoder.add_dummy_prefix,
        "remove_extra_whitespaces": decoder.remove_extra_whitespaces,
        "denormalizer": decoder.denormalizer.as_ref().map(rules_json),
    })
}

/// The decoder for a `tokenizer.json` that others are to read as well: stages of Hugging Face's that come close, and the
/// decoder itself under a key that Hugging Face does not know and ignores.
pub(super) fn portable_json(decoder: &SentencePieceDecoder) -> Value {
    if decoder.denormalizer.is_some() {
        // Without the rules the text would be another one, so other readers are to refuse it.
        return decoder_json(decoder);
    }
    let mut stages = vec![json!({"type": "Replace", "pattern": {"String": "\u{2581}"}, "content": " "})];
    stages.extend(decoder.byte_fallback.then(|| json!({"type": "ByteFallback"})));
    stages.push(json!({"type": "Fuse"}));
    if decoder.add_dummy_prefix {
        stages.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({"type": "Sequence", "decoders": stages, PORTABLE: decoder_json(decoder)})
}

/// The key of the decoder itself in [`portable_json`].
pub(super) const PORTABLE: &str = "sentencepiece";
