//! Pre-tokenizers: each cuts text into the pre-tokens that a model sees. One file per variant.

pub mod byte_level;
mod custom;
mod cuts;
pub mod fixed_length;
mod mapped_cuts;
mod metaspace;
mod script_ranges;
mod seams;
pub mod split;
mod unicode_scripts;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

pub use byte_level::ByteLevel;
pub use custom::CustomPreTokenizer;
pub use cuts::Cuts;
pub use mapped_cuts::MappedCuts;
pub use split::{Behavior, Split};

use crate::Result;
use crate::growth::Growth;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalized::PreTokenized;
use crate::scan::Splitter;
use crate::scan::classes::{Class, NUMERIC, PUNCTUATION, SPACE, WORD};

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
        /// The treatment of each punctuation character.
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
            Self::Sequence(stages) => {
                stages.iter().try_for_each(|stage| stage.pre_tokenize_within(growth, text))?;
            }
            Self::Custom(stage) => custom::pre_tokenize(stage.as_ref(), text)?,
            _ => text.try_cut(|piece, out| self.for_each_span(piece, &mut |span| out.push(span)))?,
        }
        growth.check(text.text.text().len())
    }

    /// Calls `found` with the spans that a single stage cuts `piece` into; a stage that rewrites text cuts nothing here.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on the text.
    fn for_each_span(&self, piece: &str, found: &mut dyn FnMut(Range<usize>)) -> Result<()> {
        let scanner = match self {
            Self::Split(split) => return split.for_each_span(piece, found),
            Self::Whitespace => Splitter::Whitespace,
            Self::WhitespaceSplit => Splitter::WhitespaceSplit,
            Self::Bert => Splitter::Bert,
            Self::ByteLevel(ByteLevel { use_regex: true, .. }) => Splitter::Gpt2,
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits { Behavior::Isolated } else { Behavior::Contiguous };
                for_each_char_of(NUMERIC, piece, behavior, found);
                return Ok(());
            }
            Self::Punctuation { behavior } => {
                for_each_char_of(PUNCTUATION, piece, *behavior, found);
                return Ok(());
            }
            Self::CharDelimiterSplit { delimiter } => {
                let mut pieces = Behavior::Removed.pieces(piece.len(), false, found);
                for (at, matched) in piece.match_indices(*delimiter) {
                    pieces.push_match(at..at + matched.len());
                }
                pieces.finish();
                return Ok(());
            }
            Self::UnicodeScripts => {
                unicode_scripts::for_each_span(piece, found);
                return Ok(());
            }
            Self::FixedLength { length } => {
                fixed_length::for_each_span(piece, *length, found);
                return Ok(());
            }
            Self::ByteLevel(_) | Self::Metaspace(_) | Self::Sequence(_) | Self::Custom(_) => {
                found(0..piece.len());
                return Ok(());
            }
        };
        scanner.for_each_span(piece, |start, end| found(start..end));
        Ok(())
    }

    /// True if a single stage may cut or drop a piece that holds `c`. False only if a piece of such characters stays one span.
    fn may_cut(&self, c: char) -> bool {
        let class = Class::of(c);
        match self {
            Self::Split(split) => split.may_cut(c),
            Self::Whitespace => !class.is(WORD),
            Self::WhitespaceSplit => class.is(SPACE),
            Self::Bert => class.is(SPACE.or(PUNCTUATION)),
            Self::Digits { .. } => class.is(NUMERIC),
            Self::Punctuation { .. } => class.is(PUNCTUATION),
            Self::CharDelimiterSplit { delimiter } => c == *delimiter,
            _ => true,
        }
    }

    /// The stages one after the other, with the stages of inner sequences in the places of these sequences.
    pub fn into_stages(self) -> Vec<Self> {
        match self {
            Self::Sequence(stages) => stages.into_iter().flat_map(Self::into_stages).collect(),
            stage => vec![stage],
        }
    }

    /// The same pre-tokenizer without sequences within sequences; `None` if it has no stages.
    pub fn flattened(self) -> Option<Self> {
        if !matches!(self, Self::Sequence(_)) {
            return Some(self);
        }
        let stages = self.into_stages();
        (!stages.is_empty()).then_some(Self::Sequence(stages))
    }

    /// True if the pre-tokenizer cuts the text but never rewrites it.
    pub fn only_cuts(&self) -> bool {
        match self {
            Self::ByteLevel(_) | Self::Metaspace(_) | Self::Custom(_) => false,
            Self::Sequence(stages) => !stages.is_empty() && stages.iter().all(Self::only_cuts),
            _ => true,
        }
    }

    /// True if all pre-tokens are spelled in the byte-level alphabet.
    pub fn maps_bytes(&self) -> bool {
        match self {
            Self::ByteLevel(_) => true,
            Self::Sequence(stages) => {
                stages.iter().any(Self::maps_bytes)
                    && stages.iter().all(|stage| stage.maps_bytes() || stage.only_cuts())
            }
            _ => false,
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

    /// As [`Self::pre_tokenize`], but without the mapping of bytes to characters, for pipelines in which that mapping
    /// is the last step before the model.
    ///
    /// # Errors
    /// The errors of [`Self::pre_tokenize`].
    pub fn cut_unmapped(&self, text: &mut PreTokenized<'_>) -> Result<()> {
        match self {
            Self::ByteLevel(ByteLevel { use_regex: true, .. }) => text.cut(|piece, out| {
                Splitter::Gpt2.for_each_span(piece, |start, end| out.push(start..end));
            }),
            Self::ByteLevel(_) => {}
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.cut_unmapped(text))?,
            _ => self.pre_tokenize(text)?,
        }
        Ok(())
    }
}

/// Calls `found` with each character of a class, and with the texts between such characters, as `behavior` joins them.
fn for_each_char_of(class: Class, piece: &str, behavior: Behavior, found: &mut dyn FnMut(Range<usize>)) {
    let mut pieces = behavior.pieces(piece.len(), false, found);
    // Digits of ASCII are all that is numeric in it; each comparison of a chunk is one for all its bytes.
    let may_be =
        |byte: u8| if class == NUMERIC { byte.is_ascii_digit() } else { byte.is_ascii_punctuation() };
    let (bytes, mut at) = (piece.as_bytes(), 0);
    while at < bytes.len() {
        if let Some(chunk) = bytes[at..].first_chunk::<16>()
            && chunk.iter().filter(|&&byte| byte >= 0x80 || may_be(byte)).count() == 0
        {
            at += 16;
            continue;
        }
        let end = piece.ceil_char_boundary((at + 16).min(bytes.len()));
        for (start, c) in piece[at..end].char_indices().filter(|&(_, c)| Class::of(c).is(class)) {
            pieces.push_match(at + start..at + start + c.len_utf8());
        }
        at = end;
    }
    pieces.finish();
}
