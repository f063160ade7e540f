//! Reads `.spm.fb` files, the FlatBuffers of SentencePiece's lite runtime.
//!
//! They hold the pieces, the rules of normalization, and tries for the runtime, which are not needed here. Rules of
//! denormalization are not in them. Field numbers are from `sentencepiece_lite.fbs`.

use super::fields::{File, Rules};
use super::{lite_model, lite_normalizer, model_type};
use crate::decoders::SentencePieceDecoder;
use crate::formats::flatbuffers::Table;
use crate::models::piece_kind::PieceKind;
use crate::{Error, Result};

/// True if bytes are FlatBuffers and no `.model` file.
///
/// They begin with the position of the root table, a multiple of four. Builders write that table last and so at the beginning, below
/// 2^16. The first byte of a `.model` file is a field number and the type of its value, bytes, which has the number 2; so it leaves 2
/// when divided by four. In text no two zero bytes follow a character.
pub(super) fn is_lite(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes[0].is_multiple_of(4) && bytes[2..4] == [0, 0]
}

/// The score of a BPE piece: the nearest 32-bit float to an integer, which was such a float before it was written.
#[expect(clippy::cast_precision_loss, reason = "the number is a float that was written as an integer")]
fn nearest(score: [u8; 4]) -> f32 {
    i32::from_le_bytes(score) as f32
}

fn wrong(message: String) -> Error {
    Error::Format { path: "model".to_owned(), message }
}

/// The fields that matter for encoding.
pub(super) fn parse(bytes: &[u8]) -> Result<File<'_>> {
    let model = Table::root(bytes)?;
    let model_type = u64::from(model.byte(lite_model::MODEL_TYPE, model_type::UNIGRAM as u8)?);
    let texts = model.texts(lite_model::PIECES)?;
    let scores: Vec<f32> = if model_type == model_type::BPE {
        model.vector(lite_model::INT_SCORES)?.iter().map(|&score| nearest(score)).collect()
    } else {
        model.vector(lite_model::SCORES)?.iter().map(|&score| f32::from_le_bytes(score)).collect()
    };
    let kinds = model.vector(lite_model::TYPES)?;
    if texts.len() != scores.len() || texts.len() != kinds.len() {
        let (pieces, scores, kinds) = (texts.len(), scores.len(), kinds.len());
        return Err(wrong(format!("{pieces} pieces but {scores} scores and {kinds} types")));
    }
    let mut pieces = Vec::with_capacity(texts.len());
    for ((text, score), &[kind]) in texts.into_iter().zip(scores).zip(kinds) {
        // 0 is the default, a normal piece.
        let kind = PieceKind::from_number(u64::from(kind.max(1)))
            .ok_or_else(|| wrong(format!("type of `{text}` is {kind} but must be from 0 to 6")))?;
        if text.is_empty() {
            return Err(wrong("a piece without text".to_owned()));
        }
        pieces.push((text, score, kind));
    }
    if pieces.is_empty() {
        return Err(wrong("no piece".to_owned()));
    }
    let unk_surface = model.text(lite_model::UNK_SURFACE)?.unwrap_or(SentencePieceDecoder::UNK_SURFACE);
    let rules = model.table(lite_model::NORMALIZER)?;
    let (normalization, whitespace_as_suffix) = rules.map_or(Ok((Rules::default(), false)), parse_rules)?;
    Ok(File {
        byte_fallback: pieces.iter().any(|&(.., kind)| kind == PieceKind::Byte),
        pieces,
        model_type,
        whitespace_as_suffix,
        unk_surface,
        normalization,
        denormalization: Rules::default(),
    })
}

/// The rules of normalization, and the place of spaces: before or after their words.
fn parse_rules(table: Table<'_>) -> Result<(Rules<'_>, bool)> {
    let flag = |field, default| table.byte(field, u8::from(default)).map(|byte| byte != 0);
    let rules = Rules {
        charsmap: table.vector::<1>(lite_normalizer::CHARSMAP)?.as_flattened(),
        dummy_prefix: flag(lite_normalizer::DUMMY_PREFIX, true)?,
        extra_whitespaces: flag(lite_normalizer::EXTRA_WHITESPACES, true)?,
        escape: flag(lite_normalizer::ESCAPE, true)?,
    };
    Ok((rules, flag(lite_normalizer::WHITESPACE_AS_SUFFIX, false)?))
}
