use proptest::prelude::*;

use super::naive::train_naive;
use super::{ParityBpeTrainer, Variant};
use crate::Error;
use crate::testing::cases;
use crate::trainers::bpe::TrainedBpe;
use crate::trainers::word_counts::WordCounts;

type Words = Vec<(String, u64)>;

fn borrowed(corpora: &[Words]) -> Vec<Vec<(&str, u64)>> {
    corpora.iter().map(|words| words.iter().map(|(word, count)| (word.as_str(), *count)).collect()).collect()
}

fn counted(corpora: &[Words]) -> Vec<WordCounts> {
    borrowed(corpora).into_iter().map(|words| words.into_iter().collect()).collect()
}

fn train(trainer: &ParityBpeTrainer, corpora: &[Words], dev: Option<&[Words]>) -> crate::Result<TrainedBpe> {
    trainer.train(&counted(corpora), dev.map(counted).as_deref(), &mut |_| Ok(()))
}

fn words() -> impl Strategy<Value = Words> {
    let word = prop_oneof!["[ab]{0,9}", "[abcd]{0,9}"];
    prop::collection::btree_map(word, 0u64..9, 0..7).prop_map(|words| words.into_iter().collect())
}

prop_compose! {
    fn balance()(
        variant in prop_oneof![Just(Variant::Base), Just(Variant::Window)],
        (window_size, alpha) in (1usize..7, prop::sample::select(vec![0.3, 0.6, 1.0, 1.2, 2.0])),
        (num_merges, global_merges) in (0usize..30, prop_oneof![Just(0usize), 0usize..9]),
        min_frequency in 0u64..5,
        total_symbols in any::<bool>(),
    ) -> ParityBpeTrainer {
        ParityBpeTrainer {
            num_merges,
            variant,
            min_frequency,
            global_merges,
            window_size,
            alpha,
            total_symbols,
            ..ParityBpeTrainer::default()
        }
    }
}

prop_compose! {
    fn trainers()(
        trainer in balance(),
        special_tokens in prop::collection::vec("[abc]{0,3}", 0..3),
        limit_alphabet in prop::option::weighted(0.2, 0usize..5),
        initial_alphabet in prop::collection::vec(prop::char::range('a', 'f'), 0..3),
        prefix in prop::option::weighted(0.3, prop_oneof![Just("##"), Just("a"), Just("")]),
        suffix in prop::option::weighted(0.3, prop_oneof![Just("</w>"), Just("a"), Just("ab")]),
        max_token_length in prop::option::weighted(0.3, 0usize..6),
        threads in prop::sample::select(vec![1usize, 2, 7]),
    ) -> ParityBpeTrainer {
        ParityBpeTrainer {
            special_tokens,
            limit_alphabet,
            initial_alphabet,
            continuing_subword_prefix: prefix.map(str::to_owned),
            end_of_word_suffix: suffix.map(str::to_owned),
            max_token_length,
            threads,
            ..trainer
        }
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn train_parity_matches_naive(
        corpora in prop::collection::vec((words(), words(), prop::sample::select(vec![0.5, 0.7, 1.0, 2.0])), 1..5),
        (by_dev, by_ratio) in (any::<bool>(), any::<bool>()),
        trainer in trainers(),
    ) {
        let mut trainer = trainer;
        trainer.ratio = by_ratio.then(|| corpora.iter().map(|&(.., ratio)| ratio).collect());
        let (corpora, dev): (Vec<Words>, Vec<Words>) =
            corpora.into_iter().map(|(words, dev, _)| (words, dev)).unzip();
        let dev = by_dev.then_some(dev);
        let naive = train_naive(&trainer, &borrowed(&corpora), dev.as_deref().map(borrowed).as_deref());
        let learnt = train(&trainer, &corpora, dev.as_deref()).expect("the options are valid");
        prop_assert_eq!(learnt, naive);
    }
}

#[test]
fn a_dev_word_that_is_left_out_lends_its_tokens_no_length() {
    // `dc` has no id for `d`. Its last symbol `ca` is a token, but no symbol of any word.
    let trainer = ParityBpeTrainer {
        num_merges: 7,
        special_tokens: vec!["ca".to_owned()],
        limit_alphabet: Some(2),
        end_of_word_suffix: Some("a".to_owned()),
        max_token_length: Some(0),
        ..ParityBpeTrainer::default()
    };
    let words =
        |words: &[(&str, u64)]| vec![words.iter().map(|&(word, count)| (word.to_owned(), count)).collect()];
    let (corpora, dev): (Vec<Words>, Vec<Words>) = (words(&[("caa", 4)]), words(&[("b", 1), ("dc", 1)]));
    let naive = train_naive(&trainer, &borrowed(&corpora), Some(&borrowed(&dev)));
    assert_eq!(naive.merges.len(), 1);
    assert_eq!(train(&trainer, &corpora, Some(&dev)).expect("the options are valid"), naive);
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    corpora: Vec<Words>,
    dev: Option<Vec<Words>>,
    options: serde_json::Map<String, serde_json::Value>,
    vocab: Vec<String>,
    merges: Vec<(String, String)>,
}

#[derive(serde::Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

fn value<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).expect("a golden value of the right type")
}

