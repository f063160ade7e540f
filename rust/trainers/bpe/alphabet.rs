//! The initial vocabulary, and the words as sequences of initial symbols.

use std::ops::Range;

use super::arena::{Arena, ArenaBuilder};
use super::symbols::{Alphabet, Symbols};
use super::tokens::Tokens;
use super::{BpeTrainer, Numbering};
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

const STAGE: &str = "symbolise words";

/// How often each character occurs, by code point.
#[derive(Default)]
struct CharCounts {
    counts: Vec<u64>,
    // All characters of the corpus; exact even where `counts` saturate, so that the caller can refuse 2^64 and more.
    total: u128,
    // Characters of the distinct words.
    distinct: usize,
}

impl CharCounts {
    #[inline]
    fn add(&mut self, character: char, count: u64) {
        let at = character as usize;
        if at >= self.counts.len() {
            self.counts.resize((at + 1).next_power_of_two(), 0);
        }
        self.counts[at] = self.counts[at].saturating_add(count);
    }
}

/// A corpus in parts, one or more for each thread.
struct Parts<'a> {
    words: &'a WordCounts,
    ranges: Vec<Range<usize>>,
    /// For each range at least as many as its words have characters.
    chars: Vec<usize>,
}

impl<'a> Parts<'a> {
    /// A corpus with the counts of its characters.
    fn counted(
        words: &'a WordCounts,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(Self, Vec<CharCounts>)> {
        let (ranges, total) = (parts_of(words, threads), words.byte_len() as u64);
        let count = |part, meter: &Meter| count_chars(words, part, meter);
        let counts = run_parts(STAGE, total, ranges.clone(), on_progress, count)?;
        let chars = counts.iter().map(|part| part.distinct).collect();
        Ok((Self { words, ranges, chars }, counts))
    }

    /// A corpus whose characters need not be counted: no word has more of them than bytes.
    fn uncounted(words: &'a WordCounts, threads: usize) -> Self {
        let ranges = parts_of(words, threads);
        let bytes = |part: &Range<usize>| part.clone().map(|index| words.word(index).len()).sum();
        let chars = ranges.iter().map(bytes).collect();
        Self { words, ranges, chars }
    }

    /// Writes the symbols of all words.
    fn build_arena(self, symbols: &Symbols<'_>, on_progress: &mut OnProgress<'_>) -> Result<Arena> {
        let Self { words, ranges, chars } = self;
        let total = words.byte_len() as u64;
        let large = ArenaBuilder::large_weights(words.iter().map(|(_, count)| count));
        let room: Vec<usize> = ranges.iter().zip(chars).map(|(part, chars)| part.len() + chars).collect();
        // The arena is joined in the memory of the first part.
        let all = room.iter().sum::<usize>() + 1;
        let rooms = std::iter::once(all).chain(room.into_iter().skip(1));
        let parts = ranges.into_iter().zip(rooms).collect();
        let built = run_parts(STAGE, total, parts, on_progress, |(part, room), meter| {
            let mut builder = ArenaBuilder::new(&large, room);
            for index in metered(words, part, meter) {
                let (word, count) = (words.word(index), words.count(index));
                if symbols.have_affixes() {
                    builder.push_word(count, symbols.of_word(word), word.len())?;
                } else {
                    builder.push_word(count, symbols.of_plain_word(word), word.len())?;
                }
            }
            Ok(builder.into_cells())
        })?;
        Arena::join(built.into_iter().collect::<Result<_>>()?, large, words.byte_len())
    }
}

/// Builds the initial vocabulary and the arena of the words; with [`Numbering::Sorted`], also counts the symbols.
pub(super) fn symbolise(
    trainer: &BpeTrainer,
    numbering: Numbering,
    words: &WordCounts,
    on_progress: &mut OnProgress<'_>,
) -> Result<(Tokens, Arena, Vec<u64>)> {
    let (parts, counted) = Parts::counted(words, trainer.threads, on_progress)?;
    let alphabet = alphabet(trainer, counted)?;
    let (mut tokens, mut symbols) = (special_tokens(trainer), Symbols::of(trainer));
    match numbering {
        Numbering::Alphabet => symbols.add_alphabet(&alphabet, std::slice::from_ref(words), &mut tokens),
        Numbering::Sorted => symbols.add_sorted(trainer, &alphabet, words, &mut tokens),
    }
    if trainer.vocab_size < tokens.len() {
        return Err(Error::VocabSizeTooSmall { vocab_size: trainer.vocab_size, needed: tokens.len() });
    }
    let counts = match numbering {
        Numbering::Alphabet => Vec::new(),
        Numbering::Sorted => {
            let (ranges, total) = (parts.ranges.clone(), words.byte_len() as u64);
            let counted = run_parts(STAGE, total, ranges, on_progress, |part, meter| {
                count_symbols(&symbols, words, part, tokens.len(), meter)
            })?;
            let add = |mut sums: Vec<u64>, part: Vec<u64>| {
                sums.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
                sums
            };
            counted.into_iter().reduce(add).unwrap_or_default()
        }
    };
    Ok((tokens, parts.build_arena(&symbols, on_progress)?, counts))
}

