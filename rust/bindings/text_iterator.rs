//! The texts of a source, one after the other or many at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::errors::OrRaise;
use super::text_block::PyTextBlock;
use crate::corpus::sources::{RecordBlock, Skipped, Source, SourceReader};

/// The texts of a source, one after the other.
#[pyclass(name = "TextIterator", module = "lexmill._core", frozen)]
pub(super) struct PyTextIterator {
    reading: Mutex<Reading>,
}

// Python's allocator aligns objects to 16 bytes, even if they ask for more.
const _: () = assert!(align_of::<PyTextIterator>() <= 16);

struct Reading {
    source: Arc<Source>,
    skipped: Arc<Skipped>,
    reader: SourceReader,
    block: RecordBlock,
    /// The texts of the block, end to end.
    texts: String,
    /// The end of each text of the block.
    ends: Vec<usize>,
    /// The number of texts of the block that were returned.
    given: usize,
    /// Bytes of all files, as they lie on the disk, up to the end of the block.
    read: u64,
    /// The end of the source, or an error, is reached.
    is_done: bool,
    /// The error, until it is raised.
    error: Option<crate::Error>,
}

impl Reading {
    fn new(source: Arc<Source>, skipped: Arc<Skipped>) -> Self {
        let reader = SourceReader::new(Arc::clone(&source), Arc::clone(&skipped));
        Self {
            source,
            skipped,
            reader,
            block: RecordBlock::default(),
            texts: String::new(),
            ends: Vec::new(),
            given: 0,
            read: 0,
            is_done: false,
            error: None,
        }
    }

    fn next(&mut self) -> crate::Result<Option<String>> {
        self.fill();
        match self.next_in_block() {
            Some(text) => Ok(Some(text.to_owned())),
            None => self.error.take().map_or(Ok(None), Err),
        }
    }

    /// The next texts, until these have `characters` or more, and their characters; fewer at the end of the source, and before an error.
    fn take(&mut self, characters: usize) -> crate::Result<(PyTextBlock, usize)> {
        let (mut utf8, mut ends, mut size) = (String::new(), Vec::new(), 0);
        while size < characters {
            self.fill();
            let Some(text) = self.next_in_block() else { break };
            size += text.chars().count();
            utf8.push_str(text);
            ends.push(utf8.len());
        }
        if ends.is_empty()
            && let Some(error) = self.error.take()
        {
            return Err(error);
        }
        Ok((PyTextBlock::new(utf8, &ends), size))
    }

    /// The next text of the block.
    fn next_in_block(&mut self) -> Option<&str> {
        let &end = self.ends.get(self.given)?;
        let start = self.given.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.given += 1;
        Some(&self.texts[start..end])
    }

    /// Reads blocks until there are texts, or to the end of the source.
    fn fill(&mut self) {
        while self.given == self.ends.len() && !self.is_done {
            match self.read_block() {
                Ok(has_block) => self.is_done = !has_block,
                Err(error) => (self.is_done, self.error) = (true, Some(error)),
            }
        }
    }

    /// Reads the next block; false at the end of the source.
    fn read_block(&mut self) -> crate::Result<bool> {
        self.texts.clear();
        self.ends.clear();
        self.given = 0;
        if !self.reader.next(&mut self.block)? {
            return Ok(false);
        }
        self.read += self.block.read;
        let Self { texts, ends, .. } = self;
        self.source.for_each_text(&mut self.block, &self.skipped, |text, _| {
            texts.push_str(text);
            ends.push(texts.len());
            Ok(())
        })?;
        Ok(true)
    }
}

#[pymethods]
impl PyTextIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    /// Bytes of the files, as they lie on the disk, that were read so far.
    fn read_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.reading().read)
    }

    /// The next texts, until these have `characters` or more, and the number of their characters.
    ///
    /// There are fewer at the end of the source, and before an error, which the next call raises.
    fn take(&self, py: Python<'_>, characters: usize) -> PyResult<(PyTextBlock, usize)> {
        py.detach(|| self.reading().take(characters)).or_raise(py)
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| self.reading().next()).or_raise(py)
    }
}

impl PyTextIterator {
    pub(super) fn new(source: Arc<Source>, skipped: Arc<Skipped>) -> Self {
        Self { reading: Mutex::new(Reading::new(source, skipped)) }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
