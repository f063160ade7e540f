//! Byte-pair encoding: merges the most frequent pair of neighbours until the vocabulary is full.
//!
//! The algorithm, step by step: count every adjacent pair of symbols in all words, weighted by the words' counts (overlaps
//! count: `aaa` holds two `aa`); take the most frequent pair, ties broken by [`TieBreak`]; replace it from left to right,
//! without overlap, by the concatenation of its texts. Source: Sennrich et al. 2016, section 3.2.
//!
//! These structures make it fast and keep the result:
//! * All words lie in one array of cells of 16 or 32 bits (`arena`, `cells`). A merged token keeps its position, so lists of
//!   occurrences stay sorted and never need repair.
//! * Only pairs that can win soon are tracked (`pairs`). Counts never rise, so a pair below a threshold is ignored until
//!   the threshold is lowered, which recounts all pairs (`counting`): two to four times in all.
//! * A merge sums its changes by neighbouring token in arrays (`neighbours`), so the hash map of pairs is probed once for
//!   each distinct neighbour, not once for each occurrence.
//! * Pairs that cannot affect one another are merged in one batch (`choice` tells which), whose occurrences are sharded
//!   over threads (`apply_merges`).
//! * While there are few ids, as at the start, pairs are counted in a dense matrix instead of a map (`pair_stats`).
//! * The queue of pairs reads counts lazily ([`crate::structures::bucket_queue`]), so a falling count costs it nothing.
//!
//! Time: O(symbols + occurrences merged), and three passes over the remaining words for each threshold; one huge word
//! costs as much as many small ones of the same total length.
//!
//! Memory: 2 bytes a symbol and a word for the cells, or 4 once there are too many ids; a quarter byte a cell for their index;
//! 4 bytes for the position of an occurrence of a tracked pair. Cells and positions together stay below some 1.6 times the cells at
//! the start, unless that is less than 64 MB of positions: a threshold ends when they have grown so far. 64 to 96 bytes per tracked
//! pair; there are little more of these than tokens still to be found. During a counting pass, 4 MB, and 48 to 96 bytes per tracked
//! pair and thread. While merges are applied, 16 bytes per occurrence of the pairs of a batch.
//!
//! Training may start from the vocabulary and the merges of a model (`base`). With `auto_character_coverage` characters and merges share
//! the vocabulary (`shared`).

mod alphabet;
mod apply_merges;
mod arena;
mod base;
mod batch;
mod cells;
mod choice;
mod continued;
mod counting;
pub(in crate::trainers) mod initial_tokens;
mod likelihood;
mod merge_loop;
#[cfg(test)]
mod naive;
mod neighbours;
mod pair_key;
mod pair_stats;
mod pairs;
pub mod parity;
mod rare_pairs;
mod replay;
mod scores;
mod segmenter;
mod shared;
mod sketch;
mod superwords;
mod symbols;
#[cfg(test)]
mod tests;
mod text_limit;
mod ties;
mod token_words;
mod tokens;
mod updates;
mod word_index;

pub(super) use arena::MAX_IDS;
pub use base::Extension;
use choice::{Choice, Frequency};
use likelihood::Likelihood;
use pair_key::key;
pub use rare_pairs::{RareBorders, RarePairs, is_ambiguous};
pub(super) use scores::Precision;
pub use segmenter::{MOST_CACHE, TokenWords, merged_writer};
pub use superwords::{SuperwordAlgorithm, Superwords};
pub(super) use token_words::id_of;
pub use token_words::{char_of, too_large};

use crate::models::bpe::{Bpe, BpeOptions};
use crate::structures::flat_map::FlatMap;
use crate::structures::parallel::OnProgress;
use crate::trainers::byte_pieces;
use crate::trainers::forbidden::Forbidden;
use crate::trainers::word_counts::WordSource;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Words with no more symbols, of no more kinds, have cells of 16 bits.
pub const NARROW: usize = <u16 as cells::Cell>::MOST as usize;

/// Which of several equally frequent pairs is merged first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The pair with the smaller left id, then the smaller right id, as in Hugging Face's trainer.
    #[default]
    SmallestIds,
    /// The pair whose first remaining occurrence comes first, by word and then by position, as in the textbook's loop.
    FirstSeen,
}

/// The initial symbols that are tokens, and their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// The alphabet by code point, then affixed characters by first appearance.
    Alphabet,
    /// The symbols of the words and the initial alphabet, sorted as strings.
    Sorted,
}

