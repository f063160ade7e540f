//! Byte-pair encoding over several languages: each merge goes to the language that is compressed worst.
//!
//! Source: Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding". The first merges may go to the pair that is most frequent
//! in all languages together. Then each turn chooses a language (`turns`) and merges its most frequent pair; of equally
//! frequent ones, the pair with the larger left text, then with the larger right text. The merge is applied to all languages
//! and to their dev sets.
//!
//! Each corpus has an arena of its own and a table of all its pairs (`corpus`), since a pair that is rare in one language may
//! be chosen by another one. Pairs are recounted only after a merge that makes a token in use.
//!
//! Time: O(symbols + occurrences merged), O(log ties) for each pair taken from a queue, O(corpora) for each merge, and
//! O(symbols) more for each recount. Memory: each corpus takes the memory of [`super::BpeTrainer`], with every pair tracked;
//! during the global merges, so does the corpus of all languages together.

mod corpus;
mod most_frequent;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::HashMap;

use super::alphabet::symbolise_all;
use super::arena::MAX_IDS;
use super::pairs::LengthLimit;
use super::scores::nearest_f64;
use super::tokens::Tokens;
use super::updates::{Threads, Updates};
use super::{BpeTrainer, TrainedBpe};
use crate::structures::parallel::{OnProgress, Pacer};
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};
use corpus::{Corpus, Merge, Setting};
use turns::{Turn, Turns, Window};

/// How a language is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The one that is compressed worst.
    #[default]
    Base,
    /// The same, but none may have far more than its even share of the last turns.
    Window,
}

/// The options of parity-aware training; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq)]
pub struct ParityBpeTrainer {
    /// How many merges to learn.
    pub num_merges: usize,
    /// How a language is chosen.
    pub variant: Variant,
    /// A pair less frequent than this, in the language that chooses, is never merged.
    pub min_frequency: u64,
    /// The compression rate to aim at, for each language; only the proportions matter. Dev sets take precedence.
    pub ratio: Option<Vec<f64>>,
    /// How many merges go to the pair that is most frequent in all languages, before languages are chosen.
    pub global_merges: usize,
    /// For [`Variant::Window`]: how many turns are looked back.
    pub window_size: usize,
    /// For [`Variant::Window`]: how many times its even share of these turns a language may have.
    pub alpha: f64,
    /// `num_merges` is the size of the vocabulary, special tokens and alphabet included.
    pub total_symbols: bool,
    /// Tokens that take the first ids in the given order; repeated ones count once.
    pub special_tokens: Vec<String>,
    /// As [`BpeTrainer::limit_alphabet`]; characters of the dev sets count too.
    pub limit_alphabet: Option<usize>,
    /// As [`BpeTrainer::initial_alphabet`].
    pub initial_alphabet: Vec<char>,
    /// As [`BpeTrainer::continuing_subword_prefix`].
    pub continuing_subword_prefix: Option<String>,
    /// As [`BpeTrainer::end_of_word_suffix`].
    pub end_of_word_suffix: Option<String>,
    /// As [`BpeTrainer::max_token_length`].
    pub max_token_length: Option<usize>,
    /// Threads for counting and for long lists of occurrences; the result does not depend on it.
    pub threads: usize,
}

impl Default for ParityBpeTrainer {
    fn default() -> Self {
        Self {
            num_merges: 32_000,
            variant: Variant::default(),
            min_frequency: 0,
            ratio: None,
            global_merges: 0,
            window_size: 100,
            alpha: 2.0,
            total_symbols: false,
            special_tokens: Vec::new(),
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            max_token_length: None,
            threads: 1,
        }
    }
}

/// Positions for each thread that applies a merge.
const SHARE: usize = 1 << 15;

