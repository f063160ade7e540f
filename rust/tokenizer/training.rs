//! From a corpus to counted words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use crate::counting::WordCounter;
use crate::pipeline::Pipeline;
use crate::structures::parallel::{OnProgress, Progress, ordered_map};
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// Bytes that a thread reads at a time: few enough to stay in a near cache until they are counted.
const BLOCK: usize = 1 << 18;

/// What to do with bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utf8Errors {
    /// Stop with an error that names the file and the byte.
    Strict,
    /// Read U+FFFD in their place.
    Replace,
}

/// Counts the pre-tokens of a corpus, text by text or file by file, in bounded memory.
///
/// The outcome depends on the texts and their order alone, not on the number of threads.
#[derive(Debug)]
pub struct WordCounting {
    pipeline: Arc<Pipeline>,
    counters: Vec<WordCounter>,
    threads: usize,
    /// Where the next text lies in the order of all pre-tokens.
    position: u64,
    texts: u64,
    bytes: u64,
}

/// Places in the order of pre-tokens that a byte of text may need: replacing what is not UTF-8 makes
/// three bytes of one, and normalization makes a few of those.
const ROOM: u64 = 16;

/// Room in the order of pre-tokens for those of a text.
fn room(bytes: usize) -> u64 {
    (bytes as u64 + 1) * ROOM
}

fn count_text(pipeline: &Pipeline, text: &str, position: u64, counter: &mut WordCounter) -> Result<()> {
    let mut at = position;
    pipeline.training_words(text, |bytes, start, end| {
        counter.add(bytes, start, end, at);
        at += 1;
    })
}

