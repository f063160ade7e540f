//! All words in one array of cells, see [`super::cells`] for their layout.

use super::apply_merges::{Part, Replacement};
use super::cells::{self, HEADER, LARGE, PAYLOAD, is_header, is_inside};
use super::replay::{MergeOrder, Replay};
use super::word_index::WordIndex;
use crate::structures::huge_pages;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::{Error, Result};

const STAGE: &str = "count pairs";

/// Ids are below this: the two top bits of a cell tell what it is.
pub(super) const MAX_IDS: usize = 1 << 30;

/// All words of two or more tokens.
#[derive(Debug)]
pub(super) struct Arena {
    cells: Vec<u32>,
    // Headers keep their positions until the arena is compacted.
    word_index: WordIndex,
}

impl Arena {
    /// Joins the cells of all threads, in order, in the memory of the first; `bytes` is reported if they are too many.
    pub(super) fn join(parts: Vec<Vec<u32>>, large_weights: Vec<u64>, bytes: usize) -> Result<Self> {
        let size: usize = parts.iter().map(Vec::len).sum();
        if size >= u32::MAX as usize {
            return Err(Error::TextTooLong { bytes, limit: u32::MAX as usize });
        }
        let mut parts = parts.into_iter();
        let mut cells = parts.next().unwrap_or_default();
        cells.reserve_exact(size + 1 - cells.len());
        for part in parts {
            cells.extend_from_slice(&part);
        }
        cells.push(HEADER);
        Ok(Self { cells, word_index: WordIndex::new(large_weights) })
    }

    /// Number of cells, including the header after the last word.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether the pair is still at `position`.
    pub(super) fn holds_pair(&self, position: u32, left: u32, right: u32) -> bool {
        cells::right_of_pair(&self.cells, position as usize, left, right).is_some()
    }

    /// All words, to be changed by one thread.
    pub(super) fn whole(&mut self) -> Part<'_> {
        Part::new(&mut self.cells, &self.word_index)
    }

    /// Builds the index of headers; the arena must be compact.
    pub(super) fn index_headers(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        self.word_index.build(&self.cells, threads, on_progress)
    }

    /// Gives every token a single cell again and drops words of one token.
    pub(super) fn compact(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let total = self.cells.len() as u64;
        let mut parts = Vec::new();
        let mut rest = &mut self.cells[..];
        for remaining in (1..=threads.max(1)).rev() {
            // A part ends where a token starts.
            let mut at = rest.len() / remaining;
            while at < rest.len() && is_inside(rest[at]) {
                at += 1;
            }
            let (part, others) = rest.split_at_mut(at);
            parts.push(part);
            rest = others;
        }
        let old_lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        let new_lens = run_parts(STAGE, total, parts, on_progress, compact_part)?;
        self.close_gaps(old_lens.into_iter().zip(new_lens));
        Ok(())
    }

    /// Moves the first cells of each part together; `parts` are the lengths before and after.
    fn close_gaps(&mut self, parts: impl Iterator<Item = (usize, usize)>) {
        let (mut read, mut write) = (0, 0);
        for (old_len, new_len) in parts {
            self.cells.copy_within(read..read + new_len, write);
            read += old_len;
            write += new_len;
        }
        self.cells.truncate(write);
    }

    /// Applies merges in order to a compact arena, which is compact afterwards; returns how often each was applied, weighted by the
    /// words' counts.
    pub(super) fn replay(
        &mut self,
        merges: &[Replacement],
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<u64>> {
        let Self { cells, word_index } = self;
        let total = cells.len() as u64;
        let mut parts = Vec::new();
        let mut rest = &mut cells[..];
        for remaining in (1..=threads.max(1)).rev() {
            // A part is whole words.
            let at = rest.len() / remaining;
            let at = at + rest[at..].iter().take_while(|&&cell| !is_header(cell)).count();
            let (part, others) = rest.split_at_mut(at);
            parts.push(part);
            rest = others;
        }
        let old_lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        let order = MergeOrder::new(merges);
        let replayed = run_parts("replay merges", total, parts, on_progress, |part, meter| {
            let mut replay = Replay::new(&order);
            (replay.compact(part, word_index, meter), replay.into_performed())
        })?;
        self.close_gaps(old_lens.into_iter().zip(replayed.iter().map(|(len, _)| *len)));
        let mut performed = vec![0; merges.len()];
        for (_, part) in replayed {
            performed.iter_mut().zip(part).for_each(|(sum, times)| *sum += times);
        }
        Ok(performed)
    }

    /// Visits every pair of a compact arena whose left token lies in `range`: ids, position and the count of its word.
    #[inline]
    pub(super) fn for_each_pair(
        &self,
        range: std::ops::Range<usize>,
        mut visit: impl FnMut(u32, u32, u32, u64),
    ) {
        let mut weight =
            if range.start == 0 { 0 } else { self.word_index.weight_at(range.start, &self.cells, 0) };
        let lefts = &self.cells[range.start..range.end];
        let rights = &self.cells[range.start + 1..=range.end];
        for ((&left, &right), position) in lefts.iter().zip(rights).zip(range.start as u32..) {
            if is_header(left) {
                weight = self.word_index.weight(left);
            } else if !is_header(right) {
                visit(left, right, position, weight);
            }
        }
    }
}

