//! The words of one language or dev set, with all their pairs.

use super::super::apply_merges::Replacement;
use super::super::arena::Arena;
use super::super::counting::Counter;
use super::super::pairs::{LengthLimit, PairTable};
use super::super::scores::nearest_f64;
use super::super::text_limit::TextLimit;
use super::super::tokens::Tokens;
use super::super::updates::{Threads, Updates};
use super::most_frequent::MostFrequent;
use crate::Result;
use crate::structures::parallel::OnProgress;

/// Options shared by all corpora.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) length_limit: LengthLimit,
    pub(super) threads: Threads,
    /// A pair less frequent than this is never merged.
    pub(super) min_frequency: u64,
}

/// A merge of two tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) joined: u32,
    /// True if the words may hold `joined` already; then a recount must follow.
    pub(super) known: bool,
}

/// The words of one language or dev set.
#[derive(Debug)]
pub(super) struct Corpus {
    arena: Arena,
    is_compact: bool,
    // `None` before the first count.
    pairs: Option<PairTable>,
    most_frequent: MostFrequent,
    size_at_start: u64,
    size: u64,
}

impl Corpus {
    /// Words of `size` symbols, weighted by their counts.
    pub(super) fn new(arena: Arena, size: u64) -> Self {
        let most_frequent = MostFrequent::default();
        Self { arena, is_compact: true, pairs: None, most_frequent, size_at_start: size, size }
    }

    /// Symbols of the words as they are now, weighted by the words' counts.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Symbols at the start for each symbol now; infinite if there are none.
    pub(super) fn rate(&self) -> f64 {
        if self.size == 0 { f64::INFINITY } else { nearest_f64(self.size_at_start) / nearest_f64(self.size) }
    }

    /// Counts all pairs from scratch.
    pub(super) fn recount(
        &mut self,
        tokens: &Tokens,
        setting: Setting,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let Setting { length_limit, threads, .. } = setting;
        self.pairs = None;
        if !self.is_compact {
            self.arena.compact(threads.most, on_progress)?;
            self.is_compact = true;
        }
        self.arena.index_headers(threads.most, on_progress)?;
        let counter = Counter {
            arena: &self.arena,
            tokens,
            length_limit,
            text_limit: &TextLimit::default(),
            threads: threads.most,
            dense_ids: usize::MAX,
        };
        let pair_stats = counter.pair_stats(on_progress)?;
        let pairs = counter.table(pair_stats, 1, usize::MAX, on_progress)?;
        self.most_frequent.start(&pairs);
        self.pairs = Some(pairs);
        Ok(())
    }

    /// Takes the most frequent pair out of the queue, with its count; `None` if it occurs less often than `min_frequency`. The
    /// caller merges it, since it does not come again.
    pub(super) fn take_best(&mut self, tokens: &Tokens, min_frequency: u64) -> Option<(u32, u32, u64)> {
        let pairs = self.pairs.as_ref()?;
        self.most_frequent.queue_new(pairs, tokens);
        let index = self.most_frequent.pop(pairs, tokens)?;
        let (pair, count) = (pairs.get(index), pairs.count(index));
        (count >= min_frequency).then_some((pair.left, pair.right, count))
    }

    /// Merges a pair wherever it occurs; calls `tick` with the number of positions read, and stops if it fails.
    pub(super) fn apply(
        &mut self,
        merge: Merge,
        tokens: &Tokens,
        setting: Setting,
        updates: &mut Updates,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let Merge { left, right, joined, known } = merge;
        let Some(pairs) = &mut self.pairs else { return Ok(()) };
        let Some(index) = pairs.find(left, right).filter(|&index| pairs.count(index) > 0) else {
            return Ok(());
        };
        self.is_compact = false;
        let (indices, replacements) = (&[index], &[Replacement { left, right, joined }]);
        let (arena, ids) = (&mut self.arena, tokens.len());
        let used = updates.replace(arena, pairs, indices, replacements, ids, setting.threads, tick)?;
        self.size = self.size.saturating_sub(updates.performed(used));
        if !known {
            updates.count(pairs, indices, replacements, tokens, used, tick)?;
        }
        Ok(())
    }
}
