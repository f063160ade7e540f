//! The initial vocabulary, and the words as sequences of initial symbols.

use std::ops::Range;

use super::arena::{Arena, ArenaBuilder, Cells, check_len, close_gaps, large_weights};
use super::cells::{Cell, HEADER};
use super::segmenter::{Borders, MOST_CACHE, Segmenter};
use super::symbols::{Alphabet, Symbols};
use super::tokens::Tokens;
use super::{BpeTrainer, Numbering};
use crate::models::bpe::Bpe;
use crate::structures::huge_pages;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::trainers::word_counts::{WordCounts, WordSource};
use crate::{Error, Result};

const STAGE: &str = "symbolise words";

/// How often each character occurs, by code point.
#[derive(Default)]
struct CharCounts {
    counts: Vec<u64>,
    // All characters of the corpus; exact even where `counts` saturate, so that the caller can refuse 2^64 and more.
    total: u128,
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
    words: &'a dyn WordSource,
    ranges: Vec<Range<usize>>,
    counted: Vec<Counted>,
}

/// The sizes of a part, which bound the number of its cells.
struct Counted {
    /// Distinct words.
    words: usize,
    /// At least as many as the words have characters.
    chars: usize,
    /// Characters of the longest word.
    longest: usize,
    /// Words with large counts: the count, and the number of characters.
    heavy: Vec<(u64, usize)>,
}

impl Counted {
    /// At least as many cells as the part takes.
    fn room<C: Cell>(&self, large_weights: &[u64]) -> usize {
        let copies = |&(weight, chars): &(u64, usize)| {
            (ArenaBuilder::<C>::copies(weight, large_weights) - 1) * (chars + 1)
        };
        self.words + self.chars + self.heavy.iter().map(copies).sum::<usize>()
    }
}

impl<'a> Parts<'a> {
    /// A corpus with the counts of its characters.
    fn counted(
        words: &'a dyn WordSource,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(Self, Vec<CharCounts>)> {
        let (ranges, total) = (words.parts(threads), words.byte_len() as u64);
        let count = |part, meter: &Meter| count_chars(words, part, meter);
        let counts = run_parts(STAGE, total, ranges.clone(), on_progress, count)?;
        let (counted, counts) = counts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok((Self { words, ranges, counted }, counts))
    }

