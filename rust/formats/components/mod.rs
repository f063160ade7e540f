//! Normalizers, pre-tokenizers, post-processors and decoders as JSON objects with a `type`.

mod decoders;
mod normalizers;
mod sentencepiece;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::fields::Field;
use crate::encoding::Symbol;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split, fixed_length};
use crate::processors::{
    Bert, PostProcessor, Roberta, Template, TemplatePiece, TemplateSequence, TemplateToken,
};
use crate::structures::finder::{Replacement, TextPattern};
use crate::{Error, Result};

/// A stage that a `tokenizer.json` describes by an object with a `type`.
pub trait Component: Sized {
    /// The key of the object in a `tokenizer.json`.
    const KEY: &'static str;

    /// Reads the object `value`, which was found at `path`.
    ///
    /// # Errors
    /// [`Error::Format`] or [`Error::UnknownComponent`], both naming the path.
    fn from_json(path: &str, value: &Value) -> Result<Self>;

    /// The component as an object.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a stage that a caller has made itself.
    fn to_json(&self) -> Result<Value>;

    /// The component as a `tokenizer.json` has it, which other programs read too.
    ///
    /// # Errors
    /// As [`Self::to_json`].
    fn to_file(&self) -> Result<Value> {
        self.to_json()
    }
}

impl Component for PreTokenizer {
    const KEY: &'static str = "pre_tokenizer";

    fn from_json(path: &str, value: &Value) -> Result<Self> {
        let field = Field::new(path, value);
        match field.require("type")?.str()? {
            "ByteLevel" => Ok(Self::ByteLevel(byte_level(&field)?)),
            "Metaspace" => Ok(Self::Metaspace(metaspace(&field)?)),
            "Split" => split(&field, None),
            "Whitespace" => Ok(Self::Whitespace),
            "WhitespaceSplit" => Ok(Self::WhitespaceSplit),
            "BertPreTokenizer" => Ok(Self::Bert),
            "Digits" => Ok(Self::Digits { individual_digits: field.bool_or("individual_digits", false)? }),
            "Punctuation" => {
                let given = field.get("behavior")?;
                let behavior = given.map_or(Ok(Behavior::Isolated), |field| behavior(&field))?;
                Ok(Self::Punctuation { behavior })
            }
            "CharDelimiterSplit" => {
                Ok(Self::CharDelimiterSplit { delimiter: field.require("delimiter")?.char()? })
            }
            "UnicodeScripts" => Ok(Self::UnicodeScripts),
            "FixedLength" => {
                let length = field.get("length")?.map_or(Ok(5), |length| length.usize())?;
                let length = fixed_length::checked(length).map_err(|error| field.error(error.to_string()))?;
                Ok(Self::FixedLength { length })
            }
            "Sequence" => Ok(Self::Sequence(list(&field, "pretokenizers")?)),
            other => {
                let known = "ByteLevel, Metaspace, Split, Whitespace, WhitespaceSplit, BertPreTokenizer, Digits, \
                             Punctuation, CharDelimiterSplit, UnicodeScripts, FixedLength, Sequence";
                Err(field.unknown("pre-tokenizer", other, known))
            }
        }
    }

    fn to_json(&self) -> Result<Value> {
        Ok(match self {
            Self::ByteLevel(ByteLevel { add_prefix_space, trim_offsets, use_regex }) => {
                byte_level_json(*add_prefix_space, *trim_offsets, *use_regex)
            }
            Self::Metaspace(options) => metaspace_json(*options),
            Self::Split(split) => json!({
                "type": "Split",
                "pattern": pattern_json(split.pattern()),
                "behavior": behavior_name(split.behavior()),
                "invert": split.invert(),
            }),
            Self::Whitespace => json!({"type": "Whitespace"}),
            Self::WhitespaceSplit => json!({"type": "WhitespaceSplit"}),
            Self::Bert => json!({"type": "BertPreTokenizer"}),
            Self::Digits { individual_digits } => {
                json!({"type": "Digits", "individual_digits": individual_digits})
            }
            Self::Punctuation { behavior } => {
                json!({"type": "Punctuation", "behavior": behavior_name(*behavior)})
            }
            Self::CharDelimiterSplit { delimiter } => {
                json!({"type": "CharDelimiterSplit", "delimiter": delimiter})
            }
            Self::UnicodeScripts => json!({"type": "UnicodeScripts"}),
            Self::FixedLength { length } => json!({"type": "FixedLength", "length": length}),
            Self::Sequence(stages) => json!({"type": "Sequence", "pretokenizers": to_list(stages)?}),
            Self::Custom(_) => return Err(custom("PreTokenizer")),
        })
    }
}

impl Component for PostProcessor {
    const KEY: &'static str = "post_processor";

