//! Runs against counters whose memory has no bound.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::block::push_number;
use super::overflow::{Budget, Overflow};
use super::summary::Summary;
use super::writer::MAGIC;
use super::{
    Addend, CountedWord, CountsFile, OrderedWords, Place, Run, RunReader, SortedWords, Spelling, Stages,
};
use crate::cache::KeyForm;
use crate::counting::{Spill, WordCounter};
use crate::structures::parallel::Progress;
use crate::trainers::word_counts::{WordCounts, WordSource};

#[expect(clippy::unnecessary_wraps, reason = "progress may stop the work")]
fn silent(_: Progress) -> crate::Result<()> {
    Ok(())
}

fn overflow() -> Arc<Overflow> {
    let budget = Budget { memory: 64 << 20, folder: std::env::temp_dir() };
    Arc::new(Overflow::new(budget, 2, Spelling::Text, Stages::default()).expect("enough memory"))
}

fn counter(spill: &Arc<Overflow>, share: usize) -> WordCounter {
    WordCounter::bounded(Arc::clone(spill) as Arc<dyn Spill>, share)
}

/// Counts of words at positions 10, 20, … of two sources, the second of which begins with the word at `border`.
fn counted(words: &[String], counters: usize, border: usize, share: usize) -> CountsFile {
    let spill = overflow();
    spill.begin_source(0, 4);
    spill.begin_source(10 * border as u64, 5);
    let mut made: Vec<WordCounter> = (0..counters).map(|_| counter(&spill, share)).collect();
    for (at, word) in words.iter().enumerate() {
        made[at * 7 % counters].add(word.as_bytes(), 0, word.len(), 10 * at as u64);
    }
    made.iter_mut().try_for_each(WordCounter::flush).expect("room on the disk");
    spill.finish(words.len() as u64, 0, &mut silent).expect("room on the disk")
}

#[test]
fn a_budget_beside_other_structures_leaves_their_bytes_and_enough() {
    const MIB: usize = 1 << 20;
    let beside = |memory: usize, bytes, threads| {
        let budget = Budget { memory: memory * MIB, folder: std::env::temp_dir() };
        budget.beside(bytes * MIB, threads).memory / MIB
    };
    assert_eq!(beside(100, 30, 1), 70);
    assert_eq!(beside(100, 80, 1), 50, "half of the memory at least");
    assert_eq!(beside(100, 70, 6), 72, "12 MiB for each thread");
    assert_eq!(beside(40, 20, 4), 40, "no more than there is");
}

/// Six runs of a level are merged, so 100 runs have three levels.
#[test]
fn runs_of_several_levels_lose_no_word() {
    let budget = Budget { memory: 24 << 20, folder: std::env::temp_dir() };
    let spill = Overflow::new(budget, 2, Spelling::Text, Stages::default()).expect("enough memory");
    let spill = Arc::new(spill);
    spill.begin_source(0, 0);
    let words: Vec<String> = (0..100).map(|number| format!("{}", number % 30)).collect();
    for (at, word) in words.iter().enumerate() {
        let mut counter = counter(&spill, usize::MAX);
        counter.add_counted(word.as_bytes(), 1, 10 * at as u64);
        counter.flush().expect("room on the disk");
    }
    let counts = spill.finish(100, 0, &mut silent).expect("room on the disk");
    let unbounded = counted(&words, 1, 100, usize::MAX);
    let without_source = |counts| {
        read(counts).into_iter().map(|(word, count, first)| (word, count, first.at)).collect::<Vec<_>>()
    };
    assert_eq!(without_source(&counts), without_source(&unbounded));
}

fn read(counts: &CountsFile) -> Vec<(String, u64, Place)> {
    let (mut reader, mut words) = (counts.reader(), Vec::new());
    while reader.advance().expect("a sound file") {
        let CountedWord { word, count, first } = reader.word();
        words.push((String::from_utf8_lossy(word).into_owned(), count, first));
    }
    words
}

fn bytes(counts: &CountsFile) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!(
        "lexmill-run-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    counts.save(&path).expect("room on the disk");
    let bytes = std::fs::read(&path).expect("it was saved");
    std::fs::remove_file(&path).expect("ours");
    bytes
}

/// Counts of words of one source, the first of which is its word number `before`.
fn part(words: &[String], source: u32, before: usize, share: usize) -> CountsFile {
    let spill = overflow();
    spill.begin_source(0, source);
    let mut counter = counter(&spill, share);
    for (at, word) in words.iter().enumerate() {
        counter.add(word.as_bytes(), 0, word.len(), 10 * (before + at) as u64);
    }
    counter.flush().expect("room on the disk");
    spill.finish(words.len() as u64, 0, &mut silent).expect("room on the disk")
}

