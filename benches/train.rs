//! BPE training from counted words; the throughput is in bytes of all distinct words together.

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use lexmill::trainers::bpe::{BpeTrainer, TieBreak};
use lexmill::trainers::word_counts::WordCounts;

#[path = "support/words.rs"]
mod words;

use words::{count_words, synthetic_words};

/// Words of the English corpus if `LEXMILL_DATA` names a folder that holds it, of a synthetic text otherwise.
fn counted_words() -> (&'static str, WordCounts) {
    let file = std::env::var_os("LEXMILL_DATA").map(|folder| Path::new(&folder).join("corpora/english.txt"));
    if let Some(text) = file.and_then(|file| std::fs::read_to_string(file).ok()) {
        return ("english", count_words(text.split_inclusive(' ')));
    }
    eprintln!("LEXMILL_DATA names no folder with corpora/english.txt: training on a synthetic text");
    let words: Vec<String> = synthetic_words().take(300_000).collect();
    ("synthetic", count_words(words.iter().map(String::as_str)))
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let (corpus, words) = counted_words();
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
