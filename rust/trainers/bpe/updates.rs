//! Merges applied to the words and to the table of pairs.

use super::apply_merges::{self, Part, Replacement};
use super::arena::{Arena, Whole};
use super::cells::Cell;
use super::neighbours::{self, MergeDeltas, Sums};
use super::pairs::PairTable;
use super::tokens::Tokens;
use crate::Result;

/// How many threads apply merges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads {
    /// At most this many.
    pub(super) most: usize,
    /// Positions for each thread; fewer positions use fewer threads.
    pub(super) share: usize,
}

/// The changes that the merges in progress cause.
#[derive(Debug, Default)]
pub(super) struct Updates {
    // One for each thread; grows to the largest number of threads used so far.
    all_deltas: Vec<MergeDeltas>,
    sums: Sums,
}

impl Updates {
    /// Replaces the pairs at `indices` in the words, each by the replacement at its place; returns how many threads were used.
    ///
    /// `ids` is the number of tokens. Calls `tick` with the number of positions read, and stops if it fails.
    #[expect(clippy::too_many_arguments, reason = "the words, the merges and the threads")]
    pub(super) fn replace(
        &mut self,
        arena: &mut Arena,
        pairs: &PairTable,
        indices: &[u32],
        replacements: &[Replacement],
        ids: usize,
        threads: Threads,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<usize> {
        match arena.whole() {
            Whole::Narrow(whole) => self.replace_in(whole, pairs, indices, replacements, ids, threads, tick),
            Whole::Wide(whole) => self.replace_in(whole, pairs, indices, replacements, ids, threads, tick),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "as `replace`")]
    fn replace_in<C: Cell>(
        &mut self,
        whole: Part<'_, C>,
        pairs: &PairTable,
        indices: &[u32],
        replacements: &[Replacement],
        ids: usize,
        threads: Threads,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<usize> {
        let lists: Vec<&[u32]> = indices.iter().map(|&index| pairs.places(index)).collect();
        let places: usize = lists.iter().map(|places| places.len()).sum();
        let wanted = (places / threads.share.max(1)).clamp(1, threads.most.max(1));
        let tasks = whole.split(lists, wanted);
        let used = tasks.len();
        if self.all_deltas.len() < used {
            self.all_deltas.resize_with(used, MergeDeltas::default);
        }
        let all_deltas = &mut self.all_deltas[..used];
        for deltas in &mut *all_deltas {
            deltas.start(replacements.len(), ids);
        }
        apply_merges::apply(tasks, replacements, all_deltas, tick)?;
        Ok(used)
    }

    /// Updates the counts after [`Self::replace`], which used `used` threads, and tracks the new pairs.
    pub(super) fn count(
        &mut self,
        pairs: &mut PairTable,
        indices: &[u32],
        replacements: &[Replacement],
        tokens: &Tokens,
        used: usize,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let base = pairs.next_place();
        let (sums, parts) = (&mut self.sums, &mut self.all_deltas[..used]);
        sums.make_room(tokens.len());
        for (number, replacement) in replacements.iter().enumerate() {
            let Replacement { left, right, joined } = *replacement;
            sums.for_each(
                parts,
                |part| &mut part.merge(number).left,
                |token, tally| {
                    pairs.lower(token, left, tally.weight);
                    pairs.open(token, joined, tally, tokens, base)
                },
            );
            sums.for_each(
                parts,
                |part| &mut part.merge(number).right,
                |token, tally| {
                    pairs.lower(right, token, tally.weight);
                    pairs.open(joined, token, tally, tokens, base)
                },
            );
            neighbours::for_self_pair(parts, number, |self_pair| {
                pairs.lower(right, left, self_pair.weight);
                pairs.open(joined, joined, self_pair, tokens, base)
            });
            pairs.retire(indices[number]);
        }
        if pairs.next_place() > base {
            for part in parts {
                part.hand_out(indices.len(), pairs.places_from(base), &mut *tick)?;
            }
        }
        pairs.check()
    }

    /// How often the first merge was performed, weighted by the words' counts.
    pub(super) fn performed(&mut self, used: usize) -> u64 {
        self.all_deltas[..used].iter_mut().map(|deltas| deltas.merge(0).performed).sum()
    }
}