    /// Writes the symbols of all words, in narrow cells or in wide ones; with a base, the tokens that its merges make of them.
    fn build_arena(
        self,
        symbols: &Symbols<'_>,
        base: Option<&Bpe>,
        is_narrow: bool,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Arena> {
        if is_narrow {
            let (cells, large) = self.build_cells::<u16>(symbols, base, on_progress)?;
            Ok(Arena::new(Cells::Narrow(cells), large))
        } else {
            let (cells, large) = self.build_cells::<u32>(symbols, base, on_progress)?;
            Ok(Arena::new(Cells::Wide(cells), large))
        }
    }

    /// Characters of the longest word.
    fn longest(&self) -> usize {
        self.counted.iter().map(|part| part.longest).max().unwrap_or(0)
    }

    fn build_cells<C: Cell>(
        self,
        symbols: &Symbols<'_>,
        base: Option<&Bpe>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(Vec<C>, Vec<u64>)> {
        let Self { words, ranges, counted } = self;
        let weights = counted.iter().flat_map(|part| part.heavy.iter().map(|&(weight, _)| weight));
        let large = large_weights::<C>(weights.collect());
        let rooms: Vec<usize> = counted.iter().map(|part| part.room::<C>(&large)).collect();
        drop(counted);
        // Cells that no symbol is written to stay untouched.
        let mut cells: Vec<C> = huge_pages::vec_zeroed(rooms.iter().sum::<usize>() + 1);
        let mut rest = &mut cells[..];
        let mut parts = Vec::with_capacity(ranges.len());
        for (range, &room) in ranges.into_iter().zip(&rooms) {
            let (part, others) = rest.split_at_mut(room);
            parts.push((range, part));
            rest = others;
        }
        let total = words.byte_len() as u64;
        let borders = base.and_then(|base| Borders::new(base, symbols));
        let built = run_parts(STAGE, total, parts, on_progress, |(range, part), meter| {
            let mut builder = ArenaBuilder::new(&large, part);
            let mut metered = Metered::new(meter);
            let mut segmenter = base.map(|base| Segmenter::new(base, borders.as_ref(), MOST_CACHE));
            words.read(range, &mut |word, count| {
                if count == 0 {
                    // Its characters may have no symbols.
                    return Ok(metered.continues(word.len()));
                }
                if let Some(segmenter) = &mut segmenter {
                    builder.push_word(count, segmenter.of_word(symbols, word)?, word.len())?;
                } else if symbols.have_affixes() {
                    builder.push_word(count, symbols.of_word(word), word.len())?;
                } else {
                    builder.push_word(count, symbols.of_plain_word(word), word.len())?;
                }
                Ok(metered.continues(word.len()))
            })?;
            Ok(builder.len())
        })?;
        let built: Vec<usize> = built.into_iter().collect::<Result<_>>()?;
        check_len(built.iter().sum(), words.byte_len())?;
        // The last cell is a header, after the last word.
        close_gaps(&mut cells, rooms.into_iter().zip(built).chain([(1, 1)]));
        if let Some(last) = cells.last_mut() {
            *last = C::of(HEADER);
        }
        Ok((cells, large))
    }
}

/// Builds the initial vocabulary and the arena of the words; with [`Numbering::Sorted`] and for a vocabulary that characters
/// share, also counts the symbols.
pub(super) fn symbolise(
    trainer: &BpeTrainer,
    numbering: Numbering,
    words: &dyn WordSource,
    on_progress: &mut OnProgress<'_>,
) -> Result<(Tokens, Arena, Vec<u64>)> {
    let (parts, counted) = Parts::counted(words, trainer.threads, on_progress)?;
    let alphabet = alphabet(trainer, counted)?;
    let (mut tokens, mut symbols) = (special_tokens(trainer), Symbols::of(trainer));
    match numbering {
        Numbering::Alphabet => symbols.add_alphabet(&alphabet, &[words], &mut tokens)?,
        Numbering::Sorted => symbols.add_sorted(trainer, &alphabet, words, &mut tokens)?,
    }
    let is_shared = trainer.auto_character_coverage;
    if trainer.vocab_size < tokens.len() && !is_shared {
        return Err(Error::VocabSizeTooSmall { vocab_size: trainer.vocab_size, needed: tokens.len() });
    }
    let counts = match numbering {
        Numbering::Alphabet if !is_shared => Vec::new(),
        Numbering::Alphabet | Numbering::Sorted => {
            let (ranges, total) = (parts.ranges.clone(), words.byte_len() as u64);
            let counted = run_parts(STAGE, total, ranges, on_progress, |part, meter| {
                count_symbols(&symbols, words, part, tokens.len(), meter)
            })?;
            let add = |mut sums: Vec<u64>, part: Vec<u64>| {
                sums.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
                sums
            };
            counted.into_iter().collect::<Result<Vec<_>>>()?.into_iter().reduce(add).unwrap_or_default()
        }
    };
    let is_narrow = tokens.len().max(parts.longest()) <= u16::MOST as usize;
    Ok((tokens, parts.build_arena(&symbols, None, is_narrow, on_progress)?, counts))
}

/// As [`symbolise`], but starts from the tokens of a `base`, whose merges are applied to the words. `tokens` are the base's tokens by
/// id. The words are texts, or, for `are_tokens`, [token words](super::token_words::char_of).
///
/// Special tokens and characters that the base lacks get ids after its own.
pub(super) fn symbolise_from(
    trainer: &BpeTrainer,
    base: &Bpe,
    mut tokens: Tokens,
    words: &dyn WordSource,
    are_tokens: bool,
    on_progress: &mut OnProgress<'_>,
) -> Result<(Tokens, Arena)> {
    let (parts, counted) = Parts::counted(words, trainer.threads, on_progress)?;
    // A character of a token word has the same token in each place.
    let plain = BpeTrainer::default();
    let mut symbols = Symbols::of(if are_tokens { &plain } else { trainer });
    if are_tokens {
        let ids = tokens.len();
        alphabet(&plain, counted)?;
        symbols.add_tokens(ids);
        (0..ids as u32).for_each(|id| tokens.mark_in_use(id));
    } else {
        for special in &trainer.special_tokens {
            tokens.intern(special);
        }
        symbols.add_alphabet(&alphabet(trainer, counted)?, &[words], &mut tokens)?;
    }
    let is_narrow = tokens.len().max(parts.longest()) <= u16::MOST as usize;
    let base = (!are_tokens).then_some(base);
    let arena = parts.build_arena(&symbols, base, is_narrow, on_progress)?;
    Ok((tokens, arena))
}

/// As [`symbolise`] with [`Numbering::Alphabet`], for several corpora with one vocabulary. Each arena comes with the number of
/// symbols in its words, weighted by the words' counts.
///
/// The arenas of the corpora come first, then the arenas of the dev sets, then the arena of `together`. Characters of dev sets
/// belong to the alphabet, but words of dev sets give no further ids. A word of a dev set is left out if one of its characters
/// has no id in its place. `together` holds the words of all corpora, which do not count again. Does not look at `vocab_size`.
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
            all.push((parts, words));
        }
        counted.extend(counts);
    }
    let alphabet = alphabet(trainer, counted)?;
    let (mut tokens, mut symbols) = (special_tokens(trainer), Symbols::of(trainer));
    let sources: Vec<&dyn WordSource> = corpora.iter().map(|words| words as &dyn WordSource).collect();
    symbols.add_alphabet(&alphabet, &sources, &mut tokens)?;
    let mut arena = |parts: Parts<'_>, words: &WordCounts, symbols: &Symbols<'_>| {
        // A word that does not occur may have characters that no table has.
        let present = words.iter().filter(|&(_, count)| count > 0);
        // The alphabet has refused corpora of 2^64 characters.
        let size = present.map(|(word, count)| symbols.of_word(word).count() as u64 * count).sum();
        Ok((parts.build_arena(symbols, None, false, on_progress)?, size))
    };
    let mut arenas =
        all.into_iter().map(|(parts, words)| arena(parts, words, &symbols)).collect::<Result<Vec<_>>>()?;
    if let Some(words) = together {
        arenas.push(arena(Parts::counted(words, trainer.threads, &mut |_| Ok(()))?.0, words, &symbols)?);
    }
    let mut of_dev = Vec::with_capacity(dev.len());
    for words in dev {
        symbols.find_affixed(words, &tokens)?;
        let present = words.iter().filter(|&(_, count)| count > 0);
        let known: WordCounts = present.filter(|(word, _)| symbols.has_all(word)).collect();
        for (word, _) in known.iter() {
            symbols.of_word(word).for_each(|id| tokens.mark_in_use(id));
        }
        of_dev.push(arena(Parts::counted(&known, trainer.threads, &mut |_| Ok(()))?.0, &known, &symbols)?);
    }
    arenas.splice(corpora.len()..corpora.len(), of_dev);
    Ok((tokens, arenas))
}

