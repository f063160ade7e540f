//! Checks of a model that is written: SentencePiece must load the file, and make the same ids with it.

use std::collections::BTreeSet;

use super::content::{Content, Input, Normalization, is_byte, unsupported};
use super::{SPACE, model_type};
use crate::Result;
use crate::decoders::SentencePieceDecoder;
use crate::models::piece_kind::PieceKind;
use crate::tokenizer::Components;

/// Checks that the normalizer's user-defined symbols are the user-defined pieces, as the file has a single list for
/// both.
pub(super) fn check_symbols(content: &Content<'_>, symbols: Option<&[String]>) -> Result<()> {
    let Some(symbols) = symbols else { return Ok(()) };
    let pieces = content.pieces.iter().filter(|&&(.., kind)| kind == PieceKind::UserDefined);
    let pieces: BTreeSet<&str> = pieces.map(|&(text, ..)| text).collect();
    let symbols: BTreeSet<&str> = symbols.iter().map(String::as_str).collect();
    match pieces.symmetric_difference(&symbols).next() {
        None => Ok(()),
        Some(text) => unsupported(format!(
            "`{text}` must be a user-defined symbol of the normalizer and a user-defined piece, or neither"
        )),
    }
}

/// Checks the pieces as SentencePiece does when it loads a file.
pub(super) fn check_pieces(content: &Content<'_>) -> Result<()> {
    let count = |wanted| content.pieces.iter().filter(|&&(.., kind)| kind == wanted).count();
    if let Some((text, ..)) = content.pieces.iter().find(|(text, ..)| text.is_empty() || text.contains('\0'))
    {
        return unsupported(format!("save_spm needs pieces with text and without NUL, {text:?} is none"));
    }
    let is_wrong = |&&(text, _, kind): &&(&str, f64, PieceKind)| kind == PieceKind::Byte && !is_byte(text);
    if let Some((text, ..)) = content.pieces.iter().find(is_wrong) {
        return unsupported(format!(
            "save_spm needs byte pieces from `<0x00>` to `<0xFF>`, `{text}` is none"
        ));
    }
    let (unknown, bytes) = (count(PieceKind::Unknown), count(PieceKind::Byte));
    if unknown != 1 {
        return unsupported(format!("save_spm needs one unknown piece, the model has {unknown}"));
    }
    match (content.byte_fallback, bytes) {
        (true, 256) | (false, 0) => Ok(()),
        (true, bytes) => {
            unsupported(format!("save_spm needs 256 byte pieces for byte_fallback, the model has {bytes}"))
        }
        (false, bytes) => unsupported(format!("save_spm needs byte_fallback for {bytes} byte pieces")),
    }
}

/// Bytes of the longest piece of a `.spm.fb` file.
const LONGEST_LITE: usize = 4096;

/// The largest score of a BPE piece in a `.spm.fb` file, where it is an integer of 32 bits: the largest of 32-bit floats.
const LARGEST_LITE: f64 = 2_147_483_520.0;

/// Makes the checks of SentencePiece's own conversion of a model to a `.spm.fb` file.
pub(super) fn check_lite(content: &Content<'_>, decoder: Option<&SentencePieceDecoder>) -> Result<()> {
    if !matches!(content.model_type, model_type::UNIGRAM | model_type::BPE) {
        return unsupported(
            "a .spm.fb file holds a Unigram or BPE model with merges, not a model of words or characters",
        );
    }
    if decoder.is_some_and(|decoder| decoder.denormalizer.is_some()) {
        return unsupported("a .spm.fb file has no place for rules of denormalization");
    }
    if let Some((text, ..)) = content.pieces.iter().find(|(text, ..)| text.len() > LONGEST_LITE) {
        let len = text.len();
        return unsupported(format!(
            "a .spm.fb file has pieces of at most {LONGEST_LITE} bytes, one has {len}"
        ));
    }
    let is_out_of_range =
        |&&(_, score, _): &&(&str, f64, PieceKind)| score.is_nan() || score.abs() > LARGEST_LITE;
    match content.pieces.iter().find(is_out_of_range) {
        Some((text, score, _)) if content.model_type == model_type::BPE => unsupported(format!(
            "a .spm.fb file has BPE scores of at most {LARGEST_LITE}, but `{text}` has {score}"
        )),
        _ => Ok(()),
    }
}