/// As [`symbolise`] with [`Numbering::Alphabet`], for several corpora with one vocabulary; with each arena the number of
/// symbols in its words, weighted by their counts.
///
/// The arenas of the dev sets come after those of the corpora. Characters of dev sets belong to the alphabet, but their words give no
/// further ids, and those with a character that has no id in its place are left out. The words of `together`, whose arena is the
/// last, are those of the corpora and do not count again. Does not look at `vocab_size`.
pub(super) fn symbolise_all(
    trainer: &BpeTrainer,
    corpora: &[WordCounts],
    dev: &[WordCounts],
    together: Option<&WordCounts>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(Tokens, Vec<(Arena, u64)>)> {
    let (mut all, mut counted) = (Vec::with_capacity(corpora.len() + 1), Vec::new());
    for (at, words) in corpora.iter().chain(dev).enumerate() {
        let (parts, counts) = Parts::counted(words, trainer.threads, on_progress)?;
        if at < corpora.len() {
            all.push(parts);
        }
        counted.extend(counts);
    }
    let alphabet = alphabet(trainer, counted)?;
    let (mut tokens, mut symbols) = (special_tokens(trainer), Symbols::of(trainer));
    symbols.add_alphabet(&alphabet, corpora, &mut tokens);
    all.extend(together.map(|words| Parts::uncounted(words, trainer.threads)));
    let mut arena = |parts: Parts<'_>, symbols: &Symbols<'_>| {
        // A word that does not occur may have characters that no table has.
        let present = parts.words.iter().filter(|&(_, count)| count > 0);
        // The alphabet has refused corpora of 2^64 characters.
        let size = present.map(|(word, count)| symbols.of_word(word).count() as u64 * count).sum();
        Ok((parts.build_arena(symbols, on_progress)?, size))
    };
    let mut arenas = all.into_iter().map(|parts| arena(parts, &symbols)).collect::<Result<Vec<_>>>()?;
    let mut of_dev = Vec::with_capacity(dev.len());
    for words in dev {
        symbols.find_affixed(words, &mut tokens);
        let present = words.iter().filter(|&(_, count)| count > 0);
        let known: WordCounts = present.filter(|(word, _)| symbols.has_all(word)).collect();
        of_dev.push(arena(Parts::uncounted(&known, trainer.threads), &symbols)?);
    }
    arenas.splice(corpora.len()..corpora.len(), of_dev);
    Ok((tokens, arenas))
}

fn special_tokens(trainer: &BpeTrainer) -> Tokens {
    let mut tokens = Tokens::default();
    for special in &trainer.special_tokens {
        tokens.intern(special);
    }
    tokens
}

/// Ranges of words with about the same number of bytes.
fn parts_of(words: &WordCounts, threads: usize) -> Vec<Range<usize>> {
    let share = words.byte_len() / threads.max(1) + 1;
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for index in 0..words.len() {
        bytes += words.word(index).len();
        if bytes >= share {
            parts.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    parts.push(start..words.len());
    parts
}

/// The words of `part`, until the meter stops.
fn metered<'a>(
    words: &'a WordCounts,
    part: Range<usize>,
    meter: &'a Meter,
) -> impl Iterator<Item = usize> + 'a {
    let mut bytes = 0;
    part.take_while(move |&index| {
        bytes += words.word(index).len();
        bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes))
    })
}

/// How often each token below `size` occurs in the words of `part`.
fn count_symbols(
    symbols: &Symbols<'_>,
    words: &WordCounts,
    part: Range<usize>,
    size: usize,
    meter: &Meter,
) -> Vec<u64> {
    let mut counts = vec![0; size];
    for index in metered(words, part, meter).filter(|&index| words.count(index) > 0) {
        for id in symbols.of_word(words.word(index)) {
            counts[id as usize] += words.count(index);
        }
    }
    counts
}

fn count_chars(words: &WordCounts, part: Range<usize>, meter: &Meter) -> CharCounts {
    let mut counts = CharCounts::default();
    for index in metered(words, part, meter) {
        let count = words.count(index);
        let mut length = 0u64;
        for character in words.word(index).chars() {
            counts.add(character, count);
            length += 1;
        }
        counts.total += u128::from(count) * u128::from(length);
        counts.distinct += length as usize;
    }
    counts
}

fn alphabet(trainer: &BpeTrainer, counted: Vec<CharCounts>) -> Result<Alphabet> {
    let mut counts = CharCounts::default();
    for part in counted {
        counts.total += part.total;
        if part.counts.len() > counts.counts.len() {
            counts.counts.resize(part.counts.len(), 0);
        }
        for (sum, count) in counts.counts.iter_mut().zip(part.counts) {
            *sum = sum.saturating_add(count);
        }
    }
    if counts.total > u128::from(u64::MAX) {
        return Err(Error::Unsupported(format!(
            "the corpus has {} characters, at most 2^64 can be counted",
            counts.total
        )));
    }
    for &character in &trainer.initial_alphabet {
        counts.add(character, u64::MAX);
    }
    let present: Vec<(char, u64)> = (0..)
        .zip(counts.counts)
        .filter(|&(_, count)| count > 0)
        .filter_map(|(code_point, count)| Some((char::from_u32(code_point)?, count)))
        .collect();
    let mut kept = present.clone();
    if let Some(limit) = trainer.limit_alphabet {
        kept.sort_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
        kept.truncate(limit);
        kept.sort_unstable();
    }
    let characters =
        |counted: Vec<(char, u64)>| counted.into_iter().map(|(character, _)| character).collect();
    Ok(Alphabet { present: characters(present), kept: characters(kept) })
}
