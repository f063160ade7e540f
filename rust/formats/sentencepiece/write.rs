//! Writes `.model` and `.spm.fb` files.

use super::checks::{check_added, check_characters, check_lite, check_pieces, check_split, check_symbols};
use super::content::{Content, Input, Normalization, is_byte, unsupported};
use super::lite_write::{self, Lite};
use super::{ENDS, NAME, RUNS, SPACE, model, model_type, normalizer, piece, trainer};
use crate::added_tokens::AddedToken;
use crate::decoders::{Decoder, SentencePieceDecoder};
use crate::formats::components::Component;
use crate::formats::protobuf::MessageWriter;
use crate::formats::splits;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::models::Model;
use crate::models::bpe::Bpe;
use crate::models::piece_kind::PieceKind;
use crate::models::unigram::{Unigram, UnigramOptions};
use crate::models::wordlevel::{SpacedWords, WordLevel};
use crate::normalizers::{Charsmap, Normalizer};
use crate::pre_tokenizers::PreTokenizer;
use crate::structures::finder::{Replacement, TextPattern};
use crate::tokenizer::Components;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// The `.model` file of a tokenizer with a Unigram or BPE model, or with one of SentencePiece's word models.
///
/// Its stages must be as [`super::read()`] makes them, or at most a `Precompiled` normalizer and a `Metaspace`,
/// optionally after a `WhitespaceSplit`. Scores are rounded to 32 bits. The score of a BPE piece is the negative
/// position of its merges.
///
/// # Errors
/// [`Error::Unsupported`] for any other stage, for added tokens without a piece, for ids without a token, for a list of
/// merges with fewer pairs than the scores would allow, for pieces that SentencePiece does not load, and for user-defined
/// pieces and splits of which it would make other ids.
pub fn write(parts: &Components) -> Result<Vec<u8>> {
    let (content, normalization) = checked(parts)?;
    let mut file = MessageWriter::default();
    for &(text, score, kind) in &content.pieces {
        let mut writer = MessageWriter::default();
        writer
            .bytes(piece::TEXT, text.as_bytes())
            .float(piece::SCORE, score as f32)
            .number(piece::KIND, kind as u64);
        file.bytes(model::PIECES, writer.finish());
    }
    let mut options = MessageWriter::default();
    options.number(trainer::MODEL_TYPE, content.model_type);
    options.number(trainer::VOCAB_SIZE, content.pieces.len() as u64);
    options.number(trainer::WHITESPACE_AS_SUFFIX, u64::from(normalization.whitespace_as_suffix));
    options.number(trainer::BYTE_FALLBACK, u64::from(content.byte_fallback));
    let unknown = content.pieces.iter().position(|&(.., kind)| kind == PieceKind::Unknown);
    if let Some(id) = unknown {
        options.number(trainer::UNK_ID, id as u64).bytes(trainer::UNK_PIECE, content.pieces[id].0.as_bytes());
    }
    let decoder = decoder(parts);
    if let Some(decoder) = decoder {
        options.bytes(trainer::UNK_SURFACE, decoder.unk_surface.as_bytes());
    }
    for field in [trainer::BOS_ID, trainer::EOS_ID, trainer::PAD_ID] {
        // No such piece: -1 as a 64-bit number.
        options.number(field, u64::MAX);
    }
    file.bytes(model::TRAINER, options.finish());
    let Normalization { charsmap, dummy_prefix, extra_whitespaces, .. } = &normalization;
    file.bytes(model::NORMALIZER, rules(charsmap, [*dummy_prefix, *extra_whitespaces, true]).finish());
    if let Some(stage) = decoder.and_then(|decoder| decoder.denormalizer.as_ref()) {
        let options = stage.options();
        if !options.user_defined_symbols.is_empty() || options.treat_whitespace_as_suffix {
            return unsupported("save_spm cannot express these rules of denormalization");
        }
        let charsmap = options.charsmap.as_ref().map(Charsmap::blob).unwrap_or_default();
        let flags = [options.add_dummy_prefix, options.remove_extra_whitespaces, options.escape_whitespaces];
        file.bytes(model::DENORMALIZER, rules(&charsmap, flags).finish());
    }
    Ok(file.finish().to_vec())
}