/// Compacts a range of cells, which starts with a token or a header, in place; returns how many cells remain.
fn compact_part(cells: &mut [u32], meter: &Meter) -> usize {
    let (mut read, mut write) = (0, 0);
    // New position of the current word's header, if the word starts in this range.
    let mut header = None;
    let mut pause = METER_EVERY;
    while read < cells.len() {
        let cell = cells[read];
        let start = read;
        read += 1;
        if is_header(cell) {
            write = header.filter(|header| write - header < 3).unwrap_or(write);
            header = Some(write);
        } else if read < cells.len() && is_inside(cells[read]) {
            read = start + (cells[read] & PAYLOAD) as usize;
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

/// Builds the cells of a range of words.
#[derive(Debug)]
pub(super) struct ArenaBuilder<'a> {
    cells: Vec<u32>,
    large_weights: &'a [u64],
}

impl<'a> ArenaBuilder<'a> {
    /// A builder with room for `room` cells; `large_weights` are the counts that do not fit into a header.
    pub(super) fn new(large_weights: &'a [u64], room: usize) -> Self {
        Self { cells: huge_pages::vec_mapped(room), large_weights }
    }

    /// The counts that do not fit into a header, ascending.
    pub(super) fn large_weights(weights: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut large: Vec<u64> = weights.filter(|&weight| weight > u64::from(PAYLOAD)).collect();
        large.sort_unstable();
        large.dedup();
        large
    }

    /// Appends a word of `bytes` bytes; a word without a pair, or with the count 0, is left out.
    #[inline]
    pub(super) fn push_word(
        &mut self,
        weight: u64,
        symbols: impl Iterator<Item = u32>,
        bytes: usize,
    ) -> Result<()> {
        if weight == 0 {
            return Ok(());
        }
        let start = self.cells.len();
        self.cells.push(match u32::try_from(weight) {
            Ok(weight) if weight <= PAYLOAD => HEADER | weight,
            _ => HEADER | LARGE | self.large_weights.partition_point(|&large| large < weight) as u32,
        });
        self.cells.extend(symbols);
        let length = self.cells.len() - start;
        if length > PAYLOAD as usize {
            return Err(Error::TextTooLong { bytes, limit: PAYLOAD as usize });
        }
        if length < 3 {
            self.cells.truncate(start);
        }
        Ok(())
    }

    /// The cells of the words.
    pub(super) fn into_cells(self) -> Vec<u32> {
        self.cells
    }
}
