//! Words of files, line by line, for training.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::text_file::Utf8Errors;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{LineBlock, WordCounting};
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
    let mut lines = LineBlocks { file, rest: Vec::new(), offset: 0, is_done: false };
    let next = |block: &mut LineBlock| lines.next(block).map_err(failed("read"));
    counting.add_blocks(bytes, next, |block| decode(block, path, errors), total, on_progress)
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
struct LineBlocks {
    file: File,
    /// Bytes after the last line feed handed out.
    rest: Vec<u8>,
    /// Bytes handed out.
    offset: u64,
    is_done: bool,
}

impl LineBlocks {
    /// Replaces `block` by the next lines; false at the end of the file.
    fn next(&mut self, block: &mut LineBlock) -> io::Result<bool> {
        let LineBlock { bytes, offset } = block;
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
        *offset = self.offset;
        self.offset += bytes.len() as u64;
        Ok(!bytes.is_empty())
    }
}

fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
