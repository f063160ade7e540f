//! Pre-tokenizers that callers make, which work on a [`PreTokenizedString`].

use std::fmt::Debug;

use super::PreTokenizer;
use crate::Result;
use crate::growth::Growth;
use crate::normalized::{NormalizedString, PreTokenized, PreTokenizedString};

/// A pre-tokenizer that a caller has made.
pub trait CustomPreTokenizer: Debug + Send + Sync {
    /// Cuts `text`.
    ///
    /// # Errors
    /// The caller's own, as [`crate::Error::Custom`].
    fn pre_tokenize(&self, text: &mut PreTokenizedString) -> Result<()>;
}

impl PreTokenizer {
    /// True if a stage is a caller's own.
    pub fn has_custom(&self) -> bool {
        match self {
            Self::Custom(_) => true,
            Self::Sequence(stages) => stages.iter().any(Self::has_custom),
            _ => false,
        }
    }

    /// Cuts the splits of a text that keeps its original.
    ///
    /// # Errors
    /// The errors of [`Self::pre_tokenize`] and of stages that callers have made. The cuts of the stages before the failed one stay then.
    pub fn apply(&self, text: &mut PreTokenizedString) -> Result<()> {
        self.apply_within(Growth::of(bytes(text)), text)
    }

    fn apply_within(&self, growth: Growth, text: &mut PreTokenizedString) -> Result<()> {
        match self {
            Self::Custom(stage) => stage.pre_tokenize(text)?,
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.apply_within(growth, text))?,
            _ => text.split(|_, split| split.cut(|pre_tokens| self.pre_tokenize(pre_tokens)))?,
        }
        growth.check(bytes(text))
    }
}

/// Bytes of all splits.
fn bytes(text: &PreTokenizedString) -> usize {
    text.splits().iter().map(|split| split.text.normalized().len()).sum()
}

/// Cuts each span of `text` further; the span is the original that `stage` sees.
pub(super) fn pre_tokenize(stage: &dyn CustomPreTokenizer, text: &mut PreTokenized<'_>) -> Result<()> {
    let mut rewrite = text.text.rewrite();
    let mut spans = Vec::new();
    for span in &text.spans {
        let piece = &text.text.text()[span.clone()];
        let mut cut = PreTokenizedString::new(NormalizedString::new(piece, 0));
        stage.pre_tokenize(&mut cut)?;
        for split in cut.splits() {
            let start = rewrite.len();
            let base = span.start + split.text.original_range().start;
            for (c, source) in split.text.chars() {
                // A text that the caller has made itself may be longer than the original.
                let [from, to] = [source.start, source.end].map(|at| (base + at).min(span.end));
                rewrite.push(c, from..to);
            }
            spans.push(start..rewrite.len());
        }
    }
    text.text = rewrite.finish();
    text.spans = spans;
    Ok(())
}
