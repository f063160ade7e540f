//! The n best tokenizations of a text, put together from tokenizations of its pre-tokens.
//!
//! The model encodes each pre-token independently of the others. So a tokenization of the text consists of one tokenization of
//! each pre-token, and its score is the sum of their scores, made from left to right. After each pre-token only the n best
//! tokenizations so far can matter, since sums do not change order when the same score is added.

use std::ops::Range;
use std::sync::Arc;

use super::Tokenizer;
use crate::cache::KeyForm;
use crate::encoding::{ColumnsBuilder, Encoding};
use crate::models::Model;
use crate::models::unigram::{Segmentation, Unigram, check_nbest};
use crate::normalized::Normalized;
use crate::pipeline::{Pipeline, Visitor, Walk, check_length};
use crate::{Error, Result};

/// A token in its place.
#[derive(Debug)]
struct Placed {
    id: u32,
    /// Bytes of the original text.
    offsets: (u32, u32),
    /// Where it is not the id's own.
    text: Option<Box<str>>,
}

/// One way to cut a pre-token.
#[derive(Debug)]
struct Choice {
    tokens: Vec<Placed>,
    score: f64,
}

/// One of the best ways up to some pre-token.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    score: f64,
    /// Which of the ways up to the pre-token before it extends.
    before: usize,
    /// Which of the pre-token's own ways it takes.
    choice: usize,
}

/// The `n` best sums of one of `so_far` and one of `choices`, both best first. Of two equal sums, the one that extends the better
/// way comes first; if both extend the same way, the one that takes the better choice. Sorts O(n log n) ways.
fn combined(so_far: &[f64], choices: &[f64], n: usize) -> Vec<Way> {
    let mut ways = Vec::new();
    for (before, first) in so_far.iter().enumerate() {
        // A way comes after the `(before + 1) * (choice + 1) - 1` others that extend no worse a way and take no worse a choice.
        let own = choices.iter().enumerate().take(n / (before + 1));
        ways.extend(own.map(|(choice, second)| Way { score: first + second, before, choice }));
    }
    ways.sort_by(|left, right| right.score.total_cmp(&left.score));
    ways.truncate(n);
    ways
}

impl Tokenizer {
    /// The `n` best tokenizations of a text with their scores, higher ones first, or all if there are fewer.
    ///
    /// The text goes through normalizer and pre-tokenizer as in [`Self::encode`]. A tokenization takes one of the `n` best
    /// ways ([`Unigram::encode_nbest`](crate::models::unigram::Unigram::encode_nbest)) to cut each pre-token, and its
    /// score is the sum of their scores from left to right; added tokens have none. Of two tokenizations with equal scores,
    /// the one comes first whose tokenization of all pre-tokens but the last comes first in this order; if both have the same,
    /// the model's order of the ways to cut the last pre-token decides. [`Self::encode`] gives the first tokenization. Each
    /// tokenization is truncated and gets special tokens by itself; all are padded as one batch. The model's `alpha` has no part
    /// in it.
    ///
    /// Time and memory: in proportion to `n` and the length of the text.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the model is no Unigram, [`Error::InvalidOption`] if `n` exceeds
    /// [`MOST_BEST`](crate::models::unigram::MOST_BEST), and the errors of [`Self::encode`].
    pub fn encode_nbest(
        &self,
        text: &str,
        n: usize,
        add_special_tokens: bool,
    ) -> Result<Vec<(Encoding, f64)>> {
        check_nbest("n", n)?;
        let words = self.pipeline.choices(text, n)?;
        let mut steps: Vec<Vec<Way>> = Vec::with_capacity(words.len());
        let mut scores = if n > 0 { vec![0.0] } else { Vec::new() };
        for choices in &words {
            let own: Vec<f64> = choices.iter().map(|choice| choice.score).collect();
            let ways = combined(&scores, &own, n);
            scores = ways.iter().map(|way| way.score).collect();
            steps.push(ways);
        }
        let mut columns = ColumnsBuilder::default();
        let mut ranges = Vec::with_capacity(scores.len());
        for last in 0..scores.len() {
            let (start, mut at, mut chosen) = (columns.ids.len(), last, Vec::with_capacity(steps.len()));
            for (step, choices) in steps.iter().zip(&words).rev() {
                let Way { before, choice, .. } = step[at];
                chosen.push(&choices[choice]);
                at = before;
            }
            for (word, choice) in (0..).zip(chosen.into_iter().rev()) {
                for Placed { id, offsets, text } in &choice.tokens {
                    match text {
                        Some(text) => columns.push_with_text(*id, text, *offsets, Some(word)),
                        None => columns.push(*id, *offsets, Some(word)),
                    }
                }
            }
            columns.bytes_to_chars(text, start);
            ranges.push(start..columns.ids.len());
        }
        let columns = Arc::new(columns.finish(self.pipeline.names()));
        let finish = |range| {
            self.post_process(Encoding::from_columns(Arc::clone(&columns), range), None, add_special_tokens)
        };
        let mut encodings = ranges.into_iter().map(finish).collect::<Result<Vec<_>>>()?;
        self.pad(&mut encodings)?;
        Ok(encodings.into_iter().zip(scores).collect())
    }
}

