//! The main loop: chooses pairs and applies merges, one threshold after the other.

mod begin;

use super::apply_merges::Replacement;
use super::arena::Arena;
use super::batch::{Batch, Refused};
use super::cells::Cell;
use super::choice::Choice;
use super::counting::Counter;
use super::likelihood::Merged;
use super::pairs::{LengthLimit, Pair, PairTable};
use super::text_limit::TextLimit;
use super::tokens::Tokens;
use super::updates::{Threads, Updates};
use super::{BpeTrainer, TrainedBpe};
use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::Pacer;

/// Where the thresholds lie, and how work is shared; the result does not depend on it.
///
/// A low threshold tracks pairs that never win; a high one recounts more often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// The threshold is at least the highest count divided by this.
    pub(super) spread: u64,
    /// At most about this many pairs reach the threshold for every 100 tokens still to be found.
    pub(super) tracked_percent: usize,
    /// Positions for each thread; a batch with fewer uses fewer threads.
    pub(super) share: usize,
    /// The arena and the positions of pairs take at most about this percentage of the arena at the start.
    pub(super) memory_percent: usize,
    /// Positions that may be held in any case.
    pub(super) least_places: usize,
    /// Narrow cells hold ids up to this one.
    pub(super) narrow_id: usize,
    /// Pairs of more ids are counted in a sketch first.
    pub(super) dense_ids: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            spread: 256,
            tracked_percent: 160,
            share: 1 << 13,
            memory_percent: 160,
            least_places: 1 << 24,
            narrow_id: u16::MOST as usize,
            dense_ids: usize::MAX,
        }
    }
}

/// Maximal number of pairs in a batch.
const LARGEST: usize = 64;

/// Why no more merges follow under a threshold.
#[derive(PartialEq, Eq)]
enum Outcome {
    /// Training is finished: a lower threshold would find no pair either.
    Finished,
    /// A lower threshold may find more pairs.
    Exhausted,
    /// The pairs take too much memory, or tokens no longer fit into the cells.
    Full,
}

/// The state of training.
pub(super) struct MergeLoop<'a> {
    trainer: &'a BpeTrainer,
    tuning: Tuning,
    text_limit: TextLimit,
    tokens: Tokens,
    arena: Arena,
    choice: Choice,
    batch: Batch,
    refused: Refused,
    updates: Updates,
    initial: usize,
    // Upper bound of the next threshold.
    ceiling: u64,
    // True if some merge has made a token that was in use before, so that counts of pairs can rise.
    pairs_return: bool,
    // True if each token has one cell and no word has a single token.
    is_compact: bool,
    // True if cells are too narrow for the next tokens.
    is_full: bool,
    // Bytes of the arena and of positions.
    memory: usize,
    // The merges in the order learnt, and how often each pair occurred when it was chosen; a merge that was learnt twice is listed
    // twice.
    merges: Vec<(u32, u32)>,
    counts: Vec<u64>,
}

