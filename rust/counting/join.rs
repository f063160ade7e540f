//! Joins the counters of several threads into one list, in the order of first appearance.
//!
//! Two rounds, both parallel. First, each thread joins the words of one part, chosen by hash, so that all counts of a
//! word meet on one thread. Then each thread orders the words that first appeared within one range of the corpus.

use std::slice::Iter;

use super::{Entry, LongEntry, WordCounter};
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::KeyForm;
use crate::cache::key::{hash_key, key_bytes};
use crate::structures::huge_pages::vec_mapped;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::structures::prefetch::prefetch;
use crate::trainers::word_counts::WordCounts;

const STAGE: &str = "join counts";

/// Words per batch: each prefetches its slot, so that its cache miss overlaps with the joining of others.
const PREFETCH_BATCH: usize = 32;

/// The words of one part, in the order of first appearance.
struct Part {
    short: Vec<Entry>,
    long: Vec<LongEntry>,
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
        let words: usize = counters.iter().map(Self::len).sum();
        let parts = if counters.len() < 2 {
            run_parts(STAGE, words as u64, counters, on_progress, |counter, _| Part::new(counter))?
        } else {
            let numbers = (0..threads.max(1)).collect();
            let parts = run_parts(STAGE, words as u64, numbers, on_progress, |number, meter| {
                Part::new(part_of(&counters, number, threads.max(1), meter))
            })?;
            drop(counters);
            parts
        };
        let ranges = corpus_ranges(&parts, threads.max(1));
        let made = run_parts(STAGE, words as u64, ranges, on_progress, |(start, end), meter| {
            ordered(&parts, start, end, key_form, meter)
        })?;
        drop(parts);
        Ok(made.into_iter().reduce(WordCounts::followed_by).unwrap_or_default())
    }

    /// Number of distinct words.
    fn len(&self) -> usize {
        self.used + self.long.len()
    }
}

/// Part `number` of `parts` of the words of all `counters`.
fn part_of(counters: &[WordCounter], number: usize, parts: usize, meter: &Meter) -> WordCounter {
    // The tables use the lower bits of the hash, so parts use higher ones.
    let is_here = |hash: u64| (hash >> 40) as usize % parts == number;
    let most = counters.iter().map(|counter| counter.used).max().unwrap_or(0);
    let mut part = WordCounter::with_room(most / parts + most / (2 * parts));
    let mut lookup = Vec::with_capacity(PREFETCH_BATCH);
    for counter in counters {
        for entries in counter.entries.chunks(METER_EVERY) {
            for entry in entries {
                let hash = hash_key(entry.key);
                if entry.key != 0 && is_here(hash) {
                    prefetch(&part.entries, hash as usize & part.entries.len().wrapping_sub(1));
                    lookup.push((entry, hash));
                }
                if lookup.len() == PREFETCH_BATCH {
                    part.add_all(lookup.drain(..));
                }
            }
            if !meter.add(entries.len() / 2) {
                return part;
            }
        }
        part.add_all(lookup.drain(..));
        for entry in counter.long.iter().filter(|entry| is_here(entry.hash)) {
            part.add_long(entry.text(&counter.long_text), entry.hash, entry.count, entry.first);
        }
    }
    part
}

impl WordCounter {
    fn add_all<'a>(&mut self, entries: impl Iterator<Item = (&'a Entry, u64)>) {
        for (entry, hash) in entries {
            self.add_short(entry.key, hash as usize, entry.count, entry.first);
        }
    }
}

impl Part {
    fn new(counter: WordCounter) -> Self {
        let mut short = counter.entries;
        short.retain(|entry| entry.key != 0);
        let mut long = counter.long;
        short.sort_unstable_by_key(|entry| entry.first);
        long.sort_unstable_by_key(|entry| entry.first);
        Self { short, long, long_text: counter.long_text }
    }
}

/// Ranges of the corpus (start and end) in which about equally many words appeared first.
fn corpus_ranges(parts: &[Part], count: usize) -> Vec<(u64, u64)> {
    // The parts are chosen by hash, so each is a random sample of the words; the longest one gives the bounds.
    let most = parts.iter().map(|part| &part.short).max_by_key(|short| short.len());
    let short = most.map_or(&[][..], |short| short.as_slice());
    let mut bounds: Vec<u64> =
        (1..count).filter_map(|at| short.get(short.len() * at / count)).map(|entry| entry.first).collect();
    bounds.dedup();
    let starts = std::iter::once(0).chain(bounds.iter().copied());
    starts.zip(bounds.iter().copied().chain([u64::MAX])).collect()
}

/// The words that first appeared from `start` on and before `end`.
fn ordered(parts: &[Part], start: u64, end: u64, key_form: KeyForm, meter: &Meter) -> WordCounts {
    // Pairs of first appearance and list. Each list is in order, so the word of a pair is always the next one of its
    // list.
    let room = parts
        .iter()
        .map(|part| {
            within(&part.short, start, end, |entry| entry.first).len()
                + within(&part.long, start, end, |entry| entry.first).len()
        })
        .sum();
    let (mut order, mut lists) = (vec_mapped(room), Vec::new());
    for part in parts {
        let short = within(&part.short, start, end, |entry| entry.first);
        let long = within(&part.long, start, end, |entry| entry.first);
        let list = lists.len();
        order.extend(short.iter().map(|entry| (entry.first, list)));
        order.extend(long.iter().map(|entry| (entry.first, list + 1)));
        lists.extend([List::Short(short.iter()), List::Long(long.iter(), &part.long_text)]);
    }
    // A stable sort merges runs that are in order already.
    order.sort_by_key(|&(first, _)| first);
    // A mapped byte takes at most two bytes.
    let mut words = WordCounts::with_room(order.len(), 2 * lists.iter().map(List::bytes).sum::<usize>());
    for chunk in order.chunks(METER_EVERY) {
        for &(_, list) in chunk {
            lists[list].push_next(key_form, &mut words);
        }
        if !meter.add(chunk.len()) {
            break;
        }
    }
    words
}

fn within<E>(entries: &[E], start: u64, end: u64, first: impl Fn(&E) -> u64) -> &[E] {
    let place = |bound| entries.partition_point(|entry| first(entry) < bound);
    &entries[place(start)..place(end)]
}

/// A list of words in the order of first appearance.
enum List<'a> {
    Short(Iter<'a, Entry>),
    Long(Iter<'a, LongEntry>, &'a [u8]),
}

impl List<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Short(entries) => entries.as_slice().iter().map(|entry| key_bytes(entry.key).1).sum(),
            Self::Long(entries, _) => entries.as_slice().iter().map(|entry| entry.len as usize).sum(),
        }
    }

    fn push_next(&mut self, key_form: KeyForm, words: &mut WordCounts) {
        match self {
            Self::Short(entries) => {
                if let Some(entry) = entries.next() {
                    let (bytes, len) = key_bytes(entry.key);
                    push(&bytes[..len], entry.count, key_form, words);
                }
            }
            Self::Long(entries, text) => {
                if let Some(entry) = entries.next() {
                    push(entry.text(text), entry.count, key_form, words);
                }
            }
        }
    }
}

fn push(word: &[u8], count: u64, key_form: KeyForm, words: &mut WordCounts) {
    words.push_with(count, |text| match key_form {
        KeyForm::Text | KeyForm::Spaced | KeyForm::Prefixed => text.push_str(&String::from_utf8_lossy(word)),
        KeyForm::Bytes => push_mapped(word, text),
    });
}