/// The `.spm.fb` file of a tokenizer, which [`write()`] must be able to write too: the same as SentencePiece makes of that file.
///
/// # Errors
/// The errors of [`write()`]; [`Error::Unsupported`] for word and character models and rules of denormalization, which these files do
/// not have, for pieces of more than 4096 bytes, for scores beyond 32 bits in a BPE model, and for a file of more than 2 GiB.
pub fn write_lite(parts: &Components) -> Result<Vec<u8>> {
    let (content, normalization) = checked(parts)?;
    let decoder = decoder(parts);
    check_lite(&content, decoder)?;
    let bytes = lite_write::write(&Lite {
        pieces: content.pieces.iter().map(|&(text, score, kind)| (text, score as f32, kind)).collect(),
        model_type: content.model_type,
        unk_surface: decoder.map_or(SentencePieceDecoder::UNK_SURFACE, |decoder| &decoder.unk_surface),
        charsmap: &normalization.charsmap,
        dummy_prefix: normalization.dummy_prefix,
        extra_whitespaces: normalization.extra_whitespaces,
        whitespace_as_suffix: normalization.whitespace_as_suffix,
    });
    match i32::try_from(bytes.len()) {
        Ok(_) => Ok(bytes),
        Err(_) => {
            unsupported(format!("a .spm.fb file has at most 2 GiB, this one has {} bytes", bytes.len()))
        }
    }
}

/// The model and the normalization, as SentencePiece loads them.
fn checked(parts: &Components) -> Result<(Content<'_>, Normalization<'_>)> {
    let mut content = content(parts)?;
    // Without byte pieces the fallback never finds any.
    content.byte_fallback &= content.pieces.iter().any(|&(.., kind)| kind == PieceKind::Byte);
    let normalization = normalization(parts)?;
    check_symbols(&content, normalization.user_defined)?;
    check_pieces(&content)?;
    check_added(parts, &content, &normalization)?;
    check_split(&content, &normalization)?;
    Ok((content, normalization))
}

fn decoder(parts: &Components) -> Option<&SentencePieceDecoder> {
    match &parts.decoder {
        Some(Decoder::SentencePiece(decoder)) => Some(decoder),
        _ => None,
    }
}

/// Rules that rewrite text, with the flags for the prefix, for extra spaces and for visible spaces.
fn rules(charsmap: &[u8], [prefix, extra, escape]: [bool; 3]) -> MessageWriter {
    let mut rules = MessageWriter::default();
    rules.bytes(normalizer::NAME, NAME.as_bytes()).bytes(normalizer::CHARSMAP, charsmap);
    rules.number(normalizer::DUMMY_PREFIX, u64::from(prefix));
    rules.number(normalizer::EXTRA_WHITESPACES, u64::from(extra));
    rules.number(normalizer::ESCAPE, u64::from(escape));
    rules
}

fn content(parts: &Components) -> Result<Content<'_>> {
    let vocab = parts.model.vocab();
    let lacking = parts.added.sorted().into_iter().find(|(_, token)| vocab.id(&token.content).is_none());
    if let Some((id, AddedToken { content, .. })) = lacking {
        return unsupported(format!("added token `{content}` with id {id} is no piece of the model"));
    }
    match &*parts.model {
        Model::Unigram(unigram) => of_unigram(parts, unigram),
        Model::Bpe(bpe) => of_bpe(parts, bpe),
        Model::WordLevel(words) => match words.spaced_words() {
            Some(spaced) => of_words(words, spaced),
            None => unsupported("save_spm writes models of words only if from_spm has read them"),
        },
        Model::WordPiece(_) => unsupported("save_spm writes Unigram and BPE models, this one is WordPiece"),
    }
}

/// The kind of a piece, from the tokenizer's use of it.
fn kind_of(parts: &Components, id: u32, text: &str, unknown: Option<u32>, byte_fallback: bool) -> PieceKind {
    let is_byte = byte_fallback && is_byte(text);
    match parts.added.get(id) {
        _ if unknown == Some(id) => PieceKind::Unknown,
        Some(token) if token.special => PieceKind::Control,
        Some(_) => PieceKind::UserDefined,
        None if is_byte => PieceKind::Byte,
        None => PieceKind::Normal,
    }
}

