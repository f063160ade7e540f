//! Normalizers: each changes text before it is cut, one file per variant.

mod bert;
mod bert_ranges;
mod lowercase;
mod nmt;
mod precompiled;
mod prepend;
mod replace;
mod rewrite_in_isolation;
mod sentencepiece;
mod strip;
mod unicode;
mod unicode_9;

use std::borrow::Cow;
use std::sync::Arc;

pub use bert::Bert;
pub use precompiled::Charsmap;
pub use precompiled::clusters;
#[cfg(test)]
pub(crate) use precompiled::tests::charsmap;
pub use rewrite_in_isolation::Rewritten;
pub use sentencepiece::{SentencePiece, SentencePieceOptions};
pub use unicode::Form;

use crate::Result;
use crate::normalized::Normalized;
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};

/// A normalizer of any kind; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// `NFC`, `NFD`, `NFKC` and `NFKD`.
    Unicode(Form),
    /// Lower case, character by character.
    Lowercase,
    /// Takes white space off the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Takes combining marks out.
    StripAccents,
    /// Puts this before text that is not empty.
    Prepend(String),
    /// Takes control characters out and makes odd spaces plain.
    Nmt,
    /// SentencePiece's compiled rules.
    Precompiled(Charsmap),
    /// Puts one text in place of a pattern.
    Replace(Arc<Replacement>),
    /// BERT's clean-up.
    Bert(Bert),
    /// All of SentencePiece's normalization at once.
    SentencePiece(SentencePiece),
    /// One after the other.
    Sequence(Vec<Normalizer>),
}

impl Normalizer {
    /// Whether `text` certainly stays as it is; cheap for most text.
    pub fn is_identity(&self, text: &str) -> bool {
        match self {
            Self::Unicode(form) => form.is_certain(text),
            Self::Lowercase => lowercase::is_lowercase(text),
            Self::Strip { left, right } => strip::stripped(text, *left, *right) == (0..text.len()),
            Self::StripAccents => unicode::has_no_marks(text),
            Self::Prepend(_) | Self::SentencePiece(_) => text.is_empty(),
            Self::Nmt => nmt::is_identity(text),
            Self::Precompiled(charsmap) => charsmap.is_identity(text),
            Self::Replace(replacement) => replace::is_identity(replacement, text),
            Self::Bert(bert) => bert.is_identity(text),
            Self::Sequence(stages) => stages.iter().all(|stage| stage.is_identity(text)),
        }
    }

