//! The same splitters, sixty-four bytes at a time.
//!
//! A block of text becomes one 64-bit integer per character class, with one bit per byte ([`masks`]). The patterns then
//! become arithmetic on such integers: a run is an addition, a neighbour is a shift, and the last bits of a block are
//! carried into the next. The result is a mask of the positions where spans start, which is written out as numbers.
//!
//! * [`fill`] is the loop over blocks. [`gpt2`], [`cl100k`], [`o200k`], [`spaces`] and [`gaps`] hold the arithmetic;
//!   [`runs`] and [`contractions`] hold arithmetic for several of them.
//! * `avx512`, `avx2`, `neon` and [`portable`] turn bytes into masks and masks into numbers, and do nothing else. The
//!   program chooses one of these back ends when it runs.
//!
//! The scanners of the parent module handle the cases that masks cannot decide: contractions, lines of white space that cross the
//! end of a block, words of o200k in two scripts. These scanners are also the specification: tests prove every back end
//! equal to them.

#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for its caller's processor")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cl100k;
mod contractions;
pub(crate) mod fill;
mod gaps;
mod gpt2;
pub(crate) mod masks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod o200k;
mod portable;
mod runs;
pub(super) mod seams;
pub(crate) mod skip;
mod spaces;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::OnceLock;

use super::Splitter;
use cl100k::Cl100kRules;
use fill::{FillEnds, Job, Rules, SHORT, fill_ends_scalar};
use gaps::{
    BertRules, BertTextRules, BlankSplitFragmentsRules, BlankSplitRules, FillSpans, GapRules,
    WhitespaceRules, WhitespaceSplitRules, fill_spans_scalar,
};
use gpt2::Gpt2Rules;
use o200k::O200kRules;
use spaces::{
    BlankFragmentsRules, BlanksRules, SingleSpacedWordsRules, SingleSpacesRules, SpaceFragmentsRules,
    SpacedWordsRules, SpacesRules,
};

impl Splitter {
    /// Writes the ends of the spans from the span boundary `start` on, until `ends` is full or the text ends. Returns
    /// how many.
    ///
    /// For splitters without gaps. Each span begins where the one before ended, the first at `start`. No state is kept
    /// between calls, so the next call may start at the last end. Zero means the end of the text or an empty `ends`.
    ///
    /// ```
    /// use lexmill::scan::Splitter;
    ///
    /// let (mut ends, mut spans, mut start) = ([0; 4], Vec::new(), 0);
    /// let text = "Don't  panic!";
    /// loop {
    ///     let found = Splitter::Gpt2.fill_ends(text, start, &mut ends);
    ///     for &end in &ends[..found] {
    ///         spans.push(&text[start..end as usize]);
    ///         start = end as usize;
    ///     }
    ///     if found == 0 {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(spans, ["Don", "'t", " ", " panic", "!"]);
    /// ```
    ///
    /// # Panics
    /// If `start` is greater than the length of `text`, the text is not shorter than 4 GiB, or the splitter has gaps.
    /// The result is unspecified if `start` is not a character boundary.
    #[inline]
    pub fn fill_ends(self, text: &str, start: usize, ends: &mut [u32]) -> usize {
        self.fill_ends_on(None, text, start, ends)
    }

    /// Writes the starts and ends of the spans from `start` on, until one of the slices is full or the text ends.
    /// Returns how many; zero only if no span is left or a slice is empty.
    ///
    /// `start` is a span boundary or lies between spans; the next call may start at the last end. Works for all
    /// splitters; splitters without gaps also have [`Self::fill_ends`]. Elements beyond the counted ones may be
    /// overwritten.
    ///
    /// # Panics
    /// If `start` is greater than the length of `text`, or the text is not shorter than 4 GiB. The result is
    /// unspecified if `start` is not a character boundary.
    #[inline]
    pub fn fill_spans(self, text: &str, start: usize, starts: &mut [u32], ends: &mut [u32]) -> usize {
        self.fill_spans_on(None, text, start, starts, ends)
    }

