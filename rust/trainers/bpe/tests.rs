use proptest::prelude::*;

use super::merge_loop::Tuning;
use super::naive::train_naive;
use super::{BpeTrainer, TieBreak, TrainedBpe};
use crate::Error;
use crate::testing::{cases, patterns};
use crate::trainers::word_counts::WordCounts;

fn word_counts(words: &[(&str, u64)]) -> WordCounts {
    let mut counts = WordCounts::new();
    for (word, count) in words {
        counts.push(word, *count);
    }
    counts
}

fn train(trainer: &BpeTrainer, words: &[(&str, u64)]) -> TrainedBpe {
    trainer.train(word_counts(words), &mut |_| Ok(())).expect("the options are valid")
}

prop_compose! {
    fn words(pattern: &'static str)(
        words in prop::collection::btree_map(
            pattern,
            (prop_oneof![9 => 0u64..7, 1 => 16_380u64..16_390, 1 => (1u64 << 30) - 2..(1 << 30) + 2], any::<u32>()),
            0..9,
        )
    ) -> Vec<(String, u64)> {
        let mut words: Vec<_> = words.into_iter().collect();
        words.sort_by_key(|&(_, (_, place))| place);
        words.into_iter().map(|(word, (count, _))| (word, count)).collect()
    }
}

prop_compose! {
    fn trainers()(
        (extra, min_frequency, special_tokens) in (0usize..40, 0u64..5, prop::collection::vec("[abc]{0,3}", 0..3)),
        limit_alphabet in prop::option::weighted(0.2, 0usize..5),
        initial_alphabet in prop::collection::vec(prop::char::range('a', 'f'), 0..3),
        prefix in prop::option::weighted(0.3, prop_oneof![Just("##"), Just("a"), Just("")]),
        suffix in prop::option::weighted(0.3, prop_oneof![Just("</w>"), Just("a"), Just("ab")]),
        (max_token_length, forbid) in (prop::option::weighted(0.3, 0usize..6), patterns()),
        (first_seen, threads) in (any::<bool>(), prop::sample::select(vec![1usize, 2, 7])),
    ) -> BpeTrainer {
        BpeTrainer {
            vocab_size: extra,
            min_frequency,
            special_tokens,
            limit_alphabet,
            initial_alphabet,
            continuing_subword_prefix: prefix.map(str::to_owned),
            end_of_word_suffix: suffix.map(str::to_owned),
            max_token_length,
            forbid,
            tie_break: if first_seen { TieBreak::FirstSeen } else { TieBreak::SmallestIds },
            auto_character_coverage: false,
            threads,
            ..BpeTrainer::default()
        }
    }
}

prop_compose! {
    // A share of one or two positions starts many threads, which is slow, so it is rare.
    fn tunings()(
        (spread, tracked_percent) in prop_oneof![Just((256, 160)), (1u64..4, 0usize..50)],
        share in prop_oneof![19 => Just(1 << 13), 1 => 1usize..3],
        (memory_percent, least_places) in prop_oneof![Just((160, 1 << 22)), (0usize..300, 0usize..20)],
        (narrow_id, dense_ids) in (prop_oneof![Just(16_383usize), 0usize..90], prop_oneof![Just(usize::MAX), 0usize..9]),
    ) -> Tuning {
        Tuning { spread, tracked_percent, share, memory_percent, least_places, narrow_id, dense_ids }
    }
}

proptest! {
    #![proptest_config(cases(6000))]

    #[test]
    fn train_matches_naive(
        words in prop_oneof![words("[ab]{0,9}"), words("[abc]{0,9}"), words("[abcd]{0,9}")],
        mut trainer in trainers(),
        tuning in tunings(),
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
        let learnt = trainer.train_tuned(word_counts(&words), &mut |_| Ok(()), tuning).expect("the size suffices");
        prop_assert_eq!(learnt, train_naive(&trainer, &words));
    }
}

fn goldens() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/golden/textbook.json")).expect("the file is JSON")
}

