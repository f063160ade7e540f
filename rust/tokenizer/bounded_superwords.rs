//! Training of superwords from counts on disk, in bounded memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::from_counts::{check_stages, words_of};
use super::superwords::{SuperwordStages, bpe};
use crate::cache::KeyForm;
use crate::counting::runs::{Budget, CountsFile, Overflow, Spelling, Stages};
use crate::counting::{Spill, WordCounter};
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::structures::parallel::{METER_EVERY, Meter, OnProgress, run_parts};
use crate::trainers::bpe::{
    BpeTrainer, MOST_CACHE, RareBorders, RarePairs, SuperwordAlgorithm, TokenWords, is_ambiguous,
    merged_writer,
};
use crate::trainers::word_counts::{WordCounts, WordSource};
use crate::trainers::{Trainer, Words};
use crate::{Error, Result};

/// Estimated bytes of a base for each token.
const TOKEN_BYTES: usize = 256;

/// Counting pairs takes at most this fraction of the memory: 1 / `PAIRS_SHARE`.
const PAIRS_SHARE: usize = 4;

/// Factor by which the least count of a round rises while its parts do not fit into the memory.
const RAISE: u64 = 4;

impl SuperwordStages {
    /// As [`Self::train`], from counts of words and phrases; runs are counted within `budget` as well.
    ///
    /// # Errors
    /// The errors of [`Self::train`], of reading and writing counts, and of [`CountsFile::check_training_memory`];
    /// [`Error::Unsupported`] if the counts come from other stages than `stages`, which have the pre-tokenizer of phrases, or have no
    /// phrases.
    #[expect(clippy::too_many_arguments, reason = "each is an option of training")]
    pub fn train_from_counts(
        &self,
        trainer: &BpeTrainer,
        words: CountsFile,
        stages: &Stages,
        model: &Model,
        threads: usize,
        budget: &Budget,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        let [first, _] = self.phases(trainer, threads).map(Trainer::Bpe);
        let is_mapped = self.phrase_form() == KeyForm::Bytes;
        let spelling = if is_mapped { Spelling::Bytes } else { Spelling::Text };
        let phrases = phrases_of(&words, stages, spelling)?;
        let limit = budget.memory as u64;
        words.check_training_memory(&first, threads, limit)?;
        let source = words_of(first.needs_order(), &words, on_progress)?;
        let base = bpe(first.train(source, model, threads, on_progress)?)?;
        drop(words);
        let [_, second] = self.phases(trainer, threads);
        let second = SecondPhase { trainer: &second, base: &base, budget, threads };
        let model = match self.options.algorithm {
            SuperwordAlgorithm::SuperBpe => {
                if let Err(too_large) = second.check_memory(&phrases, 0) {
                    let words = TokenWords::new(&base);
                    let tokens =
                        second.recount(&phrases, 0, on_progress, |source, new_counter, on_progress| {
                            count_tokens(
                                || words.writer(second.cache()),
                                source,
                                threads,
                                new_counter,
                                on_progress,
                            )
                        })?;
                    drop(phrases);
                    second.learn_in_rounds(tokens, too_large, on_progress)?
                } else {
                    let source = second.source(&phrases, on_progress)?;
                    second.trainer.extend(&base, 0, source, on_progress)?.into_model(&base)?
                }
            }
            SuperwordAlgorithm::Boundless => {
                let runs = second.recount(&phrases, 0, on_progress, |source, new_counter, on_progress| {
                    self.count_runs(&base, source, threads, new_counter, on_progress)
                })?;
                drop(phrases);
                if let Err(too_large) = second.check_memory(&runs, 0) {
                    second.learn_in_rounds(runs, too_large, on_progress)?
                } else {
                    let source = second.source(&runs, on_progress)?;
                    second.trainer.extend_by_tokens(&base, source, on_progress)?.into_model(&base)?
                }
            }
        };
        Ok(Model::Bpe(model))
    }

    /// The phrases of counts as the trained tokenizer spells them; `stages` have the pre-tokenizer of phrases.
    ///
    /// # Errors
    /// As [`Self::train_from_counts`], for the counts alone.
    pub fn spelled_phrases(&self, words: &CountsFile, stages: &Stages) -> Result<CountsFile> {
        let spelling = if self.is_mapped { Spelling::Bytes } else { Spelling::Text };
        phrases_of(words, stages, spelling)
    }
}

/// The second phase, in bounded memory.
struct SecondPhase<'a> {
    trainer: &'a BpeTrainer,
    base: &'a Bpe,
    budget: &'a Budget,
    threads: usize,
}