pub(super) fn special_tokens(trainer: &BpeTrainer) -> Tokens {
    let mut tokens = Tokens::default();
    for special in &trainer.special_tokens {
        tokens.intern(special);
    }
    tokens
}

/// Counts bytes of words in a meter.
struct Metered<'a> {
    meter: &'a Meter,
    bytes: usize,
}

impl<'a> Metered<'a> {
    fn new(meter: &'a Meter) -> Self {
        Self { meter, bytes: 0 }
    }

    /// False if the meter stops.
    #[inline]
    fn continues(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.bytes < METER_EVERY || self.meter.add(std::mem::take(&mut self.bytes))
    }
}

/// How often each token below `size` occurs in the words of `part`.
fn count_symbols(
    symbols: &Symbols<'_>,
    words: &dyn WordSource,
    part: Range<usize>,
    size: usize,
    meter: &Meter,
) -> Result<Vec<u64>> {
    let (mut counts, mut metered) = (vec![0; size], Metered::new(meter));
    words.read(part, &mut |word, count| {
        if count > 0 {
            for id in symbols.of_word(word) {
                counts[id as usize] += count;
            }
        }
        Ok(metered.continues(word.len()))
    })?;
    Ok(counts)
}

fn count_chars(words: &dyn WordSource, part: Range<usize>, meter: &Meter) -> Result<(Counted, CharCounts)> {
    let (mut counts, mut metered) = (CharCounts::default(), Metered::new(meter));
    let mut counted = Counted { words: 0, chars: 0, longest: 0, heavy: Vec::new() };
    words.read(part, &mut |word, count| {
        let mut length = 0;
        for character in word.chars() {
            counts.add(character, count);
            length += 1;
        }
        counts.total += u128::from(count) * length as u128;
        counted.words += 1;
        counted.chars += length;
        counted.longest = counted.longest.max(length);
        if count > u64::from(u16::MOST) {
            counted.heavy.push((count, length));
        }
        Ok(metered.continues(word.len()))
    })?;
    Ok((counted, counts))
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
