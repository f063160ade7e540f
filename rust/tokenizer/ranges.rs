//! From texts to bare ids, with the first id of each range of a text.

use std::ops::Range;

use super::rows::{Ragged, RunRows, row_splits};
use super::{TextSource, Tokenizer};
use crate::cache::Id;
use crate::pipeline::Worker;
use crate::sinks::{RangeSink, Told, UnknownTokens};
use crate::structures::parallel::{Parallelism, Runs, ordered_map, write_in_order};
use crate::{Error, Result};

/// The ranges of texts.
#[derive(Clone, Copy, Debug)]
pub struct TextRanges<'a> {
    /// The byte of its text at which each range begins; the first range of a text begins at 0.
    pub places: &'a [u32],
    /// Text `i` has the ranges `splits[i]..splits[i + 1]`.
    pub splits: &'a [i64],
}

impl<'a> TextRanges<'a> {
    fn of(self, text: usize) -> &'a [u32] {
        &self.places[self.splits[text] as usize..self.splits[text + 1] as usize]
    }
}

impl Tokenizer {
    /// Encodes texts to bare ids, without special tokens, truncation and padding. Also tells the first id of each range and the characters
    /// that the unknown token `unknown` stands for, where this is known without offsets: ranges may begin within a chunk.
    ///
    /// # Errors
    /// As [`Self::encode_batch`], and [`Error::InvalidOption`] if the splits of the ranges do not fit the texts.
    pub fn encode_ranges<'a, T: Id + PartialEq>(
        &self,
        texts: &(impl TextSource + ?Sized),
        ranges: TextRanges<'_>,
        unknown: Option<u32>,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<(Ragged<T>, Told)> {
        check_splits(ranges.splits, texts.count(), ranges.places.len())?;
        let parallelism = parallelism.into();
        let likely: Vec<usize> = (0..texts.count()).map(|row| texts.likely_bytes(row) + 1).collect();
        let most = (0..texts.count()).map(|row| texts.most_bytes(row) + 1).sum();
        self.pipeline.prepare(likely.iter().sum(), parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let (token_lens, have_spans) = (self.pipeline.token_lens(), self.pipeline.keeps_spans());
        let unknown = unknown.map(|id| UnknownTokens { id, token_lens, have_spans });
        let (ids, runs) = write_in_order(most, |writer| {
            let start = |thread| (pool.take_for(thread), Vec::new(), Vec::new());
            let finish = |(worker, ..): (Worker, Vec<T>, Vec<u8>)| pool.put(worker);
            let (runs, parallelism) = Runs::new(&likely, parallelism);
            let encode = |number, run: &mut Range<usize>, work: &mut (Worker, Vec<T>, Vec<u8>)| {
                let (worker, ids, buffer) = work;
                let (mut ends, mut told) = (Vec::with_capacity(run.len()), Told::default());
                for row in run.clone() {
                    let text = match texts.lent(row) {
                        Some(text) => text,
                        None => texts.text(row, buffer)?,
                    };
                    self.pipeline.seed_row(call, row, worker);
                    let mut sink = RangeSink::new(text, ranges.of(row), unknown, ids, &mut told);
                    self.pipeline.encode(text, worker, &mut sink)?;
                    sink.finish();
                    ends.push(ids.len());
                }
                let rows = RunRows { ids: ids.len(), ends };
                writer.put(number, ids);
                Ok((rows, told))
            };
            ordered_map(runs, parallelism, start, finish, encode)
        })?;
        let (runs, told): (Vec<RunRows>, Vec<Told>) = runs.into_iter().unzip();
        let (mut before, mut all) = (0, Told::default());
        for (run, told) in runs.iter().zip(told) {
            all.firsts
                .extend(told.firsts.iter().map(|&first| if first < 0 { first } else { first + before }));
            all.unknown.extend(told.unknown);
            before += run.ids as i64;
        }
        Ok((Ragged { ids, row_splits: row_splits(0, &runs) }, all))
    }

    /// The numbers of the texts that differ from the decoded ids of their rows, special tokens included.
    ///
    /// # Errors
    /// The errors of [`Self::decode`], and [`Error::InvalidOption`] if the row splits do not fit the texts and ids.
    pub fn undecoded(&self, texts: &[&str], ids: &[u32], row_splits: &[i64]) -> Result<Vec<usize>> {
        check_splits(row_splits, texts.len(), ids.len())?;
        let mut different = Vec::new();
        for (row, (text, ends)) in texts.iter().zip(row_splits.windows(2)).enumerate() {
            if self.decode(&ids[ends[0] as usize..ends[1] as usize], false)? != *text {
                different.push(row);
            }
        }
        Ok(different)
    }
}

/// Checks the splits of `items` items among `texts` texts.
fn check_splits(splits: &[i64], texts: usize, items: usize) -> Result<()> {
    let is_whole = splits.first() == Some(&0) && splits.last() == Some(&(items as i64));
    if splits.len() == texts + 1 && splits.is_sorted() && is_whole {
        return Ok(());
    }
    Err(Error::InvalidOption {
        name: "splits",
        value: format!("{} numbers", splits.len()),
        expected: format!("{} ascending numbers from 0 to {items}", texts + 1),
    })
}
