//! Words of files, line by line, for training.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::text_file::Utf8Errors;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{BlockEnd, WordCounting};
use crate::{Error, Result};

/// Bytes that are read at a time: few enough to stay in a near cache until they are counted.
const BLOCK: usize = 1 << 18;

/// Counts the words of a file line by line, each line with its line feed; `total` is the number of bytes of the whole corpus.
///
/// Memory does not grow with the file; one line has to fit.
///
/// # Errors
/// [`Error::Io`], [`Error::InvalidUtf8`] unless such bytes are to be replaced, and those of [`WordCounting::add_blocks`].
pub fn count_words(
    counting: &mut WordCounting,
    path: &Path,
    errors: Utf8Errors,
    total: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<()> {
    let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
    let file = File::open(path).map_err(failed("open"))?;
    let bytes = file.metadata().map_or(0, |data| data.len());
    let mut lines = LineBlocks::new(file);
    let next = |block: &mut LineBlock| {
        block.offset = lines.offset();
        lines.next(&mut block.bytes).map_err(failed("read"))
    };
    let read = |block: &LineBlock, each: &mut dyn FnMut(&str, u64) -> Result<()>| {
        let text = decode(block, path, errors)?;
        let mut offset = block.offset;
        for line in text.split_inclusive('\n') {
            each(line, offset)?;
            offset += line.len() as u64;
        }
        let read = block.bytes.len() as u64;
        Ok(BlockEnd { offset: block.offset + read, read })
    };
    counting.add_blocks(bytes, next, read, total, on_progress)
}

/// Whole lines of a file, not decoded yet.
#[derive(Debug, Default)]
struct LineBlock {
    /// The lines with their line feeds.
    bytes: Vec<u8>,
    /// Bytes of the file before them.
    offset: u64,
}

/// The text of a block.
fn decode<'a>(block: &'a LineBlock, path: &Path, errors: Utf8Errors) -> Result<Cow<'a, str>> {
    match (simdutf8::compat::from_utf8(&block.bytes), errors) {
        (Ok(text), _) => Ok(Cow::Borrowed(text)),
        (Err(error), Utf8Errors::Strict) => {
            let byte = block.offset + error.valid_up_to() as u64;
            Err(Error::InvalidUtf8 { origin: path.display().to_string(), byte })
        }
        (Err(_), Utf8Errors::Replace) => Ok(String::from_utf8_lossy(&block.bytes)),
    }
}

/// A file in blocks that end with a line.
#[derive(Debug)]
pub(super) struct LineBlocks<R> {
    file: R,
    /// Bytes after the last line feed handed out.
    rest: Vec<u8>,
    /// Bytes handed out.
    offset: u64,
    is_done: bool,
}

impl<R: Read> LineBlocks<R> {
    /// The lines of a file from its beginning on.
    pub(super) fn new(file: R) -> Self {
        Self { file, rest: Vec::new(), offset: 0, is_done: false }
    }

    /// Bytes handed out.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Replaces `bytes` by the next lines; false at the end of the file.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut searched = 0;
        while !self.is_done {
            let start = bytes.len();
            bytes.resize(start + BLOCK, 0);
            let read = read_some(&mut self.file, &mut bytes[start..])?;
            bytes.truncate(start + read);
            self.is_done = read == 0;
            if let Some(newline) = memchr::memrchr(b'\n', &bytes[searched..]) {
                self.rest.extend_from_slice(&bytes[searched + newline + 1..]);
                bytes.truncate(searched + newline + 1);
                break;
            }
            searched = bytes.len();
        }
        self.offset += bytes.len() as u64;
        Ok(!bytes.is_empty())
    }
}

fn read_some(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
