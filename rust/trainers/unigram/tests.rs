use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::chains::Chains;
use super::corpus::Corpus;
use super::lattice::{Block, GONE, blocks};
use super::passes::{Alternatives, Expectation, Usage};
use super::seed_filter::SeedFilter;
use super::seeds::Suffixes;
use super::{Algorithm, UnigramTrainer, nearest};
use crate::structures::parallel::Meter;
use crate::testing::patterns;
use crate::trainers::forbidden::Forbidden;
use crate::trainers::word_counts::WordCounts;

fn counts(words: &BTreeMap<String, u64>) -> WordCounts {
    let mut counts = WordCounts::new();
    for (word, &count) in words {
        counts.push(word, count);
    }
    counts
}

/// Substrings with their counts by trying all, in the order in which seeds are chosen.
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
    fn suffix_keys_matches_naive(words in words(), longest in 1..30usize) {
        let trainer = UnigramTrainer::default();
        let corpus = Corpus::new(&trainer, &counts(&words), &BTreeSet::new(), &[], &BTreeSet::new());
        let packed = corpus.packed();
        let naive: Vec<u64> = (0..corpus.len())
            .flat_map(|index| corpus.word(index).zip(std::iter::repeat(corpus.word(index).end)))
            .map(|(at, end)| packed.pack(&corpus.codes[at..end.min(at + longest)]))
            .collect();
        prop_assert_eq!(corpus.suffix_keys(packed, longest), naive);
    }
}