impl WordCounting {
    /// Starts counting for a tokenizer's pipeline.
    pub fn new(pipeline: Arc<Pipeline>, threads: usize) -> Self {
        Self { pipeline, counters: Vec::new(), threads: threads.max(1), position: 0, texts: 0, bytes: 0 }
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
    /// Those of the pre-tokenizer.
    pub fn add_texts(&mut self, texts: &[&str]) -> Result<()> {
        let sizes: Vec<usize> = texts.iter().map(|text| text.len() + 1).collect();
        let mut positions = Vec::with_capacity(texts.len());
        for text in texts {
            positions.push(self.position);
            self.position += room(text.len());
            self.bytes += text.len() as u64;
        }
        self.texts += texts.len() as u64;
        let idle = Mutex::new(std::mem::take(&mut self.counters));
        let take = || idle.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default();
        let put = |counter| {
            if let Ok(mut idle) = idle.lock() {
                idle.push(counter);
            }
        };
        let result = ordered_map(&sizes, self.threads.into(), take, put, |run, counter| {
            run.into_iter().try_for_each(|at| count_text(&self.pipeline, texts[at], positions[at], counter))
        });
        self.counters = idle.into_inner().unwrap_or_default();
        result.map(|_| ())
    }

    /// Counts a file line by line, each with its newline.
    ///
    /// Files are read in blocks, so memory does not grow with them (one line has to fit).
    /// `base` and `total` are bytes of all files, for the progress.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::InvalidUtf8`], those of the pre-tokenizer and of `on_progress`.
    pub fn add_file(
        &mut self,
        path: &Path,
        errors: Utf8Errors,
        total: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        let open_error = |source| Error::Io { action: "open", path: path.to_owned(), source };
        let file = File::open(path).map_err(open_error)?;
        // A thread for less than a block of its own costs more than it saves.
        let size = file.metadata().map_or(0, |data| data.len()) as usize;
        let threads = self.threads.min(size / BLOCK).max(1);
        let reader = Mutex::new(BlockReader { file, rest: Vec::new(), offset: 0, is_done: false });
        let shared = Shared {
            pipeline: &self.pipeline,
            path,
            errors,
            reader,
            start: self.position,
            done: AtomicU64::new(0),
            texts: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        let base = self.bytes;
        let mut counters = std::mem::take(&mut self.counters);
        counters.resize_with(self.threads, WordCounter::new);
        let (own, others) = counters[..threads].split_at_mut(1);
        let result = std::thread::scope(|scope| {
            let shared = &shared;
            // Where the system refuses threads, there are fewer.
            let counts =
                others.iter_mut().map(|counter| move || shared.count_blocks(counter, &mut |_| Ok(())));
            let helpers: Vec<_> =
                counts.map_while(|count| Builder::new().spawn_scoped(scope, count).ok()).collect();
            let mut report = |done| on_progress(Progress { stage: "count words", done: base + done, total });
            let mut results = vec![shared.count_blocks(&mut own[0], &mut report)];
            for helper in helpers {
                match helper.join() {
                    Ok(result) => results.push(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            // Of several errors, the one at the earliest byte.
            let worst =
                results.into_iter().filter_map(std::result::Result::err).min_by_key(|error| match error {
                    Error::Interrupted => 0,
                    Error::InvalidUtf8 { byte, .. } => 1 + byte,
                    _ => 1,
                });
            worst.map_or(Ok(()), Err)
        });
        self.bytes += shared.done.into_inner();
        self.texts += shared.texts.into_inner();
        self.position = self.position.saturating_add(room(self.bytes as usize));
        self.counters = counters;
        result?;
        on_progress(Progress { stage: "count words", done: self.bytes, total })
    }

    /// The counted words by first appearance.
    ///
    /// # Errors
    /// [`Error::EmptyCorpus`] if there is not one; what `on_progress` returns.
    pub fn finish(self, on_progress: &mut OnProgress<'_>) -> Result<WordCounts> {
        let key_form = self.pipeline.training_key_form();
        let mut words = WordCounter::join(self.counters, key_form, self.threads, on_progress)?;
        if let Some(bert) = self.pipeline.normalize_after_counting() {
            words = normalized(&words, |word| bert.normalize(word));
        }
        if words.is_empty() {
            return Err(Error::EmptyCorpus { texts: self.texts, bytes: self.bytes });
        }
        Ok(words)
    }
}

/// The counts of normalized words: equal ones are added up at the place of the first, and empty ones left out.
fn normalized(words: &WordCounts, normalize: impl Fn(&str) -> Cow<'_, str>) -> WordCounts {
    let (mut places, mut counts): (HashMap<String, usize>, Vec<(String, u64)>) = Default::default();
    for (word, count) in words.iter() {
        let normalized = normalize(word);
        match places.get(&*normalized) {
            Some(&place) => counts[place].1 += count,
            None if normalized.is_empty() => {}
            None => {
                places.insert(normalized.to_string(), counts.len());
                counts.push((normalized.into_owned(), count));
            }
        }
    }
    counts.into_iter().collect()
}

/// What the threads that count one file share.
struct Shared<'a> {
    pipeline: &'a Pipeline,
    path: &'a Path,
    errors: Utf8Errors,
    reader: Mutex<BlockReader>,
    /// Place of the file's first pre-token in the order of all.
    start: u64,
    done: AtomicU64,
    texts: AtomicU64,
    stop: AtomicBool,
}

impl Shared<'_> {
    fn count_blocks(
        &self,
        counter: &mut WordCounter,
        report: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let result = self.try_count_blocks(counter, report);
        if result.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        result
    }

    fn try_count_blocks(
        &self,
        counter: &mut WordCounter,
        report: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut block = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let read = match self.reader.lock() {
                Ok(mut reader) => reader.next_block(&mut block),
                Err(_) => return Ok(()),
            };
            let failed = |source| Error::Io { action: "read", path: self.path.to_owned(), source };
            let Some(offset) = read.map_err(failed)? else { break };
            self.count_block(&block, offset, counter)?;
            let done = self.done.fetch_add(block.len() as u64, Ordering::Relaxed) + block.len() as u64;
            report(done)?;
        }
        Ok(())
    }

    fn count_block(&self, block: &[u8], offset: u64, counter: &mut WordCounter) -> Result<()> {
        let replaced;
        let text = match (simdutf8::compat::from_utf8(block), self.errors) {
            (Ok(text), _) => text,
            (Err(error), Utf8Errors::Strict) => {
                let byte = offset + error.valid_up_to() as u64;
                return Err(Error::InvalidUtf8 { origin: self.path.display().to_string(), byte });
            }
            (Err(_), Utf8Errors::Replace) => {
                replaced = String::from_utf8_lossy(block);
                &replaced
            }
        };
        let mut at = self.start + room(offset as usize);
        let mut lines = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
            let (line, after) = rest.split_at(end);
            count_text(self.pipeline, line, at, counter)?;
            at += room(line.len()) - ROOM;
            lines += 1;
            rest = after;
        }
        self.texts.fetch_add(lines, Ordering::Relaxed);
        Ok(())
    }
}

/// Reads a file in blocks that end with a line.
struct BlockReader {
    file: File,
    /// Bytes read after the last newline handed out.
    rest: Vec<u8>,
    offset: u64,
    is_done: bool,
}

impl BlockReader {
    /// Fills `block` with whole lines; answers where in the file they begin, or that there are none.
    fn next_block(&mut self, block: &mut Vec<u8>) -> std::io::Result<Option<u64>> {
        block.clear();
        block.append(&mut self.rest);
        let mut searched = 0;
        while !self.is_done {
            let start = block.len();
            block.resize(start + BLOCK, 0);
            let read = read_some(&mut self.file, &mut block[start..])?;
            block.truncate(start + read);
            self.is_done = read == 0;
            if let Some(newline) = memchr::memrchr(b'\n', &block[searched..]) {
                self.rest.extend_from_slice(&block[searched + newline + 1..]);
                block.truncate(searched + newline + 1);
                break;
            }
            searched = block.len();
        }
        if block.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += block.len() as u64;
        Ok(Some(offset))
    }
}

fn read_some(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
