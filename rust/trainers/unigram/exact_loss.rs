//! The textbook's loop: counts are fixed, and the pieces whose removal raises the loss least are removed.
//!
//! A word whose best segmentation does not use a piece has the same loss without it, so only the other words are segmented
//! again. Losses are still summed in the order of the words, because rounding decides between near ties.

use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::lattice::GONE;
use super::{UnigramTrainer, nearest};
use crate::Result;
use crate::structures::parallel::{METER_EVERY, run_parts};
use crate::structures::parallel::{OnProgress, Progress};
use crate::trainers::vocab_too_small;
use crate::trainers::word_counts::WordCounts;

const STAGE: &str = "remove pieces";

/// Pieces with their counts, numbered in order of first appearance; their texts are slices of the words.
struct PieceCounts<'a> {
    texts: Vec<&'a str>,
    counts: Vec<u64>,
    ids: HashTable<u32>,
}

fn hash(text: &str) -> u64 {
    FixedState::default().hash_one(text.as_bytes())
}

impl<'a> PieceCounts<'a> {
    fn new() -> Self {
        Self { texts: Vec::new(), counts: Vec::new(), ids: HashTable::new() }
    }

    fn id(&self, text: &str) -> Option<u32> {
        self.ids.find(hash(text), |&id| self.texts[id as usize] == text).copied()
    }

    fn add(&mut self, text: &'a str, count: u64) {
        let id = self.id(text).unwrap_or_else(|| {
            let (id, texts) = (self.texts.len() as u32, &self.texts);
            self.ids.insert_unique(hash(text), id, |&id| hash(texts[id as usize]));
            self.texts.push(text);
            self.counts.push(0);
            id
        });
        self.counts[id as usize] = self.counts[id as usize].saturating_add(count);
    }
}

/// Character boundaries of a word, its end included.
fn bounds(word: &str) -> Vec<usize> {
    word.char_indices().map(|(at, _)| at).chain([word.len()]).collect()
}

/// The lattice of a word.
struct Lattice {
    /// The word's count.
    weight: f64,
    /// Start and end in characters, and id; sorted by start, then by end.
    edges: Vec<(u32, u32, u32)>,
    length: usize,
}

impl Lattice {
    /// The cost of the best segmentation that does not use piece `without`, plus 1; `path` receives its pieces.
    fn best(
        &self,
        costs: &[f64],
        without: u32,
        scratch: &mut Vec<(f64, u32, u32)>,
        path: &mut Vec<u32>,
    ) -> f64 {
        scratch.clear();
        scratch.resize(self.length + 1, (f64::INFINITY, 0, GONE));
        scratch[0].0 = 1.0;
        for &(start, end, id) in self.edges.iter().filter(|&&(.., id)| id != without) {
            let (cost, known) = (costs[id as usize] + scratch[start as usize].0, &mut scratch[end as usize]);
            if known.0 > cost {
                *known = (cost, start, id);
            }
        }
        path.clear();
        let mut end = self.length;
        while end > 0 && scratch[end].2 != GONE {
            path.push(scratch[end].2);
            end = scratch[end].1 as usize;
        }
        scratch[self.length].0
    }
}

/// The seeds: texts, counts, and how many of them always stay: characters, then initial tokens, which come first.
fn seeds<'a>(
    trainer: &UnigramTrainer,
    words: &'a WordCounts,
    specials: &BTreeSet<&str>,
    required: &[&'a str],
) -> Result<(Vec<&'a str>, Vec<u64>, usize)> {
    let (mut characters, mut substrings) = (PieceCounts::new(), PieceCounts::new());
    for (word, count) in words.iter() {
        let bounds = bounds(word);
        for (start, &from) in bounds.iter().enumerate() {
            for (len, &to) in bounds[start..].iter().enumerate().skip(1).take(trainer.max_piece_length) {
                let found = if len == 1 { &mut characters } else { &mut substrings };
                if !specials.contains(&word[from..to]) {
                    found.add(&word[from..to], count);
                }
            }
        }
    }
    let mut order: Vec<usize> = Vec::with_capacity(substrings.texts.len());
    for (id, text) in substrings.texts.iter().enumerate() {
        if !required.contains(text) && !trainer.forbid.holds(text, trainer.is_byte_level)? {
            order.push(id);
        }
    }
    order.sort_by_key(|&id| std::cmp::Reverse(substrings.counts[id]));
    order.truncate(trainer.seed_size.saturating_sub(characters.texts.len()));
    for token in required.iter().filter(|token| characters.id(token).is_none()).copied().collect::<Vec<_>>() {
        let count = substrings.id(token).map_or(0, |id| substrings.counts[id as usize]);
        characters.texts.push(token);
        characters.counts.push(count.max(1));
    }
    let n = characters.texts.len();
    characters.texts.extend(order.iter().map(|&id| substrings.texts[id]));
    characters.counts.extend(order.iter().map(|&id| substrings.counts[id]));
    Ok((characters.texts, characters.counts, n))
}

