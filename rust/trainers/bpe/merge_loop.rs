//! Choosing and applying merges, one threshold after the other.

use super::arena::Arena;
use super::choice::Choice;
use super::counting::Counter;
use super::likelihood::Merged;
use super::neighbours::{self, Neighbours};
use super::pairs::{LengthLimit, Pair, PairTable, key};
use super::tokens::Tokens;
use super::walk::{self, Replacement};
use super::{BpeTrainer, TrainedBpe};
use crate::Result;
use crate::structures::flat_map::FlatMap;
use crate::structures::progress::OnProgress;
use crate::structures::workers::Pacer;

/// Where the thresholds lie; a matter of speed only.
///
/// A low threshold tracks pairs that never win, a high one recounts more often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// The threshold is at least the highest count divided by this.
    pub(super) spread: u64,
    /// At most about this many pairs reach the threshold for every 100 tokens still to be found.
    pub(super) tracked_percent: usize,
    /// A merge with more places than this is shared out, so many places to a thread.
    pub(super) share: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { spread: 256, tracked_percent: 130, share: 1 << 13 }
    }
}

/// What is left to do under one threshold.
#[derive(PartialEq, Eq)]
enum Outcome {
    /// Nothing, nor under a lower one.
    Finished,
    /// The next threshold may find more pairs.
    Exhausted,
}

/// The state of training.
pub(super) struct MergeLoop<'a> {
    trainer: &'a BpeTrainer,
    tuning: Tuning,
    tokens: Tokens,
    arena: Arena,
    // One for each thread, where so many have been needed.
    neighbours: Vec<Neighbours>,
    choice: Choice,
    initial: usize,
    // The next threshold is at most this.
    ceiling: u64,
    // Whether some merge has spelled a token that was in use before, so that pairs can come back.
    pairs_return: bool,
    merges: Vec<(u32, u32)>,
    counts: Vec<u64>,
}

impl<'a> MergeLoop<'a> {
    /// Training that starts from symbolised words.
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
            initial: tokens.len(),
            ceiling: u64::MAX,
            tokens,
            arena,
            neighbours: Vec::new(),
            choice,
            pairs_return: false,
            merges: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Merges until the vocabulary is full or no pair is frequent enough.
    pub(super) fn run(mut self, on_progress: &mut OnProgress<'_>) -> Result<TrainedBpe> {
        let mut pacer = Pacer::new("merge pairs", (self.trainer.vocab_size - self.initial) as u64);
        while self.wants_more() && self.run_threshold(&mut pacer, on_progress)? == Outcome::Exhausted {}
        pacer.finish(self.done(), on_progress)?;
        Ok(self.into_trained())
    }

    fn wants_more(&self) -> bool {
        self.tokens.len() < self.trainer.vocab_size
    }

    fn done(&self) -> u64 {
        (self.tokens.len() - self.initial) as u64
    }

    fn run_threshold(&mut self, pacer: &mut Pacer, on_progress: &mut OnProgress<'_>) -> Result<Outcome> {
        let least = self.trainer.min_frequency.max(1);
        let mut pairs = self.build_pairs(least, on_progress)?;
        self.choice.start(&mut pairs, &self.arena);
        while self.wants_more() {
            let Some(index) = self.choice.next(&mut pairs, &self.arena) else {
                return Ok(if pairs.threshold() > least { Outcome::Exhausted } else { Outcome::Finished });
            };
            let pair = pairs.get(index);
            let prefix = self.trainer.continuing_subword_prefix.as_deref();
            let (joined, known) = self.tokens.join(pair.left, pair.right, prefix);
            self.merges.push((pair.left, pair.right));
            self.counts.push(pairs.count(index));
            if known {
                // Pairs of the old token gain occurrences, even untracked ones: only a recount tells their counts.
                self.pairs_return = true;
                self.ceiling = u64::MAX;
                let Pair { left, right, .. } = pair;
                let replacement = Replacement { left, right, joined };
                let (_, weight) = self.walk(&pairs, index, replacement, pacer, on_progress)?;
                self.choice.recount(Merged { left, right, joined, weight, first_new: 0 });
                return Ok(Outcome::Exhausted);
            }
            self.apply(&mut pairs, index, joined, pacer, on_progress)?;
        }
        Ok(Outcome::Finished)
    }

