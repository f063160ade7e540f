//! Blocks of documents of plain text: whole files, or the texts between separators.

use std::io::Read;
use std::ops::Range;

use memchr::memmem::Finder;

use super::record_block::{RecordBlock, Value};
use crate::corpus::lines::{Unread, read_more};

/// The documents of one file.
pub(super) struct Documents {
    file: Box<dyn Read + Send>,
    separator: Option<Finder<'static>>,
    /// Bytes of the longest document.
    limit: usize,
    /// Bytes that no block has, from the beginning of a document on.
    rest: Vec<u8>,
    /// How many of them hold no separator.
    searched: usize,
    is_done: bool,
    /// Bytes of the file before `rest`.
    offset: u64,
    /// Documents before `rest`.
    pub(super) count: u64,
}

impl Documents {
    /// The file as one document, or cut into documents at `separator`.
    pub(super) fn new(file: Box<dyn Read + Send>, separator: Option<&str>, limit: usize) -> Self {
        let separator = separator.map(|separator| Finder::new(separator).into_owned());
        Self { file, separator, limit, rest: Vec::new(), searched: 0, is_done: false, offset: 0, count: 0 }
    }

    /// Bytes of the file before the next document, and one for a whole file, since that may be empty.
    pub(super) fn offset(&self) -> u64 {
        self.offset + u64::from(self.separator.is_none() && self.is_done)
    }

    /// Replaces the values of `block` by the next documents; false at the end.
    pub(super) fn next(&mut self, block: &mut RecordBlock) -> Result<bool, Unread> {
        block.bytes.clear();
        let begin = self.offset;
        while block.values.is_empty() {
            if self.is_done {
                return Ok(false);
            }
            self.is_done = read_more(&mut self.file, &mut self.rest)? == 0;
            self.take_ended(block, begin)?;
            if self.rest.len() > self.limit {
                return Err(Unread::TooLong);
            }
            // After the last separator there is a document only if there is something.
            if self.is_done && (self.separator.is_none() || !self.rest.is_empty()) {
                let len = self.rest.len();
                self.push(block, begin, 0..len);
                self.offset += len as u64;
                self.rest.clear();
            }
        }
        Ok(true)
    }

    /// Moves the documents that end with a separator to `block`, which begins at `begin` of the file.
    fn take_ended(&mut self, block: &mut RecordBlock, begin: u64) -> Result<(), Unread> {
        let Some(separator) = self.separator.take() else { return Ok(()) };
        let len = separator.needle().len();
        let from = self.searched.saturating_sub(len - 1);
        let ends: Vec<usize> = separator.find_iter(&self.rest[from..]).map(|found| from + found).collect();
        self.separator = Some(separator);
        let mut taken = 0;
        for end in ends {
            if end - taken > self.limit {
                return Err(Unread::TooLong);
            }
            self.push(block, begin, taken..end);
            self.offset += (end + len - taken) as u64;
            taken = end + len;
        }
        self.rest.drain(..taken);
        self.searched = self.rest.len();
        Ok(())
    }

    /// Adds a document, at these bytes of `rest`, to `block`.
    fn push(&mut self, block: &mut RecordBlock, begin: u64, bytes: Range<usize>) {
        // A document without a separator may be long.
        if bytes == (0..self.rest.len()) && block.bytes.is_empty() {
            std::mem::swap(&mut block.bytes, &mut self.rest);
        } else {
            block.bytes.extend_from_slice(&self.rest[bytes]);
        }
        block.values.push(Value { end: block.bytes.len(), offset: self.offset - begin, place: self.count });
        self.count += 1;
    }
}
