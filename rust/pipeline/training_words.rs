//! Pre-tokens as trainers count them: words.

use std::ops::Range;

use super::bert_rewriter::BertRewriter;
use super::compiled::Pipeline;
use super::plan::{Plan, Scope};
use super::stages::{Visitor, Walk};
use crate::Result;
use crate::normalized::Normalized;
use crate::scan::Splitter;

impl Pipeline {
    /// Calls `each` with every pre-token of a training text: a text that holds the pre-token, its start and its end.
    ///
    /// An added token is a pre-token of its own, which counts as any other word, as in Hugging Face. Pre-tokens are made of
    /// [`Self::training_key_form`].
    ///
    /// # Errors
    /// Those of the stages.
    pub fn training_words(&self, text: &str, each: impl FnMut(&[u8], usize, usize)) -> Result<()> {
        let mut words = TrainingWords { text, splitter: self.training_splitter(), each };
        if self.normalize_after_counting().is_some() {
            words.unchanged(0..text.len())?;
            return Ok(());
        }
        let first_normalizer = self.stages().normalizer.as_ref();
        let key_form = self.training_key_form();
        self.stages().walk(Walk { text, tracked: false, first_normalizer, key_form }, &mut words)
    }

    /// The normalizer that words still have to go through once they are counted, each distinct word by itself.
    ///
    /// Added tokens count as they are, so there must not be any.
    pub(crate) fn normalize_after_counting(&self) -> Option<BertRewriter> {
        self.chunk_normalizer().filter(|_| self.stages().matchers.original.is_empty())
    }

    /// The scanner that finds the words of unchanged text.
    fn training_splitter(&self) -> Option<Splitter> {
        let Plan::Chunked(plan) = self.plan() else { return None };
        let is_whole_word = plan.scope == Scope::Unchanged || self.normalize_after_counting().is_some();
        let is_trained_so = self.training_key_form() == plan.key_form;
        plan.splitter().filter(|_| is_whole_word && is_trained_so)
    }
}

/// The visitor that hands each word to a counter.
struct TrainingWords<'a, F> {
    text: &'a str,
    splitter: Option<Splitter>,
    each: F,
}

impl<F: FnMut(&[u8], usize, usize)> Visitor for TrainingWords<'_, F> {
    fn added_token(&mut self, _: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        self.pre_token(text, range)
    }

    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        (self.each)(text.text().as_bytes(), range.start, range.end);
        Ok(())
    }

    fn unchanged(&mut self, range: Range<usize>) -> Result<bool> {
        let Some(splitter) = self.splitter else { return Ok(false) };
        let (text, start) = (self.text.as_bytes(), range.start);
        splitter.for_each_span(&self.text[range], |from, to| (self.each)(text, start + from, start + to));
        Ok(true)
    }
}
