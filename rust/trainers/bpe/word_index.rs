//! Index of the word headers: finds the start and the count of a word from any of its cells.
//!
//! Cells are indexed in strides of 64: a bit for each header in the stride, and the last header before it. 16 bytes
//! for every 64 cells.

use super::cells::{Cell, LARGE, PAYLOAD, is_header};
use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};
use crate::structures::prefetch::prefetch;

const STAGE: &str = "count pairs";

/// Cells per entry of the index.
const STRIDE: usize = 64;

/// In place of a header: there is none before.
const NONE: u32 = 0;

/// How many strides are searched for the start of a word.
const FAR: usize = 64;

/// Index entry: the headers of one stride of cells.
#[derive(Clone, Copy, Debug)]
struct WordHeaders {
    /// A bit for each cell of the stride.
    bits: u64,
    /// The last header before the stride.
    before: u32,
}

/// The headers of all words.
#[derive(Debug)]
pub(super) struct WordIndex {
    strides: Vec<WordHeaders>,
    large_weights: Vec<u64>,
}

impl WordIndex {
    /// An empty index; `large_weights` are the counts that do not fit into a header.
    pub(super) fn new(large_weights: Vec<u64>) -> Self {
        Self { strides: Vec::new(), large_weights }
    }

    /// Indexes the headers of `cells`, which are compact.
    pub(super) fn build<C: Cell>(
        &mut self,
        cells: &[C],
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let share = (cells.len() / threads.max(1) + 1).next_multiple_of(STRIDE);
        let parts = cells.chunks(share).collect();
        let indexed = run_parts(STAGE, cells.len() as u64, parts, on_progress, index_part)?;
        self.strides.clear();
        self.strides.reserve_exact(cells.len().div_ceil(STRIDE));
        let mut last = NONE;
        for (strides, last_here) in indexed {
            let known = |header| if header == NONE { last } else { header };
            self.strides
                .extend(strides.iter().map(|part| WordHeaders { before: known(part.before), ..*part }));
            last = known(last_here);
        }
        Ok(())
    }

    /// The count of the word that `header` starts.
    #[inline]
    pub(super) fn weight(&self, header: u32) -> u64 {
        if header & LARGE == 0 {
            u64::from(header & PAYLOAD)
        } else {
            self.large_weights[(header & PAYLOAD) as usize]
        }
    }

    /// Prefetches the entry that [`Self::weight_at`] reads first.
    #[inline]
    pub(super) fn ask_for(&self, position: usize) {
        prefetch(&self.strides, position / STRIDE);
    }

    /// The count of the word around `position`. `cells` contain the word; their first cell has the position `start`.
    #[inline]
    pub(super) fn weight_at<C: Cell>(&self, position: usize, cells: &[C], start: usize) -> u64 {
        let WordHeaders { bits, before } = self.strides[position / STRIDE];
        let bits = bits & ((1 << (position % STRIDE)) - 1);
        // A header in the same stride is likely to be in the cache with its word.
        let header = if bits == 0 {
            before
        } else {
            cells[position / STRIDE * STRIDE + bits.ilog2() as usize - start].wide()
        };
        self.weight(header)
    }

    /// The start of the word around `position`; `None` if it is too far away.
    pub(super) fn word_start(&self, position: usize) -> Option<usize> {
        let last = position / STRIDE;
        let at = |stride: usize, bits: u64| (bits != 0).then(|| stride * STRIDE + bits.ilog2() as usize);
        at(last, self.strides[last].bits & ((1 << (position % STRIDE)) - 1)).or_else(|| {
            (last.saturating_sub(FAR)..last).rev().find_map(|stride| at(stride, self.strides[stride].bits))
        })
    }
}

/// Indexes some strides of cells; returns their entries and the last header.
fn index_part<C: Cell>(cells: &[C], meter: &Meter) -> (Vec<WordHeaders>, u32) {
    let (mut strides, mut last) = (Vec::with_capacity(cells.len().div_ceil(STRIDE)), NONE);
    for cells in cells.chunks(METER_EVERY) {
        for cells in cells.chunks(STRIDE) {
            let before = last;
            let mut bits = 0;
            for (at, &cell) in cells.iter().enumerate() {
                bits |= u64::from(is_header(cell.wide())) << at;
            }
            if bits != 0 {
                last = cells[bits.ilog2() as usize].wide();
            }
            strides.push(WordHeaders { bits, before });
        }
        if !meter.add(cells.len()) {
            break;
        }
    }
    (strides, last)
}
