//! Joins the counters of several threads into one list, in the order of first appearance.
//!
//! Two rounds, both parallel. First, each thread joins the words of one part, chosen by hash, so that all counts of a
//! word meet on one thread. Then each thread orders the words that first appeared within one range of the corpus.

use std::slice::Iter;

use super::{Entry, WordCounter};
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::KeyForm;
use crate::cache::key::{hash_key, key_bytes};
use crate::structures::huge_pages::vec_mapped;
use crate::structures::parallel::{METER_EVERY, Meter, OnProgress, run_parts};
use crate::trainers::word_counts::WordCounts;

const STAGE: &str = "join counts";

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
    /// Those of `on_progress`.
    pub fn join(
        mut counters: Vec<Self>,
        key_form: KeyForm,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<WordCounts> {
        counters.iter_mut().for_each(Self::count_pending);
        let words: usize = counters.iter().map(|counter| counter.used + counter.long.len()).sum();
        let parts = if counters.len() < 2 {
            run_parts(STAGE, words as u64, counters, on_progress, |counter, _| Part::of(counter))?
        } else {
            let numbers = (0..threads.max(1)).collect();
            let parts = run_parts(STAGE, words as u64, numbers, on_progress, |number, meter| {
                Part::of(part_of(&counters, number, threads.max(1), meter))
            })?;
            drop(counters);
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

/// Part `number` of `parts` of the words of all `counters`.
fn part_of(counters: &[WordCounter], number: usize, parts: usize, meter: &Meter) -> WordCounter {
    // The tables use the lower bits of the hash, so parts use higher ones.
    let is_here = |hash: u64| (hash >> 40) as usize % parts == number;
    let most = counters.iter().map(|counter| counter.used).max().unwrap_or(0);
    let mut part = WordCounter::with_room(most / parts + most / (2 * parts));
    for counter in counters {
        for entries in counter.entries.chunks(METER_EVERY) {
            for &entry in entries {
                let hash = hash_key(entry.key);
                if entry.key != 0 && is_here(hash) {
                    part.add_short(hash, entry);
                }
            }
            if !meter.add(entries.len() / 2) {
                return part;
            }
        }
        let hashes = counter.long_hashes.iter().copied();
        for (hash, entry) in hashes.zip(&counter.long).filter(|&(hash, _)| is_here(hash)) {
            part.add_long(entry.long_word(&counter.long_text), hash, entry.count, entry.first);
        }
    }
    part
}

impl Part {
    /// The short words of a counter, and the long ones, which are in order already where texts came in order.
    fn of(counter: WordCounter) -> [Self; 2] {
        let mut words = counter.entries;
        words.retain(|entry| entry.key != 0);
        [(words, Vec::new()), (counter.long, counter.long_text)].map(|(mut words, long_text)| {
            words.sort_unstable_by_key(|entry| entry.first);
            Self { words, long_text }
        })
    }

    /// The words that first appeared from `start` on and before `end`.
    fn within(&self, start: u64, end: u64) -> &[Entry] {
        let place = |bound| self.words.partition_point(|entry| entry.first < bound);
        &self.words[place(start)..place(end)]
    }
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
    let mut lists: Vec<Iter<'_, Entry>> = parts.iter().map(|part| part.within(start, end).iter()).collect();
    // Pairs of first appearance and list. Each list is in order, so the word of a pair is always the next one of its list.
    let mut order = vec_mapped(lists.iter().map(Iter::len).sum());
    for (number, list) in lists.iter().enumerate() {
        order.extend(list.clone().map(|entry| (entry.first, number)));
    }
    // A stable sort merges runs that are in order already.
    order.sort_by_key(|&(first, _)| first);
    let bytes: usize = lists.iter().flat_map(Iter::clone).map(Entry::len).sum();
    // A mapped byte takes at most two bytes.
    let mut words = WordCounts::with_room(order.len(), 2 * bytes);
    for chunk in order.chunks(METER_EVERY) {
        for &(_, list) in chunk {
            if let Some(entry) = lists[list].next() {
                push(entry, &parts[list].long_text, key_form, &mut words);
            }
        }
        if !meter.add(chunk.len()) {
            break;
        }
    }
    words
}

fn push(entry: &Entry, long_text: &[u8], key_form: KeyForm, words: &mut WordCounts) {
    let (bytes, len) = key_bytes(entry.key);
    let word = if len > 0 { &bytes[..len] } else { entry.long_word(long_text) };
    words.push_with(entry.count, |text| match key_form {
        KeyForm::Text | KeyForm::Spaced | KeyForm::Prefixed => text.push_str(&String::from_utf8_lossy(word)),
        KeyForm::Bytes => push_mapped(word, text),
    });
}
