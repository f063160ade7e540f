//! The words as numbers: one array of character codes, cut where a character is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{UnigramTrainer, nearest};
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// The words as the trainer sees them.
#[derive(Debug)]
pub(super) struct Corpus {
    /// By code; ascending, so codes order texts as code points do.
    pub(super) alphabet: Vec<char>,
    /// How often each character of the alphabet occurs.
    pub(super) char_counts: Vec<u64>,
    /// All words back to back.
    pub(super) codes: Vec<u32>,
    /// Where each word ends in `codes`.
    pub(super) ends: Vec<usize>,
    /// How often each word occurs.
    pub(super) counts: Vec<u64>,
}

/// Weighted counts of all characters.
fn count_characters(words: &WordCounts) -> BTreeMap<char, u64> {
    let mut counts = BTreeMap::new();
    for (word, count) in words.iter() {
        for c in word.chars() {
            let known: &mut u64 = counts.entry(c).or_default();
            *known = known.saturating_add(count);
        }
    }
    counts
}

/// Drops the rarest characters beyond the share that must be covered; of equal counts the larger code points.
fn cover(counts: BTreeMap<char, u64>, coverage: f64) -> BTreeMap<char, u64> {
    let total: u128 = counts.values().map(|&count| u128::from(count)).sum();
    let mut ranked: Vec<(char, u64)> = counts.into_iter().collect();
    ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut covered = 0u128;
    ranked.retain(|&(_, count)| {
        let is_needed = nearest(covered) < nearest(total) * coverage;
        covered += u128::from(if is_needed { count } else { 0 });
        is_needed
    });
    ranked.into_iter().collect()
}

impl Corpus {
    /// Chooses the alphabet and codes the words; `specials` are the special tokens.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if the alphabet has no room beside them.
    pub(super) fn new(
        trainer: &UnigramTrainer,
        words: &WordCounts,
        specials: &BTreeSet<&str>,
    ) -> Result<Self> {
        let mut counts = cover(count_characters(words), trainer.character_coverage);
        for &c in &trainer.initial_alphabet {
            counts.entry(c).or_default();
        }
        counts.retain(|c, _| !specials.contains(c.encode_utf8(&mut [0; 4]) as &str));
        let needed = specials.len() + counts.len();
        if trainer.vocab_size < needed {
            return Err(Error::VocabSizeTooSmall { vocab_size: trainer.vocab_size, needed });
        }
        let (alphabet, char_counts): (Vec<char>, Vec<u64>) = counts.into_iter().unzip();
        let mut corpus =
            Self { alphabet, char_counts, codes: Vec::new(), ends: Vec::new(), counts: Vec::new() };
        for (word, count) in words.iter() {
            corpus.push(word, count);
        }
        Ok(corpus.sorted())
    }

    /// The same words in descending order, equal ones together.
    fn sorted(self) -> Self {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let codes = |index: usize| &self.codes[self.word(index)];
        order.sort_unstable_by(|&left, &right| codes(right).cmp(codes(left)));
        let mut sorted = Self {
            codes: Vec::with_capacity(self.codes.len()),
            ends: Vec::new(),
            counts: Vec::new(),
            alphabet: Vec::new(),
            char_counts: Vec::new(),
        };
        let mut before: &[u32] = &[];
        for index in order {
            if codes(index) == before {
                if let Some(count) = sorted.counts.last_mut() {
                    *count = count.saturating_add(self.counts[index]);
                }
                continue;
            }
            before = codes(index);
            sorted.codes.extend(before);
            sorted.end_word(self.counts[index]);
        }
        Self { alphabet: self.alphabet, char_counts: self.char_counts, ..sorted }
    }

    fn push(&mut self, word: &str, count: u64) {
        for c in word.chars() {
            match self.alphabet.binary_search(&c) {
                Ok(code) => self.codes.push(code as u32),
                Err(_) => self.end_word(count),
            }
        }
        self.end_word(count);
    }

    fn end_word(&mut self, count: u64) {
        if self.ends.last().copied().unwrap_or(0) < self.codes.len() {
            self.ends.push(self.codes.len());
            self.counts.push(count);
        }
    }

    /// Number of words, or of parts of words.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where word `index` lies in the codes.
    pub(super) fn word(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start..self.ends[index]
    }

    /// The codes of a text, if all its characters have one.
    pub(super) fn codes_of(&self, text: &str) -> Option<Vec<u32>> {
        text.chars().map(|c| self.alphabet.binary_search(&c).ok().map(|code| code as u32)).collect()
    }

    /// The text of codes.
    pub(super) fn text(&self, codes: &[u32]) -> String {
        codes.iter().map(|&code| self.alphabet[code as usize]).collect()
    }
}
