//! From a corpus to counted words.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::text_counter::TextCounter;
use crate::cache::KeyForm;
use crate::counting::{Spill, WordCounter};
use crate::pipeline::{Pipeline, TrainingWords};
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
    pipelines: CountedPipelines,
    counters: Vec<Counters>,
    threads: usize,
    /// Position of the next text in the order of all pre-tokens.
    position: u64,
    texts: u64,
    bytes: u64,
    /// Where full counters write their words and phrases, if memory is bounded, and the bytes that the tables of one may take.
    spill: Option<([Arc<dyn Spill>; 2], usize)>,
    /// The number of the next source.
    source: u32,
}

/// The pipelines that cut each text.
#[derive(Clone, Debug)]
pub struct CountedPipelines {
    /// The tokenizer's pipeline, which cuts texts into words.
    pub words: Arc<Pipeline>,
    /// The pipeline that cuts texts into the phrases of superwords, if phrases are counted too.
    pub phrases: Option<Arc<Pipeline>>,
}

impl From<Arc<Pipeline>> for CountedPipelines {
    fn from(words: Arc<Pipeline>) -> Self {
        Self { words, phrases: None }
    }
}

impl CountedPipelines {
    fn cutters(&self) -> Cutters<'_> {
        let phrases = self.phrases.as_ref().map(|pipeline| pipeline.training_words());
        Cutters { words: self.words.training_words(), phrases }
    }
}

/// The stages of words and of phrases.
#[derive(Clone, Copy)]
struct Cutters<'a> {
    words: TrainingWords<'a>,
    phrases: Option<TrainingWords<'a>>,
}

/// The counters of one thread.
#[derive(Debug)]
struct Counters {
    words: TextCounter,
    phrases: Option<TextCounter>,
}

impl Counters {
    fn add(&mut self, cutters: &Cutters<'_>, text: &str, position: u64) -> Result<()> {
        self.words.add(&cutters.words, text, position)?;
        match (&mut self.phrases, &cutters.phrases) {
            (Some(counter), Some(cutter)) => counter.add(cutter, text, position),
            _ => Ok(()),
        }
    }

    /// The words and the phrases, if there are any.
    fn into_words(self, cutters: &Cutters<'_>) -> Result<(WordCounter, Option<WordCounter>)> {
        let phrases = self.phrases.zip(cutters.phrases);
        let phrases = phrases.map(|(counter, cutter)| counter.into_words(&cutter)).transpose()?;
        Ok((self.words.into_words(&cutters.words)?, phrases))
    }
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
    /// Starts counting for a tokenizer's pipeline, or for the pipelines of words and phrases.
    pub fn new(pipelines: impl Into<CountedPipelines>, threads: usize) -> Self {
        Self {
            pipelines: pipelines.into(),
            counters: Vec::new(),
            threads: threads.max(1),
            position: 0,
            texts: 0,
            bytes: 0,
            spill: None,
            source: 0,
        }
    }

    /// Bounds the memory of the counters, which hand their words and their phrases to the two of `spill`; `share` bytes are for the
    /// tables of each thread. The first source has the number `source`.
    #[must_use]
    pub fn with_spill(self, spill: [Arc<dyn Spill>; 2], share: usize, source: u32) -> Self {
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
            if let Some(([spill, _], _)) = &spill {
                spill.begin_source(position + positions(offset), first + at as u32);
            }
        })
    }

    /// Hands all words to where they are spilled; returns the numbers of texts and bytes.
    ///
    /// # Errors
    /// The errors of the stages and of writing.
    pub fn flush(self) -> Result<(u64, u64)> {
        let cutters = self.pipelines.cutters();
        let flushed = share(self.counters, |counters| {
            let (mut words, phrases) = counters.into_words(&cutters)?;
            words.flush()?;
            phrases.map_or(Ok(()), |mut phrases| phrases.flush())
        });
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
        let (threads, pipelines) = (self.threads, self.pipelines.clone());
        let cutters = pipelines.cutters();
        self.with_counters(|take, put| {
            let (runs, parallelism) = Runs::new(&sizes, threads.into());
            ordered_map(
                runs,
                parallelism,
                |_| take(),
                put,
                |_, run: &mut Range<usize>, counter| {
                    run.clone().try_for_each(|at| counter.add(&cutters, texts[at], starts[at]))
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
        let (pipelines, start, done) = (self.pipelines.clone(), self.position, AtomicU64::new(self.bytes));
        let on_progress = RefCell::new(on_progress);
        let cutters = pipelines.cutters();
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
                        counter.add(&cutters, text, start + positions(offset))
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
        work: impl FnOnce(&(dyn Fn() -> Counters + Sync), &(dyn Fn(Counters) + Sync)) -> T,
    ) -> T {
        let idle = Mutex::new(std::mem::take(&mut self.counters));
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let cutters = self.pipelines.cutters();
        // Phrases are longer, and fewer of them come again, so their tables fill sooner.
        let quarters_of_words = if cutters.phrases.is_some() { 1 } else { 4 };
        let new_counter = |kind: usize, quarters: usize, cutter: TrainingWords<'_>| {
            let of_kind = |(spills, share): &([Arc<dyn Spill>; 2], usize)| {
                (Arc::clone(&spills[kind]), share / 4 * quarters)
            };
            TextCounter::new(self.spill.as_ref().map(of_kind), cutter.have_chunks())
        };
        let new = || Counters {
            words: new_counter(0, quarters_of_words, cutters.words),
            phrases: cutters.phrases.map(|cutter| new_counter(1, 3, cutter)),
        };
        let result = work(&|| lock().pop().unwrap_or_else(new), &|counter| lock().push(counter));
        self.counters = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        result
    }

    /// The counted words by first appearance.
    ///
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is no word; the errors of the stages and of `on_progress`.
    pub fn finish(self, on_progress: &mut OnProgress<'_>) -> Result<WordCounts> {
        self.finish_both(KeyForm::Text, on_progress).map(|[words, _]| words)
    }

    /// The counted words and phrases by first appearance; phrases are spelled by `phrase_form`.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_both(
        self,
        phrase_form: KeyForm,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<[WordCounts; 2]> {
        let key_form = self.pipelines.words.training_key_form();
        let cutters = self.pipelines.cutters();
        let counted: Result<Vec<_>> =
            share(self.counters, |counters| counters.into_words(&cutters)).into_iter().collect();
        let (words, phrases): (Vec<WordCounter>, Vec<Option<WordCounter>>) = counted?.into_iter().unzip();
        let words = WordCounter::join(words, key_form, self.threads, on_progress)?;
        if words.is_empty() {
            return Err(Error::EmptyCorpus { texts: self.texts, bytes: self.bytes });
        }
        let phrases: Vec<WordCounter> = phrases.into_iter().flatten().collect();
        if phrases.is_empty() {
            return Ok([words, WordCounts::default()]);
        }
        Ok([words, WordCounter::join(phrases, phrase_form, self.threads, on_progress)?])
    }
}
