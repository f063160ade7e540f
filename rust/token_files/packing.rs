//! Documents in rows of one length.
//!
//! End to end, documents are cut wherever a row is full. By best fit, only documents longer than a row are cut, into *slices*: as many
//! of the length of a row as there are, and the rest. Slices are collected up to the bytes of a packing window, and all rows of the
//! window are written, so memory does not grow with the documents. A window ends with its part at the latest.

use super::counts::PackedCounts;
use super::packing_options::{Packing, PackingMethod};
use crate::Result;
use crate::structures::best_fit::Bins;

/// Bytes of a packing window: ids, and so many bytes more for each slice.
const WINDOW: usize = 1 << 26;
const SLICE: usize = 32;

/// A row that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedRow<'a> {
    pub(super) ids: &'a [u8],
    /// Where slices, and the padding, begin in the row, in tokens.
    pub(super) starts: &'a [i32],
    /// Tokens of padding.
    pub(super) padding: usize,
}

/// Counts the documents that rows of one length would cut, end to end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndToEnd {
    /// Tokens in the last row.
    filled: u64,
    pub(super) cut: u64,
}

impl EndToEnd {
    /// Adds a document of so many tokens.
    pub(super) fn push(&mut self, tokens: u64, length: u64) {
        self.cut += u64::from(self.filled + tokens > length);
        self.filled = (self.filled + tokens) % length;
    }

    /// Tokens that the last row lacks.
    pub(super) fn padding(&self, length: u64) -> u64 {
        (length - self.filled) % length
    }
}

/// Collects documents until rows are full.
#[derive(Debug)]
pub(super) struct Packer {
    packing: Packing,
    /// Bytes of a token, which begins with its id, and of a row.
    width: usize,
    row: usize,
    /// Bytes of a window.
    window: usize,
    /// The ids of a row end to end, or of the slices of a window.
    ids: Vec<u8>,
    /// Where slices begin in the row, in tokens.
    starts: Vec<i32>,
    /// The lengths of the slices of a window, in tokens.
    slices: Vec<u32>,
    end_to_end: EndToEnd,
    counts: PackedCounts,
}

impl Packer {
    pub(super) fn new(packing: Packing, width: usize) -> Self {
        let (ids, starts, slices) = (Vec::new(), Vec::new(), Vec::new());
        let (end_to_end, counts) = (EndToEnd::default(), PackedCounts::default());
        let row = packing.length * width;
        Self { packing, width, row, window: WINDOW, ids, starts, slices, end_to_end, counts }
    }

