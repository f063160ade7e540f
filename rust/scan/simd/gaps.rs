//! `Whitespace`, `WhitespaceSplit` and `BertPreTokenizer` on masks.

use super::fill::{Isa, Job, load};
use super::masks::{BLOCK, Masks, last, up};
use crate::scan::ScanWithGaps;
use crate::scan::bert::Bert;
use crate::scan::whitespace::{Whitespace, WhitespaceSplit};

/// A splitter that drops what is between spans, as algebra on masks: a value is what it remembers of the block before.
pub(super) trait GapRules: Default {
    /// The same splitter, one span at a time.
    type Scalar: ScanWithGaps;

    /// Where spans start and where they end in the block `now`.
    fn edges(&mut self, now: &Masks) -> (u64, u64);
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

/// Word characters, and the rest.
#[derive(Default)]
pub(super) struct WhitespaceRules {
    words: Run,
    others: Run,
}

impl GapRules for WhitespaceRules {
    type Scalar = Whitespace;

    #[inline(always)]
    fn edges(&mut self, now: &Masks) -> (u64, u64) {
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
    fn edges(&mut self, now: &Masks) -> (u64, u64) {
        self.0.edges(!now.space)
    }
}

/// Single punctuation characters, and everything between those and white space.
#[derive(Default)]
pub(super) struct BertRules {
    words: Run,
    /// The last bit of the punctuation in the block before.
    punctuation: u64,
}

impl GapRules for BertRules {
    type Scalar = Bert;

    #[inline(always)]
    fn edges(&mut self, now: &Masks) -> (u64, u64) {
        let words = self.words.edges(!(now.space | now.punctuation));
        let behind = up(now.punctuation, self.punctuation);
        self.punctuation = last(now.punctuation);
        (words.0 | now.punctuation & !now.tail, words.1 | behind & !now.tail)
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
        // The blanks behind the text end its last span, if need be in a block of their own.
        while base <= text.len() && ended < ends.len() {
            now = load(isa, text.as_bytes(), base, &now);
            let edges = rules.edges(&now);
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
