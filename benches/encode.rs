//! Encoding and decoding on one thread, warm and cold, and the latency of one short string.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use lexmill::formats::tokenizer_json;
use lexmill::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
use lexmill::structures::finder::TextPattern;
use lexmill::tokenizer::{Components, EncodeInput, Sequence, Tokenizer};

#[path = "support/corpora.rs"]
mod corpora;
#[path = "support/trained.rs"]
mod trained;

use corpora::{folder, prefix, texts};
use trained::trained;

/// Documents are cut at line ends once they have this many bytes.
const DOCUMENT: usize = 4 << 10;

/// GPT-2's tokenizer where the data has it, else one trained on the text at hand.
fn parts(text: &str) -> (&'static str, Components) {
    let file = folder().join("tokenizers/gpt2/tokenizer.json");
    if let Ok(json) = std::fs::read_to_string(file) {
        return ("gpt2", tokenizer_json::read(&json).expect("a published tokenizer"));
    }
    ("trained", trained(text, 4000))
}

/// The same with a splitter that has no scanner: cl100k's, for numbers of two digits.
fn with_own_pattern(parts: &Components) -> Components {
    let pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let split = Split::new(TextPattern::Regex(pattern.to_owned()), Behavior::Isolated, false).expect("valid");
    let byte_level = ByteLevel { add_prefix_space: false, use_regex: false, ..ByteLevel::default() };
    let stages = vec![PreTokenizer::Split(Arc::new(split)), PreTokenizer::ByteLevel(byte_level)];
    Components { pre_tokenizer: Some(PreTokenizer::Sequence(stages)), ..parts.clone() }
}

fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let from = prefix(text, start + DOCUMENT).len();
        let end = text[from..].find('\n').map_or(text.len(), |newline| from + newline + 1);
        documents.push(&text[start..end]);
        start = end;
    }
    documents
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    for (corpus, text) in texts() {
        let (name, parts) = parts(&text);
        let tokenizer = Tokenizer::new(&parts).expect("a valid tokenizer");
        let documents = documents(&text);
        let ids = tokenizer.encode_ids::<u32>(&documents[..], true, 1).expect("valid text").ids;
        let mut group = criterion.benchmark_group(format!("encode/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        let id = |job: &str| BenchmarkId::new(job, format!("{corpus}/{}", text.len()));
        group.bench_function(id("ids, warm"), |bencher| {
            bencher.iter(|| {
                tokenizer.encode_ids::<u32>(black_box(&documents[..]), true, 1).expect("valid text")
            });
        });
        group.bench_function(id("ids, cold"), |bencher| {
            let fresh = || Tokenizer::new(&parts).expect("a valid tokenizer");
            let encode = |tokenizer: Tokenizer| tokenizer.encode_ids::<u32>(&documents[..], true, 1);
            bencher.iter_batched(fresh, encode, BatchSize::PerIteration);
        });
        group.bench_function(id("encodings, warm"), |bencher| {
            let inputs: Vec<EncodeInput<'_>> = documents
                .iter()
                .map(|&text| EncodeInput { first: Sequence::Text(text), second: None })
                .collect();
            bencher.iter(|| tokenizer.encode_batch(black_box(&inputs), true, 1).expect("valid text"));
        });
        group.bench_function(id("decode"), |bencher| {
            bencher.iter(|| tokenizer.decode(black_box(&ids), true));
        });
        group.finish();
        let own = Tokenizer::new(&with_own_pattern(&parts)).expect("a valid tokenizer");
        criterion.bench_function(&format!("encode/{name}/a pattern of one's own/{corpus}"), |bencher| {
            bencher.iter(|| own.encode_ids::<u32>(black_box(&documents[..]), true, 1).expect("valid text"));
        });
        let short = prefix(documents[0], 44);
        criterion.bench_function(&format!("encode/{name}/one string of {} bytes", short.len()), |bencher| {
            bencher
                .iter(|| tokenizer.encode_ids::<u32>(&[black_box(short)][..], true, 1).expect("valid text"));
        });
    }
    criterion.final_summary();
}
