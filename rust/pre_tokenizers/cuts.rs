//! A pre-tokenizer that only cuts, run without a list of spans for each stage.
//!
//! Each span of a stage goes to the next stage at once. Most stages leave most spans alone: `Digits` cuts no word. So the stages
//! that may cut a span are known from its characters, and the others are passed over.

use std::ops::Range;

use super::{ByteLevel, PreTokenizer};
use crate::Result;

/// Spans in a block.
const ROOM: usize = 128;

/// Stages, at most: one bit each.
const MOST_STAGES: usize = 16;

/// The stages of a pre-tokenizer that only cuts.
#[derive(Clone, Debug)]
pub struct Cuts {
    stages: Vec<PreTokenizer>,
    /// For each character of ASCII, the stages that may cut a span that holds it, one bit a stage.
    may_cut: [u16; 128],
}

/// Spans on their way to a block.
struct Block<F> {
    starts: [u32; ROOM],
    ends: [u32; ROOM],
    count: usize,
    found: F,
}

impl Cuts {
    /// The stages of `pre_tokenizer`, without a mapping of bytes; `None` if a stage does more than cut, or there are too many.
    pub fn new(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let mut stages = Vec::new();
        let is_cut = flatten(pre_tokenizer, &mut stages) && stages.len() <= MOST_STAGES;
        is_cut.then(|| {
            let may_cut = |byte: usize| {
                let cuts = |stage: &PreTokenizer| stage.may_cut(char::from(byte as u8));
                stages.iter().zip(0..).fold(0, |bits, (stage, bit)| bits | u16::from(cuts(stage)) << bit)
            };
            Self { may_cut: std::array::from_fn(may_cut), stages }
        })
    }

    /// Calls `found` with the starts and ends of many spans at a time, from left to right; no span is empty. The obvious twin is
    /// [`PreTokenizer::cut_unmapped`].
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on the text.
    pub fn for_each_block(&self, text: &str, found: impl FnMut(&[u32], &[u32])) -> Result<()> {
        let mut block = Block { starts: [0; ROOM], ends: [0; ROOM], count: 0, found };
        self.for_each_span(text, |span| block.push(span))?;
        (block.found)(&block.starts[..block.count], &block.ends[..block.count]);
        Ok(())
    }

    /// Calls `found` with each span, from left to right; no span is empty.
    ///
    /// # Errors
    /// As [`Self::for_each_block`].
    pub fn for_each_span(&self, text: &str, mut found: impl FnMut(Range<usize>)) -> Result<()> {
        self.cut(text, 0..text.len(), 0, &mut found)
    }

    /// Cuts a span of `text` by the stages from `stage` on.
    fn cut(
        &self,
        text: &str,
        span: Range<usize>,
        stage: usize,
        found: &mut impl FnMut(Range<usize>),
    ) -> Result<()> {
        let piece = &text[span.clone()];
        // Nearly every text has a character that the first stage may cut.
        let next = if stage == 0 { 0 } else { self.next_stage(piece, stage) };
        let Some(pre_tokenizer) = self.stages.get(next) else {
            if !span.is_empty() {
                found(span);
            }
            return Ok(());
        };
        let mut result = Ok(());
        pre_tokenizer.for_each_span(piece, &mut |part| {
            if result.is_ok() && !part.is_empty() {
                result = self.cut(text, span.start + part.start..span.start + part.end, next + 1, found);
            }
        })?;
        result
    }

    /// The first stage from `stage` on that may cut a piece.
    #[inline]
    fn next_stage(&self, piece: &str, stage: usize) -> usize {
        let mut stages = u32::MAX << self.stages.len();
        for byte in piece.bytes() {
            let Some(&cut) = self.may_cut.get(usize::from(byte)) else { return stage };
            stages |= u32::from(cut);
            if stages >> stage & 1 == 1 {
                return stage;
            }
        }
        stage + (stages >> stage).trailing_zeros() as usize
    }
}

impl<F: FnMut(&[u32], &[u32])> Block<F> {
    #[inline]
    fn push(&mut self, span: Range<usize>) {
        (self.starts[self.count], self.ends[self.count]) = (span.start as u32, span.end as u32);
        self.count += 1;
        if self.count == ROOM {
            (self.found)(&self.starts, &self.ends);
            self.count = 0;
        }
    }
}

/// Appends the stages that cut; false if a stage does more.
fn flatten(pre_tokenizer: &PreTokenizer, stages: &mut Vec<PreTokenizer>) -> bool {
    match pre_tokenizer {
        PreTokenizer::Sequence(inner) => inner.iter().all(|stage| flatten(stage, stages)),
        PreTokenizer::ByteLevel(ByteLevel { use_regex: false, .. }) => true,
        PreTokenizer::Metaspace(_) | PreTokenizer::Custom(_) => false,
        stage => {
            stages.push(stage.clone());
            true
        }
    }
}