/// Distinct words in order of first appearance.
fn count_words(text: &str) -> Vec<(&str, u64)> {
    let mut words: Vec<(&str, u64)> = Vec::new();
    for word in text.split(' ') {
        match words.iter_mut().find(|(seen, _)| *seen == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    words
}

fn merged_texts(learnt: &TrainedBpe) -> Vec<[&str; 2]> {
    let text = |id: u32| learnt.vocab[id as usize].as_str();
    learnt.merges.iter().map(|&(left, right)| [text(left), text(right)]).collect()
}

#[test]
fn textbook_golden_bpe() {
    let golden = &goldens()["bpe"];
    // Words in the order of the corpus: a JSON reader may have sorted the golden file's own table.
    let corpus =
        goldens()["corpus"].as_array().expect("a list").iter().fold(String::new(), |text, sentence| {
            text + sentence
                .as_str()
                .expect("a sentence")
                .replace(' ', " Ġ")
                .replace('.', " .")
                .replace(',', " ,")
                .as_str()
                + " "
        });
    let words = count_words(corpus.trim_end());
    assert_eq!(words.len(), golden["word_counts"].as_object().expect("a table").len());
    for (word, count) in &words {
        assert_eq!(golden["word_counts"][word], *count, "{word}");
    }
    let trainer = BpeTrainer {
        vocab_size: 50,
        special_tokens: vec!["<|endoftext|>".to_owned()],
        tie_break: TieBreak::FirstSeen,
        ..BpeTrainer::default()
    };
    let learnt = train(&trainer, &words);
    assert_eq!(serde_json::json!(learnt.vocab), golden["vocab"]);
    assert_eq!(serde_json::json!(merged_texts(&learnt)), golden["merges"]);
    assert_eq!(learnt.counts[0], 7);
}

#[test]
fn textbook_golden_end_of_word() {
    // `$` stands for the end of a word, which is a symbol of its own here.
    let golden = &goldens()["bpe_end_of_word"];
    let corpus = golden["corpus"].as_str().expect("a text").replace(' ', "$ ") + "$";
    let words = count_words(&corpus);
    let trainer = BpeTrainer { vocab_size: 11 + 5, tie_break: TieBreak::FirstSeen, ..BpeTrainer::default() };
    let learnt = train(&trainer, &words);
    let merges: Vec<[String; 2]> =
        merged_texts(&learnt).iter().map(|pair| pair.map(|text| text.replace('$', "</w>"))).collect();
    assert_eq!(serde_json::json!(merges), golden["merges"]);
}

#[test]
fn library_golden_bpe() {
    let golden = &goldens()["library_bpe"];
    let words = count_words(golden["corpus"].as_str().expect("a text"));
    let vocab = golden["vocab"].as_object().expect("a table");
    let special_tokens = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"].map(str::to_owned).to_vec();
    let trainer = BpeTrainer { special_tokens, ..BpeTrainer::default() };
    let learnt = train(&trainer, &words);
    assert_eq!(learnt.vocab.len(), vocab.len());
    for (id, token) in learnt.vocab.iter().enumerate() {
        assert_eq!(vocab[token], id, "{token}");
    }
}

#[test]
fn equal_counts_merge_smaller_ids_first() {
    let words = [("cd", 2), ("ba", 2), ("bc", 2)];
    assert_eq!(merged_texts(&train(&BpeTrainer::default(), &words)), [["b", "a"], ["b", "c"], ["c", "d"]]);
}

#[test]
fn equal_counts_merge_first_seen_first() {
    let trainer = BpeTrainer { tie_break: TieBreak::FirstSeen, ..BpeTrainer::default() };
    let words = [("cd", 2), ("ba", 2), ("bc", 2)];
    assert_eq!(merged_texts(&train(&trainer, &words)), [["c", "d"], ["b", "a"], ["b", "c"]]);
    // Once `ab` is merged, `ca` occurs only in the last word, after `cb` and `ad`.
    let words = [("cab", 2), ("ab", 3), ("cbb", 2), ("add", 1), ("ad", 1), ("ca", 2)];
    let merges = [["a", "b"], ["c", "ab"], ["c", "b"], ["cb", "b"], ["a", "d"], ["c", "a"], ["ad", "d"]];
    assert_eq!(merged_texts(&train(&trainer, &words)), merges);
}

#[test]
fn overlapping_pairs_count_fully_and_merge_from_the_left() {
    // `aaaa` holds three `aa`, more than the two `bc`; merged it is `aa aa`, and `aaaaa` would keep its last `a`.
    let learnt = train(&BpeTrainer::default(), &[("aaaa", 1), ("bc", 2)]);
    assert_eq!(merged_texts(&learnt), [["a", "a"], ["b", "c"], ["aa", "aa"]]);
    assert_eq!(learnt.counts, [3, 2, 1]);
    let learnt = train(&BpeTrainer::default(), &[("aaaaa", 1)]);
    assert_eq!(merged_texts(&learnt), [["a", "a"], ["aa", "a"], ["aa", "aaa"]]);
    assert_eq!(learnt.counts, [4, 1, 1]);
}

#[test]
fn a_merge_that_spells_a_special_token_reuses_its_id() {
    let special_tokens = vec!["ab".to_owned()];
    let learnt = train(&BpeTrainer { special_tokens, ..BpeTrainer::default() }, &[("abc", 3)]);
    assert_eq!(learnt.vocab, ["ab", "a", "b", "c", "abc"]);
    assert_eq!(learnt.merges, [(1, 2), (0, 3)]);
}

#[test]
fn max_token_length_is_exclusive_and_spares_single_characters() {
    let longest = |max_token_length| {
        let trainer = BpeTrainer { max_token_length: Some(max_token_length), ..BpeTrainer::default() };
        let learnt = train(&trainer, &[("abcdefgh", 5)]);
        learnt.vocab.iter().map(String::len).max()
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(longest), [2, 2, 2, 2, 2, 4, 4].map(Some));
}

#[test]
fn limit_alphabet_drops_the_rarest_and_among_equals_the_larger() {
    let trainer = BpeTrainer { limit_alphabet: Some(2), ..BpeTrainer::default() };
    let learnt = train(&trainer, &[("xay", 1), ("cay", 1), ("axc", 1)]);
    // Counts: a 3, c 2, x 2, y 2. Without x, `axc` is `ac`.
    assert_eq!(learnt.vocab, ["a", "c", "ac", "ca"]);
    let trainer = BpeTrainer { initial_alphabet: vec!['z'], ..trainer };
    assert_eq!(train(&trainer, &[("xay", 1), ("cay", 1)]).vocab, ["a", "z"]);
}

#[test]
fn affixed_characters_follow_the_alphabet_in_order_of_appearance() {
    let trainer = BpeTrainer {
        continuing_subword_prefix: Some("##".to_owned()),
        end_of_word_suffix: Some("</w>".to_owned()),
        limit_alphabet: Some(2),
        ..BpeTrainer::default()
    };
    // Without x, `xab` has no first character and `abx` no last one.
    let learnt = train(&trainer, &[("xab", 3), ("ab", 3), ("abx", 2)]);
    let tokens = ["a", "b", "##a", "##b</w>", "##b", "ab</w>", "##ab</w>", "ab"];
    assert_eq!(learnt.vocab, tokens);
}

#[test]
fn counts_pass_the_32_bit_limits() {
    let learnt = train(
        &BpeTrainer::default(),
        &[("ab", (1 << 31) + 1), ("abab", 1 << 32), ("c", 1), ("cd", u64::MAX >> 4)],
    );
    assert_eq!(merged_texts(&learnt), [["c", "d"], ["a", "b"], ["ab", "ab"]]);
    assert_eq!(learnt.counts, [u64::MAX >> 4, (1 << 31) + 1 + (1 << 33), 1 << 32]);
}

#[test]
fn counts_past_64_bits_are_refused() {
    let refused =
        BpeTrainer::default().train(word_counts(&[("ab", u64::MAX >> 1), ("ba", 2)]), &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::Unsupported(_))));
}

