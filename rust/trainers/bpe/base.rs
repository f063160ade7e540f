//! Training from a base: a model keeps its tokens, their ids and its merges, and new merges follow them.
//!
//! The words are first segmented by the base: each word by itself, by the model's own routine, which applies the merge of the lowest
//! rank, leftmost first, until none is left. Applying each merge once, in their order, would be another segmentation where a
//! merge makes the pair of an earlier one, as the merges of a file may. So the arena starts from the tokens of the base, and the loop
//! that follows is the loop of any training.
//!
//! Words may also be given as tokens of the base, with a character in the place of each token ([`char_of`]): then the machinery that
//! counts texts counts sequences of tokens.

use super::arena::MAX_IDS;
use super::choice::{Choice, Frequency};
use super::merge_loop::{MergeLoop, Tuning};
#[cfg(doc)]
use super::token_words::char_of;
use super::tokens::Tokens;
use super::{BpeTrainer, TrainedBpe, alphabet};
use crate::models::bpe::Bpe;
use crate::structures::parallel::OnProgress;
use crate::trainers::word_counts::WordSource;
use crate::{Error, Result};

/// Ids without a token that a base may have for each of its tokens, beside [`SPARE_IDS`].
const SPARSE: usize = 4;

/// Ids without a token that any base may have.
const SPARE_IDS: usize = 1 << 20;

/// The new tokens and merges of a training from a base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// The new tokens, special tokens and characters first, with their ids.
    pub tokens: Vec<(String, u32)>,
    /// The new merges in the order learnt, each with the id that it makes.
    ///
    /// A merge of the base is not listed again.
    pub merges: Vec<((u32, u32), u32)>,
    /// For each new merge, how often its pair occurred when it was chosen.
    pub counts: Vec<u64>,
}

impl Extension {
    /// The base with the new tokens and merges.
    ///
    /// # Errors
    /// The errors of [`Bpe::from_pairs`].
    pub fn into_model(self, base: &Bpe) -> Result<Bpe> {
        let mut vocab = base.vocab().clone();
        for (token, id) in &self.tokens {
            vocab.insert(token, *id);
        }
        let mut merges = made_merges(base);
        merges.extend(self.merges);
        Bpe::from_pairs(vocab.into(), &merges, base.options().clone())
    }
}

/// The merges of a model, each with the id that it makes, by rank.
pub(super) fn made_merges(base: &Bpe) -> Vec<((u32, u32), u32)> {
    base.merges().iter().copied().zip(base.made_ids().map(|(_, made)| made)).collect()
}

impl BpeTrainer {
    /// Learns merges after the merges of `base` until the model has `vocab_size` tokens, from words that the base segments.
    ///
    /// Special tokens and characters that the base lacks get the first new ids, in the order of a training without a base. New ids
    /// start after the ids of the base, and at `first_id` or later. Prefix and suffix are the base's.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if the base and the new characters alone exceed `vocab_size`; [`Error::Unsupported`] for a base
    /// whose tokens share ids, have the kinds of a `SentencePiece` file, or have ids far beyond their number; the errors of
    /// [`Self::train`].
    pub fn extend<'w>(
        &self,
        base: &Bpe,
        first_id: u32,
        words: impl WordSource + 'w,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Extension> {
        self.extend_tuned(base, first_id, words, false, on_progress, Tuning::default())
    }

    /// As [`Self::extend`], from words that are tokens of the base already: each character is [`char_of`] a token, and the
    /// merges of the base are not applied. There are no new special tokens or characters.
    ///
    /// # Errors
    /// The errors of [`Self::extend`].
    pub fn extend_by_tokens<'w>(
        &self,
        base: &Bpe,
        words: impl WordSource + 'w,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Extension> {
        self.extend_tuned(base, 0, words, true, on_progress, Tuning::default())
    }

    pub(super) fn extend_tuned<'w>(
        &self,
        base: &Bpe,
        first_id: u32,
        words: impl WordSource + 'w,
        are_tokens: bool,
        on_progress: &mut OnProgress<'_>,
        tuning: Tuning,
    ) -> Result<Extension> {
        let trainer = self.with_affixes_of(base);
        trainer.check_size()?;
        let tokens = tokens_of(base, first_id)?;
        let (start, skipped) = (tokens.len(), tokens.len() - base.vocab().len());
        let (tokens, arena) =
            alphabet::symbolise_from(&trainer, base, tokens, &words, are_tokens, on_progress)?;
        drop(words);
        let needed = tokens.len() - skipped;
        if trainer.vocab_size < needed {
            return Err(Error::VocabSizeTooSmall { vocab_size: trainer.vocab_size, needed });
        }
        // The loop counts ids, ids without a token included.
        let trainer = Self { vocab_size: (trainer.vocab_size + skipped).min(MAX_IDS), ..trainer };
        let choice = Choice::Frequency(Frequency::new(trainer.tie_break));
        let trained = MergeLoop::new(&trainer, tokens, arena, choice, tuning).run(Vec::new(), on_progress)?;
        Ok(trainer.extension(base, start, trained))
    }

    /// The same options with the prefix and the suffix of a base.
    pub(super) fn with_affixes_of(&self, base: &Bpe) -> Self {
        Self {
            continuing_subword_prefix: base.options().continuing_subword_prefix.clone(),
            end_of_word_suffix: base.options().end_of_word_suffix.clone(),
            ..self.clone()
        }
    }

    /// The tokens from `start` on, and the merges that the base lacks.
    fn extension(&self, base: &Bpe, start: usize, trained: TrainedBpe) -> Extension {
        let TrainedBpe { vocab, merges, counts } = trained;
        let prefix = self.continuing_subword_prefix.as_deref().unwrap_or_default();
        let new: Vec<(String, u32)> = vocab[start..].iter().cloned().zip(start as u32..).collect();
        let mut ids = base.vocab().clone();
        for (token, id) in &new {
            ids.insert(token, *id);
        }
        let mut extension = Extension { tokens: new, ..Extension::default() };
        for (pair, count) in merges.into_iter().zip(counts).filter(|&(pair, _)| base.made_id(pair).is_none())
        {
            let (left, right) = (&vocab[pair.0 as usize], &vocab[pair.1 as usize]);
            let joined = [left, right.strip_prefix(prefix).unwrap_or(right)].concat();
            if let Some(made) = ids.id(&joined) {
                extension.merges.push((pair, made));
                extension.counts.push(count);
            }
        }
        extension
    }
}

