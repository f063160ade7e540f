//! Normalizers: each rewrites text before the pre-tokenizer cuts it. One file per variant.
//!
//! Besides [`Normalizer::normalize`], a normalizer answers questions about locality: which characters stay unchanged in
//! every context ([`Normalizer::leaves_unchanged`]), where text may be cut before it is normalized
//! ([`Normalizer::is_local`], [`Normalizer::leaves_spaces`]), and which clusters have a rewrite that does not depend on
//! their neighbours ([`Normalizer::rewrite_in_isolation`]). Pipelines that encode text chunk by chunk rely on these
//! answers; all of them are conservative.

mod bert;
mod bert_ranges;
mod byte_level;
mod compiled;
mod custom;
mod form;
mod lowercase;
mod metaspace;
mod nmt;
mod precompiled;
mod prepend;
mod quick_check;
mod replace;
mod rewrite_in_isolation;
mod strip;
mod unicode;
mod unicode_9;

use std::borrow::Cow;
use std::sync::Arc;

pub use bert::Bert;
#[cfg(test)]
pub(crate) use compiled::tests as compiled_tests;
pub use compiled::{CompiledNormalizer, PieceMemo};
pub(crate) use compiled::{Image, Images, PageImages, Remains};
pub use custom::CustomNormalizer;
pub use form::Form;
pub use metaspace::MetaspaceNormalizer;
pub use precompiled::clusters;
#[cfg(test)]
pub(crate) use precompiled::tests::charsmap;
pub use rewrite_in_isolation::Rewritten;

use crate::Result;
use crate::growth::Growth;
use crate::normalized::Normalized;
pub use crate::sentencepiece::{Charsmap, SentencePiece, SentencePieceOptions};
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};

/// Bytes of a character in lower case for each byte of the character, at most.
const LOWERCASE_GROWTH: usize = 2;

/// The same for NFC and NFD.
const CANONICAL_GROWTH: usize = 3;

/// The same for NFKC and NFKD.
const COMPATIBILITY_GROWTH: usize = 11;

/// A normalizer; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// `NFC`, `NFD`, `NFKC` and `NFKD`.
    Unicode(Form),
    /// Lower case, character by character.
    Lowercase,
    /// Strips white space from the ends.
    Strip {
        /// From the beginning.
        left: bool,
        /// From the end.
        right: bool,
    },
    /// Removes combining marks.
    StripAccents,
    /// Prepends this text, unless the input is empty.
    Prepend(String),
    /// Removes control characters and replaces unusual spaces by plain ones.
    Nmt,
    /// SentencePiece's compiled rules.
    Precompiled(Charsmap),
    /// Replaces every match of a pattern by one text.
    Replace(Arc<Replacement>),
    /// Every byte as a printable character.
    ByteLevel,
    /// BERT's normalizer.
    Bert(Bert),
    /// Makes spaces visible.
    Metaspace(MetaspaceNormalizer),
    /// All of SentencePiece's normalization at once.
    SentencePiece(SentencePiece),
    /// Several normalizers, each on the output of the one before.
    Sequence(Vec<Normalizer>),
    /// A normalizer that a caller has made.
    Custom(Arc<dyn CustomNormalizer>),
}

impl Normalizer {
    /// True if `text` certainly stays unchanged; cheap for most text.
    pub fn is_identity(&self, text: &str) -> bool {
        match self {
            Self::Unicode(form) => form.is_certain(text),
            Self::Lowercase => lowercase::is_lowercase(text),
            Self::Strip { left, right } => strip::stripped(text, *left, *right) == (0..text.len()),
            Self::StripAccents => unicode::has_no_marks(text),
            Self::Prepend(_) | Self::Metaspace(_) | Self::SentencePiece(_) => text.is_empty(),
            Self::Custom(_) => false,
            Self::Nmt => nmt::is_identity(text),
            Self::ByteLevel => byte_level::is_identity(text),
            Self::Precompiled(charsmap) => charsmap.is_identity(text),
            Self::Replace(replacement) => replace::is_identity(replacement, text),
            Self::Bert(bert) => bert.is_identity(text),
            Self::Sequence(stages) => stages.iter().all(|stage| stage.is_identity(text)),
        }
    }

    /// True if a stage spells text in the byte-level alphabet.
    pub fn has_byte_level(&self) -> bool {
        match self {
            Self::Sequence(stages) => stages.iter().any(Self::has_byte_level),
            normalizer => matches!(normalizer, Self::ByteLevel),
        }
    }