impl Pipeline {
    /// The `n` best ways to cut each pre-token, through all stages; an added token has one.
    fn choices(&self, text: &str, n: usize) -> Result<Vec<Vec<Choice>>> {
        let Model::Unigram(unigram) = &**self.model() else {
            let kind = self.model().kind();
            return Err(Error::Unsupported(format!("encode_nbest for a {kind} model, not Unigram")));
        };
        check_length(text.len())?;
        let unknown = self.model().id_of_unknown_text();
        let mut choices = Choices { unigram, unknown, n, pre_tokens: Vec::new() };
        let first_normalizer = self.stages().normalizer.as_ref();
        self.stages()
            .walk(Walk { text, tracked: true, first_normalizer, key_form: KeyForm::Text }, &mut choices)?;
        Ok(choices.pre_tokens)
    }
}

/// The visitor that collects the best ways to cut each pre-token.
struct Choices<'a> {
    unigram: &'a Unigram,
    unknown: Option<u32>,
    n: usize,
    pre_tokens: Vec<Vec<Choice>>,
}

impl Choices<'_> {
    fn choice(&self, text: &Normalized<'_>, pre_token: &Range<usize>, best: &Segmentation) -> Choice {
        let place = |(id, span): (u32, Range<usize>)| {
            let (start, end) = (pre_token.start, pre_token.end);
            let range = (start + span.start).min(end)..(start + span.end).min(end);
            let own = text
                .text()
                .get(range.clone())
                .filter(|own| Some(id) == self.unknown && !self.unigram.falls_back(own));
            Placed { id, offsets: text.original(range), text: own.map(Box::from) }
        };
        Choice { tokens: best.tokens.spans().map(place).collect(), score: best.score }
    }
}

impl Visitor for Choices<'_> {
    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        let own = text.text().get(range.clone()).unwrap_or_default();
        let token = Placed { id, offsets: text.original(range), text: Some(own.into()) };
        self.pre_tokens.push(vec![Choice { tokens: vec![token], score: 0.0 }]);
        Ok(())
    }

    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        let best = self.unigram.encode_nbest(&text.text()[range.clone()], self.n)?;
        self.pre_tokens.push(best.iter().map(|best| self.choice(text, &range, best)).collect());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn combined_matches_naive(
            so_far in prop::collection::vec(-3..0i32, 0..6),
            choices in prop::collection::vec(-3..0i32, 0..6),
            n in 0..20usize,
        ) {
            let sorted = |scores: Vec<i32>| {
                let mut scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
                scores.sort_by(|left, right| right.total_cmp(left));
                scores
            };
            let (so_far, choices) = (sorted(so_far), sorted(choices));
            let mut naive: Vec<Way> = Vec::new();
            // Only the best n so far are there in use.
            for (before, first) in so_far.iter().enumerate().take(n) {
                naive.extend(choices.iter().enumerate().map(|(choice, second)| Way { score: first + second, before, choice }));
            }
            naive.sort_by(|left, right| right.score.total_cmp(&left.score));
            naive.truncate(n);
            prop_assert_eq!(combined(&so_far, &choices, n), naive);
        }
    }
}
