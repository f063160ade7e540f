//! Words of files, line by line, for training.

use std::path::Path;

use super::text_file::{TextFile, Utf8Errors};
use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{LineBlock, WordCounting};

/// Bytes that are read at a time: few enough to stay in a near cache until they are counted.
const BLOCK: usize = 1 << 18;

/// Counts the words of a file line by line, each line with its line feed; `total` is the number of bytes of the whole corpus.
///
/// Memory does not grow with the file; one line has to fit.
///
/// # Errors
/// [`Error::Io`](crate::Error), [`Error::InvalidUtf8`](crate::Error) unless such bytes are to be replaced, and those of
/// [`WordCounting::add_blocks`].
pub fn count_words(
    counting: &mut WordCounting,
    path: &Path,
    errors: Utf8Errors,
    total: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<()> {
    let mut lines =
        LineBlocks { file: Some(TextFile::open(path, errors)?), rest: String::new(), offset: 0, read: 0 };
    let bytes = path.metadata().map_or(0, |data| data.len());
    counting.add_blocks(bytes, |block| lines.next(block), total, on_progress)
}

/// A file in blocks that end with a line.
#[derive(Debug)]
struct LineBlocks {
    /// None at the end of the file.
    file: Option<TextFile>,
    /// Text after the last line feed handed out.
    rest: String,
    /// Bytes of text handed out.
    offset: u64,
    /// Bytes of the file that stand for text handed out or read.
    read: u64,
}

impl LineBlocks {
    fn next(&mut self, block: &mut LineBlock) -> Result<bool> {
        block.text.clear();
        block.text.push_str(&self.rest);
        self.rest.clear();
        let (before, mut searched) = (self.read, block.text.len());
        while let Some(file) = &mut self.file {
            let is_more = file.read(&mut block.text, BLOCK)?;
            self.read = file.decoded();
            if !is_more {
                self.file = None;
            } else if let Some(newline) = memchr::memrchr(b'\n', &block.text.as_bytes()[searched..]) {
                self.rest.push_str(&block.text[searched + newline + 1..]);
                block.text.truncate(searched + newline + 1);
                break;
            }
            searched = block.text.len();
        }
        block.offset = self.offset;
        block.bytes = self.read - before;
        self.offset += block.text.len() as u64;
        Ok(!block.text.is_empty())
    }
}