/// The options of byte-pair training; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BpeTrainer {
    /// Size of the vocabulary, special tokens and alphabet included.
    pub vocab_size: usize,
    /// A pair less frequent than this is never merged.
    pub min_frequency: u64,
    /// Tokens that take the first ids in the given order; repeated ones count once.
    pub special_tokens: Vec<String>,
    /// At most this many characters in the alphabet: the rarest are dropped, and of equals the larger code points.
    ///
    /// Dropped characters are removed from the words, so their neighbours become adjacent.
    pub limit_alphabet: Option<usize>,
    /// Characters that are in the alphabet even if no word holds them; they count as infinitely frequent.
    pub initial_alphabet: Vec<char>,
    /// Prefix of every character but the first of a word; removed from the right token when two tokens join.
    pub continuing_subword_prefix: Option<String>,
    /// Suffix of the last character of a word.
    pub end_of_word_suffix: Option<String>,
    /// Merged tokens have fewer characters than this, affixes not counted; two single characters may always be merged.
    pub max_token_length: Option<usize>,
    /// The second phase, which learns superwords. It needs texts, so only [`crate::tokenizer::SuperwordStages`] trains with it.
    pub superwords: Option<Superwords>,
    /// Merged tokens have at most this many words, runs of characters other than spaces.
    pub max_words: Option<usize>,
    /// Tokens that the vocabulary must have, with the merges that make them, which come first; repeated ones count once. Neither
    /// `forbid` nor `max_token_length` concerns them.
    pub initial_tokens: Vec<String>,
    /// A pair whose token would match is never merged. A token is matched without its prefix and its suffix.
    pub forbid: Forbidden,
    /// True if tokens spell bytes, each as a character of the byte-level alphabet; `forbid` is matched with the bytes then.
    pub is_byte_level: bool,
    /// True to leave pairs alone whose text is a token already.
    pub only_new_tokens: bool,
    /// The choice among equally frequent pairs.
    pub tie_break: TieBreak,
    /// Gives characters no places of their own: they share the vocabulary with the merges, and the trained model has the 256 byte
    /// pieces and falls back to them. Excludes options that choose or change characters.
    pub auto_character_coverage: bool,
    /// Threads for counting; the result does not depend on it.
    pub threads: usize,
}

impl Default for BpeTrainer {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            min_frequency: 0,
            special_tokens: Vec::new(),
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            max_token_length: None,
            superwords: None,
            max_words: None,
            initial_tokens: Vec::new(),
            forbid: Forbidden::default(),
            is_byte_level: false,
            only_new_tokens: false,
            tie_break: TieBreak::default(),
            auto_character_coverage: false,
            threads: 1,
        }
    }
}

/// The result of [`BpeTrainer::train`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainedBpe {
    /// The tokens by id: special tokens, alphabet, affixed characters in order of first appearance, merges.
    pub vocab: Vec<String>,
    /// The pairs of ids, in the order learnt, each once.
    ///
    /// A merge whose text is a token already adds no token, so the id that a merge makes must be looked up by its text.
    pub merges: Vec<(u32, u32)>,
    /// For each merge, how often its pair occurred when it was chosen.
    pub counts: Vec<u64>,
}

impl TrainedBpe {
    /// Keeps only the later rank of a pair that was merged twice, as Hugging Face does.
    fn with_later_ranks(self) -> Self {
        let Self { vocab, merges, counts } = self;
        let mut last: FlatMap<u32> = FlatMap::with_capacity(merges.len());
        for (&(left, right), place) in merges.iter().zip(0..) {
            *last.entry(key(left, right)) = place;
        }
        let learnt = merges.into_iter().zip(counts).zip(0..);
        let kept = learnt.filter(|&(((left, right), _), place)| last.get(key(left, right)) == Some(place));
        let (merges, counts) = kept.map(|(merge, _)| merge).unzip();
        Self { vocab, merges, counts }
    }

    /// The model that encodes with these merges.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if an option is out of range.
    pub fn into_model(self, options: BpeOptions) -> Result<Bpe> {
        let token = |id: u32| self.vocab[id as usize].as_str();
        let merges: Vec<(&str, &str)> =
            self.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
        Bpe::new(Vocab::from_tokens(&self.vocab), &merges, options)
    }
}

impl BpeTrainer {
    /// Learns merges from `words`.
    ///
    /// Without words, the result is the special tokens and the initial alphabet.
    ///
    /// # Errors
    /// [`Error::VocabSizeTooSmall`] if special tokens and alphabet alone exceed `vocab_size`, [`Error::InvalidOption`] if
    /// `vocab_size` exceeds 2^30 or is too small for the initial tokens, [`Error::Unsupported`] if an initial token is empty, has a
    /// character outside the alphabet or cannot be made beside the others, [`Error::TextTooLong`] if a word has 2^30 characters or all
    /// distinct words together 2^32, [`Error::Unsupported`] if the corpus has 2^64 characters, the errors of [`Forbidden::holds`] and of
    /// `on_progress`, which is called at least every 50 ms.
    pub fn train(&self, words: impl WordSource, on_progress: &mut OnProgress<'_>) -> Result<TrainedBpe> {
        self.train_tuned(words, on_progress, merge_loop::Tuning::default())
    }

