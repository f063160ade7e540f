//! From texts that are still being read to bare ids, or to their number.

use super::assembly::assemble;
use super::blocks::{BlockSource, in_blocks};
use super::ids::Framing;
use super::pieces::WHOLE;
use super::ragged::{Ragged, RunRows, row_splits};
use super::{Crew, Frame, Tokenizer};
use crate::Result;
use crate::engine::CountSink;
use crate::engine::sink::Id;

/// As many threads as may find a block to work on.
fn crew_for<'a>(crew: Crew<'a>, source: &dyn BlockSource) -> Crew<'a> {
    Crew { threads: crew.threads.min(source.bytes() / WHOLE + 1), ..crew }
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
        crew: Crew<'_>,
    ) -> Result<Option<Ragged<T>>> {
        let Some(frame) = self.frame(add_special_tokens)? else { return Ok(None) };
        let crew = crew_for(crew, source);
        self.pipeline.prepare(source.bytes(), crew.threads);
        let (pool, framing) = (self.pipeline.pool(), Framing::<T>::new(frame, self.pipeline.next_call()));
        let (ids, runs) = assemble(source.bytes(), |assembly| {
            let start = || (pool.take(), Vec::new());
            let finish = |(worker, _)| pool.put(worker);
            in_blocks(source, crew, start, finish, |number, block, (worker, ids)| {
                let mut ends = Vec::new();
                for part in &block.parts {
                    self.push_part(&block.text, part, &framing, worker, ids)?;
                    if part.is_last {
                        ends.push(ids.len());
                    }
                }
                let rows = RunRows { ids: ids.len(), ends };
                assembly.put(number..number + 1, ids);
                Ok(rows)
            })
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
        crew: Crew<'_>,
    ) -> Result<Option<Vec<u64>>> {
        let Some(Frame { before, after }) = self.frame(add_special_tokens)? else { return Ok(None) };
        let framing = (before.len() + after.len()) as u64;
        let crew = crew_for(crew, source);
        self.pipeline.prepare(source.bytes(), crew.threads);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let blocks = in_blocks(
            source,
            crew,
            || pool.take(),
            |worker| pool.put(worker),
            |_, block, worker| {
                let mut counts = Vec::with_capacity(block.parts.len());
                for part in &block.parts {
                    self.pipeline.seed_row(call, part.row, worker);
                    let mut sink = CountSink::default();
                    let text = &block.text[part.bytes.clone()];
                    self.pipeline.encode_piece(text, part.is_first, worker, &mut sink)?;
                    counts.push((part.row, sink.0));
                }
                Ok(counts)
            },
        )?;
        let mut counts: Vec<u64> = Vec::new();
        for (row, count) in blocks.into_iter().flatten() {
            counts.resize(row + 1, framing);
            counts[row] += count;
        }
        Ok(Some(counts))
    }
}
