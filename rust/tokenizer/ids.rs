//! From texts to bare ids, or to their number.

use std::ops::Range;

use super::assembly::assemble;
use super::batch::{Crew, for_each_run, in_runs};
use super::blocks::BlockPart;
use super::pieces::WHOLE;
use super::pipeline::check_length;
use super::ragged::{Ragged, RunRows, row_splits};
use super::{EncodeInput, Frame, Tokenizer};
use crate::Result;
use crate::engine::sink::Id;
use crate::engine::{CountSink, IdSink, Worker};

/// What each text gets before and after its own ids.
pub(super) struct Framing<T> {
    call: u64,
    before: Vec<T>,
    after: Vec<T>,
}

impl<T: Id> Framing<T> {
    /// For the call of that number.
    pub(super) fn new(Frame { before, after }: &Frame, call: u64) -> Self {
        let narrowed = |ids: &[u32]| ids.iter().map(|&id| T::narrow(id)).collect();
        Self { call, before: narrowed(before), after: narrowed(after) }
    }
}

/// Refuses texts that are too long before the first is encoded, since their pieces would not be.
fn check_lengths(texts: &[&str]) -> Result<()> {
    texts.iter().try_for_each(|text| check_length(text.len()))
}

impl Tokenizer {
    /// Encodes texts to bare ids. A long text is cut into pieces for several threads.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode_ids<'a, T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        crew: impl Into<Crew<'a>>,
    ) -> Result<Ragged<T>> {
        let crew = crew.into();
        check_lengths(texts)?;
        let Some(frame) = self.frame(add_special_tokens)? else {
            return self.encode_ids_by_encodings(texts, add_special_tokens, crew);
        };
        let (pieces, sizes) = self.pieces(texts, crew.threads);
        self.pipeline.prepare(sizes.iter().sum(), crew.threads);
        let (pool, framing) = (self.pipeline.pool(), Framing::new(frame, self.pipeline.next_call()));
        let (ids, runs) = assemble(sizes.iter().sum(), |assembly| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            in_runs(&sizes, crew, start, finish, |run, (worker, ids)| {
                let mut ends = Vec::new();
                for piece in &pieces[run.clone()] {
                    self.push_part(texts[piece.row], piece, &framing, worker, ids)?;
                    if piece.is_last {
                        ends.push(ids.len());
                    }
                }
                let rows = RunRows { ids: ids.len(), ends };
                assembly.put(run, ids);
                Ok(rows)
            })
        })?;
        Ok(Ragged { ids, row_splits: row_splits(&runs) })
    }

    /// Encodes texts to bare ids and hands on the rows of each run of texts, in order and on the calling thread, while
    /// other threads encode.
    ///
    /// # Errors
    /// Those of [`Self::encode_batch`] and of `take`.
    pub fn for_each_rows<'a, T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        crew: impl Into<Crew<'a>>,
        mut take: impl FnMut(&Ragged<T>) -> Result<()>,
    ) -> Result<()> {
        let crew = crew.into();
        check_lengths(texts)?;
        let Some(frame) = self.frame(add_special_tokens)? else {
            return take(&self.encode_ids_by_encodings(texts, add_special_tokens, crew)?);
        };
        let (pieces, sizes) = self.pieces(texts, crew.threads);
        self.pipeline.prepare(sizes.iter().sum(), crew.threads);
        let (pool, framing) = (self.pipeline.pool(), Framing::new(frame, self.pipeline.next_call()));
        let encode = |run: Range<usize>, worker: &mut Worker| {
            let room = sizes[run.clone()].iter().sum::<usize>() / 4;
            let mut rows = Ragged { ids: Vec::with_capacity(room), row_splits: vec![0] };
            for piece in &pieces[run] {
                self.push_part(texts[piece.row], piece, &framing, worker, &mut rows.ids)?;
                if piece.is_last {
                    rows.row_splits.push(rows.ids.len() as i64);
                }
            }
            Ok(rows)
        };
        // Ids of a row that the last run did not end.
        let mut begun = Vec::new();
        let take_rows = |mut rows: Ragged<T>| {
            let ended = rows.row_splits.last().map_or(0, |&end| end as usize);
            let rest = rows.ids.split_off(ended);
            if rows.row_splits.len() > 1 && !begun.is_empty() {
                rows.row_splits[1..].iter_mut().for_each(|end| *end += begun.len() as i64);
                begun.append(&mut rows.ids);
                std::mem::swap(&mut begun, &mut rows.ids);
            }
            take(&rows)?;
            begun.extend(rest);
            Ok(())
        };
        for_each_run(&sizes, crew, || pool.take(), |worker| pool.put(worker), encode, take_rows)
    }

    /// Encodes one part of `text`, with what its row gets before and after it.
    pub(super) fn push_part<T: Id>(
        &self,
        text: &str,
        BlockPart { row, bytes, is_first, is_last }: &BlockPart,
        Framing { call, before, after }: &Framing<T>,
        worker: &mut Worker,
        ids: &mut Vec<T>,
    ) -> Result<()> {
        self.pipeline.seed_row(*call, *row, worker);
        if *is_first {
            ids.extend_from_slice(before);
        }
        self.pipeline.encode_piece(&text[bytes.clone()], *is_first, worker, &mut IdSink(ids))?;
        if *is_last {
            ids.extend_from_slice(after);
        }
        Ok(())
    }

    /// Encodes one text to bare ids. A short one stays on the calling thread and costs little beside its tokens.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode_one<'a>(
        &self,
        text: &str,
        add_special_tokens: bool,
        crew: impl Into<Crew<'a>>,
    ) -> Result<Vec<u32>> {
        let frame = if text.len() > WHOLE { None } else { self.frame(add_special_tokens)? };
        let Some(Frame { before, after }) = frame else {
            return self.encode_ids(&[text], add_special_tokens, crew).map(|rows| rows.ids);
        };
        let mut ids = Vec::with_capacity(text.len() / 3 + before.len() + after.len());
        ids.extend_from_slice(before);
        let mut worker = self.pipeline.pool().take();
        self.pipeline.seed_row(self.pipeline.next_call(), 0, &mut worker);
        let encoded = self.pipeline.encode(text, &mut worker, &mut IdSink(&mut ids));
        self.pipeline.pool().put(worker);
        encoded?;
        ids.extend_from_slice(after);
        Ok(ids)
    }

    /// The texts, long ones cut into pieces, and the sizes of these.
    fn pieces(&self, texts: &[&str], threads: usize) -> (Vec<BlockPart>, Vec<usize>) {
        let total: usize = texts.iter().map(|text| text.len()).sum();
        let target = (total / (threads.max(1) * 8)).clamp(WHOLE / 4, WHOLE * 2);
        let mut pieces = Vec::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            if text.len() <= WHOLE {
                pieces.push(BlockPart { row, bytes: 0..text.len(), is_first: true, is_last: true });
                continue;
            }
            let cut = self.pipeline.pieces(text, target).into_iter();
            pieces.extend(cut.map(|bytes| {
                let (is_first, is_last) = (bytes.start == 0, bytes.end == text.len());
                BlockPart { row, bytes, is_first, is_last }
            }));
        }
        let sizes = pieces.iter().map(|piece| piece.bytes.len() + 1).collect();
        (pieces, sizes)
    }

    fn encode_ids_by_encodings<T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        crew: Crew<'_>,
    ) -> Result<Ragged<T>> {
        let inputs: Vec<EncodeInput<'_>> = texts.iter().map(|text| EncodeInput::of_text(text)).collect();
        let mut rows = Ragged { ids: Vec::new(), row_splits: vec![0] };
        for encoding in self.encode_batch(&inputs, add_special_tokens, crew)? {
            rows.ids.extend(encoding.ids().map(T::narrow));
            rows.row_splits.push(rows.ids.len() as i64);
        }
        Ok(rows)
    }

    /// Number of special tokens of a text, if texts get these and nothing else happens to their ids.
    ///
    /// # Errors
    /// Those of the post-processor.
    pub fn framing(&self, add_special_tokens: bool) -> Result<Option<u64>> {
        let length = |Frame { before, after }: &Frame| (before.len() + after.len()) as u64;
        Ok(self.frame(add_special_tokens)?.map(length))
    }

    /// Number of tokens of each text; ids are counted and not kept.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_tokens<'a>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        crew: impl Into<Crew<'a>>,
    ) -> Result<Vec<u64>> {
        let crew = crew.into();
        check_lengths(texts)?;
        let Some(framing) = self.framing(add_special_tokens)? else {
            let rows = self.encode_ids_by_encodings::<u32>(texts, add_special_tokens, crew)?;
            return Ok(rows.row_splits.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect());
        };
        let (pieces, sizes) = self.pieces(texts, crew.threads);
        self.pipeline.prepare(sizes.iter().sum(), crew.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let count = |BlockPart { row, bytes, is_first, .. }: &BlockPart, worker: &mut Worker| {
            self.pipeline.seed_row(call, *row, worker);
            let mut sink = CountSink::default();
            let text = &texts[*row][bytes.clone()];
            self.pipeline.encode_piece(text, *is_first, worker, &mut sink)?;
            Ok((*row, sink.0))
        };
        let runs = in_runs(
            &sizes,
            crew,
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