fn naive(words: &[String], border: usize) -> Vec<(String, u64, Place)> {
    let mut sorted: Vec<(String, usize)> = words.iter().cloned().zip(0..).collect();
    sorted.sort();
    let mut counts: Vec<(String, u64, Place)> = Vec::new();
    for (word, at) in sorted {
        let first = if at < border {
            Place { source: 4, at: 10 * at as u64 }
        } else {
            Place { source: 5, at: 10 * (at - border) as u64 }
        };
        match counts.last_mut() {
            Some((last, count, _)) if *last == word => *count += 1,
            _ => counts.push((word, 1, first)),
        }
    }
    counts
}

fn words() -> impl Strategy<Value = Vec<String>> {
    // The table of a counter begins with 4,096 places, so some cases have more words than that.
    let number = (0..20_000u32).prop_map(|number| format!("{number:x}"));
    let word = prop_oneof![6 => number, 1 => "[ab\0]{1,20}", 1 => "[a-c]{14,40}"];
    prop_oneof![prop::collection::vec(word.clone(), 1..40), prop::collection::vec(word, 5_000..9_000)]
}

/// The words in the order of appearance.
fn in_order(counts: &CountsFile) -> crate::Result<WordCounts> {
    let (words, mut table) = (OrderedWords::new(counts, &mut silent)?, WordCounts::new());
    for part in words.parts(2) {
        words.read(part, &mut |word, count| {
            table.push(word, count);
            Ok(true)
        })?;
    }
    Ok(table)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn spilled_counts_matches_naive(words in words(), counters in 1..4usize, border in 0..9_000usize, share in 200_000..600_000usize) {
        let border = border.min(words.len());
        let counts = counted(&words, counters, border, share);
        prop_assert_eq!(read(&counts), naive(&words, border));
        prop_assert_eq!(counts.summary().total, words.len() as u64);
        let unbounded = counted(&words, 1, border, usize::MAX);
        prop_assert_eq!(bytes(&counts), bytes(&unbounded));
        // In the order of first appearance, as counters without a bound join.
        let mut counter = WordCounter::default();
        for (at, word) in words.iter().enumerate() {
            counter.add(word.as_bytes(), 0, word.len(), at as u64);
        }
        let joined = WordCounter::join(vec![counter], KeyForm::Text, 1, &mut silent).expect("nothing stops it");
        prop_assert_eq!(in_order(&counts).expect("there are words"), joined);
        // From the disk, in the order of their bytes.
        let sorted = SortedWords::new(&counts).expect("there are words");
        let mut found = Vec::new();
        for part in sorted.parts(3) {
            let mut take = |word: &_, count| {
                found.push((ToOwned::to_owned(word), count));
                Ok(true)
            };
            sorted.read(part, &mut take).expect("a sound file");
        }
        let expected = read(&counts).into_iter().map(|(word, count, _)| (word, count));
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn merged_counts_do_not_depend_on_order(words in words(), cut in 0..9_000usize, share in 200_000..600_000usize) {
        let cut = cut.min(words.len());
        let whole = counted(&words, 1, cut, usize::MAX);
        let parts = [part(&words[..cut], 4, 0, share), part(&words[cut..], 5, 0, share)];
        let swapped = [parts[1].clone(), parts[0].clone()];
        for parts in [parts, swapped] {
            let parts = parts.map(|part| Addend::Open(Box::new(part)));
            let merged = CountsFile::merge(&parts, &std::env::temp_dir(), 0, &mut silent).expect("equal stages");
            prop_assert_eq!(bytes(&merged), bytes(&whole));
        }
    }

    #[test]
    fn merging_in_levels_matches_naive(words in words(), pieces in 1..40usize, memory in 0..6_000_000usize) {
        let whole = counted(&words, 1, words.len(), usize::MAX);
        let (folder, len) = (tempfile::tempdir().expect("room on the disk"), words.len().div_ceil(pieces).max(1));
        let parts = words.chunks(len).zip(0..).map(|(words, number)| {
            let path = folder.path().join(number.to_string());
            let part = part(words, 4, number * len, usize::MAX);
            part.save(&path).expect("room on the disk");
            // Open counts and files may be mixed.
            if number % 3 == 0 { Addend::Open(Box::new(part)) } else { Addend::File(path) }
        });
        let mut parts: Vec<_> = parts.collect();
        let middle = pieces / 2 % parts.len();
        parts.rotate_left(middle);
        let merged = CountsFile::merge(&parts, folder.path(), memory, &mut silent).expect("equal stages");
        prop_assert_eq!(bytes(&merged), bytes(&whole));
    }

    #[test]
    fn damaged_counts_are_errors(words in prop::collection::vec("[a-e]{1,20}", 1..200), at in any::<prop::sample::Index>(), flip in 1..=255u8, cut: bool) {
        let mut bytes = bytes(&counted(&words, 1, 0, usize::MAX));
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= flip;
        }
        let mut file = tempfile::tempfile().expect("room on the disk");
        file.write_all(&bytes).expect("room on the disk");
        let outcome = Run::open(file, Path::new("damaged")).and_then(|run| {
            let mut reader = RunReader::new(Arc::new(run));
            while reader.advance()? {}
            Ok(())
        });
        prop_assert!(outcome.is_err(), "byte {} of {}", at, bytes.len());
    }
}

