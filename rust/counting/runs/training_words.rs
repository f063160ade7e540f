//! The words of counts as trainers read them: in the order of their bytes from the disk, or in the order of appearance from memory.

use std::ops::Range;

use super::block::{push_number, take_number};
use super::counts_file::{CountsFile, report};
use super::summary::{Spelling, Summary};
use super::word::{CountedWord, Place};
use crate::structures::parallel::OnProgress;
use crate::trainers::word_counts::{EachWord, WordSource};
use crate::{Error, Result};

/// Bytes of the two numbers before a word, for nearly all words.
const NUMBERS: usize = 4;

/// The words of a run in the order of their bytes, read from the disk whenever they are wanted; parts are ranges of blocks.
#[derive(Debug)]
pub struct SortedWords {
    counts: CountsFile,
}

impl SortedWords {
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is no word.
    pub fn new(counts: &CountsFile) -> Result<Self> {
        check_words(counts.summary())?;
        Ok(Self { counts: counts.clone() })
    }
}

impl WordSource for SortedWords {
    fn parts(&self, parts: usize) -> Vec<Range<usize>> {
        let Range { start, end } = self.counts.blocks();
        let share = (end - start).div_ceil(parts.max(1)).max(1);
        (start..end.max(start + 1)).step_by(share).map(|start| start..(start + share).min(end)).collect()
    }

    fn byte_len(&self) -> usize {
        byte_len(self.counts.summary())
    }

    fn read(&self, part: Range<usize>, each: &mut EachWord<'_>) -> Result<()> {
        let spelling = self.counts.summary().spelling;
        let (mut reader, mut text) = (self.counts.reader_of(part), String::new());
        while reader.advance()? {
            let CountedWord { word, count, .. } = reader.word();
            text.clear();
            spelling.push(word, &mut text);
            if !each(&text, count)? {
                break;
            }
        }
        Ok(())
    }
}

/// The words in the order of appearance, in memory.
///
/// Each is its count, its length and its bytes, as they are spelled in the run: some 4 bytes and 8 for its place beside the bytes,
/// and 16 more while they are put in order.
#[derive(Debug)]
pub struct OrderedWords {
    records: Vec<u8>,
    /// Where the record of each word begins.
    order: Vec<usize>,
    spelling: Spelling,
    bytes: usize,
}

impl OrderedWords {
    /// Reads all words.
    ///
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is no word; [`Error::Io`]; [`Error::Format`] for a damaged file; the errors of `on_progress`.
    pub fn new(counts: &CountsFile, on_progress: &mut OnProgress<'_>) -> Result<Self> {
        let summary = counts.summary();
        check_words(summary)?;
        let words = summary.words as usize;
        let mut order: Vec<(Place, usize)> = Vec::new();
        let mut records = Vec::new();
        let bytes = (summary.word_bytes as usize).saturating_add(words.saturating_mul(NUMBERS));
        // A forged file may claim any number of words.
        if order.try_reserve_exact(words).and_then(|()| records.try_reserve_exact(bytes)).is_err() {
            let message = format!("{words} words do not fit in memory");
            return Err(Error::Format { path: counts.run().path().display().to_string(), message });
        }
        let (mut reader, mut done) = (counts.reader(), 0);
        while reader.advance()? {
            report(&mut done, "read counts", summary.words, on_progress)?;
            let CountedWord { word, count, first } = reader.word();
            order.push((first, records.len()));
            push_number(&mut records, count);
            push_number(&mut records, word.len() as u64);
            records.extend_from_slice(word);
        }
        // Words that share their place are ordered by their bytes.
        order.sort_unstable();
        let mut order: Vec<usize> = order.into_iter().map(|(_, record)| record).collect();
        order.shrink_to_fit();
        Ok(Self { records, order, spelling: summary.spelling, bytes: byte_len(summary) })
    }

    /// The count and the bytes of a word.
    fn record(&self, at: usize) -> Option<(u64, &[u8])> {
        let mut rest = &self.records[at..];
        let (count, len) = (take_number(&mut rest)?, take_number(&mut rest)?);
        Some((count, rest.get(..len as usize)?))
    }
}

impl WordSource for OrderedWords {
    fn parts(&self, parts: usize) -> Vec<Range<usize>> {
        let share = self.order.len().div_ceil(parts.max(1)).max(1);
        let len = self.order.len();
        (0..len.max(1)).step_by(share).map(|start| start..(start + share).min(len)).collect()
    }

    fn byte_len(&self) -> usize {
        self.bytes
    }

    fn read(&self, part: Range<usize>, each: &mut EachWord<'_>) -> Result<()> {
        let mut text = String::new();
        for (count, word) in self.order[part].iter().filter_map(|&at| self.record(at)) {
            text.clear();
            self.spelling.push(word, &mut text);
            if !each(&text, count)? {
                break;
            }
        }
        Ok(())
    }
}

fn check_words(summary: &Summary) -> Result<()> {
    let Summary { words, texts, bytes, .. } = *summary;
    if words == 0 { Err(Error::EmptyCorpus { texts, bytes }) } else { Ok(()) }
}

/// About the bytes of all words, for progress.
fn byte_len(summary: &Summary) -> usize {
    summary.word_bytes as usize
}
