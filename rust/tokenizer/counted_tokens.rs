//! Tokens that a model makes of counted words.

use crate::counting::runs::{CountsFile, SortedWords, Spelling};
use crate::models::{Model, Scratch, Tokens};
use crate::structures::parallel::{METER_EVERY, Meter, OnProgress, run_parts};
use crate::trainers::word_counts::WordSource;
use crate::{Error, Result};

/// Sums over counted words, each as often as it was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedTokens {
    /// Bytes of the words.
    pub bytes: u128,
    /// Tokens of the words.
    pub tokens: u128,
    /// Words that the model has no token for: neither their own nor one for unknown text.
    pub without_tokens: u128,
    /// By id: true if a word has the token.
    used: Vec<bool>,
}

impl CountedTokens {
    /// Encodes each distinct word once, on `threads` threads.
    ///
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is no word; [`Error::Io`]; [`Error::Format`] for damaged counts; the errors of `on_progress`.
    pub fn of(
        counts: &CountsFile,
        model: &Model,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let (words, spelling) = (SortedWords::new(counts)?, counts.summary().spelling);
        let parts = words.parts(threads.max(1));
        let all = run_parts("measure domains", counts.summary().words, parts, on_progress, |part, meter| {
            Self::of_part(&words, part, spelling, model, meter)
        })?;
        let mut sum = Self::default();
        for part in all {
            sum.add(part?);
        }
        Ok(sum)
    }

    /// Distinct tokens of the words.
    pub fn used(&self) -> usize {
        self.used.iter().filter(|&&used| used).count()
    }

    fn of_part(
        words: &SortedWords,
        part: std::ops::Range<usize>,
        spelling: Spelling,
        model: &Model,
        meter: &Meter,
    ) -> Result<Self> {
        let (mut sum, mut scratch, mut tokens, mut done) =
            (Self::default(), Scratch::default(), Tokens::default(), 0);
        words.read(part, &mut |word, count| {
            let bytes = match spelling {
                Spelling::Text => word.len(),
                Spelling::Bytes => word.chars().count(),
            };
            sum.bytes += bytes as u128 * u128::from(count);
            tokens.clear();
            match model.encode_word(word, &mut scratch, &mut tokens) {
                Err(Error::TokenNotInVocab { .. }) => sum.without_tokens += u128::from(count),
                encoded => encoded?,
            }
            sum.tokens += tokens.ids.len() as u128 * u128::from(count);
            for &id in &tokens.ids {
                sum.mark(id as usize);
            }
            done += 1;
            Ok(done % METER_EVERY != 0 || meter.add(METER_EVERY))
        })?;
        Ok(sum)
    }

    fn mark(&mut self, id: usize) {
        if self.used.len() <= id {
            self.used.resize(id + 1, false);
        }
        self.used[id] = true;
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.tokens += other.tokens;
        self.without_tokens += other.without_tokens;
        for (id, _) in other.used.into_iter().enumerate().filter(|&(_, used)| used) {
            self.mark(id);
        }
    }
}
