//! Several runs as one.

use std::cmp::Ordering;
use std::sync::Arc;

use super::reader::{Run, RunReader};
use super::word::CountedWord;
use super::writer::too_many;
use crate::Result;

/// The words of several runs in ascending order; a word of several runs comes once, with the sum of its counts and its first
/// place.
pub(super) struct Merge {
    readers: Vec<RunReader>,
    /// Numbers of readers that have a word; the reader with the least word is first (a heap).
    heap: Vec<usize>,
    /// The word that is being summed up.
    word: Vec<u8>,
}

impl Merge {
    /// Reads the first word of each run.
    ///
    /// # Errors
    /// The errors of [`RunReader::advance`].
    pub(super) fn new(runs: impl IntoIterator<Item = Arc<Run>>) -> Result<Self> {
        let mut readers: Vec<RunReader> = runs.into_iter().map(RunReader::new).collect();
        let mut heap = Vec::new();
        for (number, reader) in readers.iter_mut().enumerate() {
            if reader.advance()? {
                heap.push(number);
            }
        }
        let mut merge = Self { readers, heap, word: Vec::new() };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    /// The next word; `None` after the last.
    ///
    /// # Errors
    /// The errors of [`RunReader::advance`]; [`Error::Unsupported`](crate::Error) if a sum of counts exceeds 64 bits.
    pub(super) fn next(&mut self) -> Result<Option<CountedWord<'_>>> {
        let Some(&least) = self.heap.first() else { return Ok(None) };
        let CountedWord { word, mut count, mut first } = self.readers[least].word();
        self.word.clear();
        self.word.extend_from_slice(word);
        self.advance()?;
        while let Some(&least) = self.heap.first() {
            let next = self.readers[least].word();
            if next.word != self.word {
                break;
            }
            count = count.checked_add(next.count).ok_or_else(too_many)?;
            first = first.min(next.first);
            self.advance()?;
        }
        Ok(Some(CountedWord { word: &self.word, count, first }))
    }

    /// Reads the next word of the reader with the least one.
    fn advance(&mut self) -> Result<()> {
        if !self.readers[self.heap[0]].advance()? {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let children = (2 * at + 1)..(2 * at + 3).min(self.heap.len());
            let Some(least) = children.min_by(|&one, &other| self.compare(one, other)) else { return };
            if self.compare(at, least) != Ordering::Greater {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        let word = |at: usize| self.readers[self.heap[at]].word().word;
        word(one).cmp(word(other))
    }
}