    /// Whether text may be normalized piece by piece, cut between two characters that stay as they are.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unicode(_) | Self::Lowercase | Self::StripAccents | Self::Nmt | Self::Bert(_) => true,
            Self::Strip { .. }
            | Self::Prepend(_)
            | Self::Precompiled(_)
            | Self::Replace(_)
            | Self::SentencePiece(_) => false,
            Self::Sequence(stages) => stages.iter().all(Self::is_local),
        }
    }

    /// Whether text cut before a run of spaces, tabs and line ends may be normalized part by part, unless the end of what is
    /// before the cut, or what becomes of it, says otherwise.
    ///
    /// It says so where it does not stay the same when a space follows.
    pub fn leaves_spaces(&self) -> bool {
        match self {
            Self::Unicode(_) | Self::Lowercase | Self::StripAccents | Self::Nmt => true,
            Self::Strip { left, .. } => !left,
            Self::Precompiled(charsmap) => charsmap.leaves_spaces(),
            Self::Replace(replacement) => replace::leaves_spaces(replacement),
            Self::Prepend(_) | Self::Bert(_) | Self::SentencePiece(_) => false,
            Self::Sequence(stages) => stages.iter().all(Self::leaves_spaces),
        }
    }

    /// Whether `c` stays what it is between any two characters that stand alone, or beside one at either end of a text.
    ///
    /// Certainly not where a stage is not known to leave such a character the neighbours it has.
    pub fn leaves_unchanged(&self, c: char) -> bool {
        clusters::is_simple_grapheme(c)
            && self.is_identity(c.encode_utf8(&mut [0; 4]))
            && !self.may_join(c, false)
    }

    /// Whether `c` stays what it is, and leaves what is beside it what that becomes, between any two groups of characters
    /// that [`Self::rewrite_in_isolation`] has an answer for; not beside another character of which only this is true.
    pub fn leaves_unchanged_apart(&self, c: char) -> bool {
        clusters::is_simple_grapheme(c)
            && self.is_identity(c.encode_utf8(&mut [0; 4]))
            && !self.may_join(c, true)
    }

    /// Whether `c` stays what it is, and leaves what is beside it what that becomes, between any two groups of characters
    /// that [`Self::rewrite_in_isolation`] has an answer for.
    pub fn leaves_unchanged_within(&self, c: char) -> bool {
        let between: String = ['a', c, 'a'].iter().collect();
        clusters::is_simple_grapheme(c) && self.is_identity(&between) && !self.may_join(c, false)
    }

    /// Whether `c` becomes a space, and leaves what is beside it what that becomes beside a space, after any group of characters
    /// that [`Self::rewrite_in_isolation`] has an answer for.
    pub fn maps_to_space(&self, c: char) -> bool {
        let becomes = |text: String, wanted| {
            let made = self.normalize(Normalized::new(&text, 0, true));
            let (len, at) = (c.len_utf8(), text.find(c).unwrap_or(0));
            made.is_ok_and(|made| {
                made.text() == wanted && made.original(at..at + 1) == (at as u32, (at + len) as u32)
            })
        };
        clusters::is_simple_grapheme(c)
            && !self.may_join(c, false)
            && becomes(format!("a{c}a"), "a a")
            && becomes(format!("{c}a"), " a")
    }

    /// Whether a stage may see `c` as a part of something longer; `is_apart` where none of what else that is made of stands
    /// beside it.
    fn may_join(&self, c: char, is_apart: bool) -> bool {
        match self {
            Self::Replace(replacement) => match replacement.pattern() {
                TextPattern::Literal(pattern) => {
                    let is_visible = |byte| u8::is_ascii_graphic(&byte);
                    let content = replacement.content();
                    let in_context = pattern.contains(c) && !(is_apart && pattern.chars().nth(1).is_some());
                    in_context || content.is_empty() || !content.bytes().all(is_visible)
                }
                TextPattern::Regex(pattern) => pattern != RUN_OF_SPACES || c == ' ',
            },
            Self::Prepend(_) | Self::Bert(_) | Self::Nmt | Self::SentencePiece(_) => true,
            Self::Precompiled(charsmap) => charsmap.is_longest_first(),
            Self::Sequence(stages) => stages.iter().any(|stage| stage.may_join(c, is_apart)),
            Self::Unicode(_) | Self::Lowercase | Self::Strip { .. } | Self::StripAccents => false,
        }
    }

    /// The normalized text, aligned to the original if `text` was.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a pattern gives up on the text.
    pub fn normalize<'a>(&self, text: Normalized<'a>) -> Result<Normalized<'a>> {
        if let Self::Sequence(stages) = self {
            return stages.iter().try_fold(text, |text, stage| stage.normalize(text));
        }
        if self.is_identity(text.text()) {
            return Ok(text);
        }
        Ok(match self {
            Self::Unicode(form) => form.normalize(&text),
            Self::Lowercase => lowercase::lowercase(&text),
            Self::Strip { left, right } => strip::strip(&text, *left, *right),
            Self::StripAccents => strip::strip_accents(&text),
            Self::Prepend(prefix) => prepend::prepend(prefix, text),
            Self::Nmt => nmt::normalize(&text),
            Self::Precompiled(charsmap) => charsmap.normalize(&text),
            Self::Replace(replacement) => replace::replace(replacement, &text)?,
            Self::Bert(bert) => bert.normalize(text),
            Self::SentencePiece(stage) => stage.normalize(&text),
            Self::Sequence(_) => text,
        })
    }

    /// The normalized text alone.
    ///
    /// # Errors
    /// Those of [`Self::normalize`].
    pub fn normalize_str<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        self.normalize(Normalized::new(text, 0, false)).map(Normalized::into_text)
    }
}
