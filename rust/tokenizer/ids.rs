//! From texts, or from blocks of text that are still being read, to bare ids or to their number.

use std::ops::Range;

use super::blocks::{Block, BlockSource};
use super::rows::{Ragged, RowRules, RunRows, SpecialAffixes, row_splits};
use super::{EncodeInput, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::pipeline::{Shard, WHOLE, Worker, check_length};
use crate::sinks::{CountSink, IdSink};
use crate::structures::parallel::{Parallelism, ordered_for_each, ordered_map, runs, write_in_order};

/// What one call encodes each shard with.
struct Call<'a, T> {
    tokenizer: &'a Tokenizer,
    number: u64,
    before: Vec<T>,
    after: Vec<T>,
}

impl<T: Id> Call<'_, T> {
    /// Encodes one shard of `text`, with what its row gets before and after it.
    fn push_shard(&self, text: &str, shard: &Shard, worker: &mut Worker, ids: &mut Vec<T>) -> Result<()> {
        let pipeline = self.tokenizer.pipeline();
        pipeline.seed_row(self.number, shard.row, worker);
        if shard.is_first {
            ids.extend_from_slice(&self.before);
        }
        pipeline.encode_shard(&text[shard.bytes.clone()], shard.is_first, worker, &mut IdSink(ids))?;
        if shard.is_last {
            ids.extend_from_slice(&self.after);
        }
        Ok(())
    }

    /// Encodes the shards of a run.
    fn push_run<'t>(
        &self,
        shards: &[Shard],
        text_of: impl Fn(&Shard) -> &'t str,
        worker: &mut Worker,
        ids: &mut Vec<T>,
    ) -> Result<RunRows> {
        let mut ends = Vec::new();
        for shard in shards {
            self.push_shard(text_of(shard), shard, worker, ids)?;
            if shard.is_last {
                ends.push(ids.len());
            }
        }
        Ok(RunRows { ids: ids.len(), ends })
    }
}

/// Refuses texts that are too long before the first is encoded, since their shards would not be.
fn check_lengths(texts: &[&str]) -> Result<()> {
    texts.iter().try_for_each(|text| check_length(text.len()))
}

