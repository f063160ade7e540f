//! Normalizers: each changes text before it is cut, one file per variant.

pub mod unicode;

use std::borrow::Cow;

use crate::normalized::Normalized;

/// A normalizer of any kind; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// Unicode's canonical composition.
    Nfc,
    /// One after the other.
    Sequence(Vec<Normalizer>),
}

impl Normalizer {
    /// Whether `text` certainly stays as it is; cheap for most text.
    pub fn is_identity(&self, text: &str) -> bool {
        match self {
            Self::Nfc => unicode::is_certainly_nfc(text),
            Self::Sequence(stages) => stages.iter().all(|stage| stage.is_identity(text)),
        }
    }

    /// Whether text cut before an ASCII character may be normalized piece by piece.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Nfc => true,
            Self::Sequence(stages) => stages.iter().all(Self::is_local),
        }
    }

    /// The normalized text, aligned to the original if `text` was.
    pub fn normalize<'a>(&self, text: Normalized<'a>) -> Normalized<'a> {
        match self {
            Self::Nfc if unicode::is_certainly_nfc(text.text()) => text,
            Self::Nfc => unicode::nfc(&text),
            Self::Sequence(stages) => stages.iter().fold(text, |text, stage| stage.normalize(text)),
        }
    }

    /// The normalized text alone.
    pub fn normalize_str<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_identity(text) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.normalize(Normalized::new(text, 0, false)).text().to_owned())
    }
}