proptest! {
    #[test]
    fn seeds_matches_naive(words in words(), longest in 2..8u16, threads in 1..4usize, forbid in patterns()) {
        let filter = SeedFilter { excluded: &BTreeSet::new(), forbid: &forbid, is_byte_level: false };
        let trainer = UnigramTrainer::default();
        let corpus = Corpus::new(&trainer, &counts(&words), &BTreeSet::new(), &[], &BTreeSet::new());
        let suffixes = Suffixes::new(&corpus, longest, threads, &mut |_| Ok(())).expect("nobody stops it");
        let seeds = suffixes.best(&corpus, 1000, filter, threads, &mut |_| Ok(())).expect("nobody stops it");
        let found: Vec<(String, u64)> =
            seeds.iter().map(|seed| (corpus.text(suffixes.codes_of(&corpus, seed)), seed.count)).collect();
        let mut naive = naive_seeds(&words, usize::from(longest));
        naive.retain(|(text, _)| !forbid.holds(text, false).expect("short texts"));
        prop_assert_eq!(found, naive);
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
    fn find_matches_naive(words in words(), text in "[ab]{1,6}|[a-dé日]{1,4}", longest in 1..8u16) {
        let corpus = Corpus::new(&UnigramTrainer::default(), &counts(&words), &BTreeSet::new(), &[], &BTreeSet::new());
        let suffixes = Suffixes::new(&corpus, longest, 1, &mut |_| Ok(())).expect("nobody stops it");
        let Some(codes) = corpus.codes_of(&text).filter(|codes| codes.len() <= usize::from(longest)) else { return Ok(()) };
        let mut naive: Vec<usize> = (0..corpus.len())
            .flat_map(|index| corpus.word(index).zip(std::iter::repeat(corpus.word(index).end)))
            .filter(|&(at, end)| corpus.codes[at..end].starts_with(&codes))
            .map(|(at, _)| at)
            .collect();
        let found = suffixes.find(&corpus, &codes);
        let mut places: Vec<usize> =
            found.map_or(0..0, |seed| seed.first..seed.end).map(|index| suffixes.position(index)).collect();
        naive.sort_unstable();
        places.sort_unstable();
        prop_assert_eq!(places, naive);
    }
}

/// A corpus with its lattice, whose pieces are characters and all seeds, and the codes of the pieces.
fn lattice(words: &BTreeMap<String, u64>) -> (Corpus, Vec<Block>, Vec<Vec<u32>>) {
    let trainer = UnigramTrainer::default();
    let corpus = Corpus::new(&trainer, &counts(words), &BTreeSet::new(), &[], &BTreeSet::new());
    let suffixes = Suffixes::new(&corpus, 6, 1, &mut |_| Ok(())).expect("nobody stops it");
    let forbid = Forbidden::default();
    let filter = SeedFilter { excluded: &BTreeSet::new(), forbid: &forbid, is_byte_level: false };
    let seeds = suffixes.best(&corpus, 1000, filter, 1, &mut |_| Ok(())).expect("nobody stops it");
    let chains = Chains::new(&suffixes, &seeds, 1);
    let blocks = blocks(&corpus).into_iter().map(|words| Block::new(&corpus, &chains, words)).collect();
    let characters = (0..corpus.alphabet.len() as u32).map(|code| vec![code]);
    let seeds = seeds.iter().map(|seed| suffixes.codes_of(&corpus, seed).to_vec());
    let texts = characters.chain(seeds).collect();
    (corpus, blocks, texts)
}

/// All segmentations, by recursion.
fn naive_segmentations(word: &[u32], texts: &[Vec<u32>]) -> Vec<Vec<usize>> {
    if word.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (id, text) in texts.iter().enumerate().filter(|(_, text)| word.starts_with(text)) {
        for rest in naive_segmentations(&word[text.len()..], texts) {
            found.push([vec![id], rest].concat());
        }
    }
    found
}

/// The best segmentation without the piece `without`; of equals the one whose last piece is the longest.
fn naive_best(word: &[u32], texts: &[Vec<u32>], scores: &[f64], without: usize) -> Vec<usize> {
    let key = |path: &Vec<usize>| {
        let score = path.iter().map(|&id| scores[id]).sum::<f64>() as i64;
        (score, path.iter().rev().map(|&id| texts[id].len()).collect::<Vec<usize>>())
    };
    let all = naive_segmentations(word, texts).into_iter();
    all.filter(|path| !path.contains(&without)).max_by_key(key).unwrap_or_default()
}

/// Scores whose sums are exact, and often equal.
fn scores(n: usize) -> Vec<f64> {
    (0..n as u32).map(|id| -f64::from(id % 23 * id % 7 + 1)).collect()
}

proptest! {
    #[test]
    fn expectation_matches_naive(words in words()) {
        let (corpus, blocks, texts) = lattice(&words);
        let likelihoods: Vec<f64> = scores(texts.len()).into_iter().map(f64::exp).collect();
        let (mut expected, precision) = (vec![0; texts.len()], 2f64.powi(40));
        for block in &blocks {
            let mut expectation = Expectation::new(block, &corpus.counts, &likelihoods, precision, &mut expected);
            prop_assert!(block.walk(&corpus, &Meter::default(), &mut expectation));
        }
        let mut naive = vec![0.0; texts.len()];
        for index in 0..corpus.len() {
            let all = naive_segmentations(&corpus.codes[corpus.word(index)], &texts);
            let likelihood = |path: &Vec<usize>| path.iter().map(|&id| likelihoods[id]).product::<f64>();
            let total: f64 = all.iter().map(likelihood).sum();
            for path in &all {
                for &id in path {
                    naive[id] += likelihood(path) / total * nearest(u128::from(corpus.counts[index]));
                }
            }
        }
        for (id, naive) in naive.into_iter().enumerate() {
            prop_assert!((naive - nearest(u128::from(expected[id])) / precision).abs() < 1e-9, "{naive} is not {}", expected[id]);
        }
    }

    #[test]
    fn plain_sums_matches_naive(words in words()) {
        let (corpus, blocks, texts) = lattice(&words);
        // Some of these make sums so small that they need powers.
        let likelihoods: Vec<f64> = (1..=texts.len() as i32).map(|id| 0.7f64.powi(id * id % 300)).collect();
        let (mut plain, mut naive) = (vec![0; texts.len()], vec![0; texts.len()]);
        for block in &blocks {
            let mut expectation = Expectation::new(block, &corpus.counts, &likelihoods, 2f64.powi(40), &mut plain);
            block.walk(&corpus, &Meter::default(), &mut expectation);
            let expectation = Expectation::new(block, &corpus.counts, &likelihoods, 2f64.powi(40), &mut naive);
            block.walk(&corpus, &Meter::default(), &mut expectation.always_with_powers());
        }
        prop_assert_eq!(plain, naive);
    }

    #[test]
    fn usage_and_alternatives_matches_naive(words in words()) {
        let (corpus, blocks, texts) = lattice(&words);
        let scores = scores(texts.len());
        let (mut used, mut naive) = (vec![0; texts.len()], vec![0; texts.len()]);
        let place = |id: usize| (0..corpus.len()).flat_map(|index| corpus.word(index).map(move |at| (at, index)))
            .find(|&(at, index)| corpus.codes[at..corpus.word(index).end].starts_with(&texts[id]));
        let mut places: Vec<(u32, usize, u16)> = (corpus.alphabet.len()..texts.len())
            .filter_map(|id| place(id).map(|(at, _)| (id as u32, at, texts[id].len() as u16))).collect();
        places.sort_unstable_by_key(|place| place.1);
        let (mut others, mut naive_others) = (BTreeMap::new(), BTreeMap::new());
        for block in &blocks {
            block.walk(&corpus, &Meter::default(), &mut Usage::new(block, &corpus.counts, &scores, &mut used));
            let each = |id: u32, pieces: &[u32]| {
                others.insert(id as usize, pieces.iter().rev().map(|&id| id as usize).collect());
            };
            block.walk(&corpus, &Meter::default(), &mut Alternatives::new(block, &corpus, &scores, &places, each));
        }
        for index in 0..corpus.len() {
            for id in naive_best(&corpus.codes[corpus.word(index)], &texts, &scores, GONE as usize) {
                naive[id] += corpus.counts[index];
            }
        }
        for &(id, ..) in &places {
            let id = id as usize;
            if naive_best(&texts[id], &texts, &scores, GONE as usize) == [id] {
                naive_others.insert(id, naive_best(&texts[id], &texts, &scores, id));
            }
        }
        prop_assert_eq!(used, naive);
        prop_assert_eq!(others, naive_others);
    }
}

#[test]
fn blocks_hold_all_words_in_order() {
    let words = (0..9000u64).map(|number| (format!("{number:b}"), 1)).collect();
    let (corpus, blocks, _) = lattice(&words);
    assert!(blocks.len() > 9, "{} blocks", blocks.len());
    let found: Vec<usize> = blocks.iter().flat_map(|block| block.words.clone()).collect();
    assert!(found.into_iter().eq(0..corpus.len()));
    let lasts = blocks.iter().map(|block| corpus.word(block.words.end - 1).start / 8192);
    assert!(lasts.eq(blocks.iter().map(|block| corpus.word(block.words.start).start / 8192)));
}
