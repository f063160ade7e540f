//! Pre-tokens as trainers count them.

use super::pipeline::{Pipeline, Plan};
use crate::Result;
use crate::added_tokens::Segment;
use crate::normalized::Normalized;
use crate::normalizers::Bert;
use crate::scan::Splitter;

impl Pipeline {
    /// Calls `each` with every pre-token of a training text: the bytes that hold it and its place there.
    ///
    /// An added token is a pre-token of its own, which counts as any other word, as in Hugging Face.
    /// The pre-tokens are made of [`Self::training_key_form`].
    ///
    /// # Errors
    /// Those of the pre-tokenizer.
    pub fn pre_tokens(&self, text: &str, mut each: impl FnMut(&[u8], usize, usize)) -> Result<()> {
        if let (Plan::Words(splitter), Some(_)) = (self.plan(), self.normalize_after_counting()) {
            splitter.for_each_span(text, |start, end| each(text.as_bytes(), start, end));
            return Ok(());
        }
        let plan = match self.plan() {
            _ if self.training_key_form() != self.key_form() => Plan::Stages,
            Plan::Words(_) => Plan::Scan(Splitter::Bert),
            plan => plan,
        };
        self.matchers().original.segments(text, |segment| match segment.token {
            Some(_) => {
                each(text.as_bytes(), segment.start, segment.end);
                Ok(())
            }
            None => self.pre_tokens_of_segment(text, segment, plan, &mut each),
        })
    }

    /// The normalizer that the pre-tokens of training still have to go through, each by itself, once they are counted.
    ///
    /// Added tokens count as they are, so there must not be any.
    pub(super) fn normalize_after_counting(&self) -> Option<Bert> {
        self.clean_up().filter(|_| self.matchers().original.is_empty())
    }

    fn pre_tokens_of_segment(
        &self,
        text: &str,
        segment: Segment,
        plan: Plan,
        each: &mut impl FnMut(&[u8], usize, usize),
    ) -> Result<()> {
        let piece = &text[segment.start..segment.end];
        let mut normalized = Normalized::new(piece, segment.start, false);
        if let Some(normalizer) = self.normalizer().filter(|normalizer| !normalizer.is_identity(piece)) {
            normalized = normalizer.normalize(normalized)?;
        }
        let text = normalized.text();
        self.matchers().normalized.segments(text, |Segment { start, end, token }| {
            match (token, plan) {
                (Some(_), _) => each(text.as_bytes(), start, end),
                (None, Plan::Scan(splitter)) => splitter.for_each_span(&text[start..end], |from, to| {
                    each(text.as_bytes(), start + from, start + to);
                }),
                (None, _) => {
                    let cut = self.cut(normalized.slice(start..end), plan)?;
                    for span in &cut.spans {
                        each(cut.text.text().as_bytes(), span.start, span.end);
                    }
                }
            }
            Ok(())
        })
    }
}
