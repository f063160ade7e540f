//! Pre-tokens as trainers count them: words.

use std::ops::Range;

use super::bert_rewriter::BertRewriter;
use super::compiled::Pipeline;
use super::plan::{Rewrite, Scope};
use super::stages::{Visitor, Walk};
use crate::Result;
use crate::added_tokens::Matchers;
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
        if let Some(splitter) = self.splitter_before_normalizer() {
            let mut each = each;
            splitter.for_each_span(text, |start, end| each(text.as_bytes(), start, end));
            return Ok(());
        }
        let mut words = TrainingWords { splitter: self.training_splitter(), each };
        let first_normalizer = self.stages().normalizer.as_ref();
        let key_form = self.training_key_form();
        self.stages().walk(Walk { text, tracked: false, first_normalizer, key_form }, &mut words)
    }

    /// The normalizer that words still have to go through once they are counted, each distinct word by itself.
    ///
    /// Added tokens count as they are, so there must not be any.
    pub(crate) fn normalize_after_counting(&self) -> Option<BertRewriter> {
        let Matchers { original, normalized, .. } = &self.stages().matchers;
        self.chunk_normalizer().filter(|_| original.is_empty() && normalized.is_empty())
    }

    /// The scanner that finds the words of original text, if each word is normalized by itself once it is counted.
    fn splitter_before_normalizer(&self) -> Option<Splitter> {
        self.normalize_after_counting().and(self.plan().chunked()?.splitter())
    }

    /// The scanner that finds the words of normalized text.
    fn training_splitter(&self) -> Option<Splitter> {
        let plan = self.plan().chunked()?;
        match (plan.rewrite, plan.scope) {
            (Rewrite::Bert(_), _) => Some(Splitter::Bert),
            (_, Scope::Unchanged) => plan.splitter().filter(|_| self.training_key_form() == plan.key_form),
            _ => None,
        }
    }
}

/// The visitor that hands each word to a counter.
struct TrainingWords<F> {
    splitter: Option<Splitter>,
    each: F,
}

impl<F: FnMut(&[u8], usize, usize)> Visitor for TrainingWords<F> {
    fn added_token(&mut self, _: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        self.pre_token(text, range)
    }

    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        (self.each)(text.text().as_bytes(), range.start, range.end);
        Ok(())
    }

    fn normalized(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<bool> {
        let Some(splitter) = self.splitter else { return Ok(false) };
        let (bytes, start) = (text.text().as_bytes(), range.start);
        splitter.for_each_span(&text.text()[range], |from, to| (self.each)(bytes, start + from, start + to));
        Ok(true)
    }
}
