//! All words in one array of cells, see [`super::cells`] for their layout.

use std::collections::HashSet;

use super::apply_merges::{Part, Replacement};
use super::cells::{self, Cell, HEADER, LARGE, PAYLOAD, is_header, is_inside};
use super::replay::{MergeOrder, Replay};
use super::word_index::WordIndex;
use crate::structures::huge_pages;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::{Error, Result};

const STAGE: &str = "count pairs";

/// Ids are below this: the two top bits of a cell are its kind.
pub(in crate::trainers) const MAX_IDS: usize = 1 << 30;

/// All words of two or more tokens.
#[derive(Debug)]
pub(super) struct Arena {
    cells: Cells,
    // Headers keep their positions until the arena is compacted.
    word_index: WordIndex,
}

/// Cells of either width.
#[derive(Debug)]
pub(super) enum Cells {
    /// While ids have 14 bits; no word has more symbols than 14 bits count.
    Narrow(Vec<u16>),
    /// Otherwise.
    Wide(Vec<u32>),
}

/// All words of an arena, to be changed by one thread.
#[derive(Debug)]
pub(super) enum Whole<'a> {
    /// Cells of 16 bits.
    Narrow(Part<'a, u16>),
    /// Cells of 32 bits.
    Wide(Part<'a, u32>),
}

/// The same work for cells of either width.
macro_rules! with_cells {
    ($cells:expr, $name:ident => $work:expr) => {
        match $cells {
            Cells::Narrow($name) => $work,
            Cells::Wide($name) => $work,
        }
    };
}

impl Arena {
    /// An arena of whole words; `large_weights` are the counts that do not fit into a header.
    pub(super) fn new(cells: Cells, large_weights: Vec<u64>) -> Self {
        Self { cells, word_index: WordIndex::new(large_weights) }
    }

    /// Number of cells, including the header after the last word.
    pub(super) fn len(&self) -> usize {
        with_cells!(&self.cells, cells => cells.len())
    }

    /// Bytes of all cells.
    pub(super) fn bytes(&self) -> usize {
        with_cells!(&self.cells, cells => size_of_val(&cells[..]))
    }

    /// True if cells are narrow.
    pub(super) fn is_narrow(&self) -> bool {
        matches!(self.cells, Cells::Narrow(_))
    }

    /// Makes cells wide.
    pub(super) fn widen(&mut self) {
        if let Cells::Narrow(narrow) = &self.cells {
            let mut wide = huge_pages::vec_mapped(narrow.len());
            wide.extend(narrow.iter().map(|cell| cell.wide()));
            self.cells = Cells::Wide(wide);
        }
    }

    /// True if the pair is still at `position`.
    pub(super) fn holds_pair(&self, position: u32, left: u32, right: u32) -> bool {
        with_cells!(&self.cells, cells => cells::right_of_pair(cells, position as usize, left, right).is_some())
    }

    /// All words, to be changed by one thread.
    pub(super) fn whole(&mut self) -> Whole<'_> {
        match &mut self.cells {
            Cells::Narrow(cells) => Whole::Narrow(Part::new(cells, &self.word_index)),
            Cells::Wide(cells) => Whole::Wide(Part::new(cells, &self.word_index)),
        }
    }

    /// Builds the index of headers; the arena must be compact.
    pub(super) fn index_headers(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        with_cells!(&self.cells, cells => self.word_index.build(cells, threads, on_progress))
    }

    /// Gives every token a single cell again and drops words of one token.
    pub(super) fn compact(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        with_cells!(&mut self.cells, cells => {
            let parts = parts_at(cells, threads, is_inside);
            let old_lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            let total = old_lens.iter().sum::<usize>() as u64;
            let new_lens = run_parts(STAGE, total, parts, on_progress, compact_part)?;
            close_gaps(cells, old_lens.into_iter().zip(new_lens));
        });
        Ok(())
    }

    /// Applies merges in order to a compact arena, which is compact afterwards; returns how often each was applied, weighted by the
    /// words' counts.
    pub(super) fn replay(
        &mut self,
        merges: &[Replacement],
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<u64>> {
        let (order, word_index) = (MergeOrder::new(merges), &self.word_index);
        with_cells!(&mut self.cells, cells => {
            // A part is whole words.
            let parts = parts_at(cells, threads, |cell| !is_header(cell));
            let old_lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            let total = old_lens.iter().sum::<usize>() as u64;
            let replayed = run_parts("replay merges", total, parts, on_progress, |part, meter| {
                let mut replay = Replay::new(&order);
                (replay.compact(part, word_index, meter), replay.into_performed())
            })?;
            close_gaps(cells, old_lens.into_iter().zip(replayed.iter().map(|(len, _)| *len)));
            let mut performed = vec![0; merges.len()];
            for (_, part) in replayed {
                performed.iter_mut().zip(part).for_each(|(sum, times)| *sum += times);
            }
            Ok(performed)
        })
    }

    /// The tokens of a compact arena.
    pub(super) fn tokens(&self) -> HashSet<u32> {
        with_cells!(&self.cells, cells => {
            cells.iter().map(|cell| cell.wide()).filter(|&cell| !is_header(cell)).collect()
        })
    }

    /// Visits every pair of a compact arena whose left token lies in `range`: ids, position and the count of its word.
    #[inline]
    pub(super) fn for_each_pair(&self, range: std::ops::Range<usize>, visit: impl FnMut(u32, u32, u32, u64)) {
        with_cells!(&self.cells, cells => for_each_pair(cells, &self.word_index, range, visit));
    }
}

/// See [`Arena::for_each_pair`].
#[inline]
fn for_each_pair<C: Cell>(
    cells: &[C],
    word_index: &WordIndex,
    range: std::ops::Range<usize>,
    mut visit: impl FnMut(u32, u32, u32, u64),
) {
    let mut weight = if range.start == 0 { 0 } else { word_index.weight_at(range.start, cells, 0) };
    let lefts = &cells[range.start..range.end];
    let rights = &cells[range.start + 1..=range.end];
    for ((left, right), position) in lefts.iter().zip(rights).zip(range.start as u32..) {
        let (left, right) = (left.wide(), right.wide());
        if is_header(left) {
            weight = word_index.weight(left);
        } else if !is_header(right) {
            visit(left, right, position, weight);
        }
    }
}

/// Cuts cells into a part for each thread, where `is_inside` does not hold.
fn parts_at<C: Cell>(cells: &mut [C], threads: usize, is_inside: impl Fn(u32) -> bool) -> Vec<&mut [C]> {
    let mut parts = Vec::new();
    let mut rest = cells;
    for remaining in (1..=threads.max(1)).rev() {
        let at = rest.len() / remaining;
        let at = at + rest[at..].iter().take_while(|cell| is_inside(cell.wide())).count();
        let (part, others) = rest.split_at_mut(at);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Moves the first cells of each part together; `parts` are the lengths before and after. Gives memory back.
pub(super) fn close_gaps<C: Cell>(cells: &mut Vec<C>, parts: impl Iterator<Item = (usize, usize)>) {
    let (mut read, mut write) = (0, 0);
    for (old_len, new_len) in parts {
        cells.copy_within(read..read + new_len, write);
        read += old_len;
        write += new_len;
    }
    cells.truncate(write);
    cells.shrink_to_fit();
}

/// Compacts a range of cells, which starts with a token or a header, in place; returns how many cells remain.
fn compact_part<C: Cell>(cells: &mut [C], meter: &Meter) -> usize {
    let (mut read, mut write) = (0, 0);
    // New position of the current word's header, if the word starts in this range.
    let mut header = None;
    let mut pause = METER_EVERY;
    while read < cells.len() {
        let cell = cells[read];
        let start = read;
        read += 1;
        if is_header(cell.wide()) {
            write = header.filter(|header| write - header < 3).unwrap_or(write);
            header = Some(write);
        } else if read < cells.len() && is_inside(cells[read].wide()) {
            read = start + (cells[read].wide() & PAYLOAD) as usize;
        }
        cells[write] = cell;
        write += 1;
        if read >= pause {
            pause = read + METER_EVERY;
            if !meter.add(METER_EVERY) {
                break;
            }
        }
    }
    write
}

/// The counts that do not fit into the headers of `C`, ascending: the largest ones, as many as headers can number.
///
/// A word whose count is neither in a header nor here takes several copies, which share the count.
pub(super) fn large_weights<C: Cell>(mut weights: Vec<u64>) -> Vec<u64> {
    weights.retain(|&weight| weight > u64::from(C::MOST));
    weights.sort_unstable();
    weights.dedup();
    let numbered = C::MOST as usize + 1;
    weights.split_off(weights.len().saturating_sub(numbered))
}

/// Writes the cells of words.
#[derive(Debug)]
pub(super) struct ArenaBuilder<'a, C> {
    cells: &'a mut [C],
    len: usize,
    large_weights: &'a [u64],
}

impl<'a, C: Cell> ArenaBuilder<'a, C> {
    /// A builder that fills `cells`; `large_weights` is the result of [`large_weights`].
    pub(super) fn new(large_weights: &'a [u64], cells: &'a mut [C]) -> Self {
        Self { cells, len: 0, large_weights }
    }

    /// The header of a word, and the count that is left for another copy of it.
    #[inline]
    fn header(weight: u64, large_weights: &[u64]) -> (u32, u64) {
        if weight <= u64::from(C::MOST) {
            return (HEADER | weight as u32, 0);
        }
        match large_weights.binary_search(&weight) {
            Ok(number) => (HEADER | LARGE | number as u32, 0),
            Err(_) => (HEADER | C::MOST, weight - u64::from(C::MOST)),
        }
    }

    /// How many copies a word of the count `weight` takes.
    pub(super) fn copies(weight: u64, large_weights: &[u64]) -> usize {
        let is_numbered = weight <= u64::from(C::MOST) || large_weights.binary_search(&weight).is_ok();
        if is_numbered { 1 } else { weight.div_ceil(u64::from(C::MOST)) as usize }
    }

    /// Appends a word of `bytes` bytes; a word without a pair, or with the count 0, is left out.
    #[inline]
    pub(super) fn push_word(
        &mut self,
        weight: u64,
        symbols: impl Iterator<Item = u32>,
        bytes: usize,
    ) -> Result<()> {
        let start = self.len;
        let mut end = start + 1;
        for symbol in symbols {
            self.cells[end] = C::of(symbol);
            end += 1;
        }
        if end - start > PAYLOAD as usize {
            return Err(Error::TextTooLong { bytes, limit: PAYLOAD as usize });
        }
        if end - start < 3 {
            return Ok(());
        }
        let (header, mut left) = Self::header(weight, self.large_weights);
        self.cells[start] = C::of(header);
        self.len = end;
        while left > 0 {
            let count = left.min(u64::from(C::MOST));
            left -= count;
            self.cells.copy_within(start + 1..end, self.len + 1);
            self.cells[self.len] = C::of(HEADER | count as u32);
            self.len += end - start;
        }
        Ok(())
    }

    /// How many cells were written.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

/// Refuses more cells than positions can number; `bytes` is reported.
pub(super) fn check_len(cells: usize, bytes: usize) -> Result<()> {
    if cells >= u32::MAX as usize {
        return Err(Error::TextTooLong { bytes, limit: u32::MAX as usize });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of two words; `numbered` are the counts with a number.
    fn built(weight: u64, numbered: &[u64]) -> Vec<u32> {
        let mut cells = vec![0u16; 100];
        let mut builder = ArenaBuilder::new(numbered, &mut cells);
        builder.push_word(weight, [3, 4].into_iter(), 2).expect("a short word");
        builder.push_word(2, [5].into_iter(), 1).expect("a short word");
        builder.push_word(2, [5, 6, 7].into_iter(), 3).expect("a short word");
        let len = builder.len();
        assert_eq!(len, 3 * ArenaBuilder::<u16>::copies(weight, numbered) + 4);
        cells[..len].iter().map(|cell| cell.wide()).collect()
    }

    #[test]
    fn a_large_count_has_a_number_or_is_that_of_several_copies() {
        let most = u64::from(u16::MOST);
        let last = [HEADER | 2, 5, 6, 7];
        assert_eq!(built(most, &[]), [&[HEADER | u16::MOST, 3, 4], &last[..]].concat());
        assert_eq!(built(most + 1, &[most + 1, 1 << 40]), [&[HEADER | LARGE, 3, 4], &last[..]].concat());
        assert_eq!(built(1 << 40, &[most + 1, 1 << 40]), [&[HEADER | LARGE | 1, 3, 4], &last[..]].concat());
        let copies = [HEADER | u16::MOST, 3, 4, HEADER | u16::MOST, 3, 4, HEADER | 5, 3, 4];
        assert_eq!(built(2 * most + 5, &[1 << 40]), [&copies, &last[..]].concat());
    }

    #[test]
    fn the_largest_counts_have_numbers() {
        let numbered = u64::from(u16::MOST) + 1;
        let weights: Vec<u64> =
            (0..numbered + 10).map(|extra| numbered + extra).chain([5, numbered]).collect();
        let large = large_weights::<u16>(weights);
        assert_eq!((large.len() as u64, large[0]), (numbered, numbered + 10));
        assert_eq!(large_weights::<u32>(vec![1 << 30, 7, 1 << 30, (1 << 30) - 1]), [1 << 30]);
    }

    #[test]
    fn narrow_cells_keep_their_kinds() {
        for wide in
            [0, 7, 16_383, HEADER, HEADER | 16_383, HEADER | LARGE | 9, cells::INSIDE, cells::INSIDE | 0x12c]
        {
            assert_eq!(u16::of(wide).wide(), wide);
            assert_eq!(u32::of(wide).wide(), wide);
        }
    }
}