/// Makes the counter of a thread.
type NewCounter<'a> = &'a (dyn Fn() -> WordCounter + Sync);

impl SecondPhase<'_> {
    /// # Errors
    /// [`Error::InvalidOption`] if training on `counts` takes more than the memory, besides the base and `taken` bytes. No word of these
    /// may be left out.
    fn check_memory(&self, counts: &CountsFile, taken: usize) -> Result<()> {
        let training = counts.training_memory(&Trainer::Bpe(self.trainer.clone()), self.threads)?;
        let needed = training + (self.base_bytes() + taken) as u64;
        if needed <= self.budget.memory as u64 {
            return Ok(());
        }
        let words = counts.summary().words;
        let expected = format!(
            "at least {needed}, about the memory of the second phase for {words} distinct sequences of tokens; give more memory, or learn \
             fewer superwords"
        );
        Err(Error::InvalidOption { name: "max_memory", value: self.budget.memory.to_string(), expected })
    }

    /// Estimated bytes of the base.
    fn base_bytes(&self) -> usize {
        self.base.vocab().len() * TOKEN_BYTES
    }

    /// Bytes for the cache of a thread that segments words.
    fn cache(&self) -> usize {
        (self.budget.memory / (8 * self.threads.max(1))).min(MOST_CACHE)
    }

    /// The words as the trainer needs them; there may be none.
    fn source(&self, counts: &CountsFile, on_progress: &mut OnProgress<'_>) -> Result<Words<'static>> {
        match counts.summary().words {
            0 => Ok(Words::Table(WordCounts::default())),
            _ => words_of(Trainer::Bpe(self.trainer.clone()).needs_order(), counts, on_progress),
        }
    }

    /// Counts the words that `count` makes of the words of `counts`. `taken` bytes are held meanwhile, besides the base and the caches.
    fn recount(
        &self,
        counts: &CountsFile,
        taken: usize,
        on_progress: &mut OnProgress<'_>,
        count: impl FnOnce(&dyn WordSource, NewCounter<'_>, &mut OnProgress<'_>) -> Result<Vec<WordCounter>>,
    ) -> Result<CountsFile> {
        let summary = counts.summary();
        let stages = Stages { phrases: Value::Null, ..summary.stages.clone() };
        let taken = taken + self.base_bytes() + self.threads * self.cache();
        let budget = self.budget.beside(taken, self.threads);
        let overflow = Arc::new(Overflow::new(budget, self.threads, Spelling::Text, stages)?);
        overflow.begin_source(0, 0);
        let source = self.source(counts, on_progress)?;
        let new_counter = || WordCounter::bounded(Arc::clone(&overflow) as _, overflow.share());
        for mut counter in count(&source, &new_counter, on_progress)? {
            counter.flush()?;
        }
        overflow.finish(summary.texts, summary.bytes, on_progress)
    }

    /// Learns from token words that are too many for the memory, in rounds, from the most frequent merges to the rarest. A round cuts the
    /// words between rare pairs and learns the merges that are frequent; the words of the next round have these merges.
    ///
    /// # Errors
    /// `too_large` if no merge is frequent enough for parts that the memory holds, or if the cuts might change merges; the errors of
    /// reading and writing counts.
    fn learn_in_rounds(
        &self,
        mut words: CountsFile,
        too_large: Error,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Bpe> {
        let floor = self.trainer.min_frequency.max(1);
        let (mut base, mut last_least) = (self.base.clone(), u64::MAX);
        // The grown base is held beside the first one.
        let grown = self.trainer.vocab_size * TOKEN_BYTES;
        loop {
            let missing = self.trainer.vocab_size.saturating_sub(base.vocab().len());
            let (source, memory) = (self.source(&words, on_progress)?, self.budget.memory / PAIRS_SHARE);
            let pairs = RarePairs::count(&base, &source, self.threads, memory, on_progress)?;
            // With ties by first appearance, the source holds all words in memory.
            drop(source);
            let mut least = pairs.guess(missing).min(last_least / 2).max(floor);
            let parts = loop {
                if least >= last_least {
                    return Err(too_large);
                }
                let Some(parts) = self.parts(&words, &pairs, least, grown, on_progress)? else {
                    return Err(too_large);
                };
                if self.check_memory(&parts, grown).is_ok() {
                    break parts;
                }
                least = least.saturating_mul(RAISE);
            };
            drop(pairs);
            let trainer = BpeTrainer { min_frequency: least, ..self.trainer.clone() };
            let extension =
                trainer.extend_by_tokens(&base, self.source(&parts, on_progress)?, on_progress)?;
            drop(parts);
            if is_ambiguous(&base, &extension) {
                return Err(too_large);
            }
            let merges = Bpe::from_pairs(Arc::default(), &extension.merges, BpeOptions::default())?;
            base = extension.into_model(&base)?;
            if least == floor || base.vocab().len() >= self.trainer.vocab_size {
                return Ok(base);
            }
            words = self.recount(&words, grown, on_progress, |source, new_counter, on_progress| {
                count_tokens(|| merged_writer(&merges), source, self.threads, new_counter, on_progress)
            })?;
            last_least = least;
        }
    }

    /// The parts of token words between pairs that are rarer than `least`; `None` if the base merges two neighbours of a part. `taken`
    /// bytes are held meanwhile, besides the base, the caches and `pairs`.
    fn parts(
        &self,
        words: &CountsFile,
        pairs: &RarePairs<'_>,
        least: u64,
        taken: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Option<CountsFile>> {
        let (is_plain, borders) = (AtomicBool::new(true), pairs.borders(least));
        let parts =
            self.recount(words, taken + pairs.bytes(), on_progress, |source, new_counter, on_progress| {
                count_parts(&borders, &is_plain, source, self.threads, new_counter, on_progress)
            })?;
        Ok(is_plain.into_inner().then_some(parts))
    }
}

/// Counts the token words that `new_writer` makes of words.
fn count_tokens<W: FnMut(&str, &mut String) -> Result<()>>(
    new_writer: impl Fn() -> W + Sync,
    source: &dyn WordSource,
    threads: usize,
    new_counter: NewCounter<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<WordCounter>> {
    count_in_parts(source, threads, on_progress, |part, meter| {
        let (mut counter, mut write, mut word) = (new_counter(), new_writer(), String::new());
        each_of(source, part, meter, |text, count, position| {
            write(text, &mut word)?;
            if word.chars().nth(1).is_some() {
                counter.add_counted(word.as_bytes(), count, position);
            }
            counter.check()
        })?;
        Ok(counter)
    })
}

/// Counts the parts of token words. `is_plain` becomes false if the base merges two neighbours of a part.
fn count_parts(
    borders: &RareBorders<'_>,
    is_plain: &AtomicBool,
    source: &dyn WordSource,
    threads: usize,
    new_counter: NewCounter<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<WordCounter>> {
    count_in_parts(source, threads, on_progress, |part, meter| {
        let mut counter = new_counter();
        each_of(source, part, meter, |word, count, position| {
            let mut next = position;
            let are_new = borders.for_each_part(word, |part| {
                counter.add_counted(part.as_bytes(), count, next);
                next += 1;
            });
            if !are_new {
                is_plain.store(false, Ordering::Relaxed);
            }
            counter.check()
        })?;
        Ok(counter)
    })
}

/// Runs `count` for each part of a source.
fn count_in_parts(
    source: &dyn WordSource,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
    count: impl Fn((Range<usize>, u64), &Meter) -> Result<WordCounter> + Sync,
) -> Result<Vec<WordCounter>> {
    let parts = source.parts(threads).into_iter().zip(0_u64..).collect();
    run_parts("count superwords", source.byte_len() as u64, parts, on_progress, count)?.into_iter().collect()
}

/// Calls `each` with the words of part `number` of a source, each with its count and its position in the source.
fn each_of(
    source: &dyn WordSource,
    (part, number): (Range<usize>, u64),
    meter: &Meter,
    mut each: impl FnMut(&str, u64, u64) -> Result<()>,
) -> Result<()> {
    // Parts are in the order of the words. A word takes as many positions as its bytes, and a part has fewer bytes than 2^44.
    let (mut position, mut bytes) = (number << 44, 0);
    source.read(part, &mut |word, count| {
        each(word, count, position)?;
        position += word.len() as u64 + 1;
        bytes += word.len();
        Ok(bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes)))
    })
}

/// The phrases of counts in a spelling.
fn phrases_of(words: &CountsFile, stages: &Stages, spelling: Spelling) -> Result<CountsFile> {
    let phrases = words.phrases(spelling).ok_or_else(|| {
        let message =
            "the word counts have no phrases, from which superwords are learnt; count with superwords=";
        Error::Unsupported(message.to_owned())
    })?;
    check_stages(words, stages)?;
    Ok(phrases)
}
