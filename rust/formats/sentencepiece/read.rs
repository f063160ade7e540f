//! Reading a `.model` file.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{ENDS, RUNS, SPACE, model, normalizer, piece, trainer};
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::decoders::{Decoder, Strip};
use crate::formats::protobuf::{Message, WireValue};
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::models::unigram::{PieceKind, Unigram, UnigramOptions};
use crate::normalizers::{Charsmap, Normalizer};
use crate::structures::finder::{Replacement, TextPattern};
use crate::tokenizer::Parts;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// What a `.model` file says.
#[expect(clippy::struct_excessive_bools, reason = "the flags of the file")]
struct File<'a> {
    pieces: Vec<(&'a str, f32, PieceKind)>,
    /// 1 Unigram, 2 BPE, 3 words, 4 characters.
    model_type: u64,
    byte_fallback: bool,
    whitespace_as_suffix: bool,
    charsmap: &'a [u8],
    dummy_prefix: bool,
    extra_whitespaces: bool,
    escape: bool,
}

/// Reads a `.model` file.
///
/// # Errors
/// [`Error::Format`] if it is malformed or has a piece twice, [`Error::Unsupported`] for models of words and for white
/// space at the end of words.
pub fn read(bytes: &[u8]) -> Result<Parts> {
    let file = parse(bytes)?;
    let mut seen = BTreeSet::new();
    if let Some((text, ..)) = file.pieces.iter().find(|(text, ..)| !seen.insert(text)) {
        let message = format!("piece `{text}` is there twice");
        return Err(Error::Format { path: "model".to_owned(), message });
    }
    let model = match file.model_type {
        1 | 4 => Model::Unigram(unigram(&file)?),
        2 => Model::Bpe(bpe(&file)?),
        3 => return Err(Error::Unsupported("models of words (model_type WORD) are not read".to_owned())),
        other => {
            let message = format!("model_type is {other} but must be from 1 to 4");
            return Err(Error::Format { path: "trainer_spec".to_owned(), message });
        }
    };
    if file.whitespace_as_suffix {
        let message = "white space at the end of words (treat_whitespace_as_suffix) is not read";
        return Err(Error::Unsupported(message.to_owned()));
    }
    let mut added = AddedTokens::default();
    let special = |kind| matches!(kind, PieceKind::Unknown | PieceKind::Control);
    let specials = file.pieces.iter().filter(|&&(.., kind)| special(kind));
    let specials: Vec<AddedToken> = specials.map(|(text, ..)| AddedToken::new(*text, true)).collect();
    added.add(&specials, model.vocab());
    Ok(Parts {
        normalizer: Some(Normalizer::Sequence(normalizers(&file)?)),
        decoder: Some(Decoder::Sequence(decoders(&file)?)),
        added: Arc::new(added),
        ..Parts::of_model(Arc::new(model))
    })
}

fn parse(bytes: &[u8]) -> Result<File<'_>> {
    let mut file = File {
        pieces: Vec::new(),
        model_type: 1,
        byte_fallback: false,
        whitespace_as_suffix: false,
        charsmap: &[],
        dummy_prefix: true,
        extra_whitespaces: true,
        escape: true,
    };
    let mut message = Message::new("model", bytes);
    while let Some((field, value, at)) = message.next_field()? {
        match field {
            model::PIECES => file.pieces.push(parse_piece(message.bytes(value)?, at)?),
            model::TRAINER => parse_trainer(message.bytes(value)?, at, &mut file)?,
            model::NORMALIZER => parse_normalizer(message.bytes(value)?, at, &mut file)?,
            _ => {}
        }
    }
    if file.pieces.is_empty() {
        return Err(message.error("no piece"));
    }
    Ok(file)
}

fn parse_piece(bytes: &[u8], at: usize) -> Result<(&str, f32, PieceKind)> {
    let mut message = Message::inner("piece", bytes, at);
    let (mut text, mut score, mut kind) = ("", 0.0, PieceKind::Normal);
    while let Some((field, value, _)) = message.next_field()? {
        match field {
            piece::TEXT => text = message.text(value)?,
            piece::SCORE => score = message.float(value)?,
            piece::KIND => {
                let number = message.number(value)?;
                kind = PieceKind::from_number(number)
                    .ok_or_else(|| message.error(format!("type is {number} but must be from 1 to 6")))?;
            }
            _ => {}
        }
    }
    if text.is_empty() {
        return Err(message.error("a piece without text"));
    }
    Ok((text, score, kind))
}

fn parse_trainer(bytes: &[u8], at: usize, file: &mut File<'_>) -> Result<()> {
    let mut message = Message::inner("trainer_spec", bytes, at);
    while let Some((field, value, _)) = message.next_field()? {
        match field {
            trainer::MODEL_TYPE => file.model_type = message.number(value)?,
            trainer::BYTE_FALLBACK => file.byte_fallback = message.number(value)? != 0,
            trainer::WHITESPACE_AS_SUFFIX => file.whitespace_as_suffix = message.number(value)? != 0,
            _ => {}
        }
    }
    Ok(())
}

