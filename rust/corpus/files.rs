//! Encodes files, or counts their tokens, while they are read.

use super::blocks::FileBlocks;
pub use super::documents::DocumentFile;
use super::documents::read_documents;
use super::utf8_errors::Utf8Errors;
use crate::Result;
use crate::cache::Id;
use crate::structures::parallel::Parallelism;
use crate::tokenizer::{Ragged, Tokenizer};

/// How files are read, cut into documents and encoded.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions<'a> {
    /// The text between documents; without one, each file of text is a document.
    pub separator: Option<&'a str>,
    /// The handling of bytes that are not UTF-8.
    pub errors: Utf8Errors,
    /// True if documents get special tokens.
    pub add_special_tokens: bool,
}

/// The ids of each document of some files.
///
/// The text after a file's last separator is a document only if it is not empty. Files are read while they are encoded, and a
/// document may be longer than the longest text if it can be cut. All documents are read first if the post-processor has to
/// see whole rows.
///
/// # Errors
/// [`Error::Io`](crate::Error), [`Error::InvalidUtf8`](crate::Error) unless such bytes are to be replaced,
/// [`Error::InvalidOption`](crate::Error) for an empty separator, and the errors of [`Tokenizer::encode_ids`].
pub fn encode_files<T: Id>(
    tokenizer: &Tokenizer,
    files: &[DocumentFile],
    options: FileOptions<'_>,
    parallelism: Parallelism<'_>,
) -> Result<Ragged<T>> {
    let FileOptions { separator, errors, add_special_tokens } = options;
    let mut blocks = FileBlocks::new(tokenizer.pipeline(), files, separator, errors)?;
    if let Some(rows) =
        tokenizer.encode_blocks(blocks.bytes, |block| blocks.next(block), add_special_tokens, parallelism)?
    {
        return Ok(rows);
    }
    let read = read_documents(files, separator, errors)?;
    tokenizer.encode_ids(&read.documents()[..], add_special_tokens, parallelism)
}

/// Number of tokens of each document; memory does not grow with the files, unless the post-processor has to see whole rows.
///
/// # Errors
/// As [`encode_files`].
pub fn count_files(
    tokenizer: &Tokenizer,
    files: &[DocumentFile],
    options: FileOptions<'_>,
    parallelism: Parallelism<'_>,
) -> Result<Vec<u64>> {
    encode_files::<()>(tokenizer, files, options, parallelism).map(|rows| rows.lens())
}
