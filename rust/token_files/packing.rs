//! Documents end to end, cut into rows of one length.

use super::options::Packing;
use crate::Result;

/// Collects documents until a row is full.
#[derive(Debug)]
pub(super) struct Packer {
    packing: Packing,
    /// Bytes of an id, and of a row.
    width: usize,
    row: usize,
    ids: Vec<u8>,
    /// Where documents begin or go on in the row, in tokens.
    starts: Vec<i32>,
}

impl Packer {
    pub(super) fn new(packing: Packing, width: usize) -> Self {
        Self { packing, width, row: packing.length * width, ids: Vec::new(), starts: Vec::new() }
    }

    /// Adds a document; `emit` gets each row that is full now, with the places where documents begin or go on.
    ///
    /// # Errors
    /// The errors of `emit`.
    pub(super) fn push(
        &mut self,
        mut ids: &[u8],
        mut emit: impl FnMut(&[u8], &[i32]) -> Result<()>,
    ) -> Result<()> {
        while !ids.is_empty() {
            self.starts.push((self.ids.len() / self.width) as i32);
            let taken = ids.len().min(self.row - self.ids.len());
            self.ids.extend_from_slice(&ids[..taken]);
            ids = &ids[taken..];
            if self.ids.len() == self.row {
                emit(&self.ids, &self.starts)?;
                self.ids.clear();
                self.starts.clear();
            }
        }
        Ok(())
    }

    /// Fills up the last row, or leaves it out; answers how many tokens are left out.
    ///
    /// # Errors
    /// The errors of `emit`.
    pub(super) fn finish(&mut self, mut emit: impl FnMut(&[u8], &[i32]) -> Result<()>) -> Result<u64> {
        let tokens = self.ids.len() / self.width;
        if tokens == 0 {
            return Ok(0);
        }
        let Some(pad) = self.packing.pad_id else { return Ok(tokens as u64) };
        self.starts.push(tokens as i32);
        for _ in tokens..self.packing.length {
            self.ids.extend_from_slice(&pad.to_le_bytes()[..self.width]);
        }
        emit(&self.ids, &self.starts)?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packer_matches_naive(
            documents in prop::collection::vec(prop::collection::vec(1..u8::MAX, 1..9), 0..9),
            length in 1..7usize,
            pad_id in prop::option::of(Just(0u32)),
        ) {
            let mut packer = Packer::new(Packing { length, pad_id }, 1);
            let mut rows = Vec::new();
            let mut emit = |ids: &[u8], starts: &[i32]| {
                rows.push((ids.to_vec(), starts.to_vec()));
                Ok(())
            };
            for document in &documents {
                packer.push(document, &mut emit).expect("nothing fails");
            }
            let dropped = packer.finish(&mut emit).expect("nothing fails") as usize;
            // Each token, with true if its document begins there.
            let tokens = documents.iter().flat_map(|ids| ids.iter().enumerate().map(|(at, &id)| (id, at == 0)));
            let mut tokens: Vec<(u8, bool)> = tokens.collect();
            let rest = tokens.len() % length;
            prop_assert_eq!(dropped, if pad_id.is_none() { rest } else { 0 });
            tokens.truncate(tokens.len() - dropped);
            while !tokens.len().is_multiple_of(length) {
                tokens.push((0, tokens.len() % length == rest));
            }
            let naive: Vec<(Vec<u8>, Vec<i32>)> = tokens.chunks(length).map(|row| {
                let starts = (0..length).filter(|&at| at == 0 || row[at].1).map(|at| at as i32);
                (row.iter().map(|&(id, _)| id).collect(), starts.collect())
            }).collect();
            prop_assert_eq!(rows, naive);
        }
    }
}
