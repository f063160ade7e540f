//! `lexmill.Tokenizer`: reading and writing files.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments;
use super::errors::{OrRaise, exception};
use super::file_paths::FilePath;
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::State;
use crate::formats::tokenizer_json::Version;
use crate::formats::{sentencepiece, tiktoken, tokenizer_json, vocab_files};
use crate::structures::atomic_file;

#[pymethods]
impl PyTokenizer {
    /// Reads a `tokenizer.json` from text.
    ///
    /// Args:
    ///     `json`: the contents of the file.
    ///
    /// Raises:
    ///     `FormatError`: it is malformed or has a component of an unknown type; the message has its place.
    #[staticmethod]
    fn from_str(py: Python<'_>, json: &str) -> PyResult<Self> {
        let parts = py.detach(|| tokenizer_json::read(json)).or_raise(py)?;
        Ok(Self::of(State::of(parts)))
    }

    /// Reads a `tokenizer.json`.
    ///
    /// Args:
    ///     `path`: the file.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read.
    ///     `InvalidUtf8Error`: the file is not UTF-8.
    ///     `FormatError`: the file is malformed or has a component of an unknown type; the message gives the place. For another kind
    ///         of file, such as a web page or a pointer of Git LFS, the message names that kind.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        let parts = py.detach(|| tokenizer_json::read_file(&path)).or_raise(py)?;
        Ok(Self::of(State::of(parts)))
    }

    /// Reads the `tokenizer.json` of a repository of the Hugging Face Hub, through the package `huggingface_hub` and its cache, or of
    /// a local folder.
    ///
    /// Args:
    ///     `identifier`: the repository, such as `gpt2`, or a local folder.
    ///     `revision`: a branch, a tag or a commit of the repository.
    ///     `token`: the access token for a private repository.
    ///
    /// Raises:
    ///     `LexmillError`: `huggingface_hub` is not installed.
    #[staticmethod]
    #[pyo3(signature = (identifier, revision="main", token=None))]
    fn from_pretrained(
        py: Python<'_>,
        identifier: &str,
        revision: &str,
        token: Option<&str>,
    ) -> PyResult<Self> {
        let file = py
            .import("lexmill._compat.hub")?
            .call_method1("tokenizer_file", (identifier, revision, token))?;
        Self::from_file(py, file.extract()?)
    }

    /// A `tokenizers.Tokenizer` as one of lexmill's.
    ///
    /// Args:
    ///     `tokenizer`: a tokenizer of Hugging Face's package.
    ///
    /// Raises:
    ///     `LexmillError`: the tokenizer holds stages written in Python.
    #[staticmethod]
    fn from_hf<'py>(py: Python<'py>, tokenizer: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        py.import("lexmill._compat.peer")?.call_method1("from_hf", (tokenizer,))
    }

    /// This tokenizer as a `tokenizers.Tokenizer`.
    ///
    /// Raises:
    ///     `LexmillError`: that package is not installed, or lexmill stands in its place.
    fn to_hf<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("lexmill._compat.peer")?.call_method1("to_hf", (this,))
    }

    /// Reads a `tokenizer.json` from bytes.
    ///
    /// Args:
    ///     `buffer`: the contents of the file.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: the bytes are not UTF-8.
    ///     `FormatError`: as for `from_str`.
    #[staticmethod]
    fn from_buffer(py: Python<'_>, buffer: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let bytes = buffer.as_bytes();
        let parts = py.detach(|| tokenizer_json::read_bytes(bytes, BUFFER)).or_raise(py)?;
        Ok(Self::of(State::of(parts)))
    }

    /// Reads a `.model` or `.spm.fb` file of SentencePiece's; special tokens in a text go to the model as plain text, as in SentencePiece.
    ///
    /// Args:
    ///     `path`: the file.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read.
    ///     `FormatError`: the file is malformed or has a value that lexmill does not know.
    #[staticmethod]
    fn from_spm(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        let parts = py.detach(|| sentencepiece::read_file(&path)).or_raise(py)?;
        Ok(Self::of(State { encode_special_tokens: true, ..State::of(parts) }))
    }

    /// Writes a `.model` file for SentencePiece, or a `.spm.fb` file for its lite runtime, whole or not at all.
    ///
    /// Args:
    ///     `path`: the file; a name that ends with `.fb` tells the second kind.
    ///
    /// Raises:
    ///     `OptionError`: the file cannot hold the tokenizer; the message names the part.
    ///     `FileError`: the file cannot be written.
    fn save_spm(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let parts = self.shared.parts();
        let write =
            if sentencepiece::is_lite_name(&path) { sentencepiece::write_lite } else { sentencepiece::write };
        py.detach(|| atomic_file::write(&path, &write(&parts)?)).or_raise(py)
    }

    /// Reads a `.tiktoken` file. The file has only tokens and ranks, so the pattern and the special tokens are arguments.
    ///
    /// A token's rank is its id. A pre-token that is a token is taken whole, as it stands (`ignore_merges`); in other pre-tokens, the neighbours that
    /// spell the token of the lowest rank are merged first.
    ///
    /// Args:
    ///     `path`: the file.
    ///     `pattern`: the regular expression whose matches are the pre-tokens.
    ///     `special_tokens`: ids by text.
    ///
    /// Raises:
    ///     `FormatError`: a line is malformed, a token or a rank is there twice, a byte has no token, or a special token's
    ///         text or id is taken.
    ///     `RegexError`: `pattern` does not compile.
    ///     `IdRangeError`: an id is out of range.
    ///     `FileError`: the file cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path, pattern, special_tokens=None))]
    fn from_tiktoken(
        py: Python<'_>,
        path: FilePath,
        pattern: &str,
        special_tokens: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let given = special_tokens.unwrap_or_default().into_iter();
        let special_tokens = given.map(|(token, id)| Ok((token, arguments::id(&id)?)));
        let special_tokens = special_tokens.collect::<PyResult<Vec<_>>>()?;
        let read = || {
            let text = vocab_files::read_text(&path)?;
            tiktoken::read(&text, &path.display().to_string(), pattern, &special_tokens)
        };
        Ok(Self::of(State::of(py.detach(read).or_raise(py)?)))
    }

    /// Writes a `.tiktoken` file of a byte-level BPE model, whole or not at all; added tokens and all stages but the model
    /// are left out.
    ///
    /// Args:
    ///     `path`: the file.
    ///
    /// Raises:
    ///     `OptionError`: the file would be read as another model: the model is not BPE, has dropout, a prefix or a suffix, or kinds of pieces; a
    ///         token is not spelled in the byte-level alphabet, or a byte has no token; merges are not in the order of ids, or the ranks imply
    ///         further merges; or, without `ignore_merges`, the text of a token is encoded to other tokens.
    ///     `FileError`: the file cannot be written.
    fn save_tiktoken(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let parts = self.shared.parts();
        py.detach(|| atomic_file::write(&path, tiktoken::write(&parts)?.as_bytes())).or_raise(py)
    }

    /// The tokenizer as JSON text; the same tokenizer gives the same text. As in a file, `encode_special_tokens` is not in it.
    ///
    /// Args:
    ///     `pretty`: breaks lines and indents.
    ///     `version`: `1.0`, or `2.0` for Hugging Face `tokenizers` 1.0.
    ///     `lossy`: leaves out trimmed offsets and dropout, which version 2.0 cannot hold. Ids stay the same, but for the random choices of dropout.
    ///
    /// Raises:
    ///     `OptionError`: the version is unknown or cannot hold a stage, which the message names.
    #[pyo3(signature = (pretty=false, *, version="1.0", lossy=false))]
    fn to_str(&self, py: Python<'_>, pretty: bool, version: &str, lossy: bool) -> PyResult<String> {
        let version = known_version(py, version)?;
        py.detach(|| self.to_version(version, pretty, lossy)).or_raise(py)
    }

    /// The parts that a lossy file of version 2.0 lacks, for `lexmill convert`.
    fn _lost_in_version_2(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        tokenizer_json::losses_of_version_2(&self.shared.parts()).or_raise(py)
    }

    /// Writes a `tokenizer.json`, whole or not at all.
    ///
    /// The format has no place for `encode_special_tokens`, and version 1.0 has none for `role_to_token`: whoever reads the file sets
    /// them again. Pickles and copies keep them. If one is set, a `LostStateWarning` names it.
    ///
    /// Args:
    ///     `path`: the file.
    ///     `pretty`: breaks lines and indents; None does so in version 1.0 alone, as Hugging Face does.
    ///     `version`: `1.0`, or `2.0` for Hugging Face `tokenizers` 1.0.
    ///     `lossy`: leaves out trimmed offsets and dropout, which version 2.0 cannot hold. Ids stay the same, but for the random choices of dropout.
    ///
    /// Raises:
    ///     `OptionError`: the version is unknown or cannot hold a stage, which the message names.
    ///     `FileError`: the file cannot be written.
    #[pyo3(signature = (path, pretty=None, *, version="1.0", lossy=false))]
    fn save(
        &self,
        py: Python<'_>,
        path: FilePath,
        pretty: Option<bool>,
        version: &str,
        lossy: bool,
    ) -> PyResult<()> {
        let version = known_version(py, version)?;
        let pretty = pretty.unwrap_or(version == Version::One);
        py.detach(|| save(&path, &self.to_version(version, pretty, lossy)?)).or_raise(py)?;
        let (has_option, has_roles) = {
            let state = self.shared.state();
            (state.encode_special_tokens, state.role_to_token.is_some())
        };
        if has_option {
            warn_of_lost(py, "encode_special_tokens=True")?;
        }
        if has_roles && version == Version::One {
            warn_of_lost(py, "role_to_token")?;
        }
        Ok(())
    }
}

fn warn_of_lost(py: Python<'_>, setting: &str) -> PyResult<()> {
    let message = format!(
        "a tokenizer.json does not hold {setting}; set it again after reading the file, or pickle the tokenizer"
    );
    let category = py.import("lexmill.errors")?.getattr("LostStateWarning")?;
    PyErr::warn(py, &category, &CString::new(message)?, 1)
}

impl PyTokenizer {
    fn to_version(&self, version: Version, pretty: bool, lossy: bool) -> crate::Result<String> {
        match version {
            Version::One => self.to_json(pretty),
            Version::Two => tokenizer_json::write_version_2(&self.shared.parts(), pretty, lossy),
        }
    }
}

fn known_version(py: Python<'_>, name: &str) -> PyResult<Version> {
    Version::from_name(name).ok_or_else(|| {
        let known = Version::NAMES.map(|(_, name)| name).join(", ");
        exception(py, "OptionError", format!("version is {name:?} but must be one of {known}"))
    })
}

/// The name of bytes in memory in errors: Hugging Face's words before its parser's.
const BUFFER: &str = "Cannot instantiate Tokenizer from buffer";

fn save(path: &Path, json: &str) -> crate::Result<()> {
    atomic_file::write(path, json.as_bytes())
}