/// Learns pieces with their scores, characters first.
pub(super) fn train(
    trainer: &UnigramTrainer,
    words: &WordCounts,
    specials: &BTreeSet<&str>,
    required: &[&str],
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<(String, f64)>> {
    let (mut texts, mut counts, characters) = seeds(trainer, words, specials, required)?;
    let needed = specials.len() + characters;
    if trainer.vocab_size < needed {
        return Err(vocab_too_small(trainer.vocab_size, needed, !required.is_empty()));
    }
    let wanted = trainer.vocab_size - specials.len();
    let mut lattices = lattices(trainer, words, &texts);
    loop {
        let total = counts.iter().map(|&count| u128::from(count)).sum::<u128>();
        let total = nearest(total);
        let costs: Vec<f64> =
            counts.iter().map(|&count| -(nearest(u128::from(count)) / total).ln()).collect();
        if texts.len() <= wanted {
            return Ok(texts
                .into_iter()
                .map(str::to_owned)
                .zip(costs.into_iter().map(|cost| -cost))
                .collect());
        }
        let increases = increases(&lattices, &costs, characters, trainer.threads, on_progress)?;
        let mut order: Vec<usize> = (characters..texts.len()).collect();
        order.sort_by(|&left, &right| increases[left].total_cmp(&increases[right]));
        order.truncate((texts.len() / 10).max(1));
        let mut is_gone = vec![false; texts.len()];
        for id in order {
            is_gone[id] = true;
        }
        let mut new_ids = Vec::with_capacity(texts.len());
        let mut next = 0;
        for &gone in &is_gone {
            new_ids.push(if gone { GONE } else { next });
            next += u32::from(!gone);
        }
        keep(&mut texts, &is_gone);
        keep(&mut counts, &is_gone);
        for lattice in &mut lattices {
            lattice.edges.iter_mut().for_each(|edge| edge.2 = new_ids[edge.2 as usize]);
            lattice.edges.retain(|edge| edge.2 != GONE);
        }
    }
}

fn keep<T>(items: &mut Vec<T>, is_gone: &[bool]) {
    let mut gone = is_gone.iter();
    items.retain(|_| !gone.next().copied().unwrap_or(false));
}

/// The lattice of each word. A character that is a special token is no piece, but longer pieces may hold it.
fn lattices(trainer: &UnigramTrainer, words: &WordCounts, texts: &[&str]) -> Vec<Lattice> {
    let mut ids = PieceCounts::new();
    for text in texts {
        ids.add(text, 0);
    }
    let mut lattices = Vec::with_capacity(words.len());
    for (word, count) in words.iter() {
        let bounds = bounds(word);
        let mut edges = Vec::new();
        for (start, &from) in bounds.iter().enumerate() {
            for (len, &to) in bounds[start..].iter().enumerate().skip(1).take(trainer.max_piece_length) {
                if let Some(id) = ids.id(&word[from..to]) {
                    edges.push((start as u32, (start + len) as u32, id));
                }
            }
        }
        let weight = nearest(u128::from(count));
        lattices.push(Lattice { weight, edges, length: bounds.len() - 1 });
    }
    lattices
}

/// By how much the loss grows without each piece; 0 for characters.
fn increases(
    lattices: &[Lattice],
    costs: &[f64],
    characters: usize,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<f64>> {
    let (mut scratch, mut path) = (Vec::new(), Vec::new());
    let mut losses = Vec::with_capacity(lattices.len());
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); costs.len()];
    // Sum of the losses of all words before each word.
    let mut sums = vec![0.0];
    for (word, lattice) in (0u32..).zip(lattices) {
        let loss = lattice.weight * lattice.best(costs, GONE, &mut scratch, &mut path);
        for &id in path.iter().filter(|&&id| id as usize >= characters) {
            if users[id as usize].last() != Some(&word) {
                users[id as usize].push(word);
            }
        }
        sums.push(sums[sums.len() - 1] + loss);
        losses.push(loss);
    }
    let total = sums[lattices.len()];
    let increase = |id: usize, scratch: &mut Vec<(f64, u32, u32)>, path: &mut Vec<u32>| {
        let mut users = users[id].iter().copied().peekable();
        let Some(&first) = users.peek() else { return 0.0 };
        let mut sum = sums[first as usize];
        for (word, &loss) in (first..).zip(&losses[first as usize..]) {
            sum += if users.next_if_eq(&word).is_some() {
                let lattice = &lattices[word as usize];
                lattice.weight * lattice.best(costs, id as u32, scratch, path)
            } else {
                loss
            };
        }
        sum - total
    };
    let share = costs.len() / threads.max(1) + 1;
    let ranges: Vec<Range<usize>> =
        (0..threads.max(1)).map(|thread| thread * share..((thread + 1) * share).min(costs.len())).collect();
    let work = lattices.len().saturating_mul(costs.len()) as u64;
    let parts = run_parts(STAGE, work, ranges, on_progress, |ids, meter| {
        let (mut scratch, mut path, mut done) = (Vec::new(), Vec::new(), 0);
        let mut increases = Vec::with_capacity(ids.len());
        for id in ids {
            increases.push(increase(id, &mut scratch, &mut path));
            done += lattices.len();
            if done >= METER_EVERY && !meter.add(std::mem::take(&mut done)) {
                break;
            }
        }
        increases
    })?;
    on_progress(Progress { stage: STAGE, done: work, total: work })?;
    Ok(parts.concat())
}