#[test]
fn counts_that_were_trimmed_say_so_and_are_not_merged() {
    let words = ["a", "b", "b", "c", "c", "c"].map(str::to_owned);
    let counts = counted(&words, 1, 0, usize::MAX);
    let trimmed = counts.trimmed(2, &std::env::temp_dir(), &mut silent).expect("room on the disk");
    assert_eq!(read(&trimmed).len(), 2);
    let summary = trimmed.summary();
    assert_eq!((summary.words, summary.total, summary.dropped_words, summary.dropped_total), (2, 5, 1, 1));
    let refused = CountsFile::merge(
        &[trimmed, counts].map(|counts| Addend::Open(Box::new(counts))),
        &std::env::temp_dir(),
        0,
        &mut silent,
    );
    assert!(refused.expect_err("a word is missing").to_string().contains("rare words are missing"));
}

#[test]
fn a_long_word_has_a_block_of_its_own_length() {
    let words = ["x".repeat(1 << 20), "y".to_owned(), "x".repeat(1 << 20)];
    let counts = counted(&words, 1, 0, usize::MAX);
    let lens: Vec<(usize, u64)> = read(&counts).iter().map(|(word, count, _)| (word.len(), *count)).collect();
    assert_eq!(lens, [(1 << 20, 2), (1, 1)]);
}

/// Opens a run of one block whose footer is replaced.
fn with_footer(footer: &[u8]) -> crate::Result<CountsFile> {
    let words = ["a", "b", "b"].map(str::to_owned);
    let honest = bytes(&counted(&words, 1, 0, usize::MAX));
    let (rest, magic) = honest.split_at(honest.len() - 8);
    let compressed = u64::from_le_bytes(*rest[rest.len() - 16..].first_chunk().expect("a length"));
    let blocks = &rest[..rest.len() - 16 - compressed as usize];
    let frame = zstd::bulk::compress(footer, 1).expect("a frame");
    let lens = [frame.len() as u64, footer.len() as u64].map(u64::to_le_bytes).concat();
    let mut file = tempfile::NamedTempFile::new().expect("room on the disk");
    file.write_all(&[blocks, &frame, &lens, magic].concat()).expect("room on the disk");
    CountsFile::open(file.path())
}

#[test]
fn a_forged_footer_is_an_error_before_memory_is_taken() {
    let words = ["a", "b", "b"].map(str::to_owned);
    let counts = counted(&words, 1, 0, usize::MAX);
    let summary = |words: u64| {
        let summary = Summary { words, ..counts.summary().clone() };
        serde_json::to_vec(&summary).expect("a summary")
    };
    let file_bytes = bytes(&counts);
    let rest = &file_bytes[..file_bytes.len() - 16];
    let frame = u64::from_le_bytes(*rest[rest.len() - 8..].first_chunk().expect("a length"));
    let block = (rest.len() - 8 - MAGIC.len()) as u64 - frame;
    let footer = |words: u64, len: u64| {
        let mut footer = Vec::new();
        for number in [1, words, len, block] {
            push_number(&mut footer, number);
        }
        [footer, summary(words)].concat()
    };
    let opened = with_footer(&footer(2, 12)).expect("the footer that was there");
    assert_eq!(in_order(&opened).expect("two words").len(), 2);
    for (words, len) in
        [(1 << 60, 12), (3, 12), (0, 12), (2, 1 << 60), (1 << 57, 1 << 60), (u64::MAX, u64::MAX)]
    {
        let refused = with_footer(&footer(words, len)).expect_err("a forged number");
        assert!(refused.to_string().contains("damaged at their end"), "{words} {len}: {refused}");
    }
    // Possible by the numbers alone; the block says otherwise.
    for (words, len) in [(2, 13), (1, 12), (1 << 20, 1 << 30)] {
        let counts = with_footer(&footer(words, len)).expect("numbers that are possible");
        let refused = in_order(&counts).expect_err("a forged number");
        assert!(refused.to_string().contains("block 0"), "{words} {len}: {refused}");
    }
}