/// The tokens of a base by id, and no other id below `first_id`.
pub(super) fn tokens_of(base: &Bpe, first_id: u32) -> Result<Tokens> {
    let vocab = base.vocab();
    if vocab.shares_ids() || base.kinds().is_some() {
        let reason = if vocab.shares_ids() { "two tokens share an id" } else { "tokens have kinds" };
        return Err(Error::Unsupported(format!("training cannot start from this model: {reason}")));
    }
    let sorted = vocab.sorted_by_id();
    let end = sorted.last().map_or(0, |&(_, id)| id as usize + 1).max(first_id as usize);
    let most = (SPARSE * vocab.len() + SPARE_IDS).min(MAX_IDS);
    if end > most {
        let message =
            format!("training from {} tokens has ids below {most}, one of these is {end}", vocab.len());
        return Err(Error::Unsupported(message));
    }
    let mut tokens = Tokens::default();
    for (token, id) in sorted {
        tokens.skip_to(id);
        tokens.intern(token);
    }
    tokens.skip_to(end as u32);
    for ((left, right), made) in made_merges(base) {
        tokens.note_merge(left, right, made);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::TieBreak;
    use super::super::naive::extend_naive;
    use super::*;
    use crate::models::bpe::BpeOptions;
    use crate::testing::cases;
    use crate::trainers::word_counts::WordCounts;
    use crate::vocab::Vocab;

    /// A base with merges in any order.
    fn base_of(splits: &[(String, String)]) -> (TrainedBpe, Bpe) {
        let mut base = TrainedBpe::default();
        let mut id = |token: String| {
            let known = base.vocab.iter().position(|known| *known == token);
            known.unwrap_or_else(|| {
                base.vocab.push(token);
                base.vocab.len() - 1
            }) as u32
        };
        let merges: Vec<(u32, u32)> = splits
            .iter()
            .map(|(left, right)| {
                id(format!("{left}{right}"));
                (id(left.clone()), id(right.clone()))
            })
            .collect();
        // A pair that is listed twice has its later rank.
        let is_last = |&(at, merge): &(usize, &(u32, u32))| !merges[at + 1..].contains(merge);
        base.merges = merges.iter().enumerate().filter(is_last).map(|(_, &merge)| merge).collect();
        let token = |id: u32| base.vocab[id as usize].as_str();
        let texts: Vec<(&str, &str)> =
            base.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
        let model = Bpe::new(Vocab::from_tokens(&base.vocab), &texts, BpeOptions::default());
        let model = model.expect("all tokens are there");
        (base, model)
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn extend_matches_naive(
            splits in prop::collection::vec(("[ab]{1,3}", "[ab ]{1,2}"), 0..8),
            words in prop::collection::btree_map("[abc ]{0,9}", 0u64..7, 0..9),
            (extra, min_frequency) in (0usize..40, 0u64..4),
            max_token_length in prop::option::weighted(0.3, 0usize..6),
            max_words in prop::option::weighted(0.3, 0usize..4),
            special_tokens in prop::collection::vec("[abc]{1,3}", 0..3),
            first_seen in any::<bool>(),
            threads in prop::sample::select(vec![1usize, 2, 7]),
            narrow_id in prop_oneof![Just(16_383usize), 0usize..90],
        ) {
            let (base, model) = base_of(&splits);
            let words: Vec<(&str, u64)> = words.iter().map(|(word, count)| (word.as_str(), *count)).collect();
            let tie_break = if first_seen { TieBreak::FirstSeen } else { TieBreak::SmallestIds };
            let mut trainer = BpeTrainer {
                vocab_size: 0, min_frequency, special_tokens, max_token_length, max_words, tie_break, threads,
                ..BpeTrainer::default()
            };
            trainer.vocab_size = extend_naive(&trainer, &base, &words).vocab.len() + extra;
            let counts: WordCounts = words.iter().copied().collect();
            let tuning = Tuning { narrow_id, ..Tuning::default() };
            let learnt = trainer.extend_tuned(&model, 0, counts, false, &mut |_| Ok(()), tuning);
            let learnt = learnt.expect("the size suffices");
            let expected = extend_naive(&trainer, &base, &words);
            let new: Vec<(String, u32)> = expected.vocab.iter().cloned().zip(0..).skip(base.vocab.len()).collect();
            prop_assert_eq!(learnt.tokens, new);
            let pairs: Vec<(u32, u32)> = learnt.merges.iter().map(|&(pair, _)| pair).collect();
            prop_assert_eq!((pairs, learnt.counts), (expected.merges, expected.counts));
        }
    }
}
