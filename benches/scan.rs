//! Span scanners over whole texts on one thread, one span at a time (`scan`) and by blocks into arrays (`fill`), beside the
//! general engine on the pattern that each stands for (`regex`).

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use lexmill::scan::Splitter;
use lexmill::structures::regex::Pattern;

#[path = "support/corpora.rs"]
mod corpora;
#[path = "support/fill.rs"]
mod fill;

use corpora::{prefix, texts};
use fill::fill;

const SPLITTERS: [(&str, Splitter); 6] = [
    ("gpt2", Splitter::Gpt2),
    ("cl100k", Splitter::Cl100k),
    ("qwen2", Splitter::Qwen2),
    ("o200k", Splitter::O200k),
    ("whitespace", Splitter::Whitespace),
    ("whitespace_split", Splitter::WhitespaceSplit),
];

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    for (corpus, text) in texts() {
        let mut group = criterion.benchmark_group("scan");
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (name, splitter) in SPLITTERS {
            let id = BenchmarkId::new(name, format!("{corpus}/{}", text.len()));
            group.bench_function(id, |bencher| bencher.iter(|| count(splitter, black_box(&text))));
        }
        group.finish();
        let mut group = criterion.benchmark_group("fill");
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (name, splitter) in SPLITTERS {
            let id = BenchmarkId::new(name, format!("{corpus}/{}", text.len()));
            group.bench_function(id, |bencher| bencher.iter(|| fill(splitter, black_box(&text))));
        }
        group.finish();
        // The general engine is an order of magnitude slower.
        let tenth = prefix(&text, text.len() / 10);
        let mut group = criterion.benchmark_group("regex");
        group.throughput(Throughput::Bytes(tenth.len() as u64));
        for (pattern, splitter) in Splitter::PATTERNS {
            let pattern = Pattern::new(pattern).expect("a known pattern");
            let id =
                BenchmarkId::new(format!("{splitter:?}").to_lowercase(), format!("{corpus}/{}", tenth.len()));
            group.bench_function(id, |bencher| {
                bencher.iter(|| pattern.find_iter(black_box(tenth)).expect("matches").len());
            });
        }
        group.finish();
    }
    criterion.final_summary();
}

/// Spans and the sum of their lengths: as little work per span as keeps the scanner from being optimised away.
fn count(splitter: Splitter, text: &str) -> (usize, usize) {
    let mut counted = (0, 0);
    splitter.for_each_span_scalar(text, &mut |start, end| counted = (counted.0 + 1, counted.1 + end - start));
    counted
}