    fn build_pairs(&mut self, least: u64, on_progress: &mut OnProgress<'_>) -> Result<PairTable> {
        let threads = self.trainer.threads;
        if self.ceiling < u64::MAX || self.pairs_return {
            self.arena.compact(threads, on_progress)?;
        }
        self.arena.index_headers(threads, on_progress)?;
        let wanted =
            (self.trainer.vocab_size - self.tokens.len()).saturating_mul(self.tuning.tracked_percent) / 100;
        let counter = Counter {
            arena: &self.arena,
            tokens: &self.tokens,
            length_limit: LengthLimit(self.trainer.max_token_length),
            threads,
        };
        let sketch = counter.sketch(on_progress)?;
        // A sketch may promise more than there is, so the ceiling sees to it that thresholds fall.
        let threshold = (sketch.highest() / self.tuning.spread)
            .max(sketch.nth_highest(wanted))
            .min(self.ceiling)
            .max(least);
        let threshold = if self.choice.needs_all_pairs() { least } else { threshold };
        self.ceiling = threshold / 2;
        counter.table(sketch, threshold, on_progress)
    }

    /// What was learnt. A pair that was merged before keeps its later place alone, as in Hugging Face.
    fn into_trained(self) -> TrainedBpe {
        let (mut merges, mut counts) = (self.merges, self.counts);
        if self.pairs_return {
            let mut last: FlatMap<u32> = FlatMap::with_capacity(merges.len());
            for (&(left, right), place) in merges.iter().zip(0..) {
                *last.entry(key(left, right)) = place;
            }
            let learnt = merges.into_iter().zip(counts).zip(0..);
            let kept =
                learnt.filter(|&(((left, right), _), place)| last.get(key(left, right)) == Some(place));
            (merges, counts) = kept.map(|(merge, _)| merge).unzip();
        }
        TrainedBpe { vocab: self.tokens.into_texts(), merges, counts }
    }

    /// Replaces a pair everywhere, on several threads where there is enough to do; returns how many had a part in it, whose
    /// neighbours are noted, and how often the pair was replaced, by the words' counts.
    fn walk(
        &mut self,
        pairs: &PairTable,
        index: u32,
        replacement: Replacement,
        pacer: &mut Pacer,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(usize, u64)> {
        let (places, done) = (pairs.places(index), self.done());
        let wanted = (places.len() / self.tuning.share.max(1)).clamp(1, self.trainer.threads.max(1));
        let parts = self.arena.whole().split(places, wanted);
        let used = parts.len();
        if self.neighbours.len() < used {
            self.neighbours.resize_with(used, Neighbours::default);
        }
        let neighbours = &mut self.neighbours[..used];
        for part in &mut *neighbours {
            part.start(self.tokens.len());
        }
        let mut tick = |units| pacer.tick(units, done, on_progress);
        let performed = walk::apply(parts, replacement, neighbours, &mut tick)?;
        Ok((used, performed))
    }

    /// Replaces a pair by a new token everywhere and brings all counts up to date.
    fn apply(
        &mut self,
        pairs: &mut PairTable,
        index: u32,
        joined: u32,
        pacer: &mut Pacer,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let Pair { left, right, .. } = pairs.get(index);
        let done = self.done();
        let replacement = Replacement { left, right, joined };
        let (parts, performed) = self.walk(pairs, index, replacement, pacer, on_progress)?;
        let parts = &mut self.neighbours[..parts];

        let (base, first_new) = (pairs.next_place(), pairs.len() as u32);
        let tokens = &self.tokens;
        neighbours::for_each(
            parts,
            |part| &mut part.left,
            |token, tally| {
                pairs.lower(token, left, tally.weight);
                pairs.open(token, joined, tally, tokens, base)
            },
        );
        neighbours::for_each(
            parts,
            |part| &mut part.right,
            |token, tally| {
                pairs.lower(right, token, tally.weight);
                pairs.open(joined, token, tally, tokens, base)
            },
        );
        neighbours::for_twin(parts, |twin| {
            pairs.lower(right, left, twin.weight);
            pairs.open(joined, joined, twin, tokens, base)
        });
        pairs.retire(index);
        if pairs.next_place() > base {
            for part in parts {
                let tick = |units| pacer.tick(units, done, on_progress);
                part.hand_out(pairs.places_from(base), tick)?;
            }
        }
        let merged = Merged { left, right, joined, weight: performed, first_new };
        self.choice.update(merged, pairs, &self.arena);
        Ok(())
    }
}