impl<'a> MergeLoop<'a> {
    /// Training that starts from the initial symbols of the words in `arena`.
    pub(super) fn new(
        trainer: &'a BpeTrainer,
        tokens: Tokens,
        arena: Arena,
        choice: Choice,
        tuning: Tuning,
    ) -> Self {
        Self {
            trainer,
            tuning,
            text_limit: TextLimit::of(trainer),
            initial: tokens.len(),
            ceiling: u64::MAX,
            tokens,
            choice,
            batch: Batch::default(),
            refused: Refused::default(),
            updates: Updates::default(),
            pairs_return: false,
            is_compact: true,
            is_full: false,
            memory: arena.bytes() / 100 * tuning.memory_percent,
            arena,
            merges: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Makes the `first` merges, then merges until the vocabulary is full or no pair is frequent enough.
    pub(super) fn run(
        mut self,
        first: Vec<(u32, u32)>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<TrainedBpe> {
        self.begin(first, on_progress)?;
        let mut pacer = Pacer::new("merge pairs", (self.trainer.vocab_size - self.initial) as u64);
        while self.wants_more() && self.run_threshold(&mut pacer, on_progress)? != Outcome::Finished {}
        pacer.finish(self.done(), on_progress)?;
        Ok(self.into_trained())
    }

    fn wants_more(&self) -> bool {
        self.tokens.len() < self.trainer.vocab_size
    }

    /// True if narrow cells can hold the ids of one more batch.
    fn fits_batch(&self) -> bool {
        self.tokens.len() + LARGEST <= self.tuning.narrow_id
    }

    fn done(&self) -> u64 {
        (self.tokens.len() - self.initial) as u64
    }

    fn run_threshold(&mut self, pacer: &mut Pacer, on_progress: &mut OnProgress<'_>) -> Result<Outcome> {
        let least = self.trainer.min_frequency.max(1);
        let mut pairs = self.build_pairs(least, on_progress)?;
        self.choice.start(&mut pairs, &self.arena);
        self.refused = Refused::default();
        let most_places = self.most_places().max(2 * pairs.next_place());
        while self.wants_more() {
            let Some(index) = self.choice.next(&mut pairs, &self.arena) else {
                return Ok(if pairs.threshold() > least { Outcome::Exhausted } else { Outcome::Finished });
            };
            if self.is_refused(pairs.get(index)) {
                continue;
            }
            if !self.fits_batch() && self.arena.is_narrow() {
                self.is_full = true;
                return Ok(Outcome::Full);
            }
            self.batch.clear();
            if self.join(&pairs, index) {
                // Pairs of the old token, tracked or not, gain occurrences: only a recount finds their counts.
                self.pairs_return = true;
                self.ceiling = u64::MAX;
                let used = self.apply_merges(&pairs, pacer, on_progress)?;
                let merged = self.merged(used, 0);
                self.choice.recount(merged);
                return Ok(Outcome::Exhausted);
            }
            self.widen(&mut pairs);
            self.apply(&mut pairs, pacer, on_progress)?;
            if pairs.next_place() > most_places && !self.choice.needs_all_pairs() {
                self.ceiling = u64::MAX;
                return Ok(Outcome::Full);
            }
        }
        Ok(Outcome::Finished)
    }

    fn build_pairs(&mut self, least: u64, on_progress: &mut OnProgress<'_>) -> Result<PairTable> {
        let threads = self.trainer.threads;
        if !self.is_compact {
            self.arena.compact(threads, on_progress)?;
        }
        if self.is_full {
            self.ceiling = u64::MAX;
            self.arena.widen();
            self.is_full = false;
        }
        self.arena.index_headers(threads, on_progress)?;
        let wanted =
            (self.trainer.vocab_size - self.tokens.len()).saturating_mul(self.tuning.tracked_percent) / 100;
        let counter = Counter {
            arena: &self.arena,
            tokens: &self.tokens,
            length_limit: LengthLimit { chars: self.trainer.max_token_length, words: self.trainer.max_words },
            text_limit: &self.text_limit,
            threads,
            dense_ids: self.tuning.dense_ids,
        };
        let pair_stats = counter.pair_stats(on_progress)?;
        // A sketch may overestimate counts, so the ceiling ensures that each threshold is lower than the last.
        let threshold = (pair_stats.highest() / self.tuning.spread)
            .max(pair_stats.nth_highest(wanted))
            .min(self.ceiling)
            .max(least);
        let is_bounded = !self.choice.needs_all_pairs();
        let (threshold, most) =
            if is_bounded { (threshold, self.most_places() / 2) } else { (least, usize::MAX) };
        let table = counter.table(pair_stats, threshold, most, on_progress)?;
        // A threshold that was raised for want of memory is lowered step by step.
        self.ceiling = if table.threshold() > threshold { table.threshold() - 1 } else { threshold / 2 };
        self.is_compact = false;
        Ok(table)
    }

    /// How many positions of pairs may be held.
    fn most_places(&self) -> usize {
        (self.memory.saturating_sub(self.arena.bytes()) / size_of::<u32>()).max(self.tuning.least_places)
    }

    fn into_trained(self) -> TrainedBpe {
        let vocab = self.tokens.into_texts();
        let trained = TrainedBpe { vocab, merges: self.merges, counts: self.counts };
        if self.pairs_return { trained.with_later_ranks() } else { trained }
    }

    /// Adds a pair to the batch; returns true if the words may already hold the token that the pair makes.
    ///
    /// Such a pair needs a batch of its own: it is added only if the batch is empty.
    fn join(&mut self, pairs: &PairTable, index: u32) -> bool {
        let pair = pairs.get(index);
        let Pair { left, right, .. } = pair;
        let prefix = self.trainer.continuing_subword_prefix.as_deref();
        let (joined, known) = self.tokens.join(left, right, prefix);
        if !known || self.batch.pairs.is_empty() {
            self.merges.push((left, right));
            self.counts.push(pairs.count(index));
            self.batch.indices.push(index);
            self.batch.pairs.push(pair);
            self.batch.replacements.push(Replacement { left, right, joined });
        }
        known
    }

    /// True for a pair that is never merged, because its text is a token. A text that is a token stays one.
    fn is_refused(&mut self, pair: Pair) -> bool {
        let prefix = self.trainer.continuing_subword_prefix.as_deref();
        let is_refused =
            self.trainer.only_new_tokens && self.tokens.spells_token(pair.left, pair.right, prefix);
        if is_refused {
            self.refused.insert(pair);
        }
        is_refused
    }

    /// True if the last merge of the batch makes a token with a new id, the largest one.
    fn ends_with_new_token(&self) -> bool {
        self.batch.replacements.last().is_some_and(|last| last.joined as usize + 1 == self.tokens.len())
    }

    /// Adds pairs that are certain to come next to the batch, until there is enough work for all threads.
    fn widen(&mut self, pairs: &mut PairTable) {
        let threads = self.trainer.threads;
        let wanted = if threads > 1 { self.tuning.share.saturating_mul(threads) } else { 0 };
        let mut places = pairs.places(self.batch.indices[0]).len();
        // Merging a token with itself makes new pairs that may be as frequent as the merged pair.
        let is_run = |pair: Pair| pair.left == pair.right;
        if is_run(self.batch.pairs[0]) || self.refused.touch(self.batch.pairs[0]) {
            return;
        }
        // Where `b y` is forbidden and `ab y` is not, merging `a b` makes a pair that may be more frequent than all that wait.
        if !self.text_limit.allows_all() {
            return;
        }
        // A token that had an id before, such as a special token, makes pairs with smaller ids than the waiting pairs.
        while places < wanted && self.batch.len() < LARGEST && self.wants_more() && self.ends_with_new_token()
        {
            let Some(index) = self.choice.next_beside(&self.batch.pairs, pairs, &self.arena) else { return };
            let pair = pairs.get(index);
            if is_run(pair) || self.is_refused(pair) || self.join(pairs, index) {
                self.choice.give_back(index, pairs, &self.arena);
                return;
            }
            if self.refused.touch(pair) {
                return;
            }
            places += pairs.places(index).len();
        }
    }

    /// Applies the merges of the batch, without their effect on the counts; returns how many threads were used.
    fn apply_merges(
        &mut self,
        pairs: &PairTable,
        pacer: &mut Pacer,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<usize> {
        let done = self.done();
        let Batch { indices, replacements, .. } = &self.batch;
        let threads = Threads { most: self.trainer.threads, share: self.tuning.share };
        self.updates.replace(
            &mut self.arena,
            pairs,
            indices,
            replacements,
            self.tokens.len(),
            threads,
            &mut |positions| pacer.tick(positions, done, on_progress),
        )
    }

    /// Applies the merges of the batch and updates all counts.
    fn apply(
        &mut self,
        pairs: &mut PairTable,
        pacer: &mut Pacer,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let used = self.apply_merges(pairs, pacer, on_progress)?;
        let done = self.done();
        let first_new = pairs.len() as u32;
        let Batch { indices, replacements, .. } = &self.batch;
        self.updates.count(pairs, indices, replacements, &self.tokens, used, &mut |positions| {
            pacer.tick(positions, done, on_progress)
        })?;
        let merged = self.merged(used, first_new);
        self.choice.update(merged, pairs, &self.arena);
        Ok(())
    }

    /// The first merge of the batch; `used` threads applied it, and pairs from `first_new` on are new.
    ///
    /// With the choice by likelihood it is the only merge of its batch.
    fn merged(&mut self, used: usize, first_new: u32) -> Merged {
        let Replacement { left, right, joined } = self.batch.replacements[0];
        Merged { left, right, joined, weight: self.updates.performed(used), first_new }
    }
}