fn of_unigram<'a>(parts: &Components, unigram: &'a Unigram) -> Result<Content<'a>> {
    let UnigramOptions { unk_id, byte_fallback, .. } = *unigram.options();
    if unk_id.is_none() {
        return unsupported("save_spm needs an unk_id, the model has none");
    }
    if let Some((text, score)) =
        unigram.pieces().find(|&(text, score)| text.is_empty() || !(score as f32).is_finite())
    {
        let message = "save_spm needs pieces with text and scores of 32 bits";
        return unsupported(format!("{message}, `{text}` with {score} is none"));
    }
    let mut listed = (0u32..).zip(unigram.pieces());
    if let Some((_, (text, _))) = listed.find(|&(id, (text, _))| unigram.vocab().id(text) != Some(id)) {
        return unsupported(format!("save_spm needs pieces that are listed once, `{text}` is listed again"));
    }
    let kind = |id: usize, text: &str| match unigram.kinds() {
        Some(kinds) => kinds[id],
        None => kind_of(parts, id as u32, text, unk_id, byte_fallback),
    };
    let pieces = unigram.pieces().enumerate().map(|(id, (text, score))| (text, score, kind(id, text)));
    Ok(Content { model_type: model_type::UNIGRAM, byte_fallback, pieces: pieces.collect() })
}

/// All tokens by id; ids must have no gaps.
fn tokens(vocab: &Vocab) -> Result<Vec<(&str, u32)>> {
    let tokens = vocab.sorted_by_id();
    match (0u32..).zip(&tokens).find(|(id, token)| token.1 != *id) {
        None => Ok(tokens),
        Some((id, _)) => {
            unsupported(format!("save_spm needs exactly one token an id, id {id} has none or two"))
        }
    }
}

fn of_bpe<'a>(parts: &Components, bpe: &'a Bpe) -> Result<Content<'a>> {
    let options = bpe.options();
    let unknown = options.unk_token.as_deref().and_then(|token| bpe.vocab().id(token));
    let is_alike = bpe.has_plain_symbols() && options.dropout.is_none() && !options.ignore_merges;
    if unknown.is_none() || !options.fuse_unk || !is_alike {
        return unsupported(
            "save_spm needs BPE with an unk_token and fuse_unk, without prefix, suffix, dropout and ignore_merges",
        );
    }
    let kind = |&(text, id): &(&'a str, u32)| match bpe.kinds() {
        Some(kinds) => (text, id, kinds[id as usize]),
        None => (text, id, kind_of(parts, id, text, unknown, options.byte_fallback)),
    };
    let tokens: Vec<_> = tokens(bpe.vocab())?.iter().map(kind).collect();
    if let Some(scores) = bpe.scores() {
        return of_scored_bpe(bpe, scores, &tokens);
    }
    let normal = tokens.iter().filter(|&&(.., kind)| kind == PieceKind::Normal);
    let normal: Vec<(&str, u32)> = normal.map(|&(text, id, _)| (text, id)).collect();
    // Without merges, text is cut into characters, even if there are longer pieces.
    let (model_type, order) = if bpe.merges().is_empty() {
        (model_type::CHAR, Vec::new())
    } else {
        check_characters(&normal)?;
        (model_type::BPE, splits::ranked(bpe, &normal, "save_spm")?)
    };
    let mut scores = vec![-f64::from(u32::try_from(order.len()).unwrap_or(u32::MAX)); tokens.len()];
    for (rank, &id) in (0u32..).zip(&order) {
        scores[id as usize] = -f64::from(rank);
    }
    let pieces = tokens.into_iter().map(|(text, id, kind)| (text, scores[id as usize], kind));
    Ok(Content { model_type, byte_fallback: options.byte_fallback, pieces: pieces.collect() })
}

/// A BPE model that keeps the scores of the file it was read from.
fn of_scored_bpe<'a>(
    bpe: &'a Bpe,
    scores: &[f32],
    tokens: &[(&'a str, u32, PieceKind)],
) -> Result<Content<'a>> {
    let merged = tokens.iter().filter(|&&(.., kind)| matches!(kind, PieceKind::Normal | PieceKind::Unused));
    let merged: Vec<(&str, u32)> = merged.map(|&(text, id, _)| (text, id)).collect();
    let expected = splits::by_score(&merged, |id| scores[id as usize])?;
    if !expected.iter().map(|(pair, _)| pair).eq(bpe.merges()) {
        return unsupported("save_spm cannot express this model: its merges are not those of its scores");
    }
    let piece = |&(text, id, kind): &(&'a str, u32, PieceKind)| (text, f64::from(scores[id as usize]), kind);
    let pieces = tokens.iter().map(piece).collect();
    Ok(Content { model_type: model_type::BPE, byte_fallback: bpe.options().byte_fallback, pieces })
}

fn of_words<'a>(words: &'a WordLevel, spaced: &SpacedWords) -> Result<Content<'a>> {
    let tokens = tokens(words.vocab())?;
    let pieces = tokens.into_iter().zip(&*spaced.kinds).map(|((text, _), &kind)| (text, 0.0, kind)).collect();
    Ok(Content { model_type: model_type::WORD, byte_fallback: spaced.byte_fallback, pieces })
}

