//! Joins the counters of several threads into one list, in the order of first appearance.
//!
//! Three rounds, each of them parallel. First, each thread moves the words of one counter together and gives the free slots back to
//! the system, since the tables of the next round need as much memory. Then each thread joins the words of one part, chosen by
//! hash, so that all counts of a word meet on one thread. Last, each thread orders the words that first appeared within one range
//! of the corpus.

use std::cmp::Ordering;

use super::{Entry, WordCounter};
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::KeyForm;
use crate::cache::key::hash_key;
use crate::structures::huge_pages::vec_mapped;
use crate::structures::parallel::{METER_EVERY, Meter, OnProgress, run_parts, share};
use crate::trainers::word_counts::WordCounts;

const STAGE: &str = "join counts";

/// The words of one counter, without its free slots and its index.
struct CountedWords {
    short: Vec<Entry>,
    long: Vec<Entry>,
    long_hashes: Vec<u64>,
    long_text: Vec<u8>,
}

/// The short or the long words of one part, in the order of first appearance.
struct Part {
    words: Vec<Entry>,
    long_text: Vec<u8>,
}

impl WordCounter {
    /// The counts of all `counters` in the order of first appearance, each word in the form that the model sees; on
    /// `threads` threads.
    ///
    /// # Errors
    /// The errors of `on_progress`.
    pub fn join(
        counters: Vec<Self>,
        key_form: KeyForm,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<WordCounts> {
        let all_counted: Vec<CountedWords> = share(counters, CountedWords::of);
        let words: usize = all_counted.iter().map(|counted| counted.short.len() + counted.long.len()).sum();
        let parts = if all_counted.len() < 2 {
            run_parts(STAGE, words as u64, all_counted, on_progress, |counted, _| counted.into_parts())?
        } else {
            let numbers = (0..threads.max(1)).collect();
            let parts = run_parts(STAGE, words as u64, numbers, on_progress, |number, meter| {
                CountedWords::of(part_of(&all_counted, number, threads.max(1), meter)).into_parts()
            })?;
            drop(all_counted);
            parts
        };
        let parts: Vec<Part> = parts.into_iter().flatten().collect();
        let ranges = corpus_ranges(&parts, threads.max(1));
        let made = run_parts(STAGE, words as u64, ranges, on_progress, |(start, end), meter| {
            ordered(&parts, start, end, key_form, meter)
        })?;
        drop(parts);
        Ok(made.into_iter().reduce(WordCounts::followed_by).unwrap_or_default())
    }
}

impl CountedWords {
    fn of(mut counter: WordCounter) -> Self {
        counter.count_pending();
        let WordCounter { mut entries, long, long_hashes, long_text, .. } = counter;
        entries.retain(|entry| entry.key != 0);
        entries.shrink_to_fit();
        Self { short: entries, long, long_hashes, long_text }
    }

    /// The short and the long words, each in the order of first appearance.
    fn into_parts(self) -> [Part; 2] {
        [(self.short, Vec::new()), (self.long, self.long_text)].map(|(mut words, long_text)| {
            words.sort_unstable_by(|one, other| compare((one, &long_text), (other, &long_text)));
            Part { words, long_text }
        })
    }
}

/// Part `number` of `parts` of the words of all counters.
fn part_of(all_counted: &[CountedWords], number: usize, parts: usize, meter: &Meter) -> WordCounter {
    // The tables use the lower bits of the hash, so parts use higher ones.
    let is_here = |hash: u64| (hash >> 40) as usize % parts == number;
    let most = all_counted.iter().map(|counted| counted.short.len()).max().unwrap_or(0);
    let mut part = WordCounter::with_room(most / parts + most / (2 * parts));
    for counted in all_counted {
        for entries in counted.short.chunks(METER_EVERY) {
            for &entry in entries {
                let hash = hash_key(entry.key);
                if is_here(hash) {
                    part.add_short(hash, entry);
                }
            }
            if !meter.add(entries.len()) {
                return part;
            }
        }
        let hashes = counted.long_hashes.iter().copied();
        for (hash, entry) in hashes.zip(&counted.long).filter(|&(hash, _)| is_here(hash)) {
            part.add_long(entry.long_word(&counted.long_text), hash, entry.count, entry.first);
        }
    }
    part
}

impl Part {
    /// The words that first appeared from `start` on and before `end`.
    fn within(&self, start: u64, end: u64) -> &[Entry] {
        let place = |bound| self.words.partition_point(|entry| entry.first < bound);
        &self.words[place(start)..place(end)]
    }
}

/// Orders words, each with its long texts, by first appearance. Two words share a place only if the normalizer made 16 bytes or more of a
/// byte; then their bytes decide.
fn compare((one, one_text): (&Entry, &[u8]), (other, other_text): (&Entry, &[u8])) -> Ordering {
    let by_bytes = || one.with_word(one_text, |one| other.with_word(other_text, |other| one.cmp(other)));
    one.first.cmp(&other.first).then_with(by_bytes)
}

/// Ranges of the corpus (start and end) in which about equally many words appeared first.
fn corpus_ranges(parts: &[Part], count: usize) -> Vec<(u64, u64)> {
    // The parts are chosen by hash, so each is a random sample of the words; the longest one gives the bounds.
    let longest =
        parts.iter().map(|part| &part.words[..]).max_by_key(|words| words.len()).unwrap_or_default();
    let bounds = (1..count).filter_map(|at| longest.get(longest.len() * at / count));
    let mut bounds: Vec<u64> = bounds.map(|entry| entry.first).collect();
    bounds.dedup();
    let starts = std::iter::once(0).chain(bounds.iter().copied());
    starts.zip(bounds.iter().copied().chain([u64::MAX])).collect()
}

/// The words that first appeared from `start` on and before `end`.
fn ordered(parts: &[Part], start: u64, end: u64, key_form: KeyForm, meter: &Meter) -> WordCounts {
    let lists: Vec<(&[Entry], &[u8])> =
        parts.iter().map(|part| (part.within(start, end), &part.long_text[..])).collect();
    // First appearance, list, and place in the list.
    let mut order: Vec<(u64, u32, u32)> = vec_mapped(lists.iter().map(|(list, _)| list.len()).sum());
    for ((list, _), number) in lists.iter().zip(0..) {
        order.extend(list.iter().zip(0..).map(|(entry, at)| (entry.first, number, at)));
    }
    let entry = |(_, list, at): (u64, u32, u32)| {
        let (list, long_text) = lists[list as usize];
        (&list[at as usize], long_text)
    };
    // A stable sort merges runs that are in order already.
    order.sort_by(|&one, &other| one.0.cmp(&other.0).then_with(|| compare(entry(one), entry(other))));
    let bytes: usize = lists.iter().flat_map(|(list, _)| list.iter()).map(Entry::len).sum();
    // A mapped byte takes at most two bytes.
    let mut words = WordCounts::with_room(order.len(), 2 * bytes);
    for chunk in order.chunks(METER_EVERY) {
        for &place in chunk {
            let (entry, long_text) = entry(place);
            push(entry, long_text, key_form, &mut words);
        }
        if !meter.add(chunk.len()) {
            break;
        }
    }
    words
}

fn push(entry: &Entry, long_text: &[u8], key_form: KeyForm, words: &mut WordCounts) {
    entry.with_word(long_text, |word| {
        words.push_with(entry.count, |text| match key_form {
            KeyForm::Text | KeyForm::Spaced | KeyForm::Prefixed => {
                text.push_str(&String::from_utf8_lossy(word));
            }
            KeyForm::Bytes => push_mapped(word, text),
        });
    });
}
