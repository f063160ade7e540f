//! From texts, or from blocks of text that are still being read, to bare ids or to their number.

use std::ops::Range;

use super::rows::{Ragged, RowRules, RunRows, SpecialAffixes, row_splits};
use super::{EncodeInput, TextSource, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::encoding::Encoding;
use crate::pipeline::{Pipeline, Shard, WHOLE, Worker, check_length};
use crate::sinks::IdSink;
use crate::structures::parallel::{
    InOrder, Parallelism, Runs, ordered_for_each, ordered_map, write_in_order,
};

/// Text that is encoded while other text is read.
#[derive(Debug, Default)]
pub struct Block {
    /// Text of some rows, one after the other, perhaps with something between them.
    pub text: String,
    /// The rows, or shards of rows, in order.
    pub shards: Vec<Shard>,
}

/// The pipeline, the number and the special ids of one call.
struct Call<'a> {
    pipeline: &'a Pipeline,
    number: u64,
    before: &'a [u32],
    after: &'a [u32],
}

/// Where shards lie.
trait ShardSource {
    /// The text of a shard, which may be written to `buffer`.
    fn text<'a>(&'a self, shard: &Shard, buffer: &'a mut Vec<u8>) -> Result<&'a str>;
}

impl ShardSource for Block {
    fn text<'a>(&'a self, shard: &Shard, _: &'a mut Vec<u8>) -> Result<&'a str> {
        Ok(&self.text[shard.bytes.clone()])
    }
}

impl<S: TextSource + ?Sized> ShardSource for S {
    fn text<'a>(&'a self, shard: &Shard, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        match self.lent(shard.row) {
            Some(text) => Ok(&text[shard.bytes.clone()]),
            None => TextSource::text(self, shard.row, buffer),
        }
    }
}

/// The shards of the texts of one call.
struct ShardedTexts {
    shards: Vec<Shard>,
    /// A guess at the bytes of each shard, and one more, so that empty texts count.
    likely: Vec<usize>,
    /// The most ids that all shards give: one a byte, and one for each text.
    most: usize,
}

impl ShardedTexts {
    fn with_capacity(shards: usize) -> Self {
        Self { shards: Vec::with_capacity(shards), likely: Vec::with_capacity(shards), most: 0 }
    }

    fn push(&mut self, shard: Shard, likely: usize) {
        self.most += shard.bytes.len() + 1;
        self.likely.push(likely + 1);
        self.shards.push(shard);
    }
}

/// The worker and the buffers of one thread.
struct Work<T> {
    worker: Worker,
    ids: Vec<T>,
    /// A text that is written before it is encoded.
    buffer: Vec<u8>,
}

impl<T> Work<T> {
    fn new(worker: Worker) -> Self {
        Self { worker, ids: Vec::new(), buffer: Vec::new() }
    }
}

impl Call<'_> {
    /// Appends the ids of the shards of a run to `work.ids`, with the special ids of the call before and after each row.
    fn push_run<T: Id>(
        &self,
        shards: &[Shard],
        source: &(impl ShardSource + ?Sized),
        work: &mut Work<T>,
    ) -> Result<RunRows> {
        let Work { worker, ids, buffer } = work;
        let (mut sink, mut ends) = (IdSink(ids), Vec::new());
        for shard in shards {
            self.pipeline.seed_row(self.number, shard.row, worker);
            if shard.is_first {
                sink.push(self.before);
            }
            let text = source.text(shard, buffer)?;
            self.pipeline.encode_shard(text, shard.is_first, worker, &mut sink)?;
            if shard.is_last {
                sink.push(self.after);
                ends.push(sink.0.len());
            }
        }
        Ok(RunRows { ids: sink.0.len(), ends })
    }
}

