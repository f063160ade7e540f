//! Decoders as JSON objects.

use serde_json::{Value, json};

use super::sentencepiece::{PORTABLE, decoder, decoder_json, portable_json};
use super::{
    Component, Field, byte_level, byte_level_json, custom, list, metaspace, metaspace_json, replacement,
    replacement_json, to_list,
};
use crate::Result;
use crate::decoders::{Ctc, Decoder, Strip};
use crate::pre_tokenizers::ByteLevel;

const KNOWN: &str = "ByteLevel, Replace, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, CTC, WordPiece, SentencePiece, Sequence";

impl Component for Decoder {
    const KEY: &'static str = "decoder";

    fn from_json(path: &str, value: &Value) -> Result<Self> {
        let field = Field::new(path, value);
        match field.require("type")?.str()? {
            "ByteLevel" => {
                let ByteLevel { add_prefix_space, trim_offsets, use_regex } = byte_level(&field)?;
                Ok(Self::ByteLevel { add_prefix_space, trim_offsets, use_regex })
            }
            "Replace" => Ok(Self::Replace(replacement(&field)?)),
            "ByteFallback" => Ok(Self::ByteFallback),
            "Fuse" => Ok(Self::Fuse),
            "Strip" => Ok(Self::Strip(Strip {
                content: field.require("content")?.char()?,
                start: field.require("start")?.usize()?,
                stop: field.require("stop")?.usize()?,
            })),
            "Metaspace" => Ok(Self::Metaspace(metaspace(&field)?)),
            "BPEDecoder" => Ok(Self::Bpe { suffix: field.require("suffix")?.str()?.to_owned() }),
            "CTC" => Ok(Self::Ctc(Ctc {
                pad_token: field.require("pad_token")?.str()?.to_owned(),
                word_delimiter_token: field.require("word_delimiter_token")?.str()?.to_owned(),
                cleanup: field.require("cleanup")?.bool()?,
            })),
            "WordPiece" => Ok(Self::WordPiece {
                prefix: field.require("prefix")?.str()?.to_owned(),
                cleanup: field.require("cleanup")?.bool()?,
            }),
            "SentencePiece" => decoder(&field).map(Self::SentencePiece),
            "Sequence" if field.get(PORTABLE)?.is_some() => {
                decoder(&field.require(PORTABLE)?).map(Self::SentencePiece)
            }
            "Sequence" => Ok(Self::Sequence(list(&field, "decoders")?)),
            other => Err(field.unknown("decoder", other, KNOWN)),
        }
    }

    fn to_file(&self) -> Result<Value> {
        match self {
            Self::SentencePiece(stage) => Ok(portable_json(stage)),
            other => other.to_json(),
        }
    }

    fn to_json(&self) -> Result<Value> {
        Ok(match self {
            Self::ByteLevel { add_prefix_space, trim_offsets, use_regex } => {
                byte_level_json(*add_prefix_space, *trim_offsets, *use_regex)
            }
            Self::Replace(replacement) => replacement_json(replacement),
            Self::ByteFallback => json!({"type": "ByteFallback"}),
            Self::Fuse => json!({"type": "Fuse"}),
            Self::Strip(Strip { content, start, stop }) => {
                json!({"type": "Strip", "content": content, "start": start, "stop": stop})
            }
            Self::Metaspace(options) => metaspace_json(*options),
            Self::Bpe { suffix } => json!({"type": "BPEDecoder", "suffix": suffix}),
            Self::Ctc(Ctc { pad_token, word_delimiter_token, cleanup }) => json!({
                "type": "CTC",
                "pad_token": pad_token,
                "word_delimiter_token": word_delimiter_token,
                "cleanup": cleanup,
            }),
            Self::WordPiece { prefix, cleanup } => {
                json!({"type": "WordPiece", "prefix": prefix, "cleanup": cleanup})
            }
            Self::SentencePiece(stage) => decoder_json(stage),
            Self::Sequence(stages) => json!({"type": "Sequence", "decoders": to_list(stages)?}),
            Self::Custom(_) => return Err(custom("PyDecoder")),
        })
    }
}