    fn from_json(path: &str, value: &Value) -> Result<Self> {
        let field = Field::new(path, value);
        match field.require("type")?.str()? {
            "ByteLevel" => {
                let ByteLevel { add_prefix_space, trim_offsets, use_regex } = byte_level(&field)?;
                Ok(Self::ByteLevel { add_prefix_space, trim_offsets, use_regex })
            }
            "TemplateProcessing" => template(&field),
            "RobertaProcessing" => Ok(Self::Roberta(Roberta {
                sep: symbol(&field.require("sep")?)?,
                cls: symbol(&field.require("cls")?)?,
                trim_offsets: field.bool_or("trim_offsets", true)?,
                add_prefix_space: field.bool_or("add_prefix_space", true)?,
            })),
            "BertProcessing" => Ok(Self::Bert(Bert {
                sep: symbol(&field.require("sep")?)?,
                cls: symbol(&field.require("cls")?)?,
            })),
            "Sequence" => Ok(Self::Sequence(list(&field, "processors")?)),
            other => {
                let known = "ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing, Sequence";
                Err(field.unknown("post-processor", other, known))
            }
        }
    }

    fn to_json(&self) -> Result<Value> {
        Ok(match self {
            Self::ByteLevel { add_prefix_space, trim_offsets, use_regex } => {
                byte_level_json(*add_prefix_space, *trim_offsets, *use_regex)
            }
            Self::Template(template) => template_json(template),
            Self::Roberta(roberta) => json!({
                "type": "RobertaProcessing",
                "sep": [&*roberta.sep.text, roberta.sep.id],
                "cls": [&*roberta.cls.text, roberta.cls.id],
                "trim_offsets": roberta.trim_offsets,
                "add_prefix_space": roberta.add_prefix_space,
            }),
            Self::Bert(bert) => json!({
                "type": "BertProcessing",
                "sep": [&*bert.sep.text, bert.sep.id],
                "cls": [&*bert.cls.text, bert.cls.id],
            }),
            Self::Sequence(stages) => json!({"type": "Sequence", "processors": to_list(stages)?}),
        })
    }
}

/// The error for a stage that a caller has made itself; `kind` is Hugging Face's word for it.
fn custom(kind: &str) -> Error {
    Error::Unsupported(format!("Custom {kind} cannot be serialized"))
}

fn list<C: Component>(field: &Field<'_>, key: &str) -> Result<Vec<C>> {
    field.require(key)?.items()?.iter().map(|item| C::from_json(&item.path, item.value)).collect()
}

fn to_list<C: Component>(stages: &[C]) -> Result<Vec<Value>> {
    stages.iter().map(Component::to_json).collect()
}

fn byte_level(field: &Field<'_>) -> Result<ByteLevel> {
    Ok(ByteLevel {
        add_prefix_space: field.bool_or("add_prefix_space", true)?,
        trim_offsets: field.bool_or("trim_offsets", true)?,
        use_regex: field.bool_or("use_regex", true)?,
    })
}

fn byte_level_json(add_prefix_space: bool, trim_offsets: bool, use_regex: bool) -> Value {
    json!({
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": trim_offsets,
        "use_regex": use_regex,
    })
}

fn pattern(field: &Field<'_>) -> Result<TextPattern> {
    match (field.get("String")?, field.get("Regex")?) {
        (Some(text), None) => Ok(TextPattern::Literal(text.str()?.to_owned())),
        (None, Some(regex)) => Ok(TextPattern::Regex(regex.str()?.to_owned())),
        _ => Err(field.error("expected one of `String` and `Regex`")),
    }
}

fn pattern_json(pattern: &TextPattern) -> Value {
    match pattern {
        TextPattern::Literal(text) => json!({"String": text}),
        TextPattern::Regex(regex) => json!({"Regex": regex}),
    }
}

fn replacement(field: &Field<'_>) -> Result<Arc<Replacement>> {
    let (pattern, content) = (pattern(&field.require("pattern")?)?, field.require("content")?.str()?);
    let replacement = Replacement::new(pattern, content.to_owned());
    replacement.map(Arc::new).map_err(|error| field.error(error.to_string()))
}

fn replacement_json(replacement: &Replacement) -> Value {
    let pattern = pattern_json(replacement.pattern());
    json!({"type": "Replace", "pattern": pattern, "content": replacement.content()})
}

fn prepend_scheme(field: &Field<'_>) -> Result<PrependScheme> {
    let name = field.str()?;
    let known = PrependScheme::NAMES.map(|(_, name)| name).join(", ");
    PrependScheme::from_name(name).ok_or_else(|| field.unknown("prepend_scheme", name, &known))
}

/// Files of older versions have `add_prefix_space`, which must agree with `prepend_scheme`.
fn metaspace(field: &Field<'_>) -> Result<Metaspace> {
    let replacement = field.require("replacement")?.char()?;
    let prepend_scheme = match field.get("prepend_scheme")? {
        Some(scheme) => prepend_scheme(&scheme)?,
        None => PrependScheme::Always,
    };
    if !field.bool_or("add_prefix_space", true)? && prepend_scheme != PrependScheme::Never {
        let name = prepend_scheme.name();
        return Err(field.error(format!("add_prefix_space is false but prepend_scheme is {name}, not never")));
    }
    Ok(Metaspace { replacement, prepend_scheme, split: field.bool_or("split", true)? })
}

