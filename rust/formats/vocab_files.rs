//! The older files `vocab.json`, `merges.txt` and `vocab.txt`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::fields::Field;
use super::foreign::{BYTE_ORDER_MARK, json_error, refuse_foreign};
use super::model_json::{ModelJson, TokenIds, json_text};
use crate::models::Model;
use crate::models::bpe::Bpe;
use crate::structures::atomic_file;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Reads the whole file at `path`.
///
/// # Errors
/// [`Error::Io`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io("read", path))
}

/// Reads the file at `path` as UTF-8, without a byte order mark before it.
///
/// # Errors
/// [`Error::Io`], [`Error::FileNotUtf8`], or [`Error::Format`] for a file of another kind.
pub fn read_text(path: &Path) -> Result<String> {
    let (bytes, name) = (read_bytes(path)?, path.display().to_string());
    refuse_foreign(&bytes, &name)?;
    let mut text = String::from_utf8(bytes).map_err(|error| Error::FileNotUtf8 {
        origin: name,
        byte: error.utf8_error().valid_up_to() as u64,
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// Tokens with ids.
pub type Tokens = Vec<(String, u32)>;

/// Merges as pairs of tokens.
pub type Merges = Vec<(String, String)>;

/// Tokens with ids, and merges.
pub type VocabAndMerges = (Tokens, Merges);

/// Reads a `vocab.json`.
///
/// # Errors
/// [`Error::Io`], [`Error::FileNotUtf8`] or [`Error::Format`].
pub fn read_json(path: &Path) -> Result<Tokens> {
    parse_json(&read_text(path)?, &path.display().to_string())
}

/// Reads the text of a `vocab.json`; errors call the file `name`.
///
/// # Errors
/// [`Error::Format`].
pub fn parse_json(text: &str, name: &str) -> Result<Tokens> {
    let json: Value = serde_json::from_str(text)
        .map_err(|error| Error::Format { path: name.to_owned(), message: json_error(&error, text) })?;
    let field = Field::new(name, &json);
    if let Some(object) = json.as_object().filter(|object| object.get("model").is_some_and(Value::is_object))
    {
        let subject = if object.contains_key("added_tokens") { "this" } else { "with its `model` this" };
        return Err(field.error(format!("{subject} is a tokenizer.json; read it with Tokenizer.from_file")));
    }
    field.object()?.keys().map(|token| Ok((token.clone(), field.require(token)?.u32()?))).collect()
}

/// Reads a `vocab.txt`: one token per line, without trailing white space. A token's id is the number of its line, from
/// 0.
///
/// Equal lines become equal tokens with different ids; the caller's vocabulary keeps the last.
///
/// # Errors
/// [`Error::Io`], [`Error::FileNotUtf8`], or [`Error::Format`] for a file that holds no lines of tokens.
pub fn read_lines(path: &Path) -> Result<Tokens> {
    let text = read_text(path)?;
    let wrong =
        |message: &str| Err(Error::Format { path: path.display().to_string(), message: message.to_owned() });
    if text.is_empty() {
        return wrong("there is nothing in it, but one token per line must be");
    }
    let is_json = text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(&text).is_ok();
    if is_json {
        return wrong("this is JSON, but one token per line must be in it");
    }
    Ok(parse_lines(&text))
}

/// Reads the text of a `vocab.txt`, see [`read_lines`].
pub fn parse_lines(text: &str) -> Tokens {
    (0..).zip(text.lines()).map(|(id, line)| (line.trim_end().to_owned(), id)).collect()
}

/// Reads a `vocab.json` and a `merges.txt`.
///
/// # Errors
/// [`Error::Io`], [`Error::FileNotUtf8`] or [`Error::Format`].
pub fn read(vocab: &Path, merges: &Path) -> Result<VocabAndMerges> {
    let tokens = read_json(vocab)?;
    Ok((tokens, parse_merges(&read_text(merges)?, &merges.display().to_string())?))
}

/// Reads the text of a `merges.txt`; errors call the file `name`.
///
/// # Errors
/// [`Error::Format`].
pub fn parse_merges(text: &str, name: &str) -> Result<Merges> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with("#version"));
    let pairs = lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| match line.split_once(' ') {
        Some((left, right)) if !right.contains(' ') => Ok((left.to_owned(), right.to_owned())),
        _ => Err(Error::Format {
            path: format!("{name} line {}", number + 1),
            message: format!("expected two tokens and one space, found {line:?}"),
        }),
    });
    pairs.collect()
}

