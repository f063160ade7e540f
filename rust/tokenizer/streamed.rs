//! From texts that are still being read to bare ids, or to their number.

use super::blocks::{Block, BlockSource};
use super::ids::RowAffixes;
use super::ragged::{Ragged, RunRows, row_splits};
use super::{SpecialAffixes, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::pipeline::WHOLE;
use crate::sinks::CountSink;
use crate::structures::parallel::{Parallelism, ordered_source_map, write_in_order};

/// As many threads as may find a block to work on.
fn parallelism_for<'a>(parallelism: Parallelism<'a>, source: &dyn BlockSource) -> Parallelism<'a> {
    Parallelism { threads: parallelism.threads.min(source.bytes() / WHOLE + 1), ..parallelism }
}

impl Tokenizer {
    /// Encodes the rows of `source` to bare ids. `None` if truncation or padding has to see whole rows; nothing is read then.
    ///
    /// # Errors
    /// Those of the source and of [`Self::encode_ids`].
    pub fn encode_blocks<T: Id>(
        &self,
        source: &mut dyn BlockSource,
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Option<Ragged<T>>> {
        let Some(special_affixes) = self.special_affixes(add_special_tokens)? else { return Ok(None) };
        let parallelism = parallelism_for(parallelism, source);
        let bytes = source.bytes();
        self.pipeline.prepare(bytes, parallelism.threads);
        let (pool, row_affixes) =
            (self.pipeline.pool(), RowAffixes::<T>::new(special_affixes, self.pipeline.next_call()));
        let (ids, runs) = write_in_order(bytes, |writer| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            ordered_source_map(
                |block| source.next(block),
                parallelism,
                start,
                finish,
                |number, block: &Block, (worker, ids)| {
                    let mut ends = Vec::new();
                    for shard in &block.shards {
                        self.push_shard(&block.text, shard, &row_affixes, worker, ids)?;
                        if shard.is_last {
                            ends.push(ids.len());
                        }
                    }
                    let rows = RunRows { ids: ids.len(), ends };
                    writer.put(number..number + 1, ids);
                    Ok(rows)
                },
            )
        })?;
        Ok(Some(Ragged { ids, row_splits: row_splits(&runs) }))
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
        let Some(SpecialAffixes { before, after }) = self.special_affixes(add_special_tokens)? else {
            return Ok(None);
        };
        let row_affixes = (before.len() + after.len()) as u64;
        let parallelism = parallelism_for(parallelism, source);
        let bytes = source.bytes();
        self.pipeline.prepare(bytes, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let blocks = ordered_source_map(
            |block| source.next(block),
            parallelism,
            || pool.take(),
            |worker| pool.put(worker),
            |_, block: &Block, worker| {
                let mut counts = Vec::with_capacity(block.shards.len());
                for shard in &block.shards {
                    self.pipeline.seed_row(call, shard.row, worker);
                    let mut sink = CountSink::default();
                    let text = &block.text[shard.bytes.clone()];
                    self.pipeline.encode_shard(text, shard.is_first, worker, &mut sink)?;
                    counts.push((shard.row, sink.0));
                }
                Ok(counts)
            },
        )?;
        let mut counts: Vec<u64> = Vec::new();
        for (row, count) in blocks.into_iter().flatten() {
            counts.resize(row + 1, row_affixes);
            counts[row] += count;
        }
        Ok(Some(counts))
    }
}
