use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::corpus::Corpus;
use super::lattice::{Lattice, Scratch};
use super::seeds::Suffixes;
use super::{Algorithm, UnigramTrainer};
use crate::trainers::word_counts::WordCounts;

fn counts(words: &BTreeMap<String, u64>) -> WordCounts {
    let mut counts = WordCounts::new();
    for (word, &count) in words {
        counts.push(word, count);
    }
    counts
}

/// Substrings with their counts by trying all, in the order of their choice.
fn naive_seeds(words: &BTreeMap<String, u64>, longest: usize) -> Vec<(String, u64)> {
    let mut found: BTreeMap<String, (u64, BTreeSet<String>)> = BTreeMap::new();
    for (word, count) in words {
        let chars: Vec<char> = word.chars().collect();
        for start in 0..chars.len() {
            for end in start + 2..=chars.len().min(start + longest) {
                let text: String = chars[start..end].iter().collect();
                let (sum, followers) = found.entry(text).or_default();
                *sum += count;
                let is_last = end == chars.len() || end == start + longest;
                followers.insert(if is_last {
                    format!("end {word} {start}")
                } else {
                    chars[end].to_string()
                });
            }
        }
    }
    let is_seed = |(_, (count, followers)): &(String, (u64, BTreeSet<String>))| {
        *count > 1 && (followers.len() > 1 || followers.iter().any(|follower| follower.len() > 4))
    };
    let mut seeds: Vec<(String, u64)> =
        found.into_iter().filter(is_seed).map(|(text, (count, _))| (text, count)).collect();
    seeds.sort_by_key(|(text, count)| std::cmp::Reverse(count * text.chars().count() as u64));
    seeds
}

prop_compose! {
    fn words()(
        words in prop::collection::btree_map("[ab]{1,12}|[a-dé日]{1,9}|(ab){1,6}", 1..5u64, 0..12),
    ) -> BTreeMap<String, u64> {
        words
    }
}

proptest! {
    #[test]
    fn seeds_matches_naive(words in words(), longest in 2..8u16, threads in 1..4usize) {
        let trainer = UnigramTrainer::default();
        let corpus = Corpus::new(&trainer, &counts(&words), &BTreeSet::new()).expect("room for all characters");
        let suffixes = Suffixes::new(&corpus, longest, threads, &mut |_| Ok(())).expect("nobody stops it");
        let seeds = suffixes.best(&corpus, 1000, &BTreeSet::new(), &mut |_| Ok(())).expect("nobody stops it");
        let found: Vec<(String, u64)> =
            seeds.iter().map(|seed| (corpus.text(suffixes.codes_of(&corpus, seed)), seed.count)).collect();
        prop_assert_eq!(found, naive_seeds(&words, usize::from(longest)));
    }

    #[test]
    fn threads_make_no_difference(words in words(), vocab_size in 6..30usize, exact in any::<bool>()) {
        let algorithm = if exact { Algorithm::ExactLoss } else { Algorithm::Em };
        let train = |threads| {
            let trainer = UnigramTrainer { vocab_size, algorithm, threads, ..UnigramTrainer::default() };
            trainer.train(&counts(&words), &mut |_| Ok(())).expect("room for all characters")
        };
        let first = train(1);
        prop_assert!(first.pieces.len() <= vocab_size);
        prop_assert_eq!(&train(3), &first);
    }
}

#[test]
fn many_words_are_the_same_for_any_number_of_threads() {
    let words: BTreeMap<String, u64> = (0..6000u64)
        .map(|number| {
            (
                format!(
                    "▁{}{}",
                    number * number % 7919,
                    "er ing ed s".split(' ').nth(number as usize % 4).unwrap_or("")
                ),
                number % 9 + 1,
            )
        })
        .collect();
    let train = |threads| {
        let trainer = UnigramTrainer { vocab_size: 300, threads, ..UnigramTrainer::default() };
        trainer.train(&counts(&words), &mut |_| Ok(())).expect("room for all characters")
    };
    assert_eq!(train(1), train(3));
}

#[test]
fn a_word_as_long_as_a_book_does_not_underflow() {
    let words = BTreeMap::from([("abcdefghij".repeat(3000) + "xyz", 1), ("abcd".to_owned(), 3)]);
    let trainer = UnigramTrainer { vocab_size: 30, ..UnigramTrainer::default() };
    let trained = trainer.train(&counts(&words), &mut |_| Ok(())).expect("room for all characters");
    assert!(trained.pieces.iter().all(|(_, score)| score.is_finite()));
    assert!(trained.pieces.iter().any(|(piece, _)| piece.len() == 16), "{:?}", trained.pieces);
}

proptest! {
    #[test]
    fn plain_shares_matches_naive(words in words()) {
        let trainer = UnigramTrainer::default();
        let corpus = Corpus::new(&trainer, &counts(&words), &BTreeSet::new()).expect("room for all characters");
        let suffixes = Suffixes::new(&corpus, 6, 1, &mut |_| Ok(())).expect("nobody stops it");
        let seeds = suffixes.best(&corpus, 1000, &BTreeSet::new(), &mut |_| Ok(())).expect("nobody stops it");
        let lattice = Lattice::new(&corpus, &suffixes, &seeds);
        let n = corpus.alphabet.len() + seeds.len();
        // Also such as make the plain way give up.
        let likelihoods: Vec<f64> = (1..=n as i32).map(|id| 0.7f64.powi(id * id % 300)).collect();
        for index in 0..corpus.len() {
            let (mut scratch, mut plain, mut naive) = (Scratch::default(), Vec::new(), Vec::new());
            lattice.shares(corpus.word(index), &likelihoods, &mut scratch, |id, share| plain.push((id, share.to_bits())));
            lattice.scaled_shares(corpus.word(index), &likelihoods, &mut scratch, |id, share| {
                naive.push((id, share.to_bits()));
            });
            prop_assert_eq!(plain, naive);
        }
    }
}
