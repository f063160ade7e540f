//! A plain file of lines on this machine in ranges of bytes, each of which is read by the thread that works on it.
//!
//! A range stands for the lines that begin in it. So ranges of equal length can be handed out without looking into the file, and each
//! line is in one of them.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::compression::open_plain_text;
use super::seekable::SeekableFile;
use crate::corpus::remote::url_of;

/// Bytes of a range: few enough to stay in a near cache until they are tokenized.
const RANGE: u64 = 1 << 18;

/// Bytes that are read at a time to count lines.
const COUNTED: usize = 1 << 20;

/// Hands out the ranges of a file.
#[derive(Debug)]
pub(super) struct LineRanges {
    file: Arc<File>,
    /// The byte from which on lines are numbered.
    from: u64,
    next: u64,
    len: u64,
    limit: usize,
}

impl LineRanges {
    /// The ranges of a file from byte `from` on; none if the file is compressed, is no regular file of this machine, or does not tell its
    /// length.
    ///
    /// # Errors
    /// The errors of [`open_plain_text`].
    pub(super) fn open(path: &Path, from: u64, limit: usize) -> crate::Result<Option<Self>> {
        // Threads would ask a store for many small ranges.
        if url_of(path).is_some() {
            return Ok(None);
        }
        let Some(SeekableFile::Local(file)) = open_plain_text(path)? else { return Ok(None) };
        // Files that the system makes up when they are read have no length.
        let len = file.metadata().ok().filter(Metadata::is_file).map_or(0, |data| data.len());
        let ranges = Self { file: Arc::new(file), from, next: from, len, limit };
        Ok(if len > 0 { Some(ranges) } else { None })
    }

    /// The byte at which the next range begins.
    pub(super) fn offset(&self) -> u64 {
        self.next
    }

    /// The next range; none at the end of the file.
    pub(super) fn next(&mut self) -> Option<LineRange> {
        let (start, end) = (self.next, self.len.min(self.next + RANGE));
        self.next = end;
        let Self { ref file, from, len, limit, .. } = *self;
        (start < end).then(|| LineRange { file: Arc::clone(file), from, start, end, len, limit })
    }
}

/// The lines of a file that begin in a range of its bytes.
#[derive(Debug)]
pub(super) struct LineRange {
    file: Arc<File>,
    from: u64,
    start: u64,
    end: u64,
    len: u64,
    limit: usize,
}

/// Why lines were not read.
pub(super) enum RangeError {
    Io(io::Error),
    /// The line with this number, counted from where numbering begins, has more bytes than a text may have.
    TooLong {
        line: u64,
        limit: usize,
        /// The byte of the file at which it begins.
        byte: u64,
        /// The byte of the file at which the first line of the range begins. The lines from there to the long one have been read.
        start: u64,
    },
}

impl From<io::Error> for RangeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl LineRange {
    /// True if the file ends with this range.
    pub(super) fn is_last(&self) -> bool {
        self.end == self.len
    }

    /// Replaces the contents of `bytes` by the lines; the last one is read to its end, also beyond the range. Answers the byte of the
    /// file at which the first line begins.
    pub(super) fn read(&self, bytes: &mut Vec<u8>) -> Result<u64, RangeError> {
        // A line begins with the range if the byte before is a line feed.
        let before = u64::from(self.start > 0);
        let mut start = self.start - before;
        bytes.resize((self.end - start) as usize, 0);
        read_exact(&self.file, bytes, start)?;
        if before > 0 {
            let inside = &bytes[..bytes.len() - 1];
            let first = memchr::memchr(b'\n', inside).map_or(bytes.len(), |newline| newline + 1);
            bytes.drain(..first);
            start += first as u64;
        }
        let last = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        if last < bytes.len()
            && let Err(error) = self.complete(last, bytes, start)
        {
            // The line may have taken gigabytes.
            bytes.truncate(last);
            bytes.shrink_to_fit();
            return Err(error);
        }
        Ok(start)
    }