/// Checks that SentencePiece finds the added tokens that are not special, which become user-defined pieces, where the tokenizer does.
pub(super) fn check_added(
    parts: &Components,
    content: &Content<'_>,
    normalization: &Normalization<'_>,
) -> Result<()> {
    for (id, &(text, _, kind)) in (0u32..).zip(&content.pieces) {
        let Some(token) = parts.added.get(id).filter(|token| !token.special) else { continue };
        let refuse = |why: String| {
            unsupported(format!(
                "save_spm cannot express the added token `{text}`: {why}; make it special, or leave it out"
            ))
        };
        if kind != PieceKind::UserDefined {
            return refuse(format!("its piece is {}", kind.name()));
        }
        if token.lstrip || token.rstrip || token.single_word {
            return refuse("SentencePiece has no lstrip, rstrip and single_word".to_owned());
        }
        if text.contains(SPACE) {
            return refuse("it has a visible space, which SentencePiece takes for a space".to_owned());
        }
        if normalization.dummy_prefix {
            return refuse(
                "SentencePiece adds the prefix to the whole text, not to each text between added tokens"
                    .to_owned(),
            );
        }
        // The score of a user-defined piece is a poor one, so that other pieces may win.
        let is_rival = |&&(other, _, kind): &&(&str, f64, PieceKind)| {
            kind.is_in_text() && other != text && other.contains(|character| text.contains(character))
        };
        if content.model_type == model_type::UNIGRAM
            && let Some((other, ..)) = content.pieces.iter().find(is_rival)
        {
            return refuse(format!("in a Unigram model the piece `{other}` may win over it"));
        }
    }
    Ok(())
}

/// Checks that the model, which gets each word by itself here, makes the same ids of the whole text.
pub(super) fn check_split(content: &Content<'_>, normalization: &Normalization<'_>) -> Result<()> {
    if normalization.input == Input::Text {
        return Ok(());
    }
    let mut in_text = content.pieces.iter().filter(|&&(.., kind)| kind.is_in_text());
    let spans_words = |text: &str| text.char_indices().skip(1).any(|(at, _)| text[at..].starts_with(SPACE));
    if let Some((text, ..)) = in_text.clone().find(|&&(text, ..)| spans_words(text)) {
        return unsupported(format!(
            "save_spm cannot express a Metaspace that splits: piece `{text}` goes from one word to the next"
        ));
    }
    // Without any piece all text is unknown in either case.
    let has_pieces = in_text.clone().next().is_some();
    if has_pieces && !content.byte_fallback && !in_text.any(|&(text, ..)| text == SPACE) {
        return unsupported(format!(
            "save_spm cannot express a Metaspace that splits without the piece `{SPACE}`: unknown characters of two words would be one"
        ));
    }
    Ok(())
}

/// Checks that no piece can be made of a character that is no piece: SentencePiece merges any two neighbours that make a piece.
pub(super) fn check_characters(normal: &[(&str, u32)]) -> Result<()> {
    let pieces: BTreeSet<&str> = normal.iter().map(|&(text, _)| text).collect();
    let is_symbol = |text: &str| pieces.contains(text) || text.chars().nth(1).is_none();
    for &(text, _) in normal {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let last = text.chars().next_back().map_or(0, char::len_utf8);
        let lacking =
            [text.split_at(first), text.split_at(text.len() - last)].into_iter().find_map(|(left, right)| {
                let is_made = first < text.len() && is_symbol(left) && is_symbol(right);
                [left, right].into_iter().find(|half| is_made && !pieces.contains(half))
            });
        if let Some(lacking) = lacking {
            return unsupported(format!(
                "save_spm cannot express this model: SentencePiece makes piece `{text}` of `{lacking}`, which is no piece"
            ));
        }
    }
    Ok(())
}