impl ParityBpeTrainer {
    /// Learns merges from the words of each language, guided by the dev sets, if there are any, else by the ratio.
    ///
    /// # Errors
    /// The errors of [`Self::check`] and [`BpeTrainer::train`], but more initial tokens than `num_merges` are no error.
    pub fn train(
        &self,
        corpora: &[WordCounts],
        dev: Option<&[WordCounts]>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<TrainedBpe> {
        self.check(corpora.len(), dev.map(<[_]>::len))?;
        let options = self.options();
        let dev_sets = dev.unwrap_or_default();
        let together = (self.global_merges > 0).then(|| sum_counts(corpora));
        let (tokens, arenas) = symbolise_all(&options, corpora, dev_sets, together.as_ref(), on_progress)?;
        let subtracted = if self.total_symbols { tokens.len() } else { 0 };
        let wanted = self.num_merges.saturating_sub(subtracted).min(MAX_IDS - tokens.len().min(MAX_IDS));
        let mut training = Training {
            trainer: self,
            setting: Setting {
                length_limit: LengthLimit { chars: self.max_token_length, words: None },
                threads: Threads { most: self.threads.max(1), share: SHARE },
                min_frequency: self.min_frequency.max(1),
            },
            tokens,
            corpora: arenas.into_iter().map(|(arena, size)| Corpus::new(arena, size)).collect(),
            updates: Updates::default(),
            merges: Vec::new(),
            counts: Vec::new(),
            pairs_return: false,
        };
        let mut pacer = Pacer::new("merge pairs", wanted as u64);
        training.recount(on_progress)?;
        let global = wanted.min(self.global_merges);
        if together.is_some() {
            // All corpora follow the merges of the last one.
            let last = corpora.len() + dev_sets.len();
            while training.merges.len() < global && training.merge_best(last, &mut pacer, on_progress)? {}
            training.corpora.truncate(last);
        }
        // A language has no pair that is frequent enough if all together have none.
        if training.merges.len() == global {
            training.merge_by_language(corpora.len(), dev.is_some(), wanted, &mut pacer, on_progress)?;
        }
        pacer.finish(training.merges.len() as u64, on_progress)?;
        Ok(training.into_trained())
    }

    /// Checks the options for the training on so many corpora and dev sets.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if there is no corpus, another number of dev sets, or of ratios and no dev sets; if such a ratio,
    /// or `alpha` with [`Variant::Window`], is not finite and above 0; if `window_size` is 0 with that variant.
    pub fn check(&self, corpora: usize, dev: Option<usize>) -> Result<()> {
        let need = |fits: bool, name, value: String, expected: String| {
            if fits { Ok(()) } else { Err(Error::InvalidOption { name, value, expected }) }
        };
        let positive = |name, value: f64| {
            let shown = value.to_string().to_lowercase();
            need(value > 0.0 && value.is_finite(), name, shown, "a finite number above 0".to_owned())
        };
        need(corpora > 0, "number of corpora", corpora.to_string(), "at least 1".to_owned())?;
        if let Some(dev) = dev {
            need(dev == corpora, "number of dev sets", dev.to_string(), corpora.to_string())?;
        } else if let Some(ratio) = &self.ratio {
            need(ratio.len() == corpora, "length of ratio", ratio.len().to_string(), corpora.to_string())?;
            ratio.iter().try_for_each(|&of| positive("ratio", of))?;
        }
        if self.variant == Variant::Window {
            need(self.window_size > 0, "window_size", "0".to_owned(), "at least 1".to_owned())?;
            positive("alpha", self.alpha)?;
        }
        Ok(())
    }

    /// The options that the plain trainer has too.
    fn options(&self) -> BpeTrainer {
        BpeTrainer {
            vocab_size: MAX_IDS,
            special_tokens: self.special_tokens.clone(),
            limit_alphabet: self.limit_alphabet,
            initial_alphabet: self.initial_alphabet.clone(),
            continuing_subword_prefix: self.continuing_subword_prefix.clone(),
            end_of_word_suffix: self.end_of_word_suffix.clone(),
            threads: self.threads.max(1),
            ..BpeTrainer::default()
        }
    }
}

/// The state of training.
struct Training<'a> {
    trainer: &'a ParityBpeTrainer,
    setting: Setting,
    tokens: Tokens,
    /// The languages, then their dev sets, then during the global merges all languages together.
    corpora: Vec<Corpus>,
    updates: Updates,
    merges: Vec<(u32, u32)>,
    counts: Vec<u64>,
    /// True if some merge has made a token that was in use before, so that counts of pairs can rise.
    pairs_return: bool,
}

