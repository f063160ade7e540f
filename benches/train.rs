//! BPE training from counted words; the throughput is in bytes of all distinct words together.

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use foldhash::{HashMap, HashMapExt};
use lexmill::trainers::bpe::{BpeTrainer, TieBreak};
use lexmill::trainers::word_counts::WordCounts;

/// Words of the English corpus if `LEXMILL_DATA` names a folder that holds it, of a synthetic text otherwise.
fn words() -> (&'static str, WordCounts) {
    let file = std::env::var_os("LEXMILL_DATA").map(|folder| Path::new(&folder).join("corpora/english.txt"));
    if let Some(text) = file.and_then(|file| std::fs::read_to_string(file).ok()) {
        return ("english", count_words(text.split_inclusive(' ')));
    }
    eprintln!("LEXMILL_DATA names no folder with corpora/english.txt: training on a synthetic text");
    let words: Vec<String> = synthetic_words().take(300_000).collect();
    ("synthetic", count_words(words.iter().map(String::as_str)))
}

fn count_words<'a>(words: impl Iterator<Item = &'a str>) -> WordCounts {
    let mut indices = HashMap::new();
    let mut counted: Vec<(&str, u64)> = Vec::new();
    for word in words {
        let index = *indices.entry(word).or_insert(counted.len());
        if index == counted.len() {
            counted.push((word, 0));
        }
        counted[index].1 += 1;
    }
    let mut counts = WordCounts::new();
    for (word, count) in counted {
        counts.push(word, count);
    }
    counts
}

/// Words of two to four syllables, the early syllables much more frequent than the late ones.
fn synthetic_words() -> impl Iterator<Item = String> {
    let mut state = 1u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    std::iter::repeat_with(move || {
        let mut word = String::new();
        for _ in 0..2 + below(3) {
            let bound = 1 + below(400);
            let syllable = below(bound);
            word.push(char::from(b'a' + (syllable % 26) as u8));
            word.push(char::from(b'a' + (syllable / 26) as u8));
        }
        word
    })
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let (corpus, words) = words();
    let mut group = criterion.benchmark_group("train_bpe");
    group.throughput(Throughput::Bytes(words.byte_len() as u64));
    for (name, tie_break, threads) in [
        ("smallest_ids", TieBreak::SmallestIds, 1),
        ("smallest_ids_2_threads", TieBreak::SmallestIds, 2),
        ("first_seen", TieBreak::FirstSeen, 1),
    ] {
        let trainer = BpeTrainer { vocab_size: 32_000, tie_break, threads, ..BpeTrainer::default() };
        group.bench_function(BenchmarkId::new(name, format!("{corpus}/{}", words.byte_len())), |bencher| {
            bencher.iter_batched(
                || words.clone(),
                |words| black_box(trainer.train(words, &mut |_| Ok(()))),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    criterion.final_summary();
}
