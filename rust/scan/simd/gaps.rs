//! Masks for the splitters that drop the text between spans.

use super::fill::{Isa, Job, load};
use super::masks::{BLOCK, Masks, bits, last, up};
use super::spaces::{PunctuationBoundaries, blanks};
use crate::scan::ScanWithGaps;
use crate::scan::bert::{Bert, BertText, Oddity};
use crate::scan::spaces::{BlankSplit, BlankSplitFragments};
use crate::scan::whitespace::{Whitespace, WhitespaceSplit};

/// A splitter with gaps as arithmetic on masks. A value holds the state that one block leaves to the next.
pub(super) trait GapRules: Default {
    /// The same splitter, one span at a time.
    type Scalar: ScanWithGaps;

    /// True if the rules read classes of non-ASCII characters.
    const HAS_CLASSES: bool = true;

    /// Two masks of the block `now`, which begins at `base` of `text`: where spans start and where spans end.
    fn edges(&mut self, text: &[u8], base: usize, now: &Masks) -> (u64, u64);
}

/// A run of one class of characters, and the last bit of its mask in the block before.
#[derive(Default)]
struct Run(u64);

impl Run {
    #[inline(always)]
    fn edges(&mut self, members: u64) -> (u64, u64) {
        let before = up(members, self.0);
        self.0 = last(members);
        (members & !before, before & !members)
    }
}

/// Runs of word characters, and runs of other characters that are not white space.
#[derive(Default)]
pub(super) struct WhitespaceRules {
    words: Run,
    others: Run,
}

impl GapRules for WhitespaceRules {
    type Scalar = Whitespace;

    #[inline(always)]
    fn edges(&mut self, _: &[u8], _: usize, now: &Masks) -> (u64, u64) {
        let words = self.words.edges(now.word);
        let others = self.others.edges(!(now.word | now.space));
        (words.0 | others.0, words.1 | others.1)
    }
}

/// Everything but white space.
#[derive(Default)]
pub(super) struct WhitespaceSplitRules(Run);

impl GapRules for WhitespaceSplitRules {
    type Scalar = WhitespaceSplit;

    #[inline(always)]
    fn edges(&mut self, _: &[u8], _: usize, now: &Masks) -> (u64, u64) {
        self.0.edges(!now.space)
    }
}

/// Everything between blanks.
#[derive(Default)]
pub(super) struct BlankSplitRules(Run);

impl GapRules for BlankSplitRules {
    type Scalar = BlankSplit;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn edges(&mut self, _: &[u8], _: usize, now: &Masks) -> (u64, u64) {
        self.0.edges(!blanks(now))
    }
}

/// Everything between blanks, also cut between letters and
/// [`PUNCTUATION_KEPT_APART`](crate::scan::spaces::PUNCTUATION_KEPT_APART).
#[derive(Default)]
pub(super) struct BlankSplitFragmentsRules {
    words: BlankSplitRules,
    boundaries: PunctuationBoundaries<true>,
}

impl GapRules for BlankSplitFragmentsRules {
    type Scalar = BlankSplitFragments;
    const HAS_CLASSES: bool = false;

    #[inline(always)]
    fn edges(&mut self, text: &[u8], base: usize, now: &Masks) -> (u64, u64) {
        let (starts, ends) = self.words.edges(text, base, now);
        let boundaries = self.boundaries.starts(text, base, now);
        (starts | boundaries, ends | boundaries)
    }
}

/// Single punctuation characters, and the runs between punctuation and white space.
#[derive(Default)]
pub(super) struct BertRules {
    words: Run,
    /// The last bit of the punctuation in the block before.
    punctuation: u64,
}

impl GapRules for BertRules {
    type Scalar = Bert;

    #[inline(always)]
    fn edges(&mut self, _: &[u8], _: usize, now: &Masks) -> (u64, u64) {
        self.cut(now, now.space, now.punctuation)
    }
}

impl BertRules {
    #[inline(always)]
    fn cut(&mut self, now: &Masks, space: u64, punctuation: u64) -> (u64, u64) {
        let words = self.words.edges(!(space | punctuation));
        let after = up(punctuation, self.punctuation);
        self.punctuation = last(punctuation);
        (words.0 | punctuation & !now.tail, words.1 | after & !now.tail)
    }
}

/// [`BertRules`] for text before BERT's normalizer: a few characters differ from their classes.
#[derive(Default)]
pub(super) struct BertTextRules<const ACCENTS: bool> {
    rules: BertRules,
    /// Bytes of single-character spans that continue from the previous block.
    alone: u64,
    /// Bytes of white space that does not cut, continued from the previous block.
    no_space: u64,
}

impl<const ACCENTS: bool> GapRules for BertTextRules<ACCENTS> {
    type Scalar = BertText<ACCENTS>;

    #[inline(always)]
    fn edges(&mut self, text: &[u8], base: usize, now: &Masks) -> (u64, u64) {
        let (mut alone, mut no_space) = (u128::from(self.alone), u128::from(self.no_space));
        if now.wide != 0 {
            let ideograph = u128::from(now.ideograph);
            alone |= ideograph | ideograph << 1 | ideograph << 2;
            for lead in bits(now.leads() & !(now.ideograph | now.syllable)) {
                match BertText::<ACCENTS>::oddity(&text[base + lead..]) {
                    Oddity::None => {}
                    Oddity::Alone(len) => alone |= ((1 << len) - 1) << lead,
                    Oddity::NoSpace(len) => no_space |= ((1 << len) - 1) << lead,
                }
            }
        }
        no_space |= u128::from(now.space & !(now.wide | now.blank | now.newline | now.tab));
        (self.alone, self.no_space) = ((alone >> BLOCK) as u64, (no_space >> BLOCK) as u64);
        self.rules.cut(now, now.space & !(no_space as u64), now.punctuation | alone as u64)
    }
}

/// Writes the starts and ends of the spans of `text` from the boundary `start` on.
pub(super) struct FillSpans<'a, R: GapRules> {
    pub text: &'a str,
    pub start: usize,
    pub starts: &'a mut [u32],
    pub ends: &'a mut [u32],
    pub rules: R,
}

impl<R: GapRules> Job for FillSpans<'_, R> {
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let Self { text, start, starts, ends, mut rules } = self;
        let (mut started, mut ended) = (0, 0);
        let (mut base, mut now) = (start, Masks::default());
        // The padding ends the last span, if need be in an extra block.
        while base <= text.len() && ended < ends.len() {
            now = load(isa, text.as_bytes(), base, R::HAS_CLASSES, &now);
            let edges = rules.edges(text.as_bytes(), base, &now);
            started += isa.positions(edges.0, base, &mut starts[started..]);
            ended += isa.positions(edges.1, base, &mut ends[ended..]);
            base += BLOCK;
        }
        ended
    }
}

/// [`FillSpans`] without blocks.
#[inline]
pub(super) fn fill_spans_scalar<S: ScanWithGaps>(
    text: &str,
    mut pos: usize,
    starts: &mut [u32],
    ends: &mut [u32],
) -> usize {
    let mut found = 0;
    for (start, end) in starts.iter_mut().zip(ends) {
        let Some(span) = S::next_span(text, pos) else { break };
        (*start, *end) = (span.0 as u32, span.1 as u32);
        pos = span.1;
        found += 1;
    }
    found
}