    /// Adds a document; `emit` gets each row that is full now.
    ///
    /// # Errors
    /// The errors of `emit`.
    pub(super) fn push(
        &mut self,
        ids: &[u8],
        mut emit: impl FnMut(PackedRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.end_to_end.push((ids.len() / self.width) as u64, self.packing.length as u64);
        if self.packing.method == PackingMethod::Concat {
            return self.push_end_to_end(ids, emit);
        }
        self.counts.cut_documents += u64::from(ids.len() > self.row);
        for slice in ids.chunks(self.row) {
            let bytes = self.ids.len() + slice.len() + (self.slices.len() + 1) * SLICE;
            if !self.slices.is_empty() && bytes > self.window {
                self.pack_window(&mut emit)?;
            }
            self.ids.extend_from_slice(slice);
            self.slices.push((slice.len() / self.width) as u32);
        }
        Ok(())
    }

    fn push_end_to_end(
        &mut self,
        mut ids: &[u8],
        mut emit: impl FnMut(PackedRow<'_>) -> Result<()>,
    ) -> Result<()> {
        while !ids.is_empty() {
            self.starts.push((self.ids.len() / self.width) as i32);
            let taken = ids.len().min(self.row - self.ids.len());
            self.ids.extend_from_slice(&ids[..taken]);
            ids = &ids[taken..];
            if self.ids.len() == self.row {
                emit(PackedRow { ids: &self.ids, starts: &self.starts, padding: 0 })?;
                self.counts.rows += 1;
                self.ids.clear();
                self.starts.clear();
            }
        }
        Ok(())
    }

    /// Packs the slices of a window, and fills up their rows.
    fn pack_window(&mut self, emit: &mut impl FnMut(PackedRow<'_>) -> Result<()>) -> Result<()> {
        let slices = std::mem::take(&mut self.slices);
        let is_decreasing = self.packing.method == PackingMethod::BestFitDecreasing;
        let bins = Bins::best_fit(&slices, self.packing.length as u32, is_decreasing);
        let mut end = 0;
        let ends = slices.iter().map(|&length| {
            end += length as usize * self.width;
            end
        });
        let ends: Vec<usize> = ends.collect();
        let (mut row, pad) = (Vec::with_capacity(self.row), padding_token(self.packing.pad_id.unwrap_or(0)));
        for slices_of_row in bins.iter() {
            row.clear();
            self.starts.clear();
            for &slice in slices_of_row {
                self.starts.push((row.len() / self.width) as i32);
                let (end, length) = (ends[slice as usize], slices[slice as usize] as usize);
                row.extend_from_slice(&self.ids[end - length * self.width..end]);
            }
            let padding = fill_up(&mut row, &mut self.starts, self.row, &pad[..self.width]);
            emit(PackedRow { ids: &row, starts: &self.starts, padding })?;
            self.counts.rows += 1;
            self.counts.padding_tokens += padding as u64;
        }
        self.ids.clear();
        Ok(())
    }

    /// Writes the last rows, filled up; without an id for that, the last row of documents end to end is left out. Answers the
    /// counts, and how many tokens are left out.
    ///
    /// # Errors
    /// The errors of `emit`.
    pub(super) fn finish(
        mut self,
        mut emit: impl FnMut(PackedRow<'_>) -> Result<()>,
    ) -> Result<(PackedCounts, u64)> {
        let mut dropped = 0;
        if self.packing.method == PackingMethod::Concat {
            self.counts.cut_documents = self.end_to_end.cut;
            match self.packing.pad_id {
                Some(pad) if !self.ids.is_empty() => {
                    let pad = &padding_token(pad)[..self.width];
                    let padding = fill_up(&mut self.ids, &mut self.starts, self.row, pad);
                    emit(PackedRow { ids: &self.ids, starts: &self.starts, padding })?;
                    self.counts.rows += 1;
                    self.counts.padding_tokens = padding as u64;
                }
                Some(_) => {}
                None => dropped = (self.ids.len() / self.width) as u64,
            }
        } else {
            self.pack_window(&mut emit)?;
            self.counts.concat_cut_documents = self.end_to_end.cut;
            self.counts.concat_padding_tokens = self.end_to_end.padding(self.packing.length as u64);
        }
        Ok((self.counts, dropped))
    }
}

/// The bytes of a token of padding; the bytes after its id are 0, and so is a loss mask there.
fn padding_token(id: u32) -> [u8; 8] {
    u64::from(id).to_le_bytes()
}

/// Fills a row up to `bytes` bytes; answers how many tokens were missing.
fn fill_up(row: &mut Vec<u8>, starts: &mut Vec<i32>, bytes: usize, pad: &[u8]) -> usize {
    let padding = (bytes - row.len()) / pad.len();
    if padding > 0 {
        starts.push((row.len() / pad.len()) as i32);
        (0..padding).for_each(|_| row.extend_from_slice(pad));
    }
    padding
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    type Rows = Vec<(Vec<u8>, Vec<i32>, usize)>;

    /// The rows of documents whose ids have a byte each, their counts, and the number of tokens that are left out.
    fn packed(documents: &[Vec<u8>], packing: Packing, window: usize) -> (Rows, PackedCounts, u64) {
        let mut packer = Packer { window, ..Packer::new(packing, 1) };
        let mut rows = Vec::new();
        let mut emit = |row: PackedRow<'_>| {
            rows.push((row.ids.to_vec(), row.starts.to_vec(), row.padding));
            Ok(())
        };
        for document in documents {
            packer.push(document, &mut emit).expect("nothing fails");
        }
        let (counts, dropped) = packer.finish(&mut emit).expect("nothing fails");
        (rows, counts, dropped)
    }

    fn documents() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(1..u8::MAX, 1..9), 0..9)
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn end_to_end_matches_naive(
            documents in documents(),
            length in 1..7usize,
            pad_id in prop::option::of(Just(0u32)),
        ) {
            let packing = Packing { length, pad_id, method: PackingMethod::Concat };
            let (rows, counts, dropped) = packed(&documents, packing, WINDOW);
            // Each token, with true if its document begins there.
            let tokens = documents.iter().flat_map(|ids| ids.iter().enumerate().map(|(at, &id)| (id, at == 0)));
            let mut tokens: Vec<(u8, bool)> = tokens.collect();
            let rest = tokens.len() % length;
            prop_assert_eq!(dropped as usize, if pad_id.is_none() { rest } else { 0 });
            tokens.truncate(tokens.len() - dropped as usize);
            let written = tokens.len();
            while !tokens.len().is_multiple_of(length) {
                tokens.push((0, tokens.len() % length == rest));
            }
            let naive: Rows = tokens.chunks(length).enumerate().map(|(number, row)| {
                let starts = (0..length).filter(|&at| at == 0 || row[at].1).map(|at| at as i32);
                let padding = ((number + 1) * length).saturating_sub(written);
                (row.iter().map(|&(id, _)| id).collect(), starts.collect(), padding)
            }).collect();
            prop_assert_eq!(counts.rows as usize, naive.len());
            prop_assert_eq!(counts.padding_tokens as usize, tokens.len() - written);
            let begins = documents.iter().scan(0, |end, ids| Some(std::mem::replace(end, *end + ids.len())));
            let cut = begins.zip(&documents).filter(|(begin, ids)| begin / length != (begin + ids.len() - 1) / length);
            prop_assert_eq!(counts.cut_documents as usize, cut.count());
            prop_assert_eq!(rows, naive);
        }

        #[test]
        fn best_fit_rows_hold_every_slice_once(
            documents in documents(),
            length in 1..7usize,
            is_decreasing: bool,
            window in prop_oneof![Just(WINDOW), 1..200usize],
        ) {
            let method = if is_decreasing { PackingMethod::BestFitDecreasing } else { PackingMethod::BestFit };
            let packing = Packing { length, pad_id: Some(0), method };
            let (rows, counts, dropped) = packed(&documents, packing, window);
            let mut found = Vec::new();
            for (ids, starts, padding) in &rows {
                prop_assert_eq!(ids.len(), length);
                prop_assert!(ids[length - padding..].iter().all(|&id| id == 0));
                let ends = starts.iter().skip(1).copied().chain([length as i32]);
                let slices = starts.iter().zip(ends).map(|(&start, end)| ids[start as usize..end as usize].to_vec());
                found.extend(slices.filter(|slice| slice[0] != 0));
            }
            let mut slices: Vec<Vec<u8>> = documents.iter().flat_map(|ids| ids.chunks(length).map(<[u8]>::to_vec)).collect();
            found.sort();
            slices.sort();
            prop_assert_eq!(found, slices);
            let tokens: usize = documents.iter().map(Vec::len).sum();
            let cut = documents.iter().filter(|ids| ids.len() > length).count();
            prop_assert_eq!((counts.rows as usize, counts.cut_documents as usize, dropped), (rows.len(), cut, 0));
            prop_assert_eq!(counts.padding_tokens as usize, rows.len() * length - tokens);
            let concat = Packing { method: PackingMethod::Concat, ..packing };
            let (_, concat, _) = packed(&documents, concat, WINDOW);
            prop_assert_eq!(counts.concat_cut_documents, concat.cut_documents);
            prop_assert_eq!(counts.concat_padding_tokens, concat.padding_tokens);
        }
    }
}