    /// True if text may be cut between any two characters that stay unchanged and normalized fragment by fragment.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unicode(_)
            | Self::Lowercase
            | Self::StripAccents
            | Self::Nmt
            | Self::ByteLevel
            | Self::Bert(_) => true,
            Self::Strip { .. }
            | Self::Prepend(_)
            | Self::Precompiled(_)
            | Self::Replace(_)
            | Self::Metaspace(_)
            | Self::SentencePiece(_)
            | Self::Custom(_) => false,
            Self::Sequence(stages) => stages.iter().all(Self::is_local),
        }
    }

    /// How many times as many bytes as before a text has at most; None if that is not known.
    pub(crate) fn most_growth(&self) -> Option<usize> {
        match self {
            Self::Strip { .. } | Self::StripAccents | Self::Nmt => Some(1),
            Self::Lowercase => Some(LOWERCASE_GROWTH),
            Self::ByteLevel => Some(2),
            Self::Unicode(Form::Nfc | Form::Nfd) => Some(CANONICAL_GROWTH),
            Self::Unicode(Form::Nfkc | Form::Nfkd) => Some(COMPATIBILITY_GROWTH),
            // Spaces around ideographs, which have three bytes.
            Self::Bert(_) => Some(2 * CANONICAL_GROWTH * LOWERCASE_GROWTH),
            // Empty matches put the content after each character.
            Self::Replace(replacement) => Some(1 + replacement.content().len()),
            Self::Sequence(stages) => {
                stages.iter().try_fold(1_usize, |growth, stage| growth.checked_mul(stage.most_growth()?))
            }
            Self::Prepend(_)
            | Self::Precompiled(_)
            | Self::Metaspace(_)
            | Self::SentencePiece(_)
            | Self::Custom(_) => None,
        }
    }

    /// True if no stage sees anything across the start of a run of spaces.
    ///
    /// Then text may be cut there and normalized chunk by chunk, provided that the text before the cut gives the same
    /// output with a space after it. Each stage leaves a space as it is. At most one joins runs of spaces, and later ones
    /// leave the joined space as it is. At most one strips, so a chunk has two forms: stripped, and followed by a space.
    pub fn leaves_spaces(&self) -> bool {
        let stages = self.stages();
        let joins = |stage: &&Self| stage.joined_space().is_some();
        let strips = |stage: &&&Self| matches!(stage, Self::Strip { .. });
        let leaves_starts =
            |stage: &&Self| !matches!(stage, Self::Precompiled(charsmap) if !charsmap.leaves_starts());
        let mut after = stages.iter().copied().skip_while(|stage| !joins(stage)).skip(1);
        let joined = self.joined_space().unwrap_or(' ');
        stages.iter().all(|stage| stage.white_space(' ') == Some(' ') && leaves_starts(stage))
            && stages.iter().filter(strips).count() <= 1
            && after.all(|stage| !joins(&stage) && stage.white_space(joined) == Some(joined))
    }

    /// The space, visible or not, that a run of two spaces or more becomes, in the place of the last; `None` if no stage
    /// joins runs.
    pub fn joined_space(&self) -> Option<char> {
        match self {
            Self::Replace(replacement) => replace::joined_space(replacement),
            Self::Sequence(stages) => stages.iter().find_map(Self::joined_space),
            _ => None,
        }
    }

    /// True if `c`, a character of white space without marks, becomes a space wherever it stands.
    pub fn maps_to_space(&self, c: char) -> bool {
        self.stages().iter().try_fold(c, |c, stage| stage.white_space(c)) == Some(' ')
    }

    /// True if `c`, a character of white space without marks, becomes a space wherever it stands, before any stage joins
    /// runs of spaces.
    ///
    /// So the rewrite of a run of such characters is the rewrite of a run of spaces, if the normalizer [leaves
    /// spaces](Self::leaves_spaces).
    pub fn maps_to_joined_space(&self, c: char) -> bool {
        let stages = self.stages();
        let mut before = stages.iter().take_while(|stage| stage.joined_space().is_none());
        before.try_fold(c, |c, stage| stage.white_space(c)) == Some(' ')
    }

    /// True if the text that a rule or a replacement puts in holds `c`.
    pub fn puts_in(&self, c: char) -> bool {
        match self {
            Self::Precompiled(charsmap) => charsmap.makes(c),
            Self::Replace(replacement) => replacement.content().contains(c),
            Self::Sequence(stages) => stages.iter().any(|stage| stage.puts_in(c)),
            _ => false,
        }
    }

    /// The stages one after the other, with the stages of inner sequences in the places of these sequences.
    pub fn stages(&self) -> Vec<&Self> {
        match self {
            Self::Sequence(stages) => stages.iter().flat_map(Self::stages).collect(),
            stage => vec![stage],
        }
    }

    /// The normalizer for the contents of added tokens, which are looked for in normalized text: all stages but a last `Metaspace`, which
    /// would put a space before each content. `None` if no stage is left.
    pub fn for_added_tokens(&self) -> Option<Cow<'_, Self>> {
        let stages = self.stages();
        let Some((Self::Metaspace(_), before)) = stages.split_last() else {
            return Some(Cow::Borrowed(self));
        };
        let before: Vec<Self> = before.iter().map(|&stage| stage.clone()).collect();
        (!before.is_empty()).then_some(Cow::Owned(Self::Sequence(before)))
    }

    /// The rewrite of `c`, which is white space or U+2581, by a single stage: `c` or a space. It holds wherever `c` stands
    /// but in a run of spaces or at the end of a text. `None` if the rewrite depends on the neighbours of `c`, or is
    /// something else.
    fn white_space(&self, c: char) -> Option<char> {
        let is_seen_alone = match self {
            Self::Unicode(_) | Self::Lowercase | Self::StripAccents | Self::Nmt => true,
            Self::Strip { left, .. } => return (!left).then_some(c),
            Self::Precompiled(charsmap) => charsmap.sees_alone(c),
            Self::Replace(replacement) => replace::sees_alone(replacement, c),
            Self::Prepend(_)
            | Self::ByteLevel
            | Self::Bert(_)
            | Self::Metaspace(_)
            | Self::SentencePiece(_)
            | Self::Sequence(_)
            | Self::Custom(_) => false,
        };
        let own = c.to_string();
        let made = self.normalize_str(&own).ok().filter(|_| is_seen_alone)?;
        [c, ' '].into_iter().find(|&kept| made.chars().eq([kept]))
    }

    /// True if `c` stays unchanged between any two simple graphemes ([`clusters::is_simple_grapheme`]), or beside one
    /// at either end of a text.
    ///
    /// False if in doubt, in particular if a stage might give `c` other neighbours.
    pub fn leaves_unchanged(&self, c: char) -> bool {
        clusters::is_simple_grapheme(c)
            && self.is_identity(c.encode_utf8(&mut [0; 4]))
            && !self.may_join(c, false)
    }

    /// True if `c` stays unchanged between any two clusters for which [`Self::rewrite_in_isolation`] has an answer, and
    /// these keep their rewrites. This need not hold beside another character for which only this method returns true.
    pub fn leaves_unchanged_apart(&self, c: char) -> bool {
        clusters::is_simple_grapheme(c)
            && self.is_identity(c.encode_utf8(&mut [0; 4]))
            && !self.may_join(c, true)
    }

    /// True if `c` stays unchanged between any two clusters for which [`Self::rewrite_in_isolation`] has an answer, and
    /// these keep their rewrites. At the ends of a text `c` may be stripped.
    pub fn leaves_unchanged_within(&self, c: char) -> bool {
        let between: String = ['a', c, 'a'].iter().collect();
        clusters::is_simple_grapheme(c) && self.is_identity(&between) && !self.may_join(c, false)
    }

    /// True if a stage might match `c` together with other characters, or might give `c` other neighbours. With
    /// `is_apart`, no other character of the same pattern stands beside `c`.
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
            Self::Prepend(_)
            | Self::Bert(_)
            | Self::Nmt
            | Self::ByteLevel
            | Self::Metaspace(_)
            | Self::SentencePiece(_)
            | Self::Custom(_) => true,
            Self::Precompiled(charsmap) => charsmap.is_longest_first(),
            Self::Sequence(stages) => stages.iter().any(|stage| stage.may_join(c, is_apart)),
            Self::Unicode(_) | Self::Lowercase | Self::Strip { .. } | Self::StripAccents => false,
        }
    }

    /// The normalized text, aligned to the original if `text` was.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on the text, [`crate::Error::TextGrown`] if the text
    /// outgrows its limit.
    pub fn normalize<'a>(&self, text: Normalized<'a>) -> Result<Normalized<'a>> {
        let growth = Growth::of(text.text().len());
        self.normalize_within(growth, text)
    }

    /// The same under the bound for a longer text.
    fn normalize_within<'a>(&self, growth: Growth, text: Normalized<'a>) -> Result<Normalized<'a>> {
        if let Self::Sequence(stages) = self {
            return stages.iter().try_fold(text, |text, stage| stage.normalize_within(growth, text));
        }
        // A Unicode form finds unchanged text by itself, and a check before it would read the text twice.
        if !matches!(self, Self::Unicode(_)) && self.is_identity(text.text()) {
            return Ok(text);
        }
        let made = match self {
            Self::Unicode(form) => form.normalize(text),
            Self::Lowercase => lowercase::lowercase(&text),
            Self::Strip { left, right } => strip::strip(&text, *left, *right),
            Self::StripAccents => strip::strip_accents(&text),
            Self::Prepend(prefix) => prepend::prepend(prefix, text),
            Self::Nmt => nmt::normalize(&text),
            Self::ByteLevel => byte_level::normalize(&text),
            Self::Precompiled(charsmap) => charsmap.normalize(&text, growth)?,
            Self::Replace(replacement) => replace::replace(replacement, &text, growth)?,
            Self::Bert(bert) => bert.normalize(text),
            Self::Metaspace(stage) => stage.normalize(text)?,
            Self::SentencePiece(stage) => stage.normalize(&text, growth)?,
            Self::Custom(stage) => custom::normalize(stage.as_ref(), &text)?,
            Self::Sequence(_) => text,
        };
        growth.check(made.text().len())?;
        Ok(made)
    }

    /// The normalized text without alignment.
    ///
    /// # Errors
    /// The errors of [`Self::normalize`].
    pub fn normalize_str<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        self.normalize(Normalized::new(text, 0, false)).map(Normalized::into_text)
    }
}
