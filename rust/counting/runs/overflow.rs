//! Where counters write runs while they count.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counts_file::{CountsFile, Levels, at_once, merge_runs, write_run};
use super::summary::{Spelling, Stages, Summary, Sums};
use super::word::{CountedWord, PHRASE, Place};
use crate::counting::{Spill, TakeWord};
use crate::structures::parallel::OnProgress;
use crate::{Error, Result};

/// The least memory for counting, in bytes: tables of a few thousand words for each thread, and the blocks of a merge.
const LEAST_MEMORY: usize = 12 << 20;

/// The memory and the folder that counting may use.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Bytes for tables and blocks, beside the memory that the process takes before it counts.
    pub memory: usize,
    /// The folder for runs.
    pub folder: PathBuf,
}

impl Budget {
    /// # Errors
    /// [`Error::InvalidOption`] for less memory than counting needs.
    pub fn check(&self, threads: usize) -> Result<()> {
        let least = LEAST_MEMORY * threads.max(1);
        if self.memory >= least {
            return Ok(());
        }
        let expected = format!("at least {least} bytes for {threads} threads");
        Err(Error::InvalidOption { name: "max_memory", value: self.memory.to_string(), expected })
    }

    /// The budget of `threads` threads without `bytes` that other structures take: never less than half of the memory, or than counting needs.
    #[must_use]
    pub fn beside(&self, bytes: usize, threads: usize) -> Self {
        let least = (self.memory / 2).max(LEAST_MEMORY * threads.max(1));
        let memory = self.memory.saturating_sub(bytes).max(least).min(self.memory);
        Self { memory, ..self.clone() }
    }
}

/// The runs of all counters of one corpus, and how their positions become places.
#[derive(Debug)]
pub struct Overflow {
    budget: Budget,
    threads: usize,
    spelling: Spelling,
    stages: Stages,
    runs: Mutex<Levels>,
    /// The first position of each source, ascending, with the number of the source.
    starts: Mutex<Vec<(u64, u32)>>,
}

impl Overflow {
    /// No runs yet.
    ///
    /// # Errors
    /// The errors of [`Budget::check`].
    pub fn new(budget: Budget, threads: usize, spelling: Spelling, stages: Stages) -> Result<Self> {
        budget.check(threads)?;
        let (runs, starts) = (Mutex::default(), Mutex::default());
        Ok(Self { budget, threads: threads.max(1), spelling, stages, runs, starts })
    }

    /// Bytes that the tables of one counter may take.
    pub fn share(&self) -> usize {
        // A run is written with a block, its compressed form and the state of the compressor.
        self.budget.memory / self.threads - (4 << 20)
    }

    fn runs(&self) -> MutexGuard<'_, Levels> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn summary(&self, texts: u64, bytes: u64) -> Summary {
        Summary {
            spelling: self.spelling,
            stages: self.stages.clone(),
            words: 0,
            word_bytes: 0,
            total: 0,
            phrases: Sums::default(),
            texts,
            bytes,
            dropped_words: 0,
            dropped_total: 0,
        }
    }

    /// All runs as one.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Unsupported`] for sums beyond 64 bits; the errors of `on_progress`.
    pub fn finish(&self, texts: u64, bytes: u64, on_progress: &mut OnProgress<'_>) -> Result<CountsFile> {
        let runs = std::mem::take(&mut *self.runs()).into_runs();
        let Budget { memory, folder } = &self.budget;
        merge_runs(runs, folder, *memory, &self.summary(texts, bytes), on_progress).map(CountsFile::of_run)
    }
}

/// Where counters of phrases write: runs of an overflow that marks phrases.
#[derive(Debug)]
pub struct PhraseOverflow(pub Arc<Overflow>);

impl Spill for PhraseOverflow {
    fn begin_source(&self, position: u64, source: u32) {
        self.0.begin_source(position, source);
    }

    fn write(&self, each: &mut dyn FnMut(&mut TakeWord<'_>) -> Result<()>) -> Result<()> {
        let mut marked = vec![PHRASE];
        self.0.write(&mut |take| {
            each(&mut |phrase, count, first| {
                marked.truncate(1);
                marked.extend_from_slice(phrase);
                take(&marked, count, first)
            })
        })
    }

    fn merge_waiting(&self) -> Result<()> {
        self.0.merge_waiting()
    }
}

impl Spill for Overflow {
    fn begin_source(&self, position: u64, source: u32) {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        if starts.last().is_none_or(|&(_, last)| last != source) {
            starts.push((position, source));
        }
    }

    fn write(&self, each: &mut dyn FnMut(&mut TakeWord<'_>) -> Result<()>) -> Result<()> {
        let starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let place = |position: u64| {
            let before = starts.partition_point(|&(start, _)| start <= position).checked_sub(1);
            let (start, source) = before.map_or((0, 0), |at| starts[at]);
            Place { source, at: position - start }
        };
        let run = write_run(&self.budget.folder, |writer| {
            each(&mut |word, count, first| writer.push(CountedWord { word, count, first: place(first) }))?;
            Ok(self.summary(0, 0))
        })?;
        self.runs().push(0, Arc::new(run));
        Ok(())
    }

    fn merge_waiting(&self) -> Result<()> {
        // Another counter of the thread may be full.
        let memory = self.budget.memory / self.threads / 2;
        loop {
            // Other threads write runs meanwhile.
            let full = self.runs().take_full(at_once(memory));
            let Some((level, runs)) = full else { return Ok(()) };
            let merged = merge_runs(runs, &self.budget.folder, memory, &self.summary(0, 0), &mut |_| Ok(()))?;
            self.runs().push(level, merged);
        }
    }
}
