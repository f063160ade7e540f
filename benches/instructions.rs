//! Six jobs on synthetic text, whose instructions `instructions.py` counts: `instructions decode` runs one, without a
//! name all run. They take one thread and no data from outside, so a count depends on the code and the compiler alone.

use std::hint::black_box;

use lexmill::scan::Splitter;
use lexmill::tokenizer::{EncodeInput, Sequence, Tokenizer};
use lexmill::trainers::bpe::BpeTrainer;

#[path = "support/fill.rs"]
mod fill;
#[path = "support/trained.rs"]
mod trained;
#[path = "support/words.rs"]
mod words;

use fill::fill;
use trained::trained;
use words::{count_words, synthetic_words};

const JOBS: [&str; 6] = ["scan", "encode-first", "encode-later", "encode-offsets", "decode", "train"];
const WORDS: usize = 60_000;
const LINE_WORDS: usize = 12;
/// Punctuation, contractions, digits and characters of two and three bytes, after every tenth line.
const MIXED: &str = "It's 23 words -- short, \"quoted\" and hyphen-ated; with naïve Größe, 東京 and ½.\r\n";

/// The function whose instructions are counted: callgrind knows it by its name.
#[inline(never)]
fn counted_job<T>(job: impl FnOnce() -> T) -> T {
    black_box(job())
}

fn documents() -> Vec<String> {
    let words: Vec<String> = synthetic_words().take(WORDS).collect();
    let lines: Vec<String> = words.chunks(LINE_WORDS).map(|line| line.join(" ") + ".\n").collect();
    lines.chunks(10).map(|lines| lines.concat() + MIXED).collect()
}

fn run(job: &str) {
    let documents = documents();
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    if job == "scan" {
        counted_job(|| texts.iter().map(|text| fill(Splitter::Gpt2, text)).sum::<usize>());
        return;
    }
    if job == "train" {
        let words = count_words(documents.iter().flat_map(|text| text.split_inclusive(' ')));
        let trainer = BpeTrainer { vocab_size: 4000, threads: 1, ..BpeTrainer::default() };
        counted_job(|| trainer.train(words, &mut |_| Ok(())).expect("a small alphabet"));
        return;
    }
    let tokenizer = Tokenizer::new(&trained(&documents.concat(), 2000)).expect("a valid tokenizer");
    let encode = || tokenizer.encode_ids::<u32>(&texts[..], true, 1).expect("valid text").ids;
    match job {
        "encode-first" => {
            counted_job(encode);
        }
        "encode-later" => {
            encode();
            counted_job(encode);
        }
        "encode-offsets" => {
            let inputs: Vec<EncodeInput<'_>> =
                texts.iter().map(|&text| EncodeInput { first: Sequence::Text(text), second: None }).collect();
            encode();
            counted_job(|| tokenizer.encode_batch(&inputs, true, 1).expect("valid text"));
        }
        "decode" => {
            let ids = encode();
            counted_job(|| tokenizer.decode(&ids, true).expect("ids of the vocabulary"));
        }
        _ => panic!("the job is {job:?} but must be one of {JOBS:?}"),
    }
}

fn main() {
    // Cargo adds `--bench`.
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let jobs = if named.is_empty() { JOBS.to_vec() } else { named.iter().map(String::as_str).collect() };
    for job in jobs {
        run(job);
    }
}
