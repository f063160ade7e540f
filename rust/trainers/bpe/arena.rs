//! The words as one array of 32-bit cells, and merging in place.
//!
//! A word is a header cell with its count, then its tokens. A token of `n` cells keeps its id in the first; the second
//! and the last hold `n`, the rest nothing, so both neighbours of a token are found at once. A token never moves and
//! cells inside a token never look like an id, so the position of a pair tells by itself whether the pair is still there.

use crate::structures::progress::OnProgress;
use crate::structures::workers::{METER_EVERY, Meter, run_parts};
use crate::{Error, Result};

const STAGE: &str = "count pairs";

/// Ids stay below this: the two top bits of a cell tell its kind.
pub(super) const MAX_IDS: usize = 1 << 30;

/// A cell that starts a word.
const HEADER: u32 = 1 << 31;
/// In a header: the rest is an index into the large weights, not a weight.
const LARGE: u32 = 1 << 30;
/// A cell inside a token; the rest is the token's length or, further inside, 0.
const INSIDE: u32 = 1 << 30;
/// The payload of a cell.
const PAYLOAD: u32 = (1 << 30) - 1;

/// How many places are previewed together.
pub(super) const BATCH: usize = 64;

/// Cells per entry of the header index.
const STRIDE: usize = 64;

/// Where the headers of one stride of cells are.
#[derive(Clone, Copy, Debug)]
struct Headers {
    /// A bit for each cell of the stride.
    bits: u64,
    /// Number of headers before the stride.
    before: u32,
}

/// All words of two or more tokens.
#[derive(Debug)]
pub(super) struct Arena {
    cells: Vec<u32>,
    large_weights: Vec<u64>,
    // By stride; headers stay where they are until the arena is compacted.
    headers: Vec<Headers>,
    // All headers once more: next to each other they are more likely to be in the cache than among the cells.
    weights: Vec<u32>,
}

/// One applied merge and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    /// The token before, with its position.
    pub(super) left: Option<(u32, u32)>,
    /// The token after.
    pub(super) right: Option<u32>,
}

impl Arena {
    /// Puts parts together, in order.
    pub(super) fn join(parts: Vec<Vec<u32>>, large_weights: Vec<u64>, bytes: usize) -> Result<Self> {
        let size: usize = parts.iter().map(Vec::len).sum();
        if size >= u32::MAX as usize {
            return Err(Error::TextTooLong { bytes, limit: u32::MAX as usize });
        }
        let mut parts = parts.into_iter();
        let mut cells = parts.next().unwrap_or_default();
        cells.reserve_exact(size + 1 - cells.len());
        for part in parts {
            cells.extend(part);
        }
        cells.push(HEADER);
        Ok(Self { cells, large_weights, headers: Vec::new(), weights: Vec::new() })
    }

    /// Number of cells, the header behind the last word included.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether the cell starts a word; `weight` then tells its count.
    #[inline]
    fn is_header(cell: u32) -> bool {
        cell & HEADER != 0
    }

    #[inline]
    fn is_inside(cell: u32) -> bool {
        cell & (HEADER | INSIDE) == INSIDE
    }

    #[inline]
    fn weight(&self, header: u32) -> u64 {
        if header & LARGE == 0 {
            u64::from(header & PAYLOAD)
        } else {
            self.large_weights[(header & PAYLOAD) as usize]
        }
    }

    /// The count of the word around `position`.
    #[inline]
    pub(super) fn weight_at(&self, position: usize) -> u64 {
        let headers = self.headers[position / STRIDE];
        let before = headers.bits & ((1 << (position % STRIDE)) - 1);
        // Every position lies behind the first header, so there is one to go back to.
        self.weight(self.weights[(headers.before + before.count_ones()) as usize - 1])
    }

    /// Where the token at `position` ends.
    #[inline]
    fn end(&self, position: usize) -> usize {
        let second = self.cells[position + 1];
        position + if Self::is_inside(second) { (second & PAYLOAD) as usize } else { 1 }
    }

    /// Where `right` starts, if `position` holds the token `left` and `right` follows it.
    #[inline]
    fn right_of_pair(&self, position: usize, left: u32, right: u32) -> Option<usize> {
        if self.cells[position] != left {
            return None;
        }
        let middle = self.end(position);
        (self.cells[middle] == right).then_some(middle)
    }

    /// Whether the pair is still at `position`.
    pub(super) fn holds_pair(&self, position: u32, left: u32, right: u32) -> bool {
        self.right_of_pair(position as usize, left, right).is_some()
    }

    /// Finds the places that still hold `left`, with the counts of their words, and returns how many there are.
    ///
    /// Nothing here waits for what was found at the place before, so the memory accesses of a whole batch overlap, and
    /// merging right after finds its cells in the cache.
    #[inline]
    pub(super) fn preview(&self, places: &[u32], left: u32, live: &mut [(u32, u64); BATCH]) -> usize {
        let mut len = 0;
        for &position in places {
            live[len % BATCH].0 = position;
            len += usize::from(self.cells[position as usize] == left);
        }
        for (position, weight) in &mut live[..len] {
            *weight = self.weight_at(*position as usize);
        }
        len
    }

