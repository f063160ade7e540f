//! Encodings as JSON, the form in which pickles carry them: pieces with all of their tokens.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::encoding::{ColumnsBuilder, Encoding, PieceParts, Symbol, TokenNames};

/// The encoding as JSON, with all of its tokens.
pub fn write(encoding: &Encoding) -> Value {
    let pieces: Vec<Value> = encoding.parts().into_iter().map(write_piece).collect();
    let overflowing: Vec<Value> = encoding.overflowing().iter().map(write).collect();
    json!({"pieces": pieces, "sequences": encoding.sequences(), "overflowing": overflowing})
}

fn write_piece(piece: PieceParts) -> Value {
    match piece {
        PieceParts::Text { type_id, tokens } => json!({"type_id": type_id, "tokens": tokens}),
        PieceParts::Symbols { type_id, symbol, len, is_padding, shift } => json!({
            "type_id": type_id, "id": symbol.id, "text": &*symbol.text, "len": len, "is_padding": is_padding, "shift": shift,
        }),
    }
}

/// Reads an encoding that [`write()`] wrote; `None` if the JSON is malformed.
pub fn read(value: &Value) -> Option<Encoding> {
    let pieces = value["pieces"].as_array()?.iter().map(read_piece).collect::<Option<Vec<_>>>()?;
    let overflowing = value["overflowing"].as_array()?.iter().map(read).collect::<Option<Vec<_>>>()?;
    let mut columns = ColumnsBuilder::default();
    for piece in &pieces {
        if let PieceParts::Text { tokens, .. } = piece {
            for (id, text, offsets, word) in tokens {
                columns.push_with_text(*id, text, *offsets, *word);
            }
        }
    }
    let sequences = Vec::deserialize(&value["sequences"]).ok()?;
    Encoding::from_parts(pieces, &Arc::new(columns.finish(TokenNames::Own)), sequences, overflowing)
}

fn read_piece(value: &Value) -> Option<PieceParts> {
    let type_id = u32::try_from(value["type_id"].as_u64()?).ok()?;
    if let Some(tokens) = value.get("tokens") {
        let tokens = serde_json::from_value(tokens.clone()).ok()?;
        return Some(PieceParts::Text { type_id, tokens });
    }
    let symbol =
        Symbol { id: u32::try_from(value["id"].as_u64()?).ok()?, text: value["text"].as_str()?.into() };
    let len = usize::try_from(value["len"].as_u64()?).ok()?;
    // Pickles of older versions have no shift.
    let shift = value.get("shift").map_or(Some(0), Value::as_u64)?;
    let (is_padding, shift) = (value["is_padding"].as_bool()?, u32::try_from(shift).ok()?);
    Some(PieceParts::Symbols { type_id, symbol, len, is_padding, shift })
}
