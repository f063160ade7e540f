//! From texts to bare ids, or to their number.

use std::ops::Range;

use super::ragged::{Ragged, RunRows, row_splits};
use super::{EncodeInput, SpecialAffixes, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::pipeline::{Shard, WHOLE, Worker, check_length};
use crate::sinks::{CountSink, IdSink};
use crate::structures::parallel::{Parallelism, ordered_for_each, ordered_map, write_in_order};

/// What each text gets before and after its own ids.
pub(super) struct RowAffixes<T> {
    call: u64,
    before: Vec<T>,
    after: Vec<T>,
}

impl<T: Id> RowAffixes<T> {
    /// For the call of that number.
    pub(super) fn new(SpecialAffixes { before, after }: &SpecialAffixes, call: u64) -> Self {
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
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Ragged<T>> {
        let parallelism = parallelism.into();
        check_lengths(texts)?;
        let Some(special_affixes) = self.special_affixes(add_special_tokens)? else {
            return self.encode_ids_by_encodings(texts, add_special_tokens, parallelism);
        };
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        self.pipeline.prepare(sizes.iter().sum(), parallelism.threads);
        let (pool, row_affixes) =
            (self.pipeline.pool(), RowAffixes::new(special_affixes, self.pipeline.next_call()));
        let (ids, runs) = write_in_order(sizes.iter().sum(), |writer| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            ordered_map(&sizes, parallelism, start, finish, |run, (worker, ids)| {
                let mut ends = Vec::new();
                for shard in &shards[run.clone()] {
                    self.push_shard(texts[shard.row], shard, &row_affixes, worker, ids)?;
                    if shard.is_last {
                        ends.push(ids.len());
                    }
                }
                let rows = RunRows { ids: ids.len(), ends };
                writer.put(run, ids);
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
        parallelism: impl Into<Parallelism<'a>>,
        mut take: impl FnMut(&Ragged<T>) -> Result<()>,
    ) -> Result<()> {
        let parallelism = parallelism.into();
        check_lengths(texts)?;
        let Some(special_affixes) = self.special_affixes(add_special_tokens)? else {
            return take(&self.encode_ids_by_encodings(texts, add_special_tokens, parallelism)?);
        };
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        self.pipeline.prepare(sizes.iter().sum(), parallelism.threads);
        let (pool, row_affixes) =
            (self.pipeline.pool(), RowAffixes::new(special_affixes, self.pipeline.next_call()));
        let encode = |run: Range<usize>, worker: &mut Worker| {
            let room = sizes[run.clone()].iter().sum::<usize>() / 4;
            let mut rows = Ragged { ids: Vec::with_capacity(room), row_splits: vec![0] };
            for shard in &shards[run] {
                self.push_shard(texts[shard.row], shard, &row_affixes, worker, &mut rows.ids)?;
                if shard.is_last {
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
        ordered_for_each(&sizes, parallelism, || pool.take(), |worker| pool.put(worker), encode, take_rows)
    }

    /// Encodes one part of `text`, with what its row gets before and after it.
    pub(super) fn push_shard<T: Id>(
        &self,
        text: &str,
        Shard { row, bytes, is_first, is_last }: &Shard,
        RowAffixes { call, before, after }: &RowAffixes<T>,
        worker: &mut Worker,
        ids: &mut Vec<T>,
    ) -> Result<()> {
        self.pipeline.seed_row(*call, *row, worker);
        if *is_first {
            ids.extend_from_slice(before);
        }
        self.pipeline.encode_shard(&text[bytes.clone()], *is_first, worker, &mut IdSink(ids))?;
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
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<u32>> {
        let special_affixes =
            if text.len() > WHOLE { None } else { self.special_affixes(add_special_tokens)? };
        let Some(SpecialAffixes { before, after }) = special_affixes else {
            return self.encode_ids(&[text], add_special_tokens, parallelism).map(|rows| rows.ids);
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

    /// The shards of texts, and a cost for each.
    fn shards(&self, texts: &[&str], threads: usize) -> (Vec<Shard>, Vec<usize>) {
        let shards = self.pipeline.shards(texts, threads);
        let sizes = shards.iter().map(|shard| shard.bytes.len() + 1).collect();
        (shards, sizes)
    }

    fn encode_ids_by_encodings<T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Ragged<T>> {
        let inputs: Vec<EncodeInput<'_>> = texts.iter().map(|text| EncodeInput::of_text(text)).collect();
        let mut rows = Ragged { ids: Vec::new(), row_splits: vec![0] };
        for encoding in self.encode_batch(&inputs, add_special_tokens, parallelism)? {
            rows.ids.extend(encoding.ids().map(T::narrow));
            rows.row_splits.push(rows.ids.len() as i64);
        }
        Ok(rows)
    }

    /// Number of special tokens of a text, if texts get these and nothing else happens to their ids.
    ///
    /// # Errors
    /// Those of the post-processor.
    pub fn row_affixes(&self, add_special_tokens: bool) -> Result<Option<u64>> {
        let length = |SpecialAffixes { before, after }: &SpecialAffixes| (before.len() + after.len()) as u64;
        Ok(self.special_affixes(add_special_tokens)?.map(length))
    }

    /// Number of tokens of each text; ids are counted and not kept.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_tokens<'a>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<u64>> {
        let parallelism = parallelism.into();
        check_lengths(texts)?;
        let Some(row_affixes) = self.row_affixes(add_special_tokens)? else {
            let rows = self.encode_ids_by_encodings::<u32>(texts, add_special_tokens, parallelism)?;
            return Ok(rows.row_splits.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect());
        };
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        self.pipeline.prepare(sizes.iter().sum(), parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let count = |Shard { row, bytes, is_first, .. }: &Shard, worker: &mut Worker| {
            self.pipeline.seed_row(call, *row, worker);
            let mut sink = CountSink::default();
            let text = &texts[*row][bytes.clone()];
            self.pipeline.encode_shard(text, *is_first, worker, &mut sink)?;
            Ok((*row, sink.0))
        };
        let runs = ordered_map(
            &sizes,
            parallelism,
            || pool.take(),
            |worker| pool.put(worker),
            |run, worker| shards[run].iter().map(|shard| count(shard, worker)).collect::<Result<Vec<_>>>(),
        )?;
        let mut counts = vec![row_affixes; texts.len()];
        for (row, count) in runs.into_iter().flatten() {
            counts[row] += count;
        }
        Ok(counts)
    }
}