#[test]
fn vocab_size_beyond_the_ids_is_refused() {
    let trainer = BpeTrainer { vocab_size: (1 << 30) + 1, ..BpeTrainer::default() };
    let refused = trainer.train(WordCounts::new(), &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::InvalidOption { name: "vocab_size", .. })));
}

#[test]
fn no_words_yield_the_initial_tokens() {
    let special_tokens = vec!["<s>".to_owned(), "<s>".to_owned()];
    let trainer = BpeTrainer { special_tokens, initial_alphabet: vec!['b', 'a'], ..BpeTrainer::default() };
    let learnt = train(&trainer, &[]);
    assert_eq!(
        learnt,
        TrainedBpe { vocab: ["<s>", "a", "b"].map(str::to_owned).to_vec(), ..TrainedBpe::default() }
    );
}

/// Pseudo-random text of `length` letters among the first `letters`.
fn noise(length: usize, letters: u8) -> String {
    let mut state = 1u64;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % u64::from(letters)) as u8)
    };
    (0..length).map(step).collect()
}

#[test]
fn a_merge_into_a_special_token_makes_pairs_that_come_before_others() {
    let trainer = BpeTrainer {
        vocab_size: 6,
        min_frequency: 0,
        special_tokens: vec!["bac".to_owned(), "b".to_owned()],
        threads: 2,
        ..BpeTrainer::default()
    };
    let words = [("aaca", 2), ("bacb", 2)];
    let learnt = train(&trainer, &words);
    assert_eq!(learnt.merges.last(), Some(&(0, 1)), "`bac` has the smallest id");
    assert_eq!(learnt, train_naive(&trainer, &words));
}

#[test]
fn one_huge_word_is_no_harder_than_many() {
    let trainer = BpeTrainer { vocab_size: 500, ..BpeTrainer::default() };
    for word in [noise(1 << 20, 4), "a".repeat(1 << 20)] {
        let learnt: Vec<TrainedBpe> = [1, 2, 7]
            .map(|threads| train(&BpeTrainer { threads, ..trainer.clone() }, &[(&word, 1)]))
            .to_vec();
        assert!(learnt.iter().all(|other| *other == learnt[0]));
        assert!(learnt[0].counts.is_sorted_by(|one, next| one >= next));
        assert!(learnt[0].merges.len() >= 20);
    }
}

#[test]
fn an_error_from_the_caller_stops_every_stage() {
    let word = noise(1 << 18, 4);
    for stage in ["symbolise words", "count pairs", "merge pairs"] {
        let mut calls = 0;
        let stopped = BpeTrainer::default().train(word_counts(&[(&word, 1)]), &mut |progress| {
            assert_eq!(calls, 0, "nothing is reported after an error");
            if progress.stage != stage {
                return Ok(());
            }
            calls += 1;
            Err(Error::Interrupted)
        });
        assert!(matches!(stopped, Err(Error::Interrupted)));
    }
}
