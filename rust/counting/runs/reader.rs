//! Reads a run.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::block::{LONGEST_BLOCK, take_number, take_word};
use super::summary::{Section, Summary};
use super::word::{CountedWord, Place};
use super::writer::MAGIC;
use crate::{Error, Result};

/// Bytes after the footer: two lengths and the magic.
const TRAILER: usize = 24;

/// The footer of 10 TB takes some megabytes; one that claims more than this is damaged.
const LONGEST_FOOTER: usize = 1 << 30;

/// A word takes at least its two lengths, a count, a source and a place, of a byte each.
const LEAST_WORD_BYTES: u64 = 5;

/// A run that can be read, by several readers at a time.
#[derive(Debug)]
pub struct Run {
    file: Mutex<File>,
    /// Bytes of the file.
    len: u64,
    /// The path that messages name: the file, or the folder of a file without a name.
    path: PathBuf,
    /// The summary in the footer.
    pub summary: Summary,
    blocks: Vec<BlockPlace>,
    /// Blocks of words; blocks of phrases follow.
    word_blocks: usize,
}

/// Where a block is.
#[derive(Debug)]
struct BlockPlace {
    offset: u64,
    compressed: usize,
    len: usize,
    words: u64,
}

impl Run {
    /// Reads the footer of a run.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a file that is no run, or is cut off or damaged.
    pub fn open(mut file: File, path: &Path) -> Result<Self> {
        let wrong =
            |message: &str| Error::Format { path: path.display().to_string(), message: message.to_owned() };
        let failed = Error::io("read", path);
        let len = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut magic = [0; MAGIC.len()];
        let least = (MAGIC.len() + TRAILER) as u64;
        if len >= least {
            file.rewind().and_then(|()| file.read_exact(&mut magic)).map_err(failed)?;
        }
        let [name @ .., version] = magic;
        if name != MAGIC[..MAGIC.len() - 1] {
            return Err(wrong("the file does not hold word counts"));
        }
        if version != MAGIC[MAGIC.len() - 1] {
            let known = MAGIC[MAGIC.len() - 1];
            return Err(wrong(&format!(
                "the version of the word counts is {version}, this program reads {known}"
            )));
        }
        let cut = || wrong("the word counts are cut off or damaged at their end");
        let mut trailer = [0; TRAILER];
        read_at(&mut file, len - TRAILER as u64, &mut trailer).map_err(failed)?;
        let ([compressed, footer_len, end], _) = trailer.as_chunks::<8>() else { return Err(cut()) };
        if *end != MAGIC {
            return Err(cut());
        }
        let compressed = u64::from_le_bytes(*compressed);
        let footer_at = (len - TRAILER as u64).checked_sub(compressed).filter(|&at| at >= MAGIC.len() as u64);
        let footer_at = footer_at.ok_or_else(cut)?;
        let footer_len = u64::from_le_bytes(*footer_len);
        let footer_len = usize::try_from(footer_len).ok().filter(|&len| len <= LONGEST_FOOTER);
        let footer_len = footer_len.ok_or_else(cut)?;
        let mut bytes = room(compressed).ok_or_else(cut)?;
        read_at(&mut file, footer_at, &mut bytes).map_err(failed)?;
        let footer = decompress(&bytes, footer_len).ok_or_else(cut)?;
        let (blocks, summary) = parse_footer(&footer, footer_at).ok_or_else(cut)?;
        let (mut word_blocks, mut words) = (0, 0);
        while words < summary.words {
            words += blocks[word_blocks].words;
            word_blocks += 1;
        }
        if words > summary.words {
            return Err(cut());
        }
        Ok(Self { file: Mutex::new(file), len, path: path.to_owned(), summary, blocks, word_blocks })
    }

    /// The path that messages name: the file, or the folder of a file without a name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the whole run to `target`.
    pub(super) fn copy_to(&self, target: &mut File) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind()?;
        if io::copy(&mut *file, target)? == self.len {
            return Ok(());
        }
        let message =
            format!("the word counts in {} have changed since they were opened", self.path.display());
        Err(io::Error::other(message))
    }

    /// The blocks of words, or of phrases.
    pub(super) fn blocks(&self, section: Section) -> Range<usize> {
        match section {
            Section::Words => 0..self.word_blocks,
            Section::Phrases => self.word_blocks..self.blocks.len(),
        }
    }

    /// The bytes of block `number`, decompressed.
    fn block(&self, number: usize) -> Result<Vec<u8>> {
        let BlockPlace { offset, compressed, len, .. } = self.blocks[number];
        let mut bytes = room(compressed as u64).ok_or_else(|| self.damaged(number))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        read_at(&mut file, offset, &mut bytes).map_err(Error::io("read", &self.path))?;
        drop(file);
        decompress(&bytes, len).ok_or_else(|| self.damaged(number))
    }

    fn damaged(&self, block: usize) -> Error {
        let message = format!("block {block} of the word counts is damaged");
        Error::Format { path: self.path.display().to_string(), message }
    }
}

