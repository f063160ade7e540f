//! Misses alone: the distinct pre-tokens of a corpus, in order of first appearance, each through the model once.
//!
//! `cargo bench --bench misses` prints a row for each tokenizer and corpus: how many misses there are, their bytes and tokens, and the
//! nanoseconds of a miss. Scanning and the cache are not measured. Pre-tokens are encoded whole, without cut points, and lines are cut apart first.
//! Instructions, mispredicted branches and cache misses are counted by valgrind, for one row at a time: see benches/README.md.

use std::collections::HashSet;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use lexmill::Result;
use lexmill::byte_level::{push_mapped, push_unmapped};
use lexmill::cache::KeyForm;
use lexmill::formats::tokenizer_json;
use lexmill::metaspace::VISIBLE_SPACE;
use lexmill::models::bpe::ByteSymbols;
use lexmill::models::{Model, Scratch, Tokens};
use lexmill::scan::Splitter;
use lexmill::tokenizer::{Tokenizer, WordCounting};

#[path = "support/corpora.rs"]
mod corpora;

use corpora::{folder, texts};

/// Tokenizers of all models, and where their misses come from.
const TOKENIZERS: [(&str, Source); 9] = [
    ("gpt2", Source::PreTokens),
    ("cl100k_base", Source::PreTokens),
    ("qwen2", Source::PreTokens),
    ("o200k_base", Source::PreTokens),
    ("mistral-v1", Source::Words),
    ("bert-base-uncased", Source::PreTokens),
    ("bert-base-chinese", Source::PreTokens),
    ("t5-small", Source::PreTokens),
    ("xlnet-base-cased", Source::PreTokens),
];

/// Rounds; the median is printed.
const ROUNDS: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Pre-tokens, as the stages cut them.
    PreTokens,
    /// Words with the spaces before them: the chunks of a tokenizer that does not cut text into pre-tokens.
    Words,
}

/// Misses, as the model sees them.
struct Misses {
    model: Arc<Model>,
    /// Set if bytes are raw, not mapped.
    symbols: Option<ByteSymbols>,
    /// All words, one after the other.
    text: String,
    ends: Vec<usize>,
}

impl Misses {
    fn new(tokenizer: &Tokenizer, source: Source, text: &str) -> Result<Self> {
        let pipeline = tokenizer.pipeline();
        let model = Arc::clone(pipeline.model());
        let mut misses = Self { model, symbols: None, text: String::new(), ends: Vec::new() };
        if source == Source::Words {
            let mut seen = HashSet::new();
            Splitter::SpacedWords.for_each_span(text, |start, end| {
                if seen.insert(&text[start..end]) {
                    misses.push(&text[start..end].replace(' ', VISIBLE_SPACE.encode_utf8(&mut [0; 4])));
                }
            });
            return Ok(misses);
        }
        let mut counting = WordCounting::new(Arc::clone(pipeline), 1);
        counting.add_texts(&text.split_inclusive('\n').collect::<Vec<_>>())?;
        let words = counting.finish(&mut |_| Ok(()))?;
        let has_bytes = pipeline.training_key_form() == KeyForm::Bytes;
        misses.symbols = if has_bytes { misses.model.byte_symbols() } else { None };
        let mut raw = Vec::new();
        for (word, _) in words.iter() {
            raw.clear();
            match misses.symbols {
                Some(_) => push_unmapped(word, &mut raw),
                None => raw.extend_from_slice(word.as_bytes()),
            }
            // Pre-tokens of raw bytes are text: no stage cuts within a character.
            misses.push(&String::from_utf8_lossy(&raw));
        }
        Ok(misses)
    }

    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    /// Encodes all misses; returns how many have one, two, three and more tokens.
    #[inline(never)]
    fn replay(&self) -> Result<[usize; 4]> {
        let (mut scratch, mut tokens, mut mapped) = (Scratch::default(), Tokens::default(), String::new());
        let (mut counts, mut start) = ([0; 4], 0);
        for &end in &self.ends {
            let word = &self.text[start..end];
            start = end;
            tokens.clear();
            mapped.clear();
            if let Some(symbols) = &self.symbols {
                let bytes = word.as_bytes();
                if !self.model.encode_bytes(bytes, symbols, &mut mapped, &mut scratch, &mut tokens) {
                    mapped.clear();
                    push_mapped(bytes, &mut mapped);
                    self.model.encode_word(&mapped, &mut scratch, &mut tokens)?;
                }
            } else {
                self.model.encode_word(word, &mut scratch, &mut tokens)?;
            }
            black_box(&tokens);
            counts[tokens.ids.len().clamp(1, 4) - 1] += 1;
        }
        Ok(counts)
    }
}

/// The row of a tokenizer and a corpus.
fn row(name: &str, corpus: &str, misses: &Misses) -> Result<String> {
    let (mut times, mut counts) = (Vec::new(), [0; 4]);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        counts = misses.replay()?;
        times.push(begin.elapsed());
    }
    times.sort();
    let all = misses.ends.len();
    let tenths = 10 * misses.text.len() / all.max(1);
    let nanoseconds = times[ROUNDS / 2].as_nanos() / all.max(1) as u128;
    let [one, two, three, more] = counts.map(|count| (100 * count + all / 2) / all.max(1));
    let each = format!("{}.{}", tenths / 10, tenths % 10);
    Ok(format!(
        "{name:<20} {corpus:<12} {all:>8} {each:>11} {nanoseconds:>8} {one:>7}% {two:>3}% {three:>3}% {more:>4}%"
    ))
}

fn main() -> Result<()> {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_chosen = |name: &str| only.is_empty() || only.iter().any(|only| name.contains(only.as_str()));
    let mut out = io::stdout().lock();
    if !folder().join("tokenizers").is_dir() {
        let _ = writeln!(out, "{} holds no tokenizers: nothing to measure", folder().display());
        return Ok(());
    }
    let header = "tokenizer            corpus         misses  bytes each  ns each  1 token    2    3  more";
    let _ = writeln!(out, "{header}");
    for (corpus, text) in texts() {
        for (name, source) in
            TOKENIZERS.into_iter().filter(|(name, _)| is_chosen(&format!("{name} {corpus}")))
        {
            let file = folder().join("tokenizers").join(name).join("tokenizer.json");
            let Ok(json) = std::fs::read_to_string(file) else { continue };
            let tokenizer = Tokenizer::new(&tokenizer_json::read(&json)?)?;
            let misses = Misses::new(&tokenizer, source, &text)?;
            let _ = writeln!(out, "{}", row(name, corpus, &misses)?);
        }
    }
    Ok(())
}