/// A trainer with the options of a case; an unknown one fails the test rather than going unnoticed.
fn golden_trainer(options: serde_json::Map<String, serde_json::Value>) -> ParityBpeTrainer {
    let mut trainer = ParityBpeTrainer::default();
    for (name, given) in options {
        match name.as_str() {
            "num_merges" => trainer.num_merges = value(given),
            "variant" => {
                trainer.variant = if given == "window" { Variant::Window } else { Variant::Base };
            }
            "min_frequency" => trainer.min_frequency = value(given),
            "ratio" => trainer.ratio = value(given),
            "global_merges" => trainer.global_merges = value(given),
            "window_size" => trainer.window_size = value(given),
            "alpha" => trainer.alpha = value(given),
            "total_symbols" => trainer.total_symbols = value(given),
            "special_tokens" => trainer.special_tokens = value(given),
            "limit_alphabet" => trainer.limit_alphabet = value(given),
            "continuing_subword_prefix" => trainer.continuing_subword_prefix = value(given),
            "end_of_word_suffix" => trainer.end_of_word_suffix = value(given),
            "max_token_length" => trainer.max_token_length = value(given),
            _ => panic!("unknown option {name}"),
        }
    }
    trainer
}

#[test]
fn parity_golden_cases() {
    let golden = include_str!("../../../../tests/golden/parity_bpe.json");
    let Cases { cases } = serde_json::from_str(golden).expect("a golden file");
    for case in cases {
        let learnt = train(&golden_trainer(case.options), &case.corpora, case.dev.as_deref());
        let learnt = learnt.expect("the options are valid");
        let text = |id: u32| learnt.vocab[id as usize].clone();
        let merges: Vec<_> = learnt.merges.iter().map(|&(left, right)| (text(left), text(right))).collect();
        assert_eq!((&learnt.vocab, merges), (&case.vocab, case.merges), "{}", case.name);
    }
}

fn of(word: &str, count: u64) -> Words {
    vec![(word.to_owned(), count)]
}

#[test]
fn a_window_of_any_size_ends() {
    let trainer = ParityBpeTrainer {
        variant: Variant::Window,
        window_size: usize::MAX,
        alpha: 1e-300,
        ..ParityBpeTrainer::default()
    };
    let learnt = train(&trainer, &[of("abcdef", 1), of("xy", 9)], None).expect("the options are valid");
    assert_eq!(learnt.merges.len(), 6);
}

#[test]
fn options_out_of_range_are_refused() {
    let refused =
        |trainer: &ParityBpeTrainer, corpora: usize, dev: Option<usize>| match trainer.check(corpora, dev) {
            Err(error @ Error::InvalidOption { .. }) => error.to_string(),
            other => format!("{other:?}"),
        };
    let base = ParityBpeTrainer::default();
    assert_eq!(refused(&base, 0, None), "number of corpora is 0 but must be at least 1");
    assert_eq!(refused(&base, 2, Some(1)), "number of dev sets is 1 but must be 2");
    let ratio =
        |ratio: &[f64]| ParityBpeTrainer { ratio: Some(ratio.to_vec()), ..ParityBpeTrainer::default() };
    assert_eq!(refused(&ratio(&[1.0]), 2, None), "length of ratio is 1 but must be 2");
    assert_eq!(refused(&ratio(&[1.0, 0.0]), 2, None), "ratio is 0 but must be a finite number above 0");
    assert_eq!(refused(&ratio(&[1.0]), 2, Some(2)), "Ok(())");
    let window = |window_size, alpha| {
        let variant = Variant::Window;
        ParityBpeTrainer { variant, window_size, alpha, ..ParityBpeTrainer::default() }
    };
    assert_eq!(refused(&window(0, 1.0), 1, None), "window_size is 0 but must be at least 1");
    assert_eq!(refused(&window(1, f64::NAN), 1, None), "alpha is nan but must be a finite number above 0");
    assert_eq!(refused(&ParityBpeTrainer { window_size: 0, alpha: -1.0, ..base }, 1, None), "Ok(())");
}
