//! The fast span scanners: one file per splitter.
//!
//! A byte-level tokenizer first cuts its text into pre-tokens by a regular expression. Few patterns are in use, and
//! these need no general engine: the class of a character or two decides which alternative matches, and every
//! alternative is a greedy run. So each pattern has its own scanner, which answers one question: *where does the span
//! that starts here end?* Tests prove every scanner equal to the general engine.
//!
//! ```
//! use lexmill::scan::Splitter;
//!
//! let mut spans = Vec::new();
//! Splitter::Gpt2.for_each_span("Don't  panic!", |start, end| spans.push((start, end)));
//! assert_eq!(spans, [(0, 3), (3, 5), (5, 6), (6, 12), (12, 13)]);
//! ```
//!
//! * [`classes`]: the class of a character, as one byte.
//! * [`gpt2`], [`cl100k`], [`o200k`], [`spaces`]: splitters without gaps; each span begins where the last ended.
//! * [`whitespace`], [`bert`], [`spaces::BlankSplit`]: splitters that drop the white space between spans.
//! * [`scripts`], [`word_scripts`]: the scripts of characters, and of words.
//!
//! `simd` has the same splitters for many spans at a time: [`Splitter::fill_ends`], [`Splitter::fill_spans`].
//!
//! All scanners run in linear time on any text and never allocate. None looks back beyond its start, so a scan may
//! start at any span boundary.

mod ascii;
pub mod bert;
pub mod cl100k;
mod class_ranges;
pub mod classes;
mod cursor;
pub mod gpt2;
pub mod o200k;
mod scanner;
pub mod scripts;
mod seam_rules;
pub(crate) mod seams;
pub(crate) mod simd;
pub mod spaces;
#[cfg(test)]
mod tests;
pub mod unspaced;
pub mod whitespace;
pub mod word_scripts;

use bert::{Bert, BertText};
use cl100k::Cl100k;
use gpt2::Gpt2;
use o200k::O200k;
pub use scanner::{Scan, ScanWithGaps};
use spaces::{
    BlankFragments, BlankSplit, BlankSplitFragments, Blanks, SingleSpacedWords, SingleSpaces, SpaceFragments,
    SpacedWords, Spaces,
};
use whitespace::{Whitespace, WhitespaceSplit};

/// A splitter that has a scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splitter {
    /// GPT-2's pattern, without gaps.
    Gpt2,
    /// The pattern of cl100k and Llama 3 (up to three digits), without gaps.
    Cl100k,
    /// The pattern of Qwen 2 (one digit), without gaps.
    Qwen2,
    /// The pattern of o200k, without gaps.
    O200k,
    /// Runs of word characters and runs of other characters; white space is dropped.
    Whitespace,
    /// Everything between white space.
    WhitespaceSplit,
    /// Each punctuation character, and each run of other characters that are not white space.
    Bert,
    /// As `Bert`, for text that BERT's normalizer has not rewritten yet.
    BertText {
        /// True if the normalizer strips accents.
        accents: bool,
    },
    /// A run of spaces (U+0020) with everything up to the next run, without gaps.
    Spaces,
    /// A space (U+0020), if there is one, with everything up to the next space, without gaps.
    SingleSpaces,
    /// As `SingleSpaces`, but also cut between a letter and an ASCII symbol.
    SingleSpacedWords,
    /// As `Spaces`, but also cut between a letter and an ASCII symbol.
    SpacedWords,
    /// A run of blanks (spaces, tabs, carriage returns and line feeds) with everything up to the next run, without
    /// gaps.
    Blanks,
    /// Everything between blanks.
    BlankSplit,
    /// As `Spaces`, but also cut between a letter and one of [`spaces::PUNCTUATION_KEPT_APART`].
    SpaceFragments,
    /// As `Blanks`, but also cut between a letter and one of [`spaces::PUNCTUATION_KEPT_APART`].
    BlankFragments,
    /// As `BlankSplit`, but also cut between a letter and one of [`spaces::PUNCTUATION_KEPT_APART`].
    BlankSplitFragments,
}

impl Splitter {
    /// GPT-2's pattern, at which `ByteLevel` cuts.
    pub const GPT2: &'static str =
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

