//! Files in blocks of whole lines.

use std::io::{self, Read};

use super::utf8_errors::Utf8Errors;
use crate::{Error, Result};

/// Bytes that are read at a time: few enough to stay in a near cache until they are counted.
const BLOCK: usize = 1 << 18;

/// Calls `each` with every line of `bytes`, with its line feed, and with the number of bytes before the line.
///
/// # Errors
/// `invalid` of the first byte that is not UTF-8, unless such bytes are to be replaced; the errors of `each`.
pub(super) fn for_each_line(
    bytes: &[u8],
    errors: Utf8Errors,
    invalid: impl Fn(u64) -> Error,
    mut each: impl FnMut(&str, u64) -> Result<()>,
) -> Result<()> {
    let mut at = 0;
    let mut take = |line: &str, bytes: usize| {
        each(line, at)?;
        at += bytes as u64;
        Ok(())
    };
    match (simdutf8::compat::from_utf8(bytes), errors) {
        (Ok(text), _) => text.split_inclusive('\n').try_for_each(|line| take(line, line.len())),
        // Places count the bytes of the file, not the bytes of U+FFFD, which may be more.
        (Err(_), Utf8Errors::Replace) => bytes
            .split_inclusive(|&byte| byte == b'\n')
            .try_for_each(|line| take(&String::from_utf8_lossy(line), line.len())),
        (Err(error), Utf8Errors::Strict) => Err(invalid(error.valid_up_to() as u64)),
    }
}

/// A file in blocks that end with a line.
#[derive(Debug)]
pub(super) struct LineBlocks<R> {
    file: R,
    /// Bytes after the last line feed handed out.
    rest: Vec<u8>,
    /// The byte of the file after the last line feed handed out.
    offset: u64,
    /// Bytes of the longest line.
    limit: usize,
    is_done: bool,
}

/// Why there is no next block.
#[derive(Debug)]
pub(super) enum Unread {
    /// The operating system's answer.
    Io(io::Error),
    /// The next record is too long; it was read no further than that shows.
    TooLong,
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: Read> LineBlocks<R> {
    /// The lines of a file from byte `offset` on, up to which the file has been read.
    pub(super) fn new(file: R, offset: u64, limit: usize) -> Self {
        Self { file, rest: Vec::new(), offset, limit, is_done: false }
    }

    /// The byte of the file after the last line feed handed out.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Replaces `bytes` by the next lines; false at the end of the file.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> std::result::Result<bool, Unread> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut searched = 0;
        while !self.is_done {
            self.is_done = read_more(&mut self.file, bytes)? == 0;
            if bytes.len() > self.limit
                && memchr::memchr(b'\n', &bytes[searched..]).is_none_or(|end| searched + end >= self.limit)
            {
                return Err(Unread::TooLong);
            }
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

    /// Passes over a line that is too long. `bytes` begin with the line, as far as [`Self::next`] has read it, and are empty afterwards.
    pub(super) fn pass_over(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        // The line may have taken gigabytes.
        let mut read = std::mem::take(bytes);
        loop {
            if let Some(end) = memchr::memchr(b'\n', &read) {
                self.rest.extend_from_slice(&read[end + 1..]);
                self.offset += end as u64 + 1;
                return Ok(());
            }
            self.offset += read.len() as u64;
            read = Vec::new();
            if self.is_done || read_more(&mut self.file, &mut read)? == 0 {
                self.is_done = true;
                return Ok(());
            }
        }
    }
}

/// Appends the next bytes of a file to `bytes`; returns their number, which is 0 at the end.
pub(super) fn read_more(file: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let start = bytes.len();
    bytes.try_reserve(BLOCK).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(start + BLOCK, 0);
    loop {
        match file.read(&mut bytes[start..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => {
                bytes.truncate(start + *read.as_ref().unwrap_or(&0));
                return read;
            }
        }
    }
}
