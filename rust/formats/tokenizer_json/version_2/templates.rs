//! Templates with ids: `{"seq": "A"}` or `{"ids": [101]}`, each with a `type_id` if that is not 0.
//!
//! Version 1.0 has a table of named tokens beside its templates. Here names are lost; the reader names each token by its text in the
//! vocabulary, as nearly all files of version 1.0 do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::losses::{Losses, unsupported};
use crate::Result;
use crate::encoding::Symbol;
use crate::formats::fields::Field;
use crate::processors::{
    Bert, PostProcessor, Roberta, Template, TemplatePiece, TemplateSequence, TemplateToken,
};
use crate::tokenizer::Components;

/// The largest type id; Hugging Face cuts larger ones to eight bits.
const MAX_TYPE_ID: u32 = 255;

/// Reads the `post_processor` of a file; `parts` have the model and the added tokens.
pub(super) fn read(field: &Field<'_>, parts: &Components) -> Result<PostProcessor> {
    let kind = field.require("type")?.str()?;
    if kind != "TemplateProcessing" {
        return Err(field.unknown("post-processor", kind, "TemplateProcessing"));
    }
    let mut tokens = BTreeMap::new();
    let single = read_pieces(&field.require("single")?, &[TemplateSequence::A], parts, &mut tokens)?;
    let both = [TemplateSequence::A, TemplateSequence::B];
    let pair = read_pieces(&field.require("pair")?, &both, parts, &mut tokens)?;
    let tokens = tokens.into_values().collect();
    let template = Template::new(single, pair, tokens).map_err(|error| field.error(error.to_string()))?;
    Ok(PostProcessor::Template(template))
}

/// Reads a template, which must have these sequences in this order, and no others. Adds its tokens to `tokens`.
fn read_pieces(
    field: &Field<'_>,
    sequences: &[TemplateSequence],
    parts: &Components,
    tokens: &mut BTreeMap<String, TemplateToken>,
) -> Result<Vec<TemplatePiece>> {
    let (mut pieces, mut found) = (Vec::new(), Vec::new());
    for piece in field.items()? {
        let type_id = match piece.get("type_id")? {
            Some(type_id) => read_type_id(&type_id)?,
            None => 0,
        };
        match (piece.get("seq")?, piece.get("ids")?) {
            (Some(name), None) => {
                let id = match name.str()? {
                    "A" => TemplateSequence::A,
                    "B" => TemplateSequence::B,
                    other => return Err(name.unknown("sequence", other, "A, B")),
                };
                found.push(id);
                pieces.push(TemplatePiece::Sequence { id, type_id });
            }
            (None, Some(ids)) => {
                for id in ids.items()? {
                    let token = read_token(&id, parts, tokens)?;
                    pieces.push(TemplatePiece::Special { id: token.id.clone(), type_id });
                    tokens.insert(token.id.clone(), token);
                }
            }
            _ => return Err(piece.error("expected one of `seq` and `ids`")),
        }
    }
    if found != sequences {
        let expected = if sequences.len() == 1 { "A once" } else { "A and then B, once each" };
        return Err(field.error(format!("expected the sequence {expected}")));
    }
    Ok(pieces)
}

fn read_type_id(field: &Field<'_>) -> Result<u32> {
    let type_id = field.u32()?;
    if type_id > MAX_TYPE_ID {
        return Err(field.error(format!("expected at most {MAX_TYPE_ID}, found {type_id}")));
    }
    Ok(type_id)
}

/// The token of an id. Its name is its text. While one of the `known` tokens has the name, the id is added to the name.
fn read_token(
    field: &Field<'_>,
    parts: &Components,
    known: &BTreeMap<String, TemplateToken>,
) -> Result<TemplateToken> {
    let id = field.u32()?;
    let text = token_text(parts, id).ok_or_else(|| field.error(format!("no token has id {id}")))?;
    let symbols = vec![Symbol { id, text: text.into() }];
    let mut name = text.to_owned();
    while known.get(&name).is_some_and(|other| other.symbols != symbols) {
        name = format!("{name} {id}");
    }
    Ok(TemplateToken { id: name, symbols })
}

/// One element of a template of version 2.0.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Sequence(TemplateSequence, u32),
    Ids(Vec<u32>, u32),
}

/// The template for a text, and the template for a pair.
type Templates = [Vec<Piece>; 2];

/// The post-processor as an object; `None` if it only gives the second sequence type id 1, as tokenizers without a post-processor do.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for several templates, for a template that version 2.0 cannot hold, and for a
/// token without the id that the vocabulary has for its text.
pub(super) fn to_json(
    stage: &PostProcessor,
    parts: &Components,
    losses: &mut Losses,
) -> Result<Option<Value>> {
    let mut found = Vec::new();
    collect_templates(stage, parts, losses, &mut found)?;
    if found.len() > 1 {
        return Err(unsupported("two post-processors with templates"));
    }
    let Some([single, pair]) = found.pop() else { return Ok(None) };
    let a = || Piece::Sequence(TemplateSequence::A, 0);
    if single == [a()] && pair == [a(), Piece::Sequence(TemplateSequence::B, 1)] {
        return Ok(None);
    }
    check_pieces(&single, &[TemplateSequence::A])?;
    check_pieces(&pair, &[TemplateSequence::A, TemplateSequence::B])?;
    let objects = |pieces: &[Piece]| pieces.iter().map(piece_json).collect::<Vec<Value>>();
    Ok(Some(json!({"type": "TemplateProcessing", "single": objects(&single), "pair": objects(&pair)})))
}

