//! Reads `.model` files, and makes the stages of these and of `.spm.fb` files.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fields::{File, Rules};
use super::model_type::{BPE, CHAR, UNIGRAM, WORD};
use super::{ENDS, RUNS, SPACE, lite, model, normalizer, piece, trainer};
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::decoders::{Decoder, SentencePieceDecoder};
use crate::formats::protobuf::{Message, WireValue};
use crate::formats::splits;
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::models::piece_kind::PieceKind;
use crate::models::unigram::{Unigram, UnigramOptions};
use crate::models::wordlevel::{SpacedWords, WordLevel};
use crate::normalizers::{Normalizer, SentencePiece, SentencePieceOptions};
use crate::structures::finder::{Replacement, TextPattern};
use crate::tokenizer::Components;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Reads a `.model` or a `.spm.fb` file, told by its first bytes.
///
/// # Errors
/// [`Error::Format`] if the file is malformed or lists a piece twice.
pub fn read(bytes: &[u8]) -> Result<Components> {
    let file = if lite::is_lite(bytes) { lite::parse(bytes)? } else { parse(bytes)? };
    let mut seen = BTreeSet::new();
    if let Some((text, ..)) = file.pieces.iter().find(|(text, ..)| !seen.insert(text)) {
        let message = format!("piece `{text}` is there twice");
        return Err(Error::Format { path: "model".to_owned(), message });
    }
    let model = match file.model_type {
        // SentencePiece's character models act like BPE without merges: the first of overlapping user-defined pieces
        // wins, not the best-scored one as in Unigram; and longer pieces of other kinds are not found.
        CHAR if file.has(PieceKind::UserDefined) || file.has_longer() => Model::Bpe(bpe(&file)?),
        UNIGRAM | CHAR => Model::Unigram(unigram(&file)?),
        BPE => Model::Bpe(bpe(&file)?),
        WORD => Model::WordLevel(words(&file)),
        other => {
            let message = format!("model_type is {other} but must be from 1 to 4");
            return Err(Error::Format { path: "trainer_spec".to_owned(), message });
        }
    };
    let mut added = AddedTokens::default();
    let special = |kind| matches!(kind, PieceKind::Unknown | PieceKind::Control);
    let specials = file.pieces.iter().filter(|&&(.., kind)| special(kind));
    let specials: Vec<AddedToken> = specials.map(|(text, ..)| AddedToken::new(*text, true)).collect();
    added.add(&specials, model.vocab());
    Ok(Components {
        normalizer: Some(Normalizer::Sequence(normalizers(&file)?)),
        decoder: Some(Decoder::SentencePiece(decoder(&file)?)),
        added: Arc::new(added),
        ..Components::of_model(Arc::new(model))
    })
}