    fn train_tuned(
        &self,
        words: impl WordSource,
        on_progress: &mut OnProgress<'_>,
        tuning: merge_loop::Tuning,
    ) -> Result<TrainedBpe> {
        self.check_size()?;
        self.check_phases()?;
        if self.auto_character_coverage {
            return self.train_shared(words, on_progress, tuning);
        }
        let extended;
        let trainer = if self.initial_tokens.is_empty() {
            self
        } else {
            extended = self.with_initial_characters()?;
            &extended
        };
        let (mut tokens, arena, _) = alphabet::symbolise(trainer, Numbering::Alphabet, &words, on_progress)?;
        drop(words);
        let first = trainer.plan_merges(&mut tokens)?;
        let choice = Choice::Frequency(Frequency::new(self.tie_break));
        merge_loop::MergeLoop::new(trainer, tokens, arena, choice, tuning).run(first, on_progress)
    }

    /// Training with `auto_character_coverage`.
    fn train_shared(
        &self,
        words: impl WordSource,
        on_progress: &mut OnProgress<'_>,
        tuning: merge_loop::Tuning,
    ) -> Result<TrainedBpe> {
        self.check_characters()?;
        let mut special_tokens = self.special_tokens.clone();
        special_tokens.extend(byte_pieces());
        let mut wide = Self { special_tokens, ..self.clone() };
        let specials = alphabet::special_tokens(&wide).len();
        let Some(budget) = self.vocab_size.checked_sub(specials) else {
            return Err(Error::VocabSizeTooSmall { vocab_size: self.vocab_size, needed: specials });
        };
        let (tokens, arena, counts) = alphabet::symbolise(&wide, Numbering::Alphabet, &words, on_progress)?;
        drop(words);
        let places = shared::Places { characters: specials..tokens.len(), budget };
        wide.vocab_size = (tokens.len() + budget).min(arena::MAX_IDS);
        let choice = Choice::Frequency(Frequency::new(self.tie_break));
        let trained =
            merge_loop::MergeLoop::new(&wide, tokens, arena, choice, tuning).run(Vec::new(), on_progress)?;
        Ok(shared::prune(&trained, &places, &counts))
    }

    /// Refuses options that choose or change characters, with `auto_character_coverage`.
    fn check_characters(&self) -> Result<()> {
        let alphabet: String = self.initial_alphabet.iter().collect();
        let text = |affix: &Option<String>| affix.clone().unwrap_or_default();
        let given = [
            ("limit_alphabet", self.limit_alphabet.map(|limit| limit.to_string()).unwrap_or_default()),
            ("initial_alphabet", alphabet),
            ("continuing_subword_prefix", text(&self.continuing_subword_prefix)),
            ("end_of_word_suffix", text(&self.end_of_word_suffix)),
            ("initial_tokens", self.initial_tokens.join(" ")),
        ];
        match given.into_iter().find(|(_, value)| !value.is_empty()) {
            None => Ok(()),
            Some((name, value)) => Err(Error::InvalidOption {
                name,
                value,
                expected: "absent with auto_character_coverage, which chooses the characters".to_owned(),
            }),
        }
    }

    /// As [`Self::train`], but merges the pair of the highest likelihood first. The initial tokens are only the symbols of the
    /// words and the initial alphabet, sorted as strings.
    pub(super) fn train_by_likelihood(
        &self,
        words: impl WordSource,
        precision: Precision,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<TrainedBpe> {
        self.check_size()?;
        let (tokens, arena, counts) = alphabet::symbolise(self, Numbering::Sorted, &words, on_progress)?;
        drop(words);
        let choice = Choice::Likelihood(Likelihood::new(precision, self.tie_break, counts));
        merge_loop::MergeLoop::new(self, tokens, arena, choice, merge_loop::Tuning::default())
            .run(Vec::new(), on_progress)
    }

    /// True if the learnt merges or ids depend on the order of the words: by ties, or by the ids of affixed characters.
    pub fn needs_order(&self) -> bool {
        let is_affix = |affix: &Option<String>| affix.as_deref().is_some_and(|affix| !affix.is_empty());
        self.tie_break == TieBreak::FirstSeen
            || is_affix(&self.continuing_subword_prefix)
            || is_affix(&self.end_of_word_suffix)
    }

    /// Refuses superwords, whose words are counted in two ways.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub fn check_phases(&self) -> Result<()> {
        if self.superwords.is_some() {
            let message = "superwords need words and phrases: pass the trainer to Tokenizer.train, train_from_iterator or train_from_counts";
            return Err(Error::Unsupported(message.to_owned()));
        }
        Ok(())
    }

    fn check_size(&self) -> Result<()> {
        if self.vocab_size > arena::MAX_IDS {
            return Err(Error::InvalidOption {
                name: "vocab_size",
                value: self.vocab_size.to_string(),
                expected: format!("at most {}", arena::MAX_IDS),
            });
        }
        Ok(())
    }
}