fn collect_templates(
    stage: &PostProcessor,
    parts: &Components,
    losses: &mut Losses,
    found: &mut Vec<Templates>,
) -> Result<()> {
    match stage {
        PostProcessor::ByteLevel { trim_offsets, .. } => {
            losses.note(*trim_offsets, "`trim_offsets` of the post-processor `ByteLevel`");
        }
        PostProcessor::Template(template) => found.push(templates_of(template, parts)?),
        PostProcessor::Bert(Bert { sep, cls }) => {
            check_texts([cls, sep], parts)?;
            found.push(with_affixes(&[cls.id], &[sep.id], &[sep.id], 1));
        }
        PostProcessor::Roberta(Roberta { sep, cls, trim_offsets, .. }) => {
            check_texts([cls, sep], parts)?;
            losses.note(*trim_offsets, "`trim_offsets` of the post-processor `RobertaProcessing`");
            found.push(with_affixes(&[cls.id], &[sep.id, sep.id], &[sep.id], 0));
        }
        PostProcessor::Sequence(stages) => {
            for stage in stages {
                collect_templates(stage, parts, losses, found)?;
            }
        }
    }
    Ok(())
}

/// `first A last`, and `first A between B last`, where `B` and the last ids have this type id.
fn with_affixes(first: &[u32], between: &[u32], last: &[u32], type_id: u32) -> Templates {
    let a = || Piece::Sequence(TemplateSequence::A, 0);
    let ids = |ids: &[u32], type_id| Piece::Ids(ids.to_vec(), type_id);
    let b = Piece::Sequence(TemplateSequence::B, type_id);
    [vec![ids(first, 0), a(), ids(last, 0)], vec![ids(first, 0), a(), ids(between, 0), b, ids(last, type_id)]]
}

fn templates_of(template: &Template, parts: &Components) -> Result<Templates> {
    check_texts(template.tokens().iter().flat_map(|token| &token.symbols), parts)?;
    Ok([joined(template.single(), template), joined(template.pair(), template)])
}

/// Checks that the tokens of the post-processor have the texts that the reader finds by their ids.
fn check_texts<'a>(symbols: impl IntoIterator<Item = &'a Symbol>, parts: &Components) -> Result<()> {
    for Symbol { id, text } in symbols {
        if token_text(parts, *id) != Some(&**text) {
            return Err(unsupported(format_args!(
                "the post-processor's token `{text}` with id {id}, which the vocabulary does not have"
            )));
        }
    }
    Ok(())
}

/// The pieces of a template; neighbouring ids of one type id are one piece.
fn joined(pieces: &[TemplatePiece], template: &Template) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        let (id, type_id) = match piece {
            TemplatePiece::Sequence { id, type_id } => {
                out.push(Piece::Sequence(*id, *type_id));
                continue;
            }
            TemplatePiece::Special { id, type_id } => (id, *type_id),
        };
        let symbols = template.token(id).map_or(&[][..], |token| &token.symbols);
        let ids = symbols.iter().map(|symbol| symbol.id);
        match out.last_mut() {
            Some(Piece::Ids(last, of)) if *of == type_id => last.extend(ids),
            _ => out.push(Piece::Ids(ids.collect(), type_id)),
        }
    }
    out.retain(|piece| !matches!(piece, Piece::Ids(ids, _) if ids.is_empty()));
    out
}

/// Checks that a template has these sequences in this order, and no type id above [`MAX_TYPE_ID`].
fn check_pieces(pieces: &[Piece], sequences: &[TemplateSequence]) -> Result<()> {
    let found = pieces.iter().filter_map(|piece| match piece {
        Piece::Sequence(id, _) => Some(id),
        Piece::Ids(..) => None,
    });
    if !found.eq(sequences) {
        return Err(unsupported("a template without A once, or without A and then B once each for a pair"));
    }
    let type_id = |piece: &Piece| match piece {
        Piece::Sequence(_, type_id) | Piece::Ids(_, type_id) => *type_id,
    };
    match pieces.iter().map(type_id).find(|&type_id| type_id > MAX_TYPE_ID) {
        Some(type_id) => Err(unsupported(format_args!("type id {type_id}: {MAX_TYPE_ID} is the largest"))),
        None => Ok(()),
    }
}

fn piece_json(piece: &Piece) -> Value {
    let (mut object, type_id) = match piece {
        Piece::Sequence(TemplateSequence::A, type_id) => (json!({"seq": "A"}), *type_id),
        Piece::Sequence(TemplateSequence::B, type_id) => (json!({"seq": "B"}), *type_id),
        Piece::Ids(ids, type_id) => (json!({"ids": ids}), *type_id),
    };
    if type_id != 0 {
        object["type_id"] = json!(type_id);
    }
    object
}

/// The text of an id: an added token's, or else the model's.
fn token_text(parts: &Components, id: u32) -> Option<&str> {
    let added = parts.added.get(id).map(|token| &*token.content);
    added.or_else(|| parts.model.vocab().token(id))
}