    /// Reads on to the end of the line that begins at `last` of `bytes`, which begin at `start` of the file.
    fn complete(&self, last: usize, bytes: &mut Vec<u8>, start: u64) -> Result<(), RangeError> {
        let mut step = RANGE as usize >> 4;
        loop {
            let end = bytes.len();
            bytes.try_reserve(step).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
            bytes.resize(end + step, 0);
            let read = read_at(&self.file, &mut bytes[end..], start + end as u64)?;
            let newline = memchr::memchr(b'\n', &bytes[end..end + read]);
            bytes.truncate(end + newline.map_or(read, |newline| newline + 1));
            if bytes.len() - last > self.limit {
                let byte = start + last as u64;
                let (line, limit) = (self.line_at(byte)?, self.limit);
                return Err(RangeError::TooLong { line, limit, byte, start });
            }
            if newline.is_some() || read == 0 {
                return Ok(());
            }
            step = (step * 2).min(RANGE as usize);
        }
    }

    /// The number, from 1 on, of the line that begins at a byte of the file. Reads all bytes before: only messages need the number.
    ///
    /// # Errors
    /// The errors of reading.
    pub(super) fn line_at(&self, byte: u64) -> io::Result<u64> {
        let (mut at, mut lines, mut bytes) = (self.from, 1, vec![0; COUNTED]);
        while at < byte {
            let bytes = &mut bytes[..COUNTED.min((byte - at) as usize)];
            read_exact(&self.file, bytes, at)?;
            lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            at += bytes.len() as u64;
        }
        Ok(lines)
    }
}

/// Fills `bytes` with the bytes of a file from `offset` on.
fn read_exact(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = read_at(file, bytes, offset)?;
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter while it was read"));
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

/// Reads some bytes of a file from `offset` on; 0 of them at the end.
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, bytes, offset);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset);
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// The lines of each range, with the bytes at which they begin.
    fn lines_of(text: &[u8], from: u64, range: u64, limit: usize) -> Result<Vec<(u64, Vec<u8>)>, RangeError> {
        let mut file = tempfile::tempfile().expect("room on the disk");
        file.write_all(text).expect("room on the disk");
        let (file, len) = (Arc::new(file), text.len() as u64);
        let (mut found, mut bytes) = (Vec::new(), Vec::new());
        for start in (from..len).step_by(range as usize) {
            let end = len.min(start + range);
            let range = LineRange { file: Arc::clone(&file), from, start, end, len, limit };
            let mut at = range.read(&mut bytes)?;
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                found.push((at, line.to_vec()));
                at += line.len() as u64;
            }
        }
        Ok(found)
    }

    fn naive(text: &[u8], from: u64) -> Vec<(u64, Vec<u8>)> {
        let mut at = 0;
        let lines = text.split_inclusive(|&byte| byte == b'\n').map(|line| {
            at += line.len() as u64;
            (at - line.len() as u64, line.to_vec())
        });
        lines.filter(|&(start, _)| start >= from).collect()
    }

    proptest! {
        #[test]
        fn lines_of_ranges_matches_naive(text in "[a\n]{0,40}", from in 0..41u64, range in 1..12u64) {
            let from = from.min(text.len() as u64);
            let found = lines_of(text.as_bytes(), from, range, 1000).ok();
            prop_assert_eq!(found, Some(naive(text.as_bytes(), from)));
        }

        #[test]
        fn the_limit_of_a_line_matches_naive(text in "[a\n]{0,40}", range in 1..12u64, limit in 1..12usize) {
            let naive = naive(text.as_bytes(), 0);
            // Lines within a range are shorter than a range, and a range is far shorter than the limit.
            let limit = limit.max(range as usize);
            let expected = naive.iter().position(|(_, line)| line.len() > limit);
            match lines_of(text.as_bytes(), 0, range, limit) {
                Ok(_) => prop_assert_eq!(expected, None),
                Err(RangeError::TooLong { line, .. }) => prop_assert_eq!(expected, Some(line as usize - 1)),
                Err(RangeError::Io(error)) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let file = Arc::new(tempfile::tempfile().expect("room on the disk"));
        let range = LineRange { file, from: 0, start: 0, end: 10, len: 10, limit: 100 };
        assert!(
            matches!(range.read(&mut Vec::new()), Err(RangeError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof)
        );
    }
}
