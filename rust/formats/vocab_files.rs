//! The older files `vocab.json`, `merges.txt` and `vocab.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::fields::Field;
use super::model_json;
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
    fs::read(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })
}

/// Reads the file at `path` as UTF-8.
///
/// # Errors
/// [`Error::Io`] or [`Error::InvalidUtf8`].
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| Error::InvalidUtf8 {
        origin: path.display().to_string(),
        byte: error.utf8_error().valid_up_to() as u64,
    })
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
/// [`Error::Io`], [`Error::InvalidUtf8`] or [`Error::Format`].
pub fn read_json(path: &Path) -> Result<Tokens> {
    parse_json(&read_text(path)?, &path.display().to_string())
}

/// Reads the text of a `vocab.json`; errors call the file `name`.
///
/// # Errors
/// [`Error::Format`].
pub fn parse_json(text: &str, name: &str) -> Result<Tokens> {
    let json: Value = serde_json::from_str(text)
        .map_err(|error| Error::Format { path: name.to_owned(), message: error.to_string() })?;
    let field = Field::new(name, &json);
    field.object()?.keys().map(|token| Ok((token.clone(), field.require(token)?.u32()?))).collect()
}

/// Reads a `vocab.txt`: one token per line, without trailing white space. A token's id is the number of its line, from
/// 0.
///
/// Equal lines become equal tokens with different ids; the caller's vocabulary keeps the last.
///
/// # Errors
/// [`Error::Io`] or [`Error::InvalidUtf8`].
pub fn read_lines(path: &Path) -> Result<Tokens> {
    read_text(path).map(|text| parse_lines(&text))
}

/// Reads the text of a `vocab.txt`, see [`read_lines`].
pub fn parse_lines(text: &str) -> Tokens {
    (0..).zip(text.lines()).map(|(id, line)| (line.trim_end().to_owned(), id)).collect()
}

/// Reads a `vocab.json` and a `merges.txt`.
///
/// # Errors
/// [`Error::Io`], [`Error::InvalidUtf8`] or [`Error::Format`].
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
/// BPE has `vocab.json` and `merges.txt`, Unigram `unigram.json`, `WordPiece` `vocab.txt`, `WordLevel` `vocab.json`. A
/// `vocab.txt` has no empty lines for ids without a token: as in Hugging Face, tokens after such a gap are read back
/// with other ids.
///
/// # Errors
/// [`Error::Unsupported`] for BPE models whose pieces have kinds and for SentencePiece's word models, which these files
/// cannot express; [`Error::Io`].
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
            vec![(name("vocab.json"), vocab_json(bpe.vocab())), (name("merges.txt"), merges(bpe))]
        }
        Model::Unigram(_) => vec![(name("unigram.json"), format!("{:#}", model_json::write(model)))],
        Model::WordPiece(wordpiece) => vec![(name("vocab.txt"), lines(wordpiece.vocab()))],
        Model::WordLevel(wordlevel) => vec![(name("vocab.json"), vocab_json(wordlevel.vocab()))],
    };
    for (path, text) in &files {
        atomic_file::write(path, text.as_bytes())?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported(format!("files of a vocabulary cannot hold {what}")))
}

fn merges(bpe: &Bpe) -> String {
    let mut merges = String::from("#version: 0.2\n");
    for (left, right) in bpe.spelled_merges() {
        merges.push_str(left);
        merges.push(' ');
        merges.push_str(right);
        merges.push('\n');
    }
    merges
}

fn lines(vocab: &Vocab) -> String {
    vocab.sorted_by_id().into_iter().flat_map(|(token, _)| [token, "\n"]).collect()
}

fn vocab_json(vocab: &Vocab) -> String {
    let entries = vocab.sorted_by_id().into_iter().map(|(token, id)| (token.to_owned(), Value::from(id)));
    Value::Object(entries.collect::<Map<_, _>>()).to_string()
}