fn parse_normalizer<'a>(bytes: &'a [u8], at: usize, file: &mut File<'a>) -> Result<()> {
    let mut message = Message::inner("normalizer_spec", bytes, at);
    while let Some((field, value, _)) = message.next_field()? {
        let flag = |value: WireValue<'_>| message.number(value).map(|number| number != 0);
        match field {
            normalizer::CHARSMAP => file.charsmap = message.bytes(value)?,
            normalizer::DUMMY_PREFIX => file.dummy_prefix = flag(value)?,
            normalizer::EXTRA_WHITESPACES => file.extra_whitespaces = flag(value)?,
            normalizer::ESCAPE => file.escape = flag(value)?,
            _ => {}
        }
    }
    Ok(())
}

fn unknown_id(file: &File<'_>) -> Option<u32> {
    file.pieces.iter().position(|&(.., kind)| kind == PieceKind::Unknown).map(|id| id as u32)
}

fn unigram(file: &File<'_>) -> Result<Unigram> {
    let pieces: Vec<(&str, f64)> =
        file.pieces.iter().map(|&(text, score, _)| (text, f64::from(score))).collect();
    let kinds = file.pieces.iter().map(|&(.., kind)| kind).collect();
    let options = UnigramOptions {
        unk_id: unknown_id(file),
        byte_fallback: file.byte_fallback,
        ..UnigramOptions::default()
    };
    Unigram::with_kinds(&pieces, Some(kinds), options)
}

/// Every way to split a piece into two is a merge; better pieces first, equals by the ids of their halves.
///
/// SentencePiece takes the leftmost of two places where the same piece could be made, whichever its halves; this
/// differs only where both places overlap.
fn bpe(file: &File<'_>) -> Result<Bpe> {
    if file.pieces.iter().any(|&(.., kind)| matches!(kind, PieceKind::UserDefined | PieceKind::Unused)) {
        return Err(Error::Unsupported(
            "BPE models with user-defined or unused pieces are not read".to_owned(),
        ));
    }
    let vocab = Arc::new(Vocab::from_tokens(file.pieces.iter().map(|(text, ..)| text)));
    let is_normal = |id: u32| file.pieces[id as usize].2 == PieceKind::Normal;
    let find = |text: &str| vocab.id(text).filter(|&id| is_normal(id));
    let mut merges: Vec<(f32, u32, u32, u32)> = Vec::new();
    for (id, &(text, score, _)) in (0u32..).zip(&file.pieces).filter(|&(id, _)| is_normal(id)) {
        for (at, _) in text.char_indices().skip(1) {
            if let (Some(left), Some(right)) = (find(&text[..at]), find(&text[at..])) {
                merges.push((score, left, right, id));
            }
        }
    }
    merges.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then(one.3.cmp(&other.3)).then((one.1, one.2).cmp(&(other.1, other.2)))
    });
    let pairs: Vec<((u32, u32), u32)> =
        merges.into_iter().map(|(_, left, right, id)| ((left, right), id)).collect();
    let options = BpeOptions {
        unk_token: unknown_id(file).map(|id| file.pieces[id as usize].0.to_owned()),
        fuse_unk: true,
        byte_fallback: file.byte_fallback,
        ..BpeOptions::default()
    };
    Bpe::from_pairs(vocab, &pairs, options)
}

fn replace(pattern: TextPattern, content: &str) -> Result<Normalizer> {
    Replacement::new(pattern, content.to_owned()).map(|rule| Normalizer::Replace(Arc::new(rule)))
}

fn normalizers(file: &File<'_>) -> Result<Vec<Normalizer>> {
    let mut stages = Vec::new();
    if !file.charsmap.is_empty() {
        stages.push(Normalizer::Precompiled(Charsmap::new(file.charsmap)?.longest_first()));
    }
    if file.extra_whitespaces {
        stages.push(replace(TextPattern::Regex(RUNS.to_owned()), " ")?);
        stages.push(replace(TextPattern::Regex(ENDS.to_owned()), "")?);
    }
    let space = if file.escape { SPACE } else { " " };
    if file.dummy_prefix {
        stages.push(Normalizer::Prepend(space.to_owned()));
    }
    if file.escape {
        stages.push(replace(TextPattern::Literal(" ".to_owned()), SPACE)?);
    }
    Ok(stages)
}

fn decoders(file: &File<'_>) -> Result<Vec<Decoder>> {
    let mut stages = Vec::new();
    if file.byte_fallback {
        stages.push(Decoder::ByteFallback);
    }
    if file.escape {
        let rule = Replacement::new(TextPattern::Literal(SPACE.to_owned()), " ".to_owned())?;
        stages.insert(0, Decoder::Replace(Arc::new(rule)));
    }
    stages.push(Decoder::Fuse);
    if file.dummy_prefix {
        stages.push(Decoder::Strip(Strip { content: ' ', start: 1, stop: 0 }));
    }
    Ok(stages)
}