fn metaspace_json(options: Metaspace) -> Value {
    json!({
        "type": "Metaspace",
        "replacement": options.replacement,
        "prepend_scheme": options.prepend_scheme.name(),
        "split": options.split,
    })
}

/// Reads a `Split`; without a default, `behavior` is required.
pub(super) fn split(field: &Field<'_>, default: Option<Behavior>) -> Result<PreTokenizer> {
    let pattern = pattern(&field.require("pattern")?)?;
    let behavior = match (field.get("behavior")?, default) {
        (None, Some(default)) => default,
        _ => behavior(&field.require("behavior")?)?,
    };
    let split = Split::new(pattern, behavior, field.bool_or("invert", false)?);
    split.map(|split| PreTokenizer::Split(Arc::new(split))).map_err(|error| field.error(error.to_string()))
}

fn behavior(field: &Field<'_>) -> Result<Behavior> {
    let given = field.str()?;
    let found = Behavior::NAMES.into_iter().find(|&(_, _, name)| name == given);
    found.map(|(behavior, ..)| behavior).ok_or_else(|| {
        let known = Behavior::NAMES.map(|(_, _, name)| name).join(", ");
        field.unknown("behavior", given, &known)
    })
}

fn behavior_name(behavior: Behavior) -> &'static str {
    Behavior::NAMES.into_iter().find(|&(known, ..)| known == behavior).map_or("", |(_, _, name)| name)
}

/// Reads a token and its id, such as `["</s>", 2]`.
fn symbol(field: &Field<'_>) -> Result<Symbol> {
    match field.items()?.as_slice() {
        [text, id] => Ok(Symbol { id: id.u32()?, text: text.str()?.into() }),
        _ => Err(field.error("expected a token and its id")),
    }
}

fn template(field: &Field<'_>) -> Result<PostProcessor> {
    let pieces = |key: &str| -> Result<Vec<TemplatePiece>> {
        field.require(key)?.items()?.iter().map(template_piece).collect()
    };
    let tokens = field.require("special_tokens")?;
    let names = tokens.object()?.keys();
    let tokens = names.map(|name| template_token(&tokens.require(name)?)).collect::<Result<_>>()?;
    let template = Template::new(pieces("single")?, pieces("pair")?, tokens);
    template.map(PostProcessor::Template).map_err(|error| field.error(error.to_string()))
}

fn template_piece(field: &Field<'_>) -> Result<TemplatePiece> {
    if let Some(special) = field.get("SpecialToken")? {
        let id = special.require("id")?.str()?.to_owned();
        return Ok(TemplatePiece::Special { id, type_id: special.require("type_id")?.u32()? });
    }
    let sequence = field.require("Sequence")?;
    let name = sequence.require("id")?;
    let id = match name.str()? {
        "A" => TemplateSequence::A,
        "B" => TemplateSequence::B,
        other => return Err(name.unknown("sequence", other, "A, B")),
    };
    Ok(TemplatePiece::Sequence { id, type_id: sequence.require("type_id")?.u32()? })
}

fn template_token(field: &Field<'_>) -> Result<TemplateToken> {
    let (ids, texts) = (field.require("ids")?.items()?, field.require("tokens")?.items()?);
    if ids.len() != texts.len() {
        return Err(field.error(format!("{} ids but {} tokens", ids.len(), texts.len())));
    }
    let symbol =
        |(id, text): (&Field<'_>, &Field<'_>)| Ok(Symbol { id: id.u32()?, text: text.str()?.into() });
    let symbols = ids.iter().zip(&texts).map(symbol).collect::<Result<_>>()?;
    Ok(TemplateToken { id: field.require("id")?.str()?.to_owned(), symbols })
}

fn template_json(template: &Template) -> Value {
    let pieces = |pieces: &[TemplatePiece]| pieces.iter().map(template_piece_json).collect::<Vec<Value>>();
    let tokens = template.tokens().iter().map(|token| {
        let ids: Vec<u32> = token.symbols.iter().map(|symbol| symbol.id).collect();
        let texts: Vec<&str> = token.symbols.iter().map(|symbol| &*symbol.text).collect();
        (token.id.clone(), json!({"id": token.id, "ids": ids, "tokens": texts}))
    });
    json!({
        "type": "TemplateProcessing",
        "single": pieces(template.single()),
        "pair": pieces(template.pair()),
        "special_tokens": tokens.collect::<Map<String, Value>>(),
    })
}

/// One element of a template, as files write it.
pub fn template_piece_json(piece: &TemplatePiece) -> Value {
    match piece {
        TemplatePiece::Sequence { id, type_id } => {
            let id = if *id == TemplateSequence::A { "A" } else { "B" };
            json!({"Sequence": {"id": id, "type_id": type_id}})
        }
        TemplatePiece::Special { id, type_id } => json!({"SpecialToken": {"id": id, "type_id": type_id}}),
    }
}

/// Reads a component from JSON text, as pickles carry it.
///
/// # Errors
/// [`Error::Format`] or [`Error::UnknownComponent`].
pub fn from_str<C: Component>(text: &str) -> Result<C> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Error::Format { path: C::KEY.to_owned(), message: error.to_string() })?;
    C::from_json(C::KEY, &value)
}