fn is_rule(stage: &Normalizer, pattern: &TextPattern, content: &str) -> bool {
    let is_same = |rule: &Replacement| rule.pattern() == pattern && rule.content() == content;
    matches!(stage, Normalizer::Replace(rule) if is_same(rule))
}

fn normalizers(parts: &Components) -> &[Normalizer] {
    match &parts.normalizer {
        None => &[],
        Some(Normalizer::Sequence(stages)) => stages,
        Some(stage) => std::slice::from_ref(stage),
    }
}

fn pre_tokenizers(parts: &Components) -> &[PreTokenizer] {
    match &parts.pre_tokenizer {
        None => &[],
        Some(PreTokenizer::Sequence(stages)) => stages,
        Some(stage) => std::slice::from_ref(stage),
    }
}

fn normalization(parts: &Components) -> Result<Normalization<'_>> {
    let unknown = |stage: String| Error::Unsupported(format!("save_spm cannot express the stage {stage}"));
    let stages = normalizers(parts);
    let mut found = Normalization {
        charsmap: Vec::new(),
        dummy_prefix: false,
        extra_whitespaces: false,
        whitespace_as_suffix: false,
        user_defined: None,
        input: Input::Text,
    };
    let mut is_escaped = false;
    let (mut has_runs, mut has_ends) = (false, false);
    for (at, stage) in stages.iter().enumerate() {
        match stage {
            Normalizer::SentencePiece(stage) if stages.len() == 1 && stage.options().escape_whitespaces => {
                let options = stage.options();
                is_escaped = true;
                found = Normalization {
                    charsmap: options.charsmap.as_ref().map(Charsmap::blob).unwrap_or_default(),
                    dummy_prefix: options.add_dummy_prefix,
                    extra_whitespaces: options.remove_extra_whitespaces,
                    whitespace_as_suffix: options.treat_whitespace_as_suffix,
                    user_defined: Some(&options.user_defined_symbols),
                    input: Input::Text,
                };
            }
            Normalizer::Precompiled(charsmap) if at == usize::from(found.dummy_prefix) => {
                found.charsmap = charsmap.blob();
            }
            Normalizer::Prepend(text) if text == SPACE => found.dummy_prefix = true,
            stage if is_rule(stage, &TextPattern::Literal(" ".to_owned()), SPACE) => is_escaped = true,
            stage if is_rule(stage, &TextPattern::Regex(RUNS.to_owned()), " ") => has_runs = true,
            stage if is_rule(stage, &TextPattern::Regex(ENDS.to_owned()), "") => has_ends = true,
            other => return Err(unknown(shown(other))),
        }
    }
    // The file has one flag for both rules. For text cut at white space the flag may be set without either rule.
    let mut is_split = false;
    found.extra_whitespaces |= has_runs && has_ends;
    for stage in pre_tokenizers(parts) {
        match stage {
            PreTokenizer::WhitespaceSplit if !is_escaped => is_split = true,
            PreTokenizer::Metaspace(Metaspace { replacement: '\u{2581}', prepend_scheme, split })
                if !is_escaped =>
            {
                is_escaped = true;
                found.input = if *split || is_split { Input::Words } else { Input::Text };
                found.dummy_prefix = *prepend_scheme != PrependScheme::Never;
            }
            other => return Err(unknown(shown(other))),
        }
    }
    found.extra_whitespaces |= is_split;
    if has_runs != has_ends && !is_split {
        let (there, lacking) = if has_runs { (RUNS, ENDS) } else { (ENDS, RUNS) };
        return Err(unknown(format!("Replace of {there:?} without that of {lacking:?}")));
    }
    if is_escaped { Ok(found) } else { Err(unknown("that leaves spaces as they are".to_owned())) }
}

/// A stage as a `tokenizer.json` has it.
fn shown(stage: &impl Component) -> String {
    stage.to_json().map_or_else(|_| "that is made in Python".to_owned(), |json| json.to_string())
}
