//! Span scanners over whole texts on one thread, beside the general engine on the pattern that each stands for.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, Throughput};
use lexmill::scan::Splitter;
use lexmill::structures::regex::Pattern;

/// As much of a corpus as is read; the general engine gets a tenth.
const MOST_BYTES: usize = 16 << 20;

const SPLITTERS: [(&str, Splitter); 6] = [
    ("gpt2", Splitter::Gpt2),
    ("cl100k", Splitter::Cl100k),
    ("qwen2", Splitter::Qwen2),
    ("o200k", Splitter::O200k),
    ("whitespace", Splitter::Whitespace),
    ("whitespace_split", Splitter::WhitespaceSplit),
];

/// The corpora in `LEXMILL_DATA`, by default in `shared/data` beside the repository; else a synthetic text.
fn texts() -> Vec<(&'static str, String)> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("LEXMILL_DATA").map_or_else(beside, PathBuf::from).join("corpora");
    let mut texts = Vec::new();
    for name in ["english", "german", "multilingual", "messy"] {
        if let Ok(text) = std::fs::read_to_string(folder.join(name).with_extension("txt")) {
            texts.push((name, prefix(&text, MOST_BYTES).to_owned()));
        }
    }
    if texts.is_empty() {
        eprintln!("{} holds no corpora: scanning a synthetic text", folder.display());
        let line = "It's a text of 23 words -- short and long, \"quoted\", hyphen-ated; with naïve Größe, 東京 and ½.\r\n";
        texts.push(("synthetic", line.repeat(MOST_BYTES / line.len())));
    }
    texts
}

/// At most the first `most` bytes of `text`.
fn prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

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
    splitter.for_each_span(text, |start, end| counted = (counted.0 + 1, counted.1 + end - start));
    counted
}
