use proptest::prelude::*;

use super::naive::train_naive;
use super::{Score, WordPieceTrainer};
use crate::Error;
use crate::testing::patterns;
use crate::trainers::bpe::{TieBreak, TrainedBpe};
use crate::trainers::word_counts::WordCounts;

fn word_counts(words: &[(&str, u64)]) -> WordCounts {
    let mut counts = WordCounts::new();
    for (word, count) in words {
        counts.push(word, *count);
    }
    counts
}

fn train(trainer: &WordPieceTrainer, words: &[(&str, u64)]) -> TrainedBpe {
    trainer.train(word_counts(words), &mut |_| Ok(())).expect("the options are valid")
}

prop_compose! {
    fn words(pattern: &'static str)(
        words in prop::collection::btree_map(pattern, (0u64..7, any::<u32>()), 0..9)
    ) -> Vec<(String, u64)> {
        let mut words: Vec<_> = words.into_iter().collect();
        words.sort_by_key(|&(_, (_, place))| place);
        words.into_iter().map(|(word, (count, _))| (word, count)).collect()
    }
}

prop_compose! {
    fn trainers()(
        (vocab_size, min_frequency, min_pair_frequency) in (0usize..40, 0u64..4, 0u64..4),
        special_tokens in prop::collection::vec("(##|)[abc]{0,3}", 0..3),
        limit_alphabet in prop::option::weighted(0.2, 0usize..5),
        initial_alphabet in prop::collection::vec(prop::char::range('a', 'f'), 0..3),
        prefix in prop_oneof![3 => Just("##"), 1 => Just("a"), 1 => Just("")],
        suffix in prop::option::weighted(0.3, prop_oneof![Just("</w>"), Just("a"), Just("ab")]),
        forbid in patterns(),
        is_rounded in any::<bool>(),
        tie_break in prop::sample::select(vec![None, Some(TieBreak::SmallestIds), Some(TieBreak::FirstSeen)]),
        threads in prop::sample::select(vec![1usize, 2, 7]),
    ) -> WordPieceTrainer {
        WordPieceTrainer {
            vocab_size,
            min_frequency,
            special_tokens,
            limit_alphabet,
            initial_alphabet,
            continuing_subword_prefix: Some(prefix.to_owned()),
            end_of_word_suffix: suffix.map(str::to_owned),
            initial_tokens: Vec::new(),
            forbid,
            is_byte_level: false,
            score: if is_rounded { Score::LikelihoodFloat64 } else { Score::Likelihood },
            tie_break,
            min_pair_frequency,
            threads,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn train_by_likelihood_matches_naive(
        words in prop_oneof![words("[ab]{0,9}"), words("[abc]{0,9}"), words("[abcdef]{0,9}"), words("a{0,30}")],
        mut trainer in trainers(),
    ) {
        let words: Vec<(&str, u64)> = words.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        let extra = trainer.vocab_size;
        trainer.vocab_size = 0;
        let needed = train_naive(&trainer, &words).vocab.len();
        if needed > 0 {
            let refused = trainer.train(word_counts(&words), &mut |_| Ok(()));
            let as_told = matches!(refused, Err(Error::VocabSizeTooSmall { vocab_size: 0, needed: least }) if least == needed);
            prop_assert!(as_told);
        }
        trainer.vocab_size = needed + extra;
        prop_assert_eq!(train(&trainer, &words), train_naive(&trainer, &words));
    }
}

#[test]
fn the_rarest_neighbours_go_first() {
    // 5 / (20 * 5): the score of every other pair is below 1 / 20.
    let words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)];
    let trainer = WordPieceTrainer { vocab_size: 8, score: Score::Likelihood, ..WordPieceTrainer::default() };
    let learnt = train(&trainer, &words);
    assert_eq!(learnt.vocab, ["##g", "##n", "##s", "##u", "b", "h", "p", "##gs"]);
    assert_eq!((learnt.merges, learnt.counts), (vec![(0, 2)], vec![5]));
}

#[test]
fn counts_beyond_64_bits_in_products_are_compared() {
    // Counts of 2^40 make products of 2^81; the two scores differ only by one in the last count.
    let large = 1 << 40;
    let words = [("ab", large), ("cd", large + 1), ("a", large), ("##b", 0), ("c", large - 1)];
    let trainer = WordPieceTrainer { vocab_size: 5, score: Score::Likelihood, ..WordPieceTrainer::default() };
    let learnt = train(&trainer, &words);
    // Both scores are 1 / 2^41: the first seen wins.
    assert_eq!(learnt.vocab.last().map(String::as_str), Some("ab"));
    let words = [("ab", large), ("cd", large + 1), ("a", large), ("c", large - 2)];
    // Now c occurs once less often than a, so the second pair has the higher score.
    assert_eq!(train(&trainer, &words).vocab.last().map(String::as_str), Some("cd"));
}

#[test]
fn rounding_can_make_scores_equal() {
    let large = 1 << 60;
    let words = [("ab", large), ("cd", large), ("a", large), ("c", large - 1)];
    let exact = WordPieceTrainer { vocab_size: 5, score: Score::Likelihood, ..WordPieceTrainer::default() };
    assert_eq!(train(&exact, &words).vocab.last().map(String::as_str), Some("cd"));
    let rounded = WordPieceTrainer { score: Score::LikelihoodFloat64, ..exact };
    assert_eq!(train(&rounded, &words).vocab.last().map(String::as_str), Some("ab"));
}
