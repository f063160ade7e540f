//! `vocab.json` and `merges.txt`, the older pair of files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::fields::Field;
use crate::models::bpe::Bpe;
use crate::structures::atomic_file;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Reads the whole of `path`.
///
/// # Errors
/// [`Error::Io`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })
}

/// Opens `path` and reads it as UTF-8.
///
/// # Errors
/// [`Error::Io`] or [`Error::InvalidUtf8`].
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| Error::InvalidUtf8 {
        origin: path.display().to_string(),
        byte: error.utf8_error().valid_up_to() as u64,
    })
}

/// Tokens with ids, and merges as pairs of tokens.
pub type VocabAndMerges = (Vec<(String, u32)>, Vec<(String, String)>);

/// Reads a `vocab.json` and a `merges.txt`.
///
/// # Errors
/// [`Error::Io`], [`Error::InvalidUtf8`] or [`Error::Format`].
pub fn read(vocab: &Path, merges: &Path) -> Result<VocabAndMerges> {
    let vocab_name = vocab.display().to_string();
    let json: Value = serde_json::from_str(&read_text(vocab)?)
        .map_err(|error| Error::Format { path: vocab_name.clone(), message: error.to_string() })?;
    let field = Field::new(vocab_name, &json);
    let tokens = field.object()?.keys().map(|token| Ok((token.clone(), field.require(token)?.u32()?)));
    let tokens = tokens.collect::<Result<_>>()?;
    let text = read_text(merges)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with("#version"));
    let pairs = lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| match line.split_once(' ') {
        Some((left, right)) if !right.contains(' ') => Ok((left.to_owned(), right.to_owned())),
        _ => Err(Error::Format {
            path: format!("{} line {}", merges.display(), number + 1),
            message: format!("expected two tokens and one space, found {line:?}"),
        }),
    });
    Ok((tokens, pairs.collect::<Result<_>>()?))
}

/// Writes `vocab.json` and `merges.txt` into `folder`, with `prefix-` in front if given; returns their paths.
///
/// # Errors
/// [`Error::Io`].
pub fn write(bpe: &Bpe, folder: &Path, prefix: Option<&str>) -> Result<[PathBuf; 2]> {
    let name =
        |name: &str| folder.join(prefix.map_or_else(|| name.to_owned(), |prefix| format!("{prefix}-{name}")));
    let paths = [name("vocab.json"), name("merges.txt")];
    atomic_file::write(&paths[0], vocab_json(bpe.vocab()).as_bytes())?;
    let mut merges = String::from("#version: 0.2\n");
    for &(left, right) in bpe.merges() {
        let token = |id| bpe.vocab().token(id).unwrap_or_default();
        merges.push_str(token(left));
        merges.push(' ');
        merges.push_str(token(right));
        merges.push('\n');
    }
    atomic_file::write(&paths[1], merges.as_bytes())?;
    Ok(paths)
}

/// Writes a model as one file `name` into `folder`, with `prefix-` in front if given; returns its path.
///
/// # Errors
/// [`Error::Io`].
pub fn write_json(json: &Value, name: &str, folder: &Path, prefix: Option<&str>) -> Result<PathBuf> {
    let path = folder.join(prefix.map_or_else(|| name.to_owned(), |prefix| format!("{prefix}-{name}")));
    atomic_file::write(&path, format!("{json:#}").as_bytes())?;
    Ok(path)
}

fn vocab_json(vocab: &Vocab) -> String {
    let entries = vocab.sorted_by_id().into_iter().map(|(token, id)| (token.to_owned(), Value::from(id)));
    Value::Object(entries.collect::<Map<_, _>>()).to_string()
}
