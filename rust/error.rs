//! The only error type of the crate. Every message is lower case and names the value and the limit.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;

/// Any error of the crate; the data is in the variants.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read, written or renamed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb: `open`, `read`, `write`, `rename`.
        action: &'static str,
        /// The file in question.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// Text that is not UTF-8.
    #[error("{origin} is not valid UTF-8 at byte {byte}; pass errors=\"replace\" to read it all the same")]
    InvalidUtf8 {
        /// A file name or a description such as `buffer`.
        origin: String,
        /// Offset of the first byte that cannot be decoded.
        byte: u64,
    },
    /// A file of a tokenizer that is not UTF-8; reading it all the same is no way on.
    #[error("{origin} is not valid UTF-8 at byte {byte}")]
    FileNotUtf8 {
        /// A file name or a description such as `buffer`.
        origin: String,
        /// Offset of the first byte that cannot be decoded.
        byte: u64,
    },
    /// A file that was to be read as text and is none, by its first bytes.
    #[error("{path} {kind}; read it with a source of its format, or make text of it first")]
    NotText {
        /// The file.
        path: String,
        /// The kind of the file, with the verb.
        kind: &'static str,
    },
    /// A text that UTF-8 cannot express.
    #[error(
        "text {text}: character {char} is the lone surrogate U+{code:04X}, which UTF-8 cannot express; pass errors=\"replace\" to \
         read U+FFFD in its place"
    )]
    LoneSurrogate {
        /// Number of the text among all texts.
        text: usize,
        /// Number of the character in the text.
        char: usize,
        /// The surrogate.
        code: u32,
    },
    /// A corpus without a single word.
    #[error("the corpus holds no words: {texts} texts, {bytes} bytes were read")]
    EmptyCorpus {
        /// Number of texts read.
        texts: u64,
        /// Number of bytes read.
        bytes: u64,
    },
    /// A vocabulary size too small for the tokens that the vocabulary must hold.
    #[error("vocab_size is {vocab_size} but special tokens and initial alphabet need {needed}")]
    VocabSizeTooSmall {
        /// The size asked for.
        vocab_size: usize,
        /// The least size that works.
        needed: usize,
    },
    /// An option outside its range.
    #[error("{name} is {value} but must be {expected}")]
    InvalidOption {
        /// The option's public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// The range or the choices.
        expected: String,
    },
    /// A `tokenizer.json`, `vocab.json` or `merges.txt` with malformed or contradictory content.
    #[error("{path}: {message}")]
    Format {
        /// The JSON path, such as `model.merges[17]`.
        path: String,
        /// The fault.
        message: String,
    },
    /// A component that this version does not know; it is refused, never ignored.
    #[error("{path}: unknown {kind} `{value}`, this version knows {known}")]
    UnknownComponent {
        /// The JSON path of the value.
        path: String,
        /// `normalizer`, `pre-tokenizer`, `model`, ...
        kind: &'static str,
        /// The unknown value.
        value: String,
        /// The supported values, comma separated.
        known: String,
    },
    /// A regular expression that does not compile or that gave up while matching.
    #[error("regex `{pattern}`: {message}")]
    Regex {
        /// The pattern.
        pattern: String,
        /// The engine's complaint.
        message: String,
    },
    /// A token that the vocabulary must hold but does not.
    #[error("token `{token}` of {role} is not in the vocabulary of {vocab_size} tokens")]
    TokenNotInVocab {
        /// The missing token.
        token: String,
        /// The merge, option or text that needs the token: `merge 12`, `unk_token`, ...
        role: String,
        /// Size of the vocabulary.
        vocab_size: usize,
    },
    /// An id without a token, in a strict call.
    #[error("id {id} is not in the vocabulary of {vocab_size} tokens")]
    UnknownId {
        /// The id.
        id: u32,
        /// Size of the vocabulary.
        vocab_size: usize,
    },
    /// A text too long for 32-bit offsets.
    #[error("a single text has {bytes} bytes but at most {limit} can be addressed; split it into documents")]
    TextTooLong {
        /// Size of the text.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },
    /// A record of a file too long for 32-bit offsets; it is not read to its end.
    #[error(
        "{place}: the text has more than {limit} bytes, the most that can be addressed; split it into documents"
    )]
    RecordTooLong {
        /// The file, and where the record is in it.
        place: String,
        /// The largest size.
        limit: usize,
    },
    /// Stages lengthened a text beyond its bound.
    #[error("the stages make more than {limit} bytes of a text of {bytes} bytes")]
    TextGrown {
        /// Size of the text.
        bytes: usize,
        /// Most bytes that stages may lengthen it to.
        limit: usize,
    },
    /// A use that a component, a model or a file does not allow, such as a trainer for another type of model.
    #[error("{0}")]
    Unsupported(String),
    /// A decoder that gives another text for ids whose text a stream has given already.
    #[error(
        "Invalid prefix encountered while decoding stream. Token ID: {id}, Expected prefix: '{prefix}', Actual string: '{text}'"
    )]
    UnstableText {
        /// The last id.
        id: u32,
        /// The text that was given.
        prefix: String,
        /// The text of the ids now.
        text: String,
    },
    /// A folder of token files, or a checkpoint, that cannot be used as asked.
    #[error("{}: {message}", path.display())]
    Output {
        /// The folder or the file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A stage that a caller has made failed.
    #[error("{0}")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The caller's progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Makes an error of the operating system the error of a file: it could not do `action`, a verb, to `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// The error of something in a file, which it names.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        let within = |place: String| format!("{file}: {place}");
        match self {
            Self::Format { path, message } => Self::Format { path: within(path), message },
            Self::UnknownComponent { path, kind, value, known } => {
                Self::UnknownComponent { path: within(path), kind, value, known }
            }
            Self::TokenNotInVocab { token, role, vocab_size } => {
                Self::TokenNotInVocab { token, role: format!("{role} in {file}"), vocab_size }
            }
            Self::Regex { pattern, message } => {
                Self::Regex { pattern, message: format!("{message}, in {file}") }
            }
            Self::Unsupported(message) => Self::Unsupported(within(message)),
            other => other,
        }
    }
}

/// The result type of the crate.
pub type Result<T> = std::result::Result<T, Error>;
