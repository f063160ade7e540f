//! Pre-tokenizers: each cuts text into the pre-tokens that a model sees. One file per variant.

pub mod byte_level;
mod custom;
pub mod fixed_length;
mod metaspace;
mod script_ranges;
pub mod split;
mod unicode_scripts;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

pub use byte_level::ByteLevel;
pub use custom::CustomPreTokenizer;
pub use split::{Behavior, Split};

use crate::Result;
use crate::growth::Growth;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalized::PreTokenized;
use crate::scan::Splitter;
use crate::scan::classes::{Class, NUMERIC, PUNCTUATION};

/// A pre-tokenizer; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum PreTokenizer {
    /// GPT-2's splitting, and its byte-level alphabet.
    ByteLevel(ByteLevel),
    /// Makes spaces visible; each begins a pre-token.
    Metaspace(Metaspace),
    /// Cuts at a pattern.
    Split(Arc<Split>),
    /// Runs of word characters and runs of other visible characters: `\w+|[^\w\s]+`.
    Whitespace,
    /// Cuts at white space and drops it.
    WhitespaceSplit,
    /// Cuts at white space, which is dropped, and around each punctuation character.
    Bert,
    /// Separates digits from other text.
    Digits {
        /// True if each digit is its own pre-token, instead of each run of digits.
        individual_digits: bool,
    },
    /// Cuts at punctuation characters.
    Punctuation {
        /// What happens to each punctuation character.
        behavior: Behavior,
    },
    /// Cuts at one character and drops it.
    CharDelimiterSplit {
        /// The character.
        delimiter: char,
    },
    /// Cuts where the script changes.
    UnicodeScripts,
    /// Cuts every `length` characters.
    FixedLength {
        /// Characters per pre-token.
        length: NonZeroUsize,
    },
    /// Several pre-tokenizers, each on the spans of the one before.
    Sequence(Vec<PreTokenizer>),
    /// A pre-tokenizer that a caller has made.
    Custom(Arc<dyn CustomPreTokenizer>),
}

impl PreTokenizer {
    /// Cuts every span of `text` further; some variants rewrite the text as well.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on the text, [`crate::Error::TextGrown`] if the text
    /// outgrows its limit.
    pub fn pre_tokenize(&self, text: &mut PreTokenized<'_>) -> Result<()> {
        self.pre_tokenize_within(Growth::of(text.text.text().len()), text)
    }

    fn pre_tokenize_within(&self, growth: Growth, text: &mut PreTokenized<'_>) -> Result<()> {
        match self {
            Self::ByteLevel(byte_level) => byte_level.pre_tokenize(text),
            Self::Metaspace(metaspace) => metaspace.pre_tokenize(text),
            Self::Split(split) => text.try_cut(|piece, out| split.cut(piece, out))?,
            Self::Whitespace => text.cut(|piece, out| scan(Splitter::Whitespace, piece, out)),
            Self::WhitespaceSplit => text.cut(|piece, out| scan(Splitter::WhitespaceSplit, piece, out)),
            Self::Bert => text.cut(|piece, out| scan(Splitter::Bert, piece, out)),
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits { Behavior::Isolated } else { Behavior::Contiguous };
                text.cut(|piece, out| cut_at_chars(piece, NUMERIC, behavior, out));
            }
            Self::Punctuation { behavior } => {
                text.cut(|piece, out| cut_at_chars(piece, PUNCTUATION, *behavior, out));
            }
            Self::CharDelimiterSplit { delimiter } => text.cut(|piece, out| {
                let matches = piece.match_indices(*delimiter).map(|(at, found)| at..at + found.len());
                Behavior::Removed.apply(piece.len(), matches, false, out);
            }),
            Self::UnicodeScripts => text.cut(unicode_scripts::cut),
            Self::FixedLength { length } => text.cut(|piece, out| fixed_length::cut(piece, *length, out)),
            Self::Sequence(stages) => {
                stages.iter().try_for_each(|stage| stage.pre_tokenize_within(growth, text))?;
            }
            Self::Custom(stage) => custom::pre_tokenize(stage.as_ref(), text)?,
        }
        growth.check(text.text.text().len())
    }

    /// True if the pre-tokenizer cuts the text but never rewrites it.
    pub fn only_cuts(&self) -> bool {
        match self {
            Self::ByteLevel(_) | Self::Metaspace(_) | Self::Custom(_) => false,
            Self::Sequence(stages) => !stages.is_empty() && stages.iter().all(Self::only_cuts),
            _ => true,
        }
    }

    /// True if the beginning of a text is treated otherwise than other beginnings.
    pub fn looks_at_beginning(&self) -> bool {
        match self {
            Self::Metaspace(metaspace) => metaspace.prepend_scheme == PrependScheme::First,
            Self::Sequence(stages) => stages.iter().any(Self::looks_at_beginning),
            _ => false,
        }
    }

    /// The one rule that makes all cuts of [`Self::cut_unmapped`], if it isolates its matches.
    pub fn isolating_split(&self) -> Option<&Split> {
        match self {
            Self::Split(split) if split.isolates() => Some(split),
            Self::Sequence(stages) => match stages.as_slice() {
                [split] | [split, Self::ByteLevel(ByteLevel { use_regex: false, .. })] => {
                    split.isolating_split()
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// As [`Self::pre_tokenize`], but without the mapping of bytes to characters, for pipelines in which that mapping
    /// is the last step before the model.
    ///
    /// # Errors
    /// Those of [`Self::pre_tokenize`].
    pub fn cut_unmapped(&self, text: &mut PreTokenized<'_>) -> Result<()> {
        match self {
            Self::ByteLevel(ByteLevel { use_regex: true, .. }) => {
                text.cut(|piece, out| scan(Splitter::Gpt2, piece, out));
            }
            Self::ByteLevel(_) => {}
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.cut_unmapped(text))?,
            _ => self.pre_tokenize(text)?,
        }
        Ok(())
    }
}

fn scan(splitter: Splitter, piece: &str, out: &mut Vec<Range<usize>>) {
    splitter.for_each_span(piece, |start, end| out.push(start..end));
}

fn cut_at_chars(piece: &str, class: Class, behavior: Behavior, out: &mut Vec<Range<usize>>) {
    let matches =
        piece.char_indices().filter(|&(_, c)| Class::of(c).is(class)).map(|(at, c)| at..at + c.len_utf8());
    behavior.apply(piece.len(), matches, false, out);
}
