//! Token words cut between rare pairs: a training from a base in less memory.
//!
//! Let the merges that a training learns have counts of at least `least`, and let each new token be made of one sequence of tokens of the
//! base. Then all occurrences of a merged pair have the same two tokens of the base beside their border, so these two stand side by
//! side at least as often as the merge's count. So no merge reaches across a border between two tokens that stand side by side fewer than
//! `least` times, and a word may be cut there. A sketch bounds how often that is, from above.
//!
//! The training stops before merges rarer than `least`, and the sequences are compared when the merges are known ([`is_ambiguous`]).
//! `docs/algorithms/superwords.md` has the proof.

use std::collections::HashMap;

use super::Extension;
use super::pair_key::key;
use super::sketch::{Filter, Hash, Sketch};
use super::token_words::id_of;
use crate::Result;
use crate::models::bpe::Bpe;
use crate::structures::parallel::{METER_EVERY, OnProgress, run_parts};
use crate::trainers::word_counts::WordSource;

/// Bounds of the counts of all pairs of neighbours in token words.
pub struct RarePairs<'a> {
    base: &'a Bpe,
    sketch: Sketch,
}

/// The borders at which token words are cut.
pub struct RareBorders<'a> {
    base: &'a Bpe,
    frequent: Filter,
}

impl<'a> RarePairs<'a> {
    /// Counts the pairs of [token words](super::token_words::char_of). The sketches of all threads and their sum take `memory` bytes at
    /// most, or 4 MB each. Larger sketches give closer bounds.
    ///
    /// # Errors
    /// The errors of reading and of `on_progress`.
    pub fn count(
        base: &'a Bpe,
        words: &dyn WordSource,
        threads: usize,
        memory: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let (parts, total) = (words.parts(threads), words.byte_len() as u64);
        // A sketch for each thread, and their sum.
        let bytes = memory / (threads.max(1) + 1);
        let hash = Hash::within(base.vocab().id_bound(), words.byte_len().max(2), bytes);
        let sketches = run_parts("count pairs", total, parts, on_progress, |part, meter| {
            let (mut sketch, mut bytes) = (Sketch::new(hash), 0);
            words.read(part, &mut |word, count| {
                let ids = word.chars().map(id_of);
                for (left, right) in ids.clone().zip(ids.skip(1)) {
                    sketch.add(key(left, right), count);
                }
                bytes += word.len();
                Ok(bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes)))
            })?;
            Ok(sketch)
        })?;
        let mut sketch = Sketch::new(hash);
        for part in sketches {
            sketch.add_all(&part?);
        }
        Ok(Self { base, sketch })
    }

    /// The bytes of the bounds and of borders.
    pub fn bytes(&self) -> usize {
        self.sketch.bytes() + self.sketch.bytes() / 32
    }

    /// A guess at the count of the last of `merges` merges, most often below it.
    pub fn guess(&self, merges: usize) -> u64 {
        self.sketch.nth_highest(merges.saturating_mul(2))
    }

    /// The borders between pairs that stand side by side fewer than `least` times.
    pub fn borders(&self, least: u64) -> RareBorders<'a> {
        RareBorders { base: self.base, frequent: self.sketch.filter(least.min(u64::from(u32::MAX))) }
    }
}

/// True if a token of `extension` has several sequences of tokens of `base`: then cut words may give other merges than whole words.
pub fn is_ambiguous(base: &Bpe, extension: &Extension) -> bool {
    let mut sequences: HashMap<u32, Vec<u32>> = HashMap::new();
    for &((left, right), made) in &extension.merges {
        let sequence =
            [left, right].map(|id| sequences.get(&id).cloned().unwrap_or_else(|| vec![id])).concat();
        let is_known = base.vocab().token(made).is_some();
        if is_known || sequences.get(&made).is_some_and(|known| *known != sequence) {
            return true;
        }
        sequences.insert(made, sequence);
    }
    false
}

impl RareBorders<'_> {
    /// Calls `each` with each part of a token word of two tokens and more. False if the base merges two neighbours of a part, which a
    /// training would not list again.
    pub fn for_each_part(&self, word: &str, mut each: impl FnMut(&str)) -> bool {
        let (mut start, mut last, mut are_new) = (0, None, true);
        for (at, character) in word.char_indices() {
            let id = id_of(character);
            if let Some((last_at, left)) = last {
                if self.frequent.may_hold(key(left, id)) {
                    are_new &= self.base.made_id((left, id)).is_none();
                } else {
                    if start < last_at {
                        each(&word[start..at]);
                    }
                    start = at;
                }
            }
            last = Some((at, id));
        }
        if last.is_some_and(|(last_at, _)| start < last_at) {
            each(&word[start..]);
        }
        are_new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::token_words::char_of;
    use super::super::{BpeTrainer, TieBreak};
    use super::*;
    use crate::models::bpe::BpeOptions;
    use crate::testing::cases;
    use crate::trainers::word_counts::WordCounts;
    use crate::vocab::Vocab;

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn cut_words_match_naive(
            words in prop::collection::btree_map(prop::collection::vec(0u32..6, 0..12), 1u64..60, 1..12),
            (extra, min_frequency, least) in (0usize..12, 0u64..4, 1u64..80),
            max_token_length in prop::option::weighted(0.3, 2usize..6),
            first_seen in any::<bool>(),
        ) {
            // Some tokens are spelled by two others.
            let vocab = Vocab::from_tokens(["a", "b", "c", "d", "ab", "cd"]);
            let base = Bpe::new(vocab, &[("a", "b")], BpeOptions::default()).expect("all tokens are there");
            let words: Vec<(String, u64)> = words.into_iter()
                .map(|(ids, count)| (ids.into_iter().filter_map(char_of).collect(), count)).collect();
            let whole: WordCounts = words.iter().map(|(word, count)| (word.as_str(), *count)).collect();
            let tie_break = if first_seen { TieBreak::FirstSeen } else { TieBreak::SmallestIds };
            let min_frequency = min_frequency.max(least);
            let trainer = BpeTrainer { vocab_size: 6 + extra, min_frequency, max_token_length, tie_break, ..BpeTrainer::default() };
            let pairs = RarePairs::count(&base, &whole, 2, 0, &mut |_| Ok(())).expect("in memory");
            let borders = pairs.borders(least);
            let (mut order, mut counts, mut are_new) = (Vec::new(), BTreeMap::<String, u64>::new(), true);
            for (word, count) in &words {
                are_new &= borders.for_each_part(word, |part| {
                    if !counts.contains_key(part) {
                        order.push(part.to_owned());
                    }
                    *counts.entry(part.to_owned()).or_default() += count;
                });
            }
            let parts: WordCounts = order.iter().map(|part| (part.as_str(), counts[part])).collect();
            let learnt = trainer.extend_by_tokens(&base, parts, &mut |_| Ok(())).expect("the size suffices");
            if are_new && !is_ambiguous(&base, &learnt) {
                let expected = trainer.extend_by_tokens(&base, whole, &mut |_| Ok(())).expect("the size suffices");
                prop_assert_eq!(learnt, expected);
            }
        }
    }
}
