//! The words as arrays of character codes, cut where a character is outside the alphabet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{UnigramTrainer, nearest};
use crate::structures::parallel::sort_in_runs;
use crate::trainers::word_counts::WordCounts;

/// In place of a code: the character is not in the alphabet.
const NO_CODE: u32 = u32::MAX;

/// The words of the training, coded and sorted.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// The characters by code, ascending, so that codes order texts as code points do.
    pub(super) alphabet: Vec<char>,
    /// How often each character of the alphabet occurs.
    pub(super) char_counts: Vec<u64>,
    /// All words, concatenated; distinct and in descending order.
    pub(super) codes: Vec<u32>,
    /// The end of each word in `codes`.
    pub(super) ends: Vec<usize>,
    /// The count of each word.
    pub(super) counts: Vec<u64>,
}

/// How often each character occurs, weighted by the words' counts.
fn count_characters(words: &WordCounts) -> BTreeMap<char, u64> {
    let mut counts: Vec<Option<u64>> = Vec::new();
    for (word, count) in words.iter() {
        for c in word.chars() {
            let at = c as usize;
            if at >= counts.len() {
                counts.resize(at + 1, None);
            }
            counts[at] = Some(counts[at].unwrap_or(0).saturating_add(count));
        }
    }
    (0u32..).zip(counts).filter_map(|(c, count)| Some((char::from_u32(c)?, count?))).collect()
}

/// Drops the rarest characters that the wanted coverage does not need; of equal counts the larger code points.
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
    /// Chooses the alphabet and codes the words. `specials` are special tokens, which are no characters; `required` are initial tokens,
    /// which are words with the count 0; characters in `known` are never dropped.
    pub(super) fn new(
        trainer: &UnigramTrainer,
        words: &WordCounts,
        specials: &BTreeSet<&str>,
        required: &[&str],
        known: &BTreeSet<char>,
    ) -> Self {
        let all = count_characters(words);
        let of_known: Vec<(char, u64)> =
            known.iter().filter_map(|c| all.get(c).map(|&count| (*c, count))).collect();
        let mut counts = cover(all, trainer.character_coverage);
        counts.extend(of_known);
        let of_required = required.iter().flat_map(|token| token.chars());
        for c in trainer.initial_alphabet.iter().copied().chain(of_required) {
            counts.entry(c).or_default();
        }
        counts.retain(|c, _| !specials.contains(c.encode_utf8(&mut [0; 4]) as &str));
        // An initial token of a single character is a character of the alphabet.
        let longer = || required.iter().filter(|token| token.chars().nth(1).is_some());
        let (alphabet, char_counts): (Vec<char>, Vec<u64>) = counts.into_iter().unzip();
        let mut codes = vec![NO_CODE; alphabet.last().map_or(0, |&c| c as usize + 1)];
        for (code, &c) in (0..).zip(&alphabet) {
            codes[c as usize] = code;
        }
        let mut corpus = Self { alphabet, char_counts, ..Self::default() };
        for (word, count) in words.iter().chain(longer().map(|&token| (token, 0))) {
            for c in word.chars() {
                match codes.get(c as usize) {
                    Some(&code) if code != NO_CODE => corpus.codes.push(code),
                    _ => corpus.end_word(count),
                }
            }
            corpus.end_word(count);
        }
        corpus.sorted(trainer.threads)
    }

    fn end_word(&mut self, count: u64) {
        if self.ends.last().copied().unwrap_or(0) < self.codes.len() {
            self.ends.push(self.codes.len());
            self.counts.push(count);
        }
    }

    /// The same words in descending order; equal words are merged.
    fn sorted(self, threads: usize) -> Self {
        let packed = self.packed();
        let codes = |index: usize| &self.codes[self.word(index)];
        // Sort by the packed prefix first: one integer comparison decides most orders.
        let key = |index: usize| u128::from(packed.pack(codes(index))) << 64 | index as u128;
        let mut order: Vec<u128> = (0..self.len()).map(key).collect();
        sort_in_runs(&mut order, threads, |left, right| right.cmp(left));
        let is_same = |left: &u128, right: &u128| left >> 64 == right >> 64;
        for words in order.chunk_by_mut(is_same).filter(|words| packed.is_full((words[0] >> 64) as u64)) {
            words.sort_unstable_by(|&left, &right| {
                codes(right as u64 as usize).cmp(codes(left as u64 as usize))
            });
        }
        let mut sorted = Self { codes: Vec::with_capacity(self.codes.len()), ..Self::default() };
        let mut before: &[u32] = &[];
        for index in order.into_iter().map(|word| word as u64 as usize) {
            if codes(index) == before
                && let Some(count) = sorted.counts.last_mut()
            {
                *count = count.saturating_add(self.counts[index]);
                continue;
            }
            before = codes(index);
            sorted.codes.extend(before);
            sorted.end_word(self.counts[index]);
        }
        Self { alphabet: self.alphabet, char_counts: self.char_counts, ..sorted }
    }

    /// How codes are packed into keys.
    pub(super) fn packed(&self) -> Packed {
        let bits = (usize::BITS - self.alphabet.len().leading_zeros()).max(1);
        Packed { bits, codes: (u64::BITS / bits) as usize }
    }

    /// By position: the key of the rest of the word, of at most `longest` codes, as [`Packed::pack`] makes it.
    pub(super) fn suffix_keys(&self, packed: Packed, longest: usize) -> Vec<u64> {
        let last = (packed.codes as u32 - 1) * packed.bits;
        let kept =
            u64::MAX.checked_shl(packed.codes.saturating_sub(longest) as u32 * packed.bits).unwrap_or(0);
        let mut keys = vec![0; self.codes.len()];
        for index in 0..self.len() {
            let mut key = 0;
            for at in self.word(index).rev() {
                key = key >> packed.bits | u64::from(self.codes[at] + 1) << last;
                keys[at] = key & kept;
            }
        }
        keys
    }

    /// Number of words; a word that was cut counts as several.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The range of word `index` in `codes`.
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

/// Packs the first codes of a text into a 64-bit key; keys have the order of the texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    bits: u32,
    /// How many codes fit into a key.
    pub(super) codes: usize,
}

impl Packed {
    /// Bits of a key.
    pub(super) fn key_bits(&self) -> u32 {
        self.bits * self.codes as u32
    }

    /// True if a key is full: the text may have more codes than the key.
    pub(super) fn is_full(&self, key: u64) -> bool {
        key & ((1 << self.bits) - 1) != 0
    }

    /// The key of the first codes of `codes`.
    #[inline]
    pub(super) fn pack(&self, codes: &[u32]) -> u64 {
        let own = &codes[..codes.len().min(self.codes)];
        let padding = (self.codes - own.len()) as u32 * self.bits;
        // 0 stands for the end of the text, which sorts first.
        let key = own.iter().fold(0u64, |key, &code| key << self.bits | u64::from(code + 1));
        key.checked_shl(padding).unwrap_or(0)
    }
}