/// Writes a model's files into `folder`, with `prefix-` before their names if given; returns their paths.
///
/// BPE has `vocab.json` and `merges.txt`, Unigram `unigram.json`, `WordPiece` `vocab.txt`, `WordLevel` `vocab.json`.
///
/// # Errors
/// [`Error::Unsupported`], before anything is written, for models that would not be read back the same: BPE models whose pieces have
/// kinds and SentencePiece's word models; in a `vocab.txt`, whose tokens have the numbers of their lines as ids, ids that do not
/// count up from 0 and tokens with a line feed, with white space at their ends or with an id of another token; in a `vocab.json`,
/// tokens that are listed twice; in a `merges.txt`, tokens with a blank or a line feed, and a first line that reads as a version.
/// [`Error::Io`].
pub fn write(model: &Model, folder: &Path, prefix: Option<&str>) -> Result<Vec<PathBuf>> {
    let name =
        |name: &str| folder.join(prefix.map_or_else(|| name.to_owned(), |prefix| format!("{prefix}-{name}")));
    let files = match model {
        Model::Bpe(bpe) if bpe.kinds().is_some() => {
            return unsupported("the kinds of the pieces of a SentencePieceBPE model");
        }
        Model::WordLevel(words) if words.spaced_words().is_some() => {
            return unsupported("the kinds of the pieces of a SentencePieceWord model");
        }
        Model::Bpe(bpe) => {
            vec![(name("vocab.json"), vocab_json(bpe.vocab())?), (name("merges.txt"), merges(bpe)?)]
        }
        Model::Unigram(_) => vec![(name("unigram.json"), ModelJson::new(model).text(true))],
        Model::WordPiece(wordpiece) => vec![(name("vocab.txt"), lines(wordpiece.vocab())?)],
        Model::WordLevel(wordlevel) => vec![(name("vocab.json"), vocab_json(wordlevel.vocab())?)],
    };
    for (path, text) in &files {
        atomic_file::write(path, text.as_bytes())?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported(format!("files of a vocabulary cannot hold {what}")))
}

/// A file that holds more than this model, or all of it.
const WAY_ON: &str = "save the whole tokenizer in a tokenizer.json";

fn merges(bpe: &Bpe) -> Result<String> {
    let mut merges = String::from("#version: 0.2\n");
    for (left, right) in bpe.spelled_merges() {
        let start = merges.len();
        merges.push_str(left);
        merges.push(' ');
        merges.push_str(right);
        merges.push('\n');
        let back = parse_merges(&merges[start..], "");
        if !matches!(back.as_deref(), Ok([(one, other)]) if one == left && other == right) {
            let message = format!("merges.txt cannot hold the merge of {left:?} and {right:?}; {WAY_ON}");
            return Err(Error::Unsupported(message));
        }
    }
    Ok(merges)
}

fn lines(vocab: &Vocab) -> Result<String> {
    let tokens = vocab.sorted_by_id();
    let text: String = tokens.iter().flat_map(|(token, _)| [token, "\n"]).collect();
    let back = parse_lines(&text);
    let is_lost = |&&(token, id): &&(&str, u32)| back.get(id as usize).is_none_or(|(back, _)| back != token);
    match tokens.iter().find(is_lost) {
        Some(&(token, id)) => Err(not_held("vocab.txt", token, id)),
        None => Ok(text),
    }
}

fn not_held(file: &str, token: &str, id: u32) -> Error {
    Error::Unsupported(format!("{file} cannot hold token {token:?} with id {id}; {WAY_ON}"))
}

fn vocab_json(vocab: &Vocab) -> Result<String> {
    let mut seen = HashMap::with_capacity_and_hasher(vocab.len(), FixedState::default());
    for (token, id) in vocab.sorted_by_id() {
        if let Some(other) = seen.insert(token, id) {
            return Err(not_held("vocab.json", token, other));
        }
    }
    Ok(json_text(&TokenIds(vocab, usize::MAX), false))
}
