//! From a corpus to counted words.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::text_counter::TextCounter;
use crate::counting::{Spill, WordCounter};
use crate::pipeline::Pipeline;
use crate::structures::parallel::{InOrder, OnProgress, Parallelism, Progress, Runs, ordered_map, share};
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

const STAGE: &str = "count words";

/// Bytes of a file for which another thread pays.
const BYTES_PER_THREAD: u64 = 1 << 18;

/// Counts the pre-tokens of a corpus, text by text or block by block, in bounded memory.
///
/// The outcome depends on the texts and their order alone, not on the number of threads.
#[derive(Debug)]
pub struct WordCounting {
    pipeline: Arc<Pipeline>,
    counters: Vec<TextCounter>,
    threads: usize,
    /// Position of the next text in the order of all pre-tokens.
    position: u64,
    texts: u64,
    bytes: u64,
    /// Where full counters write their words, if memory is bounded, and the bytes that the tables of one may take.
    spill: Option<(Arc<dyn Spill>, usize)>,
    /// The number of the next source.
    source: u32,
}

/// Where a block ends.
#[derive(Clone, Copy, Debug)]
pub struct BlockEnd {
    /// Bytes up to the end of the block, from the beginning of the call.
    pub offset: u64,
    /// Bytes that progress counts for the block.
    pub read: u64,
}

/// Positions in the order of pre-tokens that a byte of text may need: replacing a byte that is not UTF-8 makes three of it,
/// and normalization a few of each.
const POSITIONS_PER_BYTE: u64 = 16;

/// Positions for the pre-tokens of a text.
fn positions(bytes: u64) -> u64 {
    (bytes + 1) * POSITIONS_PER_BYTE
}

impl WordCounting {
    /// Starts counting for a tokenizer's pipeline.
    pub fn new(pipeline: Arc<Pipeline>, threads: usize) -> Self {
        Self {
            pipeline,
            counters: Vec::new(),
            threads: threads.max(1),
            position: 0,
            texts: 0,
            bytes: 0,
            spill: None,
            source: 0,
        }
    }

    /// Bounds the memory of the counters, which hand their words to `spill`; `share` bytes are for the tables of each. The first source has
    /// the number `source`.
    #[must_use]
    pub fn with_spill(self, spill: Arc<dyn Spill>, share: usize, source: u32) -> Self {
        Self { spill: Some((spill, share)), source, ..self }
    }

    /// Begins `count` sources, the files or iterators that texts come from. The caller calls the returned function where a source
    /// begins, with the number of that source among these and the bytes of the call before it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more sources than there are numbers.
    pub fn begin_sources(&mut self, count: usize) -> Result<impl Fn(usize, u64) + Send + use<>> {
        let (spill, position, first) = (self.spill.clone(), self.position, self.source);
        let next = u32::try_from(count).ok().and_then(|count| first.checked_add(count));
        let limit = u32::MAX;
        self.source = next.ok_or_else(|| Error::Unsupported(format!("a corpus may have {limit} sources")))?;
        Ok(move |at: usize, offset| {
            if let Some((spill, _)) = &spill {
                spill.begin_source(position + positions(offset), first + at as u32);
            }
        })
    }

    /// Hands all words to where they are spilled; returns the numbers of texts and bytes.
    ///
    /// # Errors
    /// The errors of the stages and of writing.
    pub fn flush(self) -> Result<(u64, u64)> {
        let training = self.pipeline.training_words();
        let flushed = share(self.counters, |counter| counter.into_words(&training)?.flush());
        flushed.into_iter().collect::<Result<()>>()?;
        Ok((self.texts, self.bytes))
    }

    /// Texts counted so far.
    pub fn texts(&self) -> u64 {
        self.texts
    }