fn parse(bytes: &[u8]) -> Result<File<'_>> {
    let mut file = File {
        pieces: Vec::new(),
        model_type: 1,
        byte_fallback: false,
        whitespace_as_suffix: false,
        unk_surface: SentencePieceDecoder::UNK_SURFACE,
        normalization: Rules::default(),
        denormalization: Rules::default(),
    };
    let mut message = Message::new("model", bytes);
    while let Some((field, value, at)) = message.next_field()? {
        match field {
            model::PIECES => file.pieces.push(parse_piece(message.bytes(value)?, at)?),
            model::TRAINER => parse_trainer(message.bytes(value)?, at, &mut file)?,
            model::NORMALIZER => {
                file.normalization = parse_rules("normalizer_spec", message.bytes(value)?, at)?;
            }
            model::DENORMALIZER => {
                file.denormalization = parse_rules("denormalizer_spec", message.bytes(value)?, at)?;
            }
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

fn parse_trainer<'a>(bytes: &'a [u8], at: usize, file: &mut File<'a>) -> Result<()> {
    let mut message = Message::inner("trainer_spec", bytes, at);
    while let Some((field, value, _)) = message.next_field()? {
        match field {
            trainer::MODEL_TYPE => file.model_type = message.number(value)?,
            trainer::BYTE_FALLBACK => file.byte_fallback = message.number(value)? != 0,
            trainer::UNK_SURFACE => file.unk_surface = message.text(value)?,
            trainer::WHITESPACE_AS_SUFFIX => file.whitespace_as_suffix = message.number(value)? != 0,
            _ => {}
        }
    }
    Ok(())
}

fn parse_rules<'a>(name: &'static str, bytes: &'a [u8], at: usize) -> Result<Rules<'a>> {
    let mut message = Message::inner(name, bytes, at);
    let mut rules = Rules::default();
    while let Some((field, value, _)) = message.next_field()? {
        let flag = |value: WireValue<'_>| message.number(value).map(|number| number != 0);
        match field {
            normalizer::CHARSMAP => rules.charsmap = message.bytes(value)?,
            normalizer::DUMMY_PREFIX => rules.dummy_prefix = flag(value)?,
            normalizer::EXTRA_WHITESPACES => rules.extra_whitespaces = flag(value)?,
            normalizer::ESCAPE => rules.escape = flag(value)?,
            _ => {}
        }
    }
    Ok(rules)
}

fn unknown_id(file: &File<'_>) -> Option<u32> {
    file.pieces.iter().position(|&(.., kind)| kind == PieceKind::Unknown).map(|id| id as u32)
}

fn unigram(file: &File<'_>) -> Result<Unigram> {
    let pieces: Vec<(&str, f64)> =
        file.pieces.iter().map(|&(text, score, _)| (text, f64::from(score))).collect();
    let options = UnigramOptions {
        unk_id: unknown_id(file),
        byte_fallback: file.byte_fallback,
        ..UnigramOptions::default()
    };
    Unigram::with_kinds(&pieces, Some(file.kinds()), options)
}

fn words(file: &File<'_>) -> WordLevel {
    let vocab = Arc::new(Vocab::from_tokens(file.pieces.iter().map(|(text, ..)| text)));
    let unknown = unknown_id(file).map_or(WordLevel::UNK_TOKEN, |id| file.pieces[id as usize].0);
    let spaced = SpacedWords { kinds: Arc::new(file.kinds()), byte_fallback: file.byte_fallback };
    WordLevel::new(vocab, unknown.to_owned()).with_spaced_words(Some(spaced))
}

/// A BPE model with a merge for every way to split a piece in two: better pieces first, equal ones by the ids of their
/// halves.
///
/// If the same piece could be made at two positions, SentencePiece takes the leftmost position and ignores the halves. This
/// model differs only if both positions overlap. Character models have no merges.
fn bpe(file: &File<'_>) -> Result<Bpe> {
    let vocab = Arc::new(Vocab::from_tokens(file.pieces.iter().map(|(text, ..)| text)));
    let is_merged = |kind| matches!(kind, PieceKind::Normal | PieceKind::Unused) && file.model_type == BPE;
    let merged = (0u32..).zip(&file.pieces).filter(|(_, piece)| is_merged(piece.2));
    let merged: Vec<(&str, u32)> = merged.map(|(id, &(text, ..))| (text, id)).collect();
    let merges = splits::by_score(&merged, |id| file.pieces[id as usize].1)?;
    let options = BpeOptions {
        unk_token: unknown_id(file).map(|id| file.pieces[id as usize].0.to_owned()),
        fuse_unk: true,
        byte_fallback: file.byte_fallback,
        ..BpeOptions::default()
    };
    let bpe = Bpe::from_pairs(vocab, &merges, options)?;
    if file.model_type == BPE && file.has(PieceKind::Unused) {
        let scores = file.pieces.iter().map(|&(_, score, _)| score).collect();
        return bpe.with_kinds(file.kinds())?.with_scores(scores);
    }
    // Other readers of a `tokenizer.json` do not know kinds, so the model gets kinds only if they matter.
    let is_hidden =
        |&(text, _, kind): &(&str, f32, PieceKind)| !kind.is_in_text() && text.chars().count() == 1;
    if file.has(PieceKind::UserDefined) || file.pieces.iter().any(is_hidden) {
        return bpe.with_kinds(file.kinds());
    }
    Ok(bpe)
}

fn replace(pattern: TextPattern, content: &str) -> Result<Normalizer> {
    Replacement::new(pattern, content.to_owned()).map(|rule| Normalizer::Replace(Arc::new(rule)))
}

fn normalizers(file: &File<'_>) -> Result<Vec<Normalizer>> {
    let mut stages = Vec::new();
    let rules = &file.normalization;
    let charsmap = rules.table()?;
    let space = if rules.escape { SPACE } else { " " };
    // SentencePiece adds the prefix even if the rules leave nothing of the text. If extra spaces are removed, such a
    // prefix vanishes as a space at the end; otherwise `Prepend` has to come before the rules.
    let is_prefix_first = rules.dummy_prefix && !rules.extra_whitespaces;
    let has_rules_of_prefix =
        is_prefix_first && charsmap.as_ref().is_some_and(|charsmap| charsmap.has_rules_of(space));
    if file.whitespace_as_suffix || file.has(PieceKind::UserDefined) || has_rules_of_prefix {
        let user_defined = file.pieces.iter().filter(|(.., kind)| *kind == PieceKind::UserDefined);
        let stage = SentencePiece::new(SentencePieceOptions {
            charsmap,
            user_defined_symbols: user_defined.map(|&(text, ..)| text.to_owned()).collect(),
            add_dummy_prefix: rules.dummy_prefix,
            remove_extra_whitespaces: rules.extra_whitespaces,
            escape_whitespaces: rules.escape,
            treat_whitespace_as_suffix: file.whitespace_as_suffix,
        })?;
        return Ok(vec![Normalizer::SentencePiece(stage)]);
    }
    let prefix = rules.dummy_prefix.then(|| Normalizer::Prepend(space.to_owned()));
    stages.extend(prefix.clone().filter(|_| is_prefix_first));
    stages.extend(charsmap.map(Normalizer::Precompiled));
    if rules.extra_whitespaces {
        stages.push(replace(TextPattern::Regex(RUNS.to_owned()), " ")?);
        stages.push(replace(TextPattern::Regex(ENDS.to_owned()), "")?);
    }
    stages.extend(prefix.filter(|_| !is_prefix_first));
    if rules.escape {
        stages.push(replace(TextPattern::Literal(" ".to_owned()), SPACE)?);
    }
    Ok(stages)
}

fn decoder(file: &File<'_>) -> Result<SentencePieceDecoder> {
    let denormalizer = file.denormalization.table()?.map(|charsmap| {
        SentencePiece::new(SentencePieceOptions {
            charsmap: Some(charsmap),
            user_defined_symbols: Vec::new(),
            add_dummy_prefix: file.denormalization.dummy_prefix,
            remove_extra_whitespaces: file.denormalization.extra_whitespaces,
            escape_whitespaces: file.denormalization.escape,
            treat_whitespace_as_suffix: false,
        })
    });
    Ok(SentencePieceDecoder {
        unk_token: unknown_id(file).map(|id| file.pieces[id as usize].0.to_owned()),
        unk_surface: file.unk_surface.to_owned(),
        byte_fallback: file.byte_fallback,
        add_dummy_prefix: file.normalization.dummy_prefix,
        remove_extra_whitespaces: file.normalization.extra_whitespaces,
        denormalizer: denormalizer.transpose()?,
    })
}