    /// [`Self::fill_ends`] on a given back end. With `None`, the best one if the text is long enough, else the scalar
    /// scanner.
    #[inline]
    fn fill_ends_on(self, backend: Option<Backend>, text: &str, start: usize, ends: &mut [u32]) -> usize {
        match self {
            Self::Gpt2 => fill_ends::<Gpt2Rules>(backend, text, start, ends),
            Self::Cl100k => fill_ends::<Cl100kRules<3>>(backend, text, start, ends),
            Self::Qwen2 => fill_ends::<Cl100kRules<1>>(backend, text, start, ends),
            Self::O200k => fill_ends::<O200kRules>(backend, text, start, ends),
            Self::Spaces => fill_ends::<SpacesRules>(backend, text, start, ends),
            Self::SingleSpaces => fill_ends::<SingleSpacesRules>(backend, text, start, ends),
            Self::SingleSpacedWords => fill_ends::<SingleSpacedWordsRules>(backend, text, start, ends),
            Self::SpacedWords => fill_ends::<SpacedWordsRules>(backend, text, start, ends),
            Self::Blanks => fill_ends::<BlanksRules>(backend, text, start, ends),
            Self::SpaceFragments => fill_ends::<SpaceFragmentsRules>(backend, text, start, ends),
            Self::BlankFragments => fill_ends::<BlankFragmentsRules>(backend, text, start, ends),
            Self::Whitespace
            | Self::WhitespaceSplit
            | Self::Bert
            | Self::BertText { .. }
            | Self::BlankSplit
            | Self::BlankSplitFragments => {
                panic!("{self:?} has gaps")
            }
        }
    }

    /// [`Self::fill_spans`] on a given back end.
    #[inline]
    fn fill_spans_on(
        self,
        backend: Option<Backend>,
        text: &str,
        start: usize,
        starts: &mut [u32],
        ends: &mut [u32],
    ) -> usize {
        let room = starts.len().min(ends.len());
        let (starts, ends) = (&mut starts[..room], &mut ends[..room]);
        match self {
            Self::Whitespace => fill_spans::<WhitespaceRules>(backend, text, start, starts, ends),
            Self::WhitespaceSplit => fill_spans::<WhitespaceSplitRules>(backend, text, start, starts, ends),
            Self::Bert => fill_spans::<BertRules>(backend, text, start, starts, ends),
            Self::BertText { accents: true } => {
                fill_spans::<BertTextRules<true>>(backend, text, start, starts, ends)
            }
            Self::BertText { accents: false } => {
                fill_spans::<BertTextRules<false>>(backend, text, start, starts, ends)
            }
            Self::BlankSplit => fill_spans::<BlankSplitRules>(backend, text, start, starts, ends),
            Self::BlankSplitFragments => {
                fill_spans::<BlankSplitFragmentsRules>(backend, text, start, starts, ends)
            }
            _ => {
                let found = self.fill_ends_on(backend, text, start, ends);
                if found > 0 {
                    starts[0] = start as u32;
                    starts[1..found].copy_from_slice(&ends[..found - 1]);
                }
                found
            }
        }
    }
}

#[inline]
fn fill_ends<R: Rules>(backend: Option<Backend>, text: &str, start: usize, ends: &mut [u32]) -> usize {
    if backend.is_none() && text.len() - start < SHORT {
        return fill_ends_scalar::<R::Scalar>(text, start, ends);
    }
    assert!(u32::try_from(text.len()).is_ok(), "a text of {} bytes has no 32-bit positions", text.len());
    backend.unwrap_or_else(Backend::best).run(FillEnds { text, start, ends, rules: PhantomData::<R> })
}

#[inline]
fn fill_spans<R: GapRules>(
    backend: Option<Backend>,
    text: &str,
    start: usize,
    starts: &mut [u32],
    ends: &mut [u32],
) -> usize {
    if backend.is_none() && text.len() - start < SHORT {
        return fill_spans_scalar::<R::Scalar>(text, start, starts, ends);
    }
    assert!(u32::try_from(text.len()).is_ok(), "a text of {} bytes has no 32-bit positions", text.len());
    backend.unwrap_or_else(Backend::best).run(FillSpans { text, start, starts, ends, rules: R::default() })
}

/// A back end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backend {
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Portable(portable::Portable),
}

impl Backend {
    /// All back ends that this processor supports, the best first.
    pub(super) fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            found.extend(avx512::Avx512::detect().map(Self::Avx512));
            found.extend(avx2::Avx2::detect().map(Self::Avx2));
        }
        #[cfg(target_arch = "aarch64")]
        found.push(Self::Neon(neon::Neon));
        found.push(Self::Portable(portable::Portable));
        found
    }

    /// The best back end that this processor supports.
    #[inline]
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<Backend> = OnceLock::new();
        *BEST.get_or_init(|| Self::available()[0])
    }

    pub(crate) fn run<J: Job>(self, job: J) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(isa) => isa.run(job),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(isa) => isa.run(job),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(isa) => job.run(isa),
            Self::Portable(isa) => job.run(isa),
        }
    }
}