    /// Joins the pair at `position`, if it is still there.
    #[inline]
    pub(super) fn merge_at(&mut self, position: u32, left: u32, right: u32, joined: u32) -> Option<Applied> {
        let start = position as usize;
        let middle = self.right_of_pair(start, left, right)?;
        let end = self.end(middle);
        let before = self.cells[start - 1];
        let left = if Self::is_header(before) {
            None
        } else {
            let length = if Self::is_inside(before) { (before & PAYLOAD) as usize } else { 1 };
            Some((self.cells[start - length], (start - length) as u32))
        };
        let after = self.cells[end];
        let right = (!Self::is_header(after)).then_some(after);
        let inside = INSIDE | (end - start) as u32;
        self.cells[start] = joined;
        self.cells[middle] = INSIDE;
        self.cells[start + 1] = inside;
        self.cells[end - 1] = inside;
        Some(Applied { left, right })
    }

    /// Gives every token a single cell again and drops words of one token.
    pub(super) fn compact(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let total = self.cells.len() as u64;
        let mut parts = Vec::new();
        let mut rest = &mut self.cells[..];
        for remaining in (1..=threads.max(1)).rev() {
            // A part ends where a token starts.
            let mut at = rest.len() / remaining;
            while at < rest.len() && Self::is_inside(rest[at]) {
                at += 1;
            }
            let (part, others) = rest.split_at_mut(at);
            parts.push(part);
            rest = others;
        }
        let old_lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        let new_lens = run_parts(STAGE, total, parts, on_progress, compact_part)?;
        let (mut read, mut write) = (0, 0);
        for (old_len, new_len) in old_lens.into_iter().zip(new_lens) {
            self.cells.copy_within(read..read + new_len, write);
            read += old_len;
            write += new_len;
        }
        self.cells.truncate(write);
        Ok(())
    }

    /// Notes where the headers are; the arena must be compact.
    pub(super) fn index_headers(&mut self, threads: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let share = (self.cells.len() / threads.max(1) + 1).next_multiple_of(STRIDE);
        let parts = self.cells.chunks(share).collect();
        let indexed = run_parts(STAGE, self.cells.len() as u64, parts, on_progress, index_part)?;
        self.headers.clear();
        self.weights.clear();
        for (headers, weights) in indexed {
            let before = self.weights.len() as u32;
            self.headers.extend(headers.iter().map(|part| Headers { before: before + part.before, ..*part }));
            self.weights.extend(weights);
        }
        Ok(())
    }

    /// Visits every pair of a compact arena whose left token lies in `range`, with its position and its word's count.
    #[inline]
    pub(super) fn for_each_pair(
        &self,
        range: std::ops::Range<usize>,
        mut visit: impl FnMut(u32, u32, u32, u64),
    ) {
        let mut weight = if range.start == 0 { 0 } else { self.weight_at(range.start) };
        let lefts = &self.cells[range.start..range.end];
        let rights = &self.cells[range.start + 1..=range.end];
        for ((&left, &right), position) in lefts.iter().zip(rights).zip(range.start as u32..) {
            if Self::is_header(left) {
                weight = self.weight(left);
            } else if !Self::is_header(right) {
                visit(left, right, position, weight);
            }
        }
    }
}

/// Compacts some cells, which start with a token or a header, in place; returns how many are left.
fn compact_part(cells: &mut [u32], meter: &Meter) -> usize {
    let (mut read, mut write) = (0, 0);
    // Where the present word's header went, if the word starts in this part.
    let mut header = None;
    let mut pause = METER_EVERY;
    while read < cells.len() {
        let cell = cells[read];
        let start = read;
        read += 1;
        if Arena::is_header(cell) {
            write = header.filter(|header| write - header < 3).unwrap_or(write);
            header = Some(write);
        } else if read < cells.len() && Arena::is_inside(cells[read]) {
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

/// The headers of some strides, counted from their start, and their weights.
fn index_part(cells: &[u32], meter: &Meter) -> (Vec<Headers>, Vec<u32>) {
    let (mut headers, mut weights) = (Vec::with_capacity(cells.len().div_ceil(STRIDE)), Vec::new());
    for cells in cells.chunks(METER_EVERY) {
        for cells in cells.chunks(STRIDE) {
            let before = weights.len() as u32;
            let mut bits = 0;
            for (at, &cell) in cells.iter().enumerate() {
                if Arena::is_header(cell) {
                    bits |= 1 << at;
                    weights.push(cell);
                }
            }
            headers.push(Headers { bits, before });
        }
        if !meter.add(cells.len()) {
            break;
        }
    }
    (headers, weights)
}

/// The cells of some words while they are symbolised.
#[derive(Debug)]
pub(super) struct ArenaBuilder<'a> {
    cells: Vec<u32>,
    large_weights: &'a [u64],
}

impl<'a> ArenaBuilder<'a> {
    /// A builder that finds weights too large for a header in `large_weights`.
    pub(super) fn new(large_weights: &'a [u64]) -> Self {
        Self { cells: Vec::new(), large_weights }
    }

    /// The weights too large for a header, ascending.
    pub(super) fn large_weights(weights: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut large: Vec<u64> = weights.filter(|&weight| weight > u64::from(PAYLOAD)).collect();
        large.sort_unstable();
        large.dedup();
        large
    }

    /// Appends a word of `bytes` bytes; one without a pair, or that never occurs, is left out.
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

    /// The words' cells.
    pub(super) fn into_cells(self) -> Vec<u32> {
        self.cells
    }
}
