//! The words as numbers: one array of character codes, cut where a character is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{UnigramTrainer, nearest};
use crate::structures::parallel::sort_in_runs;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// No code.
const NO_CODE: u32 = u32::MAX;

/// The words as the trainer sees them.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// By code; ascending, so codes order texts as code points do.
    pub(super) alphabet: Vec<char>,
    /// How often each character of the alphabet occurs.
    pub(super) char_counts: Vec<u64>,
    /// All words back to back, distinct and in descending order.
    pub(super) codes: Vec<u32>,
    /// Where each word ends in `codes`.
    pub(super) ends: Vec<usize>,
    /// How often each word occurs.
    pub(super) counts: Vec<u64>,
}

/// Weighted counts of all characters.
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
        let mut codes = vec![NO_CODE; alphabet.last().map_or(0, |&c| c as usize + 1)];
        for (code, &c) in (0..).zip(&alphabet) {
            codes[c as usize] = code;
        }
        let mut corpus = Self { alphabet, char_counts, ..Self::default() };
        for (word, count) in words.iter() {
            for c in word.chars() {
                match codes.get(c as usize) {
                    Some(&code) if code != NO_CODE => corpus.codes.push(code),
                    _ => corpus.end_word(count),
                }
            }
            corpus.end_word(count);
        }
        Ok(corpus.sorted(trainer.threads))
    }

    fn end_word(&mut self, count: u64) {
        if self.ends.last().copied().unwrap_or(0) < self.codes.len() {
            self.ends.push(self.codes.len());
            self.counts.push(count);
        }
    }

    /// The same words in descending order, equal ones together.
    fn sorted(self, threads: usize) -> Self {
        let packed = self.packed();
        let codes = |index: usize| &self.codes[self.word(index)];
        // First by what goes into one number, which is told apart fastest.
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

    /// How codes are packed.
    pub(super) fn packed(&self) -> Packed {
        let bits = (usize::BITS - self.alphabet.len().leading_zeros()).max(1);
        Packed { bits, codes: (u64::BITS / bits) as usize }
    }

    /// By position: what [`Packed::pack`] makes of the word from there on, of `longest` codes at most.
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

/// First codes as a number, in the order of the codes themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    bits: u32,
    /// How many codes have room.
    pub(super) codes: usize,
}

impl Packed {
    /// Bits of a number.
    pub(super) fn key_bits(&self) -> u32 {
        self.bits * self.codes as u32
    }

    /// Whether a number has as many codes as there is room for, and so perhaps stands for more.
    pub(super) fn is_full(&self, key: u64) -> bool {
        key & ((1 << self.bits) - 1) != 0
    }

    /// The first of `codes`.
    #[inline]
    pub(super) fn pack(&self, codes: &[u32]) -> u64 {
        let own = &codes[..codes.len().min(self.codes)];
        let padding = (self.codes - own.len()) as u32 * self.bits;
        // 0 stands for the end, which comes first.
        let key = own.iter().fold(0u64, |key, &code| key << self.bits | u64::from(code + 1));
        key.checked_shl(padding).unwrap_or(0)
    }
}