impl Tokenizer {
    /// Encodes texts to bare ids. Several threads share a long text.
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
        let Some(rules) = self.row_rules(add_special_tokens)? else {
            return self.encode_ids_by_encodings(texts, add_special_tokens, parallelism);
        };
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let (ids, runs) = write_in_order(sizes.iter().sum(), |writer| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            let (next, parallelism) = runs(&sizes, parallelism);
            ordered_map(next, parallelism, start, finish, |number, run: &Range<usize>, (worker, ids)| {
                let rows = call.push_run(&shards[run.clone()], |shard| texts[shard.row], worker, ids)?;
                writer.put(number, ids);
                Ok(rows)
            })
        })?;
        rules.apply(Ragged { ids, row_splits: row_splits(&runs) })
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
        let rules = self.row_rules(add_special_tokens)?;
        let Some(rules) = rules.filter(|rules| !rules.has_limits()) else {
            return take(&self.encode_ids(texts, add_special_tokens, parallelism)?);
        };
        check_lengths(texts)?;
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let encode = |_, run: &Range<usize>, worker: &mut Worker| {
            let mut rows = Ragged::with_room(sizes[run.clone()].iter().sum::<usize>() / 4);
            for shard in &shards[run.clone()] {
                call.push_shard(texts[shard.row], shard, worker, &mut rows.ids)?;
                if shard.is_last {
                    rows.end_row();
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
            parallelism.check()
        };
        let (next, parallelism) = runs(&sizes, parallelism);
        ordered_for_each(next, parallelism, || pool.take(), |worker| pool.put(worker), encode, take_rows)
    }

    /// Encodes the rows of `source` to bare ids, while other blocks are read. `None` if the post-processor has to see whole rows;
    /// nothing is read then.
    ///
    /// # Errors
    /// Those of the source and of [`Self::encode_ids`].
    pub fn encode_blocks<T: Id>(
        &self,
        source: &mut dyn BlockSource,
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Option<Ragged<T>>> {
        let Some(rules) = self.row_rules(add_special_tokens)? else { return Ok(None) };
        let (bytes, parallelism) = (source.bytes(), parallelism.at_most(source.bytes() / WHOLE + 1));
        self.pipeline.prepare(bytes, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let (ids, runs) = write_in_order(bytes, |writer| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            let next = |block: &mut Block| source.next(block);
            ordered_map(next, parallelism, start, finish, |number, block, (worker, ids)| {
                let rows = call.push_run(&block.shards, |_| &block.text, worker, ids)?;
                writer.put(number, ids);
                Ok(rows)
            })
        })?;
        rules.apply(Ragged { ids, row_splits: row_splits(&runs) }).map(Some)
    }

    /// Encodes one text to bare ids. A short text stays on the calling thread and costs little beside its tokens.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode_one<'a>(
        &self,
        text: &str,
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<u32>> {
        let rules = if text.len() > WHOLE { None } else { self.row_rules(add_special_tokens)? };
        let Some(RowRules { affixes: SpecialAffixes { before, after }, .. }) =
            rules.filter(|rules| !rules.has_limits())
        else {
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
        let Some(rules) = self.row_rules(add_special_tokens)? else {
            let rows = self.encode_ids_by_encodings::<u32>(texts, add_special_tokens, parallelism)?;
            return Ok(rows.rows().map(|row| row.len() as u64).collect());
        };
        let (shards, sizes) = self.shards(texts, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let start = || pool.take();
        let (next, parallelism) = runs(&sizes, parallelism);
        let finish = |worker| pool.put(worker);
        let counts = ordered_map(next, parallelism, start, finish, |_, run: &Range<usize>, worker| {
            self.count_shards(call, &shards[run.clone()], |shard| texts[shard.row], worker)
        })?;
        rules.apply_to_counts(&sums(counts, texts.len()))
    }

    /// Number of tokens of each row of `source`; ids are counted and not kept. `None` as in [`Self::encode_blocks`].
    ///
    /// # Errors
    /// As [`Self::encode_blocks`].
    pub fn count_blocks(
        &self,
        source: &mut dyn BlockSource,
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Option<Vec<u64>>> {
        let Some(rules) = self.row_rules(add_special_tokens)? else { return Ok(None) };
        let parallelism = parallelism.at_most(source.bytes() / WHOLE + 1);
        self.pipeline.prepare(source.bytes(), parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let (start, next) = (|| pool.take(), |block: &mut Block| source.next(block));
        let finish = |worker| pool.put(worker);
        let blocks = ordered_map(next, parallelism, start, finish, |_, block: &Block, worker| {
            self.count_shards(call, &block.shards, |_| &block.text, worker)
        })?;
        let rows = blocks.iter().flatten().map(|&(row, _)| row + 1).max().unwrap_or(0);
        rules.apply_to_counts(&sums(blocks, rows)).map(Some)
    }

    /// Numbers of tokens of shards, each with its row.
    fn count_shards<'t>(
        &self,
        call: u64,
        shards: &[Shard],
        text_of: impl Fn(&Shard) -> &'t str,
        worker: &mut Worker,
    ) -> Result<Vec<(usize, u64)>> {
        let count = |shard: &Shard| {
            self.pipeline.seed_row(call, shard.row, worker);
            let (mut sink, text) = (CountSink::default(), &text_of(shard)[shard.bytes.clone()]);
            self.pipeline.encode_shard(text, shard.is_first, worker, &mut sink)?;
            Ok((shard.row, sink.0))
        };
        shards.iter().map(count).collect()
    }

    /// A new call by `rules`. Rows with limits get their special tokens once they are truncated.
    fn call<T: Id>(&self, rules: &RowRules<'_>) -> Call<'_, T> {
        let affix = |ids: &[u32]| ids.iter().map(|&id| T::narrow(id)).collect();
        let SpecialAffixes { before, after } = rules.affixes;
        let (before, after) = if rules.has_limits() { (&[][..], &[][..]) } else { (&before[..], &after[..]) };
        Call {
            tokenizer: self,
            number: self.pipeline.next_call(),
            before: affix(before),
            after: affix(after),
        }
    }

    /// The shards of texts and a cost for each; prepares the caches.
    fn shards(&self, texts: &[&str], threads: usize) -> (Vec<Shard>, Vec<usize>) {
        let shards = self.pipeline.shards(texts, threads);
        let sizes: Vec<usize> = shards.iter().map(|shard| shard.bytes.len() + 1).collect();
        self.pipeline.prepare(sizes.iter().sum(), threads);
        (shards, sizes)
    }

    fn encode_ids_by_encodings<T: Id>(
        &self,
        texts: &[&str],
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Ragged<T>> {
        let inputs: Vec<EncodeInput<'_>> = texts.iter().map(|text| EncodeInput::of_text(text)).collect();
        let mut rows = Ragged::default();
        for encoding in self.encode_batch(&inputs, add_special_tokens, parallelism)? {
            rows.ids.extend(encoding.ids().map(T::narrow));
            rows.end_row();
        }
        Ok(rows)
    }
}

/// The sum of the counts of each row.
fn sums(runs: Vec<Vec<(usize, u64)>>, rows: usize) -> Vec<u64> {
    let mut sums = vec![0; rows];
    for (row, count) in runs.into_iter().flatten() {
        sums[row] += count;
    }
    sums
}
