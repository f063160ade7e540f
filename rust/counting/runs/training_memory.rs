//! How much memory training takes, told before it starts.

use std::collections::BTreeMap;

use super::counts_file::CountsFile;
use crate::trainers::Trainer;
use crate::trainers::bpe::NARROW;
use crate::{Error, Result};

/// The search for the least trimming takes this count and all larger ones together.
const LARGEST_COUNT: u64 = 1 << 16;

/// The size of words, on which the memory of training depends.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// Distinct words.
    words: u64,
    /// Their bytes in the file.
    bytes: u64,
    /// Their bytes as the model sees them.
    text: u64,
    /// Their characters.
    chars: u64,
}

impl Size {
    fn without(self, other: Self) -> Self {
        Self {
            words: self.words - other.words,
            bytes: self.bytes - other.bytes,
            text: self.text - other.text,
            chars: self.chars - other.chars,
        }
    }

    fn add(&mut self, bytes: usize, text: &str, chars: usize) {
        self.words += 1;
        self.bytes += bytes as u64;
        self.text += text.len() as u64;
        self.chars += chars as u64;
    }
}

/// The words of counts, by count.
#[derive(Debug, Default)]
struct Survey {
    all: Size,
    /// For each count the words that were seen so often, and the sum of their counts.
    by_count: BTreeMap<u64, (Size, u64)>,
    /// True if symbols need cells of 32 bits.
    is_wide: bool,
}

/// Bytes that loading the counts and training take at most. `docs/algorithms/word-counts.md` has the measurements.
#[derive(Clone, Copy, Debug)]
struct Rates<'a> {
    trainer: &'a Trainer,
    threads: u64,
    is_wide: bool,
}

impl Rates<'_> {
    fn bytes(self, size: Size) -> u64 {
        let Size { words, bytes, text, chars } = size;
        let mib = |mib: u64| mib << 20;
        let cell = if self.is_wide { 4 } else { 2 };
        let cells = cell * (words + chars);
        // Small corpora have all positions of pairs, large ones as many as their bound allows.
        let positions = (cells * 6 / 10).max((6 * chars).min(mib(64)));
        let merging = cells + positions + (words + chars) / 4;
        // The words while they are put in order.
        let ordering = 32 * words + bytes;
        // Tracked pairs, and the counts of each thread.
        let pairs = |vocab_size: usize| 125 * (vocab_size as u64) * (1 + self.threads);
        match self.trainer {
            Trainer::Bpe(trainer) if !trainer.needs_order() => mib(24) + pairs(trainer.vocab_size) + merging,
            Trainer::Bpe(trainer) => {
                mib(24) + pairs(trainer.vocab_size) + (8 * words + merging).max(ordering)
            }
            Trainer::WordPiece(trainer) if trainer.is_frequency() => {
                mib(24) + pairs(trainer.vocab_size) + (8 * words + merging).max(ordering)
            }
            // All pairs are tracked.
            Trainer::WordPiece(trainer) => {
                mib(60) + pairs(trainer.vocab_size) + 24 * words + (5 + 2 * cell) * chars
            }
            // Substrings to begin with, and all places of the pieces.
            Trainer::Unigram(trainer) => {
                mib(64) + 160 * chars.min(trainer.seed_size as u64) + 44 * words + 46 * chars
            }
            Trainer::WordLevel(_) => mib(8) + 46 * words + text + text / 8,
        }
    }
}

impl CountsFile {
    /// About how many bytes training from the counts on `threads` threads takes at most.
    ///
    /// Reads all words.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Format`] of reading the counts.
    pub fn training_memory(&self, trainer: &Trainer, threads: usize) -> Result<u64> {
        let Survey { all, is_wide, .. } = self.survey()?;
        Ok(Rates { trainer, threads: threads as u64, is_wide }.bytes(all))
    }

    /// Checks that training fits into `limit` bytes.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] with the estimate and the least trimming that is enough, if any; the errors of
    /// [`Self::training_memory`].
    pub fn check_training_memory(&self, trainer: &Trainer, threads: usize, limit: u64) -> Result<()> {
        let survey = self.survey()?;
        let rates = Rates { trainer, threads: threads as u64, is_wide: survey.is_wide };
        let needed = rates.bytes(survey.all);
        if needed <= limit {
            return Ok(());
        }
        let (words, total) = (survey.all.words, self.summary().total);
        let trim = match survey.least_count_within(rates, limit) {
            Some(Trim { least, words: kept, lost, memory }) => format!(
                "or leave out rare words: trim({least}) keeps {kept} of {words} words, needs {memory} and drops {lost} of {total} \
                 counted"
            ),
            None => "as no trimming makes the words few enough".to_owned(),
        };
        let expected = format!(
            "at least {needed}, about what training on {words} distinct words takes; give more memory, {trim}"
        );
        Err(Error::InvalidOption { name: "max_memory", value: limit.to_string(), expected })
    }

    fn survey(&self) -> Result<Survey> {
        let (mut survey, mut reader) = (Survey::default(), self.reader());
        let (spelling, mut text) = (self.summary().spelling, String::new());
        // A bit for each character that was seen.
        let mut seen = vec![0u64; (char::MAX as usize + 1) / 64];
        while reader.advance()? {
            let word = reader.word();
            text.clear();
            spelling.push(word.word, &mut text);
            let mut chars = 0;
            for character in text.chars() {
                chars += 1;
                seen[character as usize / 64] |= 1 << (character as usize % 64);
            }
            survey.is_wide |= chars > NARROW;
            survey.all.add(word.word.len(), &text, chars);
            let (size, total) = survey.by_count.entry(word.count.min(LARGEST_COUNT)).or_default();
            size.add(word.word.len(), &text, chars);
            *total += word.count;
        }
        // Characters may have four forms, with a prefix or a suffix; this is an estimate.
        let alphabet: u32 = seen.iter().map(|bits| bits.count_ones()).sum();
        survey.is_wide |= alphabet as usize > NARROW;
        Ok(survey)
    }
}

impl Survey {
    /// The least trimming after which the words can be trained on in `limit` bytes.
    fn least_count_within(self, rates: Rates<'_>, limit: u64) -> Option<Trim> {
        let (mut size, mut lost) = (self.all, 0);
        for (count, (rare, total)) in self.by_count {
            if count == LARGEST_COUNT {
                break;
            }
            (size, lost) = (size.without(rare), lost + total);
            let memory = rates.bytes(size);
            if memory <= limit {
                return (size.words > 0).then_some(Trim {
                    least: count + 1,
                    words: size.words,
                    lost,
                    memory,
                });
            }
        }
        None
    }
}

/// A trimming, which leaves out rare words.
struct Trim {
    /// The least count of a word that is kept.
    least: u64,
    /// The words that are kept.
    words: u64,
    /// The sum of the counts of the others.
    lost: u64,
    /// Bytes that training takes then.
    memory: u64,
}