/// The blocks, which end where the footer begins, and the summary.
fn parse_footer(mut footer: &[u8], end: u64) -> Option<(Vec<BlockPlace>, Summary)> {
    let footer = &mut footer;
    let count = take_number(footer)?;
    let (mut blocks, mut offset) = (Vec::new(), MAGIC.len() as u64);
    for _ in 0..count {
        let (words, len, compressed) = (take_number(footer)?, take_number(footer)?, take_number(footer)?);
        // Memory is allocated by these numbers later, so a forged one must not pass.
        let is_possible =
            (1..=len / LEAST_WORD_BYTES).contains(&words) && len <= LONGEST_BLOCK && compressed > 0;
        if !is_possible {
            return None;
        }
        let next = offset.checked_add(compressed).filter(|&next| next <= end)?;
        blocks.push(BlockPlace { offset, compressed: compressed as usize, len: len as usize, words });
        offset = next;
    }
    let summary: Summary = serde_json::from_slice(footer).ok()?;
    let words: u64 = blocks.iter().try_fold(0u64, |sum, block| sum.checked_add(block.words))?;
    (offset == end && Some(words) == summary.words.checked_add(summary.phrases.words))
        .then_some((blocks, summary))
}

fn read_at(file: &mut File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

/// As many zeros, if memory holds them.
fn room(len: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(len).ok()?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}

/// A zstd frame of `len` bytes, decompressed; `None` if it is another one, or damaged.
///
/// Memory that the frame does not fill stays untouched.
fn decompress(frame: &[u8], len: usize) -> Option<Vec<u8>> {
    let bytes = zstd::bulk::decompress(frame, len).ok()?;
    (bytes.len() == len).then_some(bytes)
}

/// Reads the words of a run one by one.
#[derive(Debug)]
pub struct RunReader {
    run: Arc<Run>,
    /// The blocks to read.
    blocks: Range<usize>,
    /// The next block.
    next: usize,
    block: Vec<u8>,
    /// Where the next word begins in the block.
    at: usize,
    /// Words of the block that have not been read.
    left: u64,
    word: Vec<u8>,
    count: u64,
    first: Place,
    /// Bytes before each word that are no part of it.
    mark: usize,
}

impl RunReader {
    /// Before the first word of a run; phrases follow the words, with their mark.
    pub fn new(run: Arc<Run>) -> Self {
        let blocks = 0..run.blocks.len();
        Self::within(run, blocks, 0)
    }

    /// Before the first word or phrase.
    pub(super) fn of_section(run: Arc<Run>, section: Section, blocks: Range<usize>) -> Self {
        Self::within(run, blocks, usize::from(section == Section::Phrases))
    }

    fn within(run: Arc<Run>, blocks: Range<usize>, mark: usize) -> Self {
        let (next, block, word) = (blocks.start, Vec::new(), Vec::new());
        Self { run, blocks, next, block, at: 0, left: 0, word, count: 0, first: Place::default(), mark }
    }

    /// Reads the next word; false after the last one.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] for a damaged block.
    pub fn advance(&mut self) -> Result<bool> {
        let is_first = self.left == 0;
        if is_first {
            let Some(place) = self.run.blocks[..self.blocks.end].get(self.next) else { return Ok(false) };
            self.block = self.run.block(self.next)?;
            (self.at, self.left) = (0, place.words);
            self.next += 1;
        }
        let mut rest = &self.block[self.at..];
        let damaged = || self.run.damaged(self.next - 1);
        let before = if is_first { self.word.clone() } else { Vec::new() };
        if is_first {
            self.word.clear();
        }
        (self.count, self.first) = take_word(&mut rest, &mut self.word, is_first).ok_or_else(damaged)?;
        self.at = self.block.len() - rest.len();
        self.left = self.left.checked_sub(1).ok_or_else(damaged)?;
        let is_out_of_order = is_first && self.next > self.blocks.start + 1 && before >= self.word;
        if is_out_of_order || self.word.len() < self.mark || (self.left == 0 && !rest.is_empty()) {
            return Err(damaged());
        }
        Ok(true)
    }

    /// The word that was read last.
    pub fn word(&self) -> CountedWord<'_> {
        CountedWord { word: &self.word[self.mark..], count: self.count, first: self.first }
    }
}