    /// The splitters that stand for a regular expression, each with its pattern.
    ///
    /// `Whitespace` is missing although its documentation gives the pattern `\w+|[^\w\s]+`: in a user's pattern `\w`
    /// means something else.
    pub const PATTERNS: [(&'static str, Self); 4] = [
        (Self::GPT2, Self::Gpt2),
        (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            Self::Cl100k,
        ),
        (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            Self::Qwen2,
        ),
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            Self::O200k,
        ),
    ];

    /// The splitter for `pattern`, if `pattern` is literally one of [`Self::PATTERNS`].
    pub fn from_pattern(pattern: &str) -> Option<Self> {
        Self::PATTERNS.iter().find(|(known, _)| *known == pattern).map(|&(_, splitter)| splitter)
    }

    /// True if every character of a text belongs to a span.
    pub fn is_gapless(self) -> bool {
        !matches!(
            self,
            Self::Whitespace
                | Self::WhitespaceSplit
                | Self::Bert
                | Self::BertText { .. }
                | Self::BlankSplit
                | Self::BlankSplitFragments
        )
    }

    /// Calls `found` with the byte offsets of each span, from left to right.
    #[inline]
    pub fn for_each_span(self, text: &str, mut found: impl FnMut(usize, usize)) {
        if u32::try_from(text.len()).is_err() {
            return self.for_each_span_scalar(text, &mut found);
        }
        self.for_each_block(text, |starts, ends| {
            for (&start, &end) in starts.iter().zip(ends) {
                found(start as usize, end as usize);
            }
        });
    }

    /// Calls `found` with the starts and ends of many spans at a time, from left to right.
    ///
    /// `text` has to be shorter than 4 GiB.
    #[inline]
    pub fn for_each_block(self, text: &str, mut found: impl FnMut(&[u32], &[u32])) {
        let (mut starts, mut ends) = ([0; ROOM], [0; ROOM]);
        let mut done = 0;
        loop {
            let count = self.fill_spans(text, done, &mut starts, &mut ends);
            if count == 0 {
                return;
            }
            found(&starts[..count], &ends[..count]);
            done = ends[count - 1] as usize;
        }
    }

    /// As [`Self::for_each_span`], one span at a time: the specification.
    pub fn for_each_span_scalar(self, text: &str, found: &mut dyn FnMut(usize, usize)) {
        match self {
            Self::Gpt2 => for_each::<Gpt2>(text, found),
            Self::Cl100k => for_each::<Cl100k<3>>(text, found),
            Self::Qwen2 => for_each::<Cl100k<1>>(text, found),
            Self::O200k => for_each::<O200k>(text, found),
            Self::Whitespace => for_each_with_gaps::<Whitespace>(text, found),
            Self::WhitespaceSplit => for_each_with_gaps::<WhitespaceSplit>(text, found),
            Self::Bert => for_each_with_gaps::<Bert>(text, found),
            Self::BertText { accents: true } => for_each_with_gaps::<BertText<true>>(text, found),
            Self::BertText { accents: false } => for_each_with_gaps::<BertText<false>>(text, found),
            Self::Spaces => for_each::<Spaces>(text, found),
            Self::SingleSpaces => for_each::<SingleSpaces>(text, found),
            Self::SingleSpacedWords => for_each::<SingleSpacedWords>(text, found),
            Self::SpacedWords => for_each::<SpacedWords>(text, found),
            Self::Blanks => for_each::<Blanks>(text, found),
            Self::BlankSplit => for_each_with_gaps::<BlankSplit>(text, found),
            Self::SpaceFragments => for_each::<SpaceFragments>(text, found),
            Self::BlankFragments => for_each::<BlankFragments>(text, found),
            Self::BlankSplitFragments => for_each_with_gaps::<BlankSplitFragments>(text, found),
        }
    }
}

/// Spans per call of [`Splitter::fill_spans`]: few enough for the first-level cache, enough to amortize the restart.
const ROOM: usize = 128;

#[inline]
fn for_each<S: Scan>(text: &str, mut found: impl FnMut(usize, usize)) {
    let mut start = 0;
    while start < text.len() {
        let end = S::advance(text, start);
        found(start, end);
        start = end;
    }
}

#[inline]
fn for_each_with_gaps<S: ScanWithGaps>(text: &str, mut found: impl FnMut(usize, usize)) {
    let mut pos = 0;
    while let Some((start, end)) = S::next_span(text, pos) {
        found(start, end);
        pos = end;
    }
}
