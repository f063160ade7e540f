//! Writing a `.model` file.

use super::{ENDS, RUNS, SPACE, model, normalizer, piece, trainer};
use crate::formats::protobuf::MessageWriter;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::models::Model;
use crate::models::unigram::{PieceKind, Unigram};
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::PreTokenizer;
use crate::structures::finder::{Replacement, TextPattern};
use crate::tokenizer::Parts;
use crate::{Error, Result};

/// What is done to text before it is encoded.
#[derive(Debug)]
struct Normalization<'a> {
    charsmap: &'a [u8],
    dummy_prefix: bool,
    extra_whitespaces: bool,
}

/// A `.model` file of a tokenizer with a Unigram model.
///
/// Its stages must be those that [`super::read()`] makes, or at most a `Precompiled` normalizer and a `Metaspace`, after a
/// `WhitespaceSplit` perhaps. Scores are rounded to 32 bits.
///
/// # Errors
/// [`Error::Unsupported`] for any other stage, and for added tokens without a piece.
pub fn write(parts: &Parts) -> Result<Vec<u8>> {
    let Model::Unigram(unigram) = &*parts.model else {
        let kind = parts.model.kind();
        return Err(Error::Unsupported(format!("save_spm writes Unigram models, this one is {kind}")));
    };
    let normalization = normalization(parts)?;
    let kinds = kinds(parts, unigram)?;
    let mut file = MessageWriter::default();
    for ((text, score), &kind) in unigram.pieces().zip(&kinds) {
        let mut writer = MessageWriter::default();
        writer
            .bytes(piece::TEXT, text.as_bytes())
            .float(piece::SCORE, score as f32)
            .number(piece::KIND, kind as u64);
        file.bytes(model::PIECES, writer.finish());
    }
    let mut options = MessageWriter::default();
    options.number(trainer::MODEL_TYPE, 1).number(trainer::VOCAB_SIZE, kinds.len() as u64);
    options.number(trainer::BYTE_FALLBACK, u64::from(unigram.options().byte_fallback));
    if let Some((id, (text, _))) =
        unigram.pieces().enumerate().find(|&(id, _)| kinds[id] == PieceKind::Unknown)
    {
        options.number(trainer::UNK_ID, id as u64).bytes(trainer::UNK_PIECE, text.as_bytes());
    }
    for field in [trainer::BOS_ID, trainer::EOS_ID, trainer::PAD_ID] {
        // None: -1 as a 64-bit number.
        options.number(field, u64::MAX);
    }
    file.bytes(model::TRAINER, options.finish());
    let mut rules = MessageWriter::default();
    rules.bytes(normalizer::NAME, b"user_defined").bytes(normalizer::CHARSMAP, normalization.charsmap);
    rules.number(normalizer::DUMMY_PREFIX, u64::from(normalization.dummy_prefix));
    rules.number(normalizer::EXTRA_WHITESPACES, u64::from(normalization.extra_whitespaces));
    rules.number(normalizer::ESCAPE, 1);
    file.bytes(model::NORMALIZER, rules.finish());
    Ok(file.finish().to_vec())
}

fn kinds(parts: &Parts, unigram: &Unigram) -> Result<Vec<PieceKind>> {
    if unigram.options().unk_id.is_none() {
        return Err(Error::Unsupported("save_spm needs an unk_id, the model has none".to_owned()));
    }
    let vocab = unigram.vocab();
    let lacking = parts.added.contents().into_iter().find(|&(content, _)| vocab.id(content).is_none());
    if let Some((content, id)) = lacking {
        let message = format!("added token `{content}` with id {id} is no piece of the model");
        return Err(Error::Unsupported(message));
    }
    if let Some(kinds) = unigram.kinds() {
        return Ok(kinds.to_vec());
    }
    let is_byte = |text: &str| {
        let digits = text.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
        unigram.options().byte_fallback && digits.is_some_and(|digits| u8::from_str_radix(digits, 16).is_ok())
    };
    let kind = |(id, (text, _)): (usize, (&str, f64))| match parts.added.get(id as u32) {
        _ if unigram.options().unk_id == Some(id as u32) => PieceKind::Unknown,
        Some(token) if token.special => PieceKind::Control,
        Some(_) => PieceKind::UserDefined,
        None if is_byte(text) => PieceKind::Byte,
        None => PieceKind::Normal,
    };
    Ok(unigram.pieces().enumerate().map(kind).collect())
}

fn is_rule(stage: &Normalizer, pattern: &TextPattern, content: &str) -> bool {
    let is_same = |rule: &Replacement| rule.pattern() == pattern && rule.content() == content;
    matches!(stage, Normalizer::Replace(rule) if is_same(rule))
}

fn normalization(parts: &Parts) -> Result<Normalization<'_>> {
    let unknown = |stage: String| Error::Unsupported(format!("save_spm cannot express the stage {stage}"));
    let stages = match &parts.normalizer {
        None => &[][..],
        Some(Normalizer::Sequence(stages)) => stages,
        Some(stage) => std::slice::from_ref(stage),
    };
    let mut found = Normalization { charsmap: &[], dummy_prefix: false, extra_whitespaces: false };
    let mut is_escaped = false;
    for (at, stage) in stages.iter().enumerate() {
        match stage {
            Normalizer::Precompiled(charsmap) if at == 0 => found.charsmap = charsmap.blob(),
            Normalizer::Prepend(text) if text == SPACE => found.dummy_prefix = true,
            stage if is_rule(stage, &TextPattern::Literal(" ".to_owned()), SPACE) => is_escaped = true,
            stage if is_rule(stage, &TextPattern::Regex(RUNS.to_owned()), " ") => {}
            stage if is_rule(stage, &TextPattern::Regex(ENDS.to_owned()), "") => {
                found.extra_whitespaces = true;
            }
            other => return Err(unknown(format!("{other:?}"))),
        }
    }
    let pre_tokenizers = match &parts.pre_tokenizer {
        None => &[][..],
        Some(PreTokenizer::Sequence(stages)) => stages,
        Some(stage) => std::slice::from_ref(stage),
    };
    for stage in pre_tokenizers {
        match stage {
            PreTokenizer::WhitespaceSplit if !is_escaped => found.extra_whitespaces = true,
            PreTokenizer::Metaspace(Metaspace { replacement: '\u{2581}', prepend_scheme, .. })
                if !is_escaped =>
            {
                is_escaped = true;
                found.dummy_prefix = *prepend_scheme != PrependScheme::Never;
            }
            other => return Err(unknown(format!("{other:?}"))),
        }
    }
    if is_escaped { Ok(found) } else { Err(unknown("that leaves spaces as they are".to_owned())) }
}
