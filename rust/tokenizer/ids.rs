//! From texts to bare ids, or to their number.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::batch::in_runs;
use super::pieces::WHOLE;
use super::{EncodeInput, Sequence, Tokenizer};
use crate::Result;
use crate::engine::sink::Id;
use crate::engine::{CountSink, IdSink, Worker};
use crate::structures::huge_pages::vec_with_capacity;

/// Ids that a worker's vector has room for at first, at most: room that is not touched costs nothing but addresses.
const ROOM: usize = 1 << 26;

/// Ids of unused room that a result may keep.
const ROOM_LEFT: usize = 1 << 12;

/// Ids of many texts end to end; text `i` has those from `row_splits[i]` to `row_splits[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ragged<T> {
    /// The ids.
    pub ids: Vec<T>,
    /// One more than there are texts, from 0, ascending.
    pub row_splits: Vec<i64>,
}

/// A text, or part of a long one.
#[derive(Clone, Debug)]
struct Piece {
    row: usize,
    bytes: Range<usize>,
    is_last: bool,
}

/// What one worker made of one run of pieces.
struct Run {
    /// The worker.
    part: usize,
    /// Where in the worker's vector.
    ids: Range<usize>,
    /// Ends of rows, counted from the beginning of the run.
    row_ends: Vec<usize>,
}

impl Tokenizer {
    /// Encodes texts to bare ids. A long text is cut into pieces for several threads.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode_ids<T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        threads: usize,
    ) -> Result<Ragged<T>> {
        let Some((before, after)) = self.frame(add_special_tokens)? else {
            return self.encode_ids_by_encodings(texts, add_special_tokens, threads);
        };
        let narrow = |ids: &[u32]| ids.iter().map(|&id| T::narrow(id)).collect::<Vec<T>>();
        let (before, after) = (narrow(&before), narrow(&after));
        let (pieces, sizes) = self.pieces(texts, threads);
        let room = (sizes.iter().sum::<usize>() / threads.max(1)).min(ROOM);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let (workers, parts) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let start = || (pool.take(), workers.fetch_add(1, Ordering::Relaxed), vec_with_capacity::<T>(room));
        let finish = |(worker, part, ids)| {
            pool.put(worker);
            if let Ok(mut parts) = parts.lock() {
                parts.push((part, ids));
            }
        };
        let runs = in_runs(&sizes, threads, start, finish, |run, (worker, part, ids)| {
            let first = ids.len();
            let mut row_ends = Vec::new();
            for Piece { row, bytes, is_last } in &pieces[run] {
                self.pipeline.seed_row(call, *row, worker);
                if bytes.start == 0 {
                    ids.extend_from_slice(&before);
                }
                let text = &texts[*row][bytes.clone()];
                self.pipeline.encode_piece(text, bytes.start == 0, worker, &mut IdSink(ids))?;
                if *is_last {
                    ids.extend_from_slice(&after);
                    row_ends.push(ids.len() - first);
                }
            }
            Ok(Run { part: *part, ids: first..ids.len(), row_ends })
        })?;
        let mut parts = parts.into_inner().unwrap_or_default();
        parts.sort_unstable_by_key(|&(part, _)| part);
        Ok(Ragged::join(parts.into_iter().map(|(_, ids)| ids).collect(), &runs))
    }

    /// The texts as pieces, and the sizes of these.
    fn pieces(&self, texts: &[&str], threads: usize) -> (Vec<Piece>, Vec<usize>) {
        let total: usize = texts.iter().map(|text| text.len()).sum();
        let target = (total / (threads.max(1) * 8)).clamp(WHOLE / 4, WHOLE * 2);
        let mut pieces = Vec::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            if text.len() <= WHOLE {
                pieces.push(Piece { row, bytes: 0..text.len(), is_last: true });
                continue;
            }
            let cut = self.pipeline.pieces(text, target).into_iter();
            pieces.extend(cut.map(|bytes| Piece { row, is_last: bytes.end == text.len(), bytes }));
        }
        let sizes = pieces.iter().map(|piece| piece.bytes.len() + 1).collect();
        (pieces, sizes)
    }

    fn encode_ids_by_encodings<T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        threads: usize,
    ) -> Result<Ragged<T>> {
        let inputs = texts.iter().map(|&text| EncodeInput { first: Sequence::Text(text), second: None });
        let inputs: Vec<EncodeInput<'_>> = inputs.collect();
        let mut rows = Ragged { ids: Vec::new(), row_splits: vec![0] };
        for encoding in self.encode_batch(&inputs, add_special_tokens, threads)? {
            rows.ids.extend(encoding.ids().map(T::narrow));
            rows.row_splits.push(rows.ids.len() as i64);
        }
        Ok(rows)
    }

    /// Number of tokens of each text; ids are counted and not kept.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_tokens(&self, texts: &[&str], add_special_tokens: bool, threads: usize) -> Result<Vec<u64>> {
        let Some((before, after)) = self.frame(add_special_tokens)? else {
            let rows = self.encode_ids_by_encodings::<u32>(texts, add_special_tokens, threads)?;
            return Ok(rows.row_splits.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect());
        };
        let framing = (before.len() + after.len()) as u64;
        let (pieces, sizes) = self.pieces(texts, threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let count = |Piece { row, bytes, .. }: &Piece, worker: &mut Worker| {
            self.pipeline.seed_row(call, *row, worker);
            let mut sink = CountSink::default();
            let text = &texts[*row][bytes.clone()];
            self.pipeline.encode_piece(text, bytes.start == 0, worker, &mut sink)?;
            Ok((*row, sink.0))
        };
        let runs = in_runs(
            &sizes,
            threads,
            || pool.take(),
            |worker| pool.put(worker),
            |run, worker| pieces[run].iter().map(|piece| count(piece, worker)).collect::<Result<Vec<_>>>(),
        )?;
        let mut counts = vec![framing; texts.len()];
        for (row, count) in runs.into_iter().flatten() {
            counts[row] += count;
        }
        Ok(counts)
    }
}

impl<T: Id> Ragged<T> {
    /// Puts the runs of several workers in order; the ids of a single worker are in order already and stay in place.
    fn join(mut parts: Vec<Vec<T>>, runs: &[Run]) -> Self {
        let mut row_splits = Vec::with_capacity(1 + runs.iter().map(|run| run.row_ends.len()).sum::<usize>());
        row_splits.push(0);
        let mut base = 0;
        for run in runs {
            row_splits.extend(run.row_ends.iter().map(|end| (base + end) as i64));
            base += run.ids.len();
        }
        let ids = match parts.pop() {
            Some(mut only) if parts.is_empty() => {
                if only.capacity() > ROOM_LEFT + only.len() {
                    only.shrink_to_fit();
                }
                only
            }
            Some(last) => {
                parts.push(last);
                let mut ids = vec_with_capacity(base);
                for Run { part, ids: range, .. } in runs {
                    ids.extend_from_slice(&parts[*part][range.clone()]);
                }
                ids
            }
            None => Vec::new(),
        };
        Self { ids, row_splits }
    }
}