impl Training<'_> {
    fn recount(&mut self, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let Self { corpora, tokens, setting, .. } = self;
        corpora.iter_mut().try_for_each(|corpus| corpus.recount(tokens, *setting, on_progress))
    }

    /// Learns merges until there are `wanted`, each from the language whose turn it is.
    fn merge_by_language(
        &mut self,
        languages: usize,
        by_dev: bool,
        wanted: usize,
        pacer: &mut Pacer,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let window = (self.trainer.variant == Variant::Window)
            .then(|| Window::new(self.trainer.window_size, self.trainer.alpha, languages));
        let mut turns = Turns::new(languages, window);
        while self.merges.len() < wanted {
            // Hugging Face compares sizes as floats.
            let badness = |at: usize| {
                if by_dev {
                    nearest_f64(self.corpora[languages + at].size())
                } else if let Some(ratio) = &self.trainer.ratio {
                    -self.corpora[at].rate() / ratio[at]
                } else {
                    nearest_f64(self.corpora[at].size())
                }
            };
            let at = match turns.next(badness) {
                Turn::Of(at) => at,
                Turn::Pass => continue,
                Turn::End => break,
            };
            if !self.merge_best(at, pacer, on_progress)? {
                turns.retire(at);
            }
        }
        Ok(())
    }

    /// Merges the most frequent pair of a corpus, in all of them; false if it has none that is frequent enough.
    fn merge_best(&mut self, at: usize, pacer: &mut Pacer, on_progress: &mut OnProgress<'_>) -> Result<bool> {
        let min_frequency = self.setting.min_frequency;
        let Some((left, right, count)) = self.corpora[at].take_best(&self.tokens, min_frequency) else {
            return Ok(false);
        };
        let done = self.merges.len() as u64;
        self.merges.push((left, right));
        self.counts.push(count);
        let prefix = self.trainer.continuing_subword_prefix.as_deref();
        let (joined, known) = self.tokens.join(left, right, prefix);
        let merge = Merge { left, right, joined, known };
        let Self { corpora, tokens, setting, updates, .. } = self;
        for corpus in corpora {
            corpus.apply(merge, tokens, *setting, updates, &mut |positions| {
                pacer.tick(positions, done, on_progress)
            })?;
        }
        if known {
            // Pairs of the old token gain occurrences: only a recount finds their counts.
            self.pairs_return = true;
            self.recount(on_progress)?;
        }
        Ok(true)
    }

    fn into_trained(self) -> TrainedBpe {
        let trained =
            TrainedBpe { vocab: self.tokens.into_texts(), merges: self.merges, counts: self.counts };
        if self.pairs_return { trained.with_later_ranks() } else { trained }
    }
}

/// The words of all corpora with the sums of their counts, first seen first.
fn sum_counts(corpora: &[WordCounts]) -> WordCounts {
    let mut counts: HashMap<&str, (usize, u64)> = HashMap::new();
    for (place, (word, count)) in corpora.iter().flat_map(WordCounts::iter).enumerate() {
        let sum = &mut counts.entry(word).or_insert((place, 0)).1;
        // Sums of 2^64 are refused with the alphabet.
        *sum = sum.saturating_add(count);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|&(_, (place, _))| place);
    counts.into_iter().map(|(word, (_, count))| (word, count)).collect()
}