impl Tokenizer {
    /// Encodes texts to bare ids. Several threads share a long text.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode_ids<'a, T: Id>(
        &self,
        texts: &(impl TextSource + ?Sized),
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Ragged<T>> {
        let parallelism = parallelism.into();
        let Some(rules) = self.row_rules(add_special_tokens)? else {
            return self.encode_ids_by_encodings(texts, add_special_tokens, parallelism);
        };
        let ShardedTexts { shards, likely, most } = self.shards(texts, parallelism.threads)?;
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let (ids, runs) = write_in_order(most, |writer| {
            let start = |thread| Work::new(pool.take_for(thread));
            let finish = |work: Work<T>| pool.put(work.worker);
            let (runs, parallelism) = Runs::new(&likely, parallelism);
            ordered_map(runs, parallelism, start, finish, |number, run: &mut Range<usize>, work| {
                let rows = call.push_run(&shards[run.clone()], texts, work)?;
                writer.put(number, &mut work.ids);
                Ok(rows)
            })
        })?;
        rules.apply(Ragged { ids, row_splits: row_splits(0, &runs) })
    }

    /// Encodes texts to bare ids and hands on the rows of each run of texts, in order and on the calling thread, while
    /// other threads encode.
    ///
    /// # Errors
    /// The errors of [`Self::encode_batch`] and of `take`.
    pub fn for_each_rows<'a, T: Id>(
        &self,
        texts: &(impl TextSource + ?Sized),
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
        mut take: impl FnMut(&Ragged<T>) -> Result<()>,
    ) -> Result<()> {
        let parallelism = parallelism.into();
        let rules = self.row_rules(add_special_tokens)?;
        let Some(rules) = rules.filter(|rules| !rules.has_limits()) else {
            return take(&self.encode_ids(texts, add_special_tokens, parallelism)?);
        };
        let ShardedTexts { shards, likely, .. } = self.shards(texts, parallelism.threads)?;
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let encode = |_, run: &mut Range<usize>, work: &mut Work<T>| {
            work.ids = Vec::with_capacity(likely[run.clone()].iter().sum::<usize>() / 4);
            let rows = call.push_run(&shards[run.clone()], texts, work)?;
            Ok((std::mem::take(&mut work.ids), rows))
        };
        // Ids of a row that the last run did not end.
        let mut begun = Vec::new();
        let take_rows = |(mut ids, run): (Vec<T>, RunRows)| {
            let row_splits = row_splits(begun.len(), std::slice::from_ref(&run));
            let rest = ids.split_off(run.ends.last().copied().unwrap_or(0));
            if begun.is_empty() {
                begun = ids;
            } else {
                begun.append(&mut ids);
            }
            if row_splits.len() > 1 {
                take(&Ragged { ids: std::mem::take(&mut begun), row_splits })?;
            }
            begun.extend(rest);
            parallelism.check()
        };
        let (runs, parallelism) = Runs::new(&likely, parallelism);
        let start = |thread| Work::new(pool.take_for(thread));
        ordered_for_each(runs, parallelism, start, |work| pool.put(work.worker), encode, take_rows)
    }

    /// Encodes the rows of blocks that `next` fills, about `bytes` bytes, to bare ids, while other blocks are read; `next` returns
    /// false at the end. `None` if the post-processor has to see whole rows; nothing is read then.
    ///
    /// # Errors
    /// The errors of `next` and of [`Self::encode_ids`].
    pub fn encode_blocks<T: Id>(
        &self,
        bytes: usize,
        next: impl FnMut(&mut Block) -> Result<bool> + Send,
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Option<Ragged<T>>> {
        let Some(rules) = self.row_rules(add_special_tokens)? else { return Ok(None) };
        let parallelism = parallelism.at_most(bytes / WHOLE + 1);
        self.pipeline.prepare(bytes, parallelism.threads);
        let (pool, call) = (self.pipeline.pool(), self.call(&rules));
        let (ids, runs) = write_in_order(bytes, |writer| {
            let start = |thread| Work::new(pool.take_for(thread));
            let finish = |work: Work<T>| pool.put(work.worker);
            let blocks = InOrder::new(next);
            ordered_map(blocks, parallelism, start, finish, |number, block: &mut Block, work| {
                let rows = call.push_run(&block.shards, block, work)?;
                writer.put(number, &mut work.ids);
                Ok(rows)
            })
        })?;
        rules.apply(Ragged { ids, row_splits: row_splits(0, &runs) }).map(Some)
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
        let is_simple = |rules: &RowRules<'_>| text.len() <= WHOLE && !rules.has_limits();
        let Some(rules) = self.row_rules(add_special_tokens)?.filter(is_simple) else {
            return self.encode_ids(&[text][..], add_special_tokens, parallelism).map(|rows| rows.ids);
        };
        let SpecialAffixes { before, after } = rules.affixes;
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

    /// An encoder of whole texts on one thread, one after the other. Limits of length apply only if the post-processor has to see
    /// whole rows.
    ///
    /// # Errors
    /// The errors of the post-processor.
    pub fn text_encoder(&self, add_special_tokens: bool) -> Result<TextEncoder<'_>> {
        let affixes = self.row_rules(add_special_tokens)?.map(|rules| rules.affixes);
        Ok(TextEncoder {
            tokenizer: self,
            affixes,
            add_special_tokens,
            worker: Some(self.pipeline.pool().take()),
        })
    }

    /// Number of tokens of each text; ids are counted and not kept.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_tokens<'a>(
        &self,
        texts: &(impl TextSource + ?Sized),
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<u64>> {
        self.encode_ids::<()>(texts, add_special_tokens, parallelism).map(|rows| rows.lens())
    }

    /// A new call by `rules`. Rows with limits get their special tokens once they are truncated.
    fn call<'a>(&'a self, rules: &RowRules<'a>) -> Call<'a> {
        let SpecialAffixes { before, after } = rules.affixes;
        let (before, after) = if rules.has_limits() { (&[][..], &[][..]) } else { (&before[..], &after[..]) };
        Call { pipeline: &self.pipeline, number: self.pipeline.next_call(), before, after }
    }

    /// The shards of texts; prepares the caches.
    fn shards(&self, texts: &(impl TextSource + ?Sized), threads: usize) -> Result<ShardedTexts> {
        let rows = 0..texts.count();
        // Shards of a text that is too long may be short enough.
        rows.clone().try_for_each(|row| check_length(texts.most_bytes(row)))?;
        let likely: usize = rows.clone().map(|row| texts.likely_bytes(row)).sum();
        let mut all = ShardedTexts::with_capacity(rows.len());
        for row in rows {
            let most = texts.most_bytes(row);
            match texts.lent(row).filter(|_| most > WHOLE) {
                Some(text) => {
                    for shard in self.pipeline.shards(row, text, likely, threads) {
                        let bytes = shard.bytes.len();
                        all.push(shard, bytes);
                    }
                }
                None => all.push(Shard::whole(row, most), texts.likely_bytes(row)),
            }
        }
        self.pipeline.prepare(likely, threads);
        Ok(all)
    }

    fn encode_ids_by_encodings<T: Id>(
        &self,
        texts: &(impl TextSource + ?Sized),
        add_special_tokens: bool,
        parallelism: Parallelism<'_>,
    ) -> Result<Ragged<T>> {
        let texts = texts.all()?;
        let inputs: Vec<EncodeInput<'_>> = texts.iter().map(|text| EncodeInput::of_text(text)).collect();
        let encodings = self.encode_batch(&inputs, add_special_tokens, parallelism)?;
        let mut rows = Ragged::for_rows(encodings.iter().map(Encoding::len))?;
        for encoding in encodings {
            rows.ids.extend(encoding.ids().map(T::narrow));
            rows.end_row();
        }
        Ok(rows)
    }
}

/// A thread's way from texts to ids; it borrows a cache from the pool of the tokenizer.
pub struct TextEncoder<'a> {
    tokenizer: &'a Tokenizer,
    /// None if the post-processor has to see whole rows.
    affixes: Option<&'a SpecialAffixes>,
    add_special_tokens: bool,
    /// There until the encoder is dropped.
    worker: Option<Worker>,
}

impl TextEncoder<'_> {
    /// Appends the ids of `text`.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_batch`].
    pub fn push(&mut self, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        let (Some(SpecialAffixes { before, after }), Some(worker)) = (self.affixes, &mut self.worker) else {
            let encoding = self.tokenizer.encode(&EncodeInput::of_text(text), self.add_special_tokens)?;
            ids.extend(encoding.ids());
            return Ok(());
        };
        ids.extend_from_slice(before);
        self.tokenizer.pipeline.encode(text, worker, &mut IdSink(ids))?;
        ids.extend_from_slice(after);
        Ok(())
    }
}

impl Drop for TextEncoder<'_> {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.tokenizer.pipeline.pool().put(worker);
        }
    }
}