    /// Bytes counted so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts texts, each for itself.
    ///
    /// # Errors
    /// The errors of the stages.
    pub fn add_texts(&mut self, texts: &[&str]) -> Result<()> {
        let sizes: Vec<usize> = texts.iter().map(|text| text.len() + 1).collect();
        let mut starts = Vec::with_capacity(texts.len());
        for text in texts {
            starts.push(self.position + positions(0));
            self.position += positions(text.len() as u64);
            self.bytes += text.len() as u64;
        }
        self.texts += texts.len() as u64;
        let (threads, pipeline) = (self.threads, Arc::clone(&self.pipeline));
        let training = pipeline.training_words();
        self.with_counters(|take, put| {
            let (runs, parallelism) = Runs::new(&sizes, threads.into());
            ordered_map(
                runs,
                parallelism,
                |_| take(),
                put,
                |_, run: &mut Range<usize>, counter| {
                    run.clone().try_for_each(|at| counter.add(&training, texts[at], starts[at]))
                },
            )
        })?;
        Ok(())
    }

    /// Counts the texts of blocks that `next` fills, about `bytes` bytes of a corpus of `total`; `next` returns false at the end.
    ///
    /// `read` runs on the thread that counts the block. It calls its last argument with each text and with the number of bytes before
    /// that text from the beginning of the call, which decides which word appears first. A text must not be longer than the bytes up
    /// to the next one, but for the characters that replace bytes that are not UTF-8.
    ///
    /// # Errors
    /// The errors of `next`, `read`, the stages and `on_progress`.
    pub fn add_blocks<B: Default>(
        &mut self,
        bytes: u64,
        next: impl FnMut(&mut B) -> Result<bool> + Send,
        read: impl Fn(&mut B, &mut dyn FnMut(&str, u64) -> Result<()>) -> Result<BlockEnd> + Sync,
        total: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let threads = self.threads.min((bytes / BYTES_PER_THREAD) as usize).max(1);
        let (pipeline, start, done) = (Arc::clone(&self.pipeline), self.position, AtomicU64::new(self.bytes));
        let on_progress = RefCell::new(on_progress);
        let training = pipeline.training_words();
        let report = || {
            let progress = Progress { stage: STAGE, done: done.load(Ordering::Relaxed), total };
            (*on_progress.borrow_mut())(progress)
        };
        let parallelism = Parallelism { threads, interrupt: Some(&report) };
        let blocks = self.with_counters(|take, put| {
            ordered_map(
                InOrder::new(next),
                parallelism,
                |_| take(),
                put,
                |_, block: &mut B, counter| {
                    let mut texts = 0;
                    let end = read(block, &mut |text, offset| {
                        texts += 1;
                        counter.add(&training, text, start + positions(offset))
                    })?;
                    done.fetch_add(end.read, Ordering::Relaxed);
                    Ok((texts, end.offset))
                },
            )
        })?;
        self.texts += blocks.iter().map(|&(texts, _)| texts).sum::<u64>();
        self.bytes = done.load(Ordering::Relaxed);
        self.position += positions(blocks.last().map_or(0, |&(_, offset)| offset));
        report()
    }

    /// Lends the counters to threads: `work` gets a function that takes a counter and one that gives it back.
    fn with_counters<T>(
        &mut self,
        work: impl FnOnce(&(dyn Fn() -> TextCounter + Sync), &(dyn Fn(TextCounter) + Sync)) -> T,
    ) -> T {
        let idle = Mutex::new(std::mem::take(&mut self.counters));
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let (spill, has_chunks) = (self.spill.clone(), self.pipeline.training_words().have_chunks());
        let new = || TextCounter::new(spill.clone(), has_chunks);
        let result = work(&|| lock().pop().unwrap_or_else(new), &|counter| lock().push(counter));
        self.counters = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        result
    }

    /// The counted words by first appearance.
    ///
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is no word; the errors of the stages and of `on_progress`.
    pub fn finish(self, on_progress: &mut OnProgress<'_>) -> Result<WordCounts> {
        let key_form = self.pipeline.training_key_form();
        let training = self.pipeline.training_words();
        let counters: Result<Vec<WordCounter>> =
            share(self.counters, |counter| counter.into_words(&training)).into_iter().collect();
        let words = WordCounter::join(counters?, key_form, self.threads, on_progress)?;
        if words.is_empty() {
            return Err(Error::EmptyCorpus { texts: self.texts, bytes: self.bytes });
        }
        Ok(words)
    }
}
