//! Files of stores, such as S3 or a web server, by their URLs.
//!
//! The core itself asks no network. A program that embeds it hands over a [`Store`] once; the bindings hand over Python's fsspec.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

/// The store of the process.
static STORE: OnceLock<Box<dyn Store>> = OnceLock::new();

/// Files by their URLs.
pub trait Store: Send + Sync {
    /// Size and version of a file: as they are now, or also as they were when the file was listed or looked up before.
    ///
    /// # Errors
    /// The store's answer.
    fn status(&self, url: &str, is_now: bool) -> io::Result<Status>;

    /// Opens a file.
    ///
    /// # Errors
    /// The store's answer.
    fn open(&self, url: &str) -> io::Result<Arc<dyn RemoteFile>>;
}

/// A file of a store as it was when it was opened.
pub trait RemoteFile: Send + Sync {
    /// Its size in bytes.
    fn size(&self) -> u64;

    /// A block of the file in which byte `at` lies, which is before the end, and the byte that the block begins with.
    ///
    /// # Errors
    /// The store's answer, after all tries.
    fn block(&self, at: u64) -> io::Result<(u64, Bytes)>;

    /// Compares size and version of the file with the ones that it was opened with.
    ///
    /// # Errors
    /// The store's answer; an error if one of the two is another.
    fn check_unchanged(&self) -> io::Result<()>;
}

/// Size and version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its size in bytes.
    pub bytes: u64,
    /// The store's marks of its contents, see [`is_same_version`]; none from a store without marks.
    pub version: Option<String>,
}

/// True if no mark tells two versions of a file apart.
///
/// A version is a list of marks from the surest on, such as `etag abc; modified 1795790400`. An answer that lists a folder may have other
/// marks than an answer about the file, so the first mark that both have decides.
pub fn is_same_version(then: Option<&str>, now: Option<&str>) -> bool {
    fn marks_of(version: &str) -> impl Iterator<Item = (&str, &str)> {
        version.split("; ").filter_map(|mark| mark.split_once(' '))
    }
    let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
    let mut both = marks_of(then).filter_map(|(name, mark)| {
        marks_of(now).find(|(other, _)| *other == name).map(|(_, other)| other == mark)
    });
    both.next().unwrap_or(true)
}

/// Sets the store of the process; the first one stays.
pub fn set_store(store: Box<dyn Store>) {
    drop(STORE.set(store));
}

fn store() -> io::Result<&'static dyn Store> {
    let none = || io::Error::new(io::ErrorKind::Unsupported, "it is a URL, and no store is set");
    STORE.get().map(|store| &**store).ok_or_else(none)
}

/// The URL that a path is, such as `s3://bucket/key`.
pub fn url_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|url| url.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)))
}

/// True if a name may begin a URL. Schemes of one letter are drives of Windows.
pub fn is_scheme(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
}

/// [`Store::status`] of the store of the process.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] without a store; the store's answer.
pub(super) fn status(url: &str, is_now: bool) -> io::Result<Status> {
    store()?.status(url, is_now)
}

/// A place in a file of a store. Its clones read on by themselves.
#[derive(Clone)]
pub(super) struct RemoteReader {
    file: Arc<dyn RemoteFile>,
    at: u64,
    /// The last block, and the byte that it begins with.
    block: (u64, Bytes),
    /// True once the end was reached and the file was found unchanged.
    is_checked: bool,
}

impl fmt::Debug for RemoteReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteReader").field("at", &self.at).finish_non_exhaustive()
    }
}

impl RemoteReader {
    /// Opens a file at its beginning.
    ///
    /// # Errors
    /// As [`status`].
    pub(super) fn open(url: &str) -> io::Result<Self> {
        Ok(Self::new(store()?.open(url)?))
    }

    fn new(file: Arc<dyn RemoteFile>) -> Self {
        Self { file, at: 0, block: (0, Bytes::new()), is_checked: false }
    }

    /// Bytes of the file.
    pub(super) fn size(&self) -> u64 {
        self.file.size()
    }

    /// Another reader of the file, at byte `at`.
    pub(super) fn at(&self, at: u64) -> Self {
        Self { at, ..self.clone() }
    }

    /// [`RemoteFile::check_unchanged`].
    ///
    /// # Errors
    /// The errors of the method.
    pub(super) fn check_unchanged(&self) -> io::Result<()> {
        self.file.check_unchanged()
    }

    /// The next bytes, as many as lie in one block, `length` at most; none at the end.
    fn next(&mut self, length: usize) -> io::Result<Bytes> {
        if self.at >= self.size() || length == 0 {
            return Ok(Bytes::new());
        }
        let is_inside = |(start, bytes): &(u64, Bytes)| {
            self.at.checked_sub(*start).is_some_and(|skip| skip < bytes.len() as u64)
        };
        if !is_inside(&self.block) {
            let block = self.file.block(self.at)?;
            if !is_inside(&block) {
                let message = format!("the store gave no block with byte {}", self.at);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            self.block = block;
        }
        let (start, bytes) = &self.block;
        let skip = (self.at - start) as usize;
        let next = bytes.slice(skip..bytes.len().min(skip.saturating_add(length)));
        self.at += next.len() as u64;
        Ok(next)
    }

    /// The next `length` bytes, without a copy if they lie in one block.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if there are fewer; the store's answer.
    pub(super) fn exactly(&mut self, length: usize) -> io::Result<Bytes> {
        // Before memory is asked for: a damaged file may state any length.
        if length as u64 > self.size().saturating_sub(self.at) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let first = self.next(length)?;
        if first.len() == length {
            return Ok(first);
        }
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&first);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.next(length - bytes.len())?);
        }
        Ok(bytes.into())
    }
}

/// The end is reached only in a file that is as it was when it was opened.
impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let next = self.next(buffer.len())?;
        buffer[..next.len()].copy_from_slice(&next);
        if next.is_empty() && !buffer.is_empty() && !self.is_checked {
            self.check_unchanged()?;
            self.is_checked = true;
        }
        Ok(next.len())
    }
}

impl Seek for RemoteReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(offset) => self.size().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use proptest::prelude::*;

    use super::*;

    struct InMemory {
        bytes: Vec<u8>,
        block: usize,
        is_changed: AtomicBool,
    }

    impl RemoteFile for InMemory {
        fn size(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn block(&self, at: u64) -> io::Result<(u64, Bytes)> {
            let start = at as usize / self.block * self.block;
            let end = self.bytes.len().min(start + self.block);
            Ok((start as u64, Bytes::copy_from_slice(&self.bytes[start..end])))
        }

        fn check_unchanged(&self) -> io::Result<()> {
            if self.is_changed.load(Ordering::Relaxed) { Err(io::Error::other("changed")) } else { Ok(()) }
        }
    }

    fn reader(bytes: &[u8], block: usize, is_changed: bool) -> RemoteReader {
        let file = InMemory { bytes: bytes.to_vec(), block, is_changed: is_changed.into() };
        RemoteReader::new(Arc::new(file))
    }

    #[test]
    fn urls_are_told_from_paths() {
        let is_url = |path: &str| url_of(Path::new(path)).is_some();
        assert!(["s3://b/k", "abfs+x://b", "https://h", "hf://datasets/a/b"].into_iter().all(is_url));
        assert!(!["", "a", "/a", "c://b", "1s://b", "a b://c", "s3:/b/k", "://b"].into_iter().any(is_url));
    }

    #[test]
    fn the_first_mark_of_both_versions_decides() {
        let is_same = |then, now| is_same_version(Some(then), Some(now));
        assert!(is_same("etag a; modified 1", "etag a; modified 2"));
        assert!(!is_same("etag a; modified 1", "etag b; modified 1"));
        assert!(is_same("created 1", "etag a; modified 2") && is_same("etag a b", "modified 1; etag a b"));
        assert!(!is_same("created 1; modified 1", "etag a; modified 2"));
        assert!(is_same_version(None, Some("etag a")) && is_same_version(Some(""), None));
    }

    #[test]
    fn the_end_is_reached_only_in_an_unchanged_file() {
        let mut read = Vec::new();
        assert_eq!(reader(b"abc", 2, false).read_to_end(&mut read).expect("it is unchanged"), 3);
        let mut changed = reader(b"abc", 2, true);
        assert!(changed.read_exact(&mut [0; 3]).is_ok());
        assert!(changed.read_to_end(&mut read).is_err());
    }

    #[test]
    fn more_bytes_than_there_are_take_no_memory() {
        let mut short = reader(b"abc", 2, false);
        assert_eq!(short.exactly(usize::MAX).expect_err("too many").kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(short.at(u64::MAX).exactly(1).expect_err("too far").kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(short.at(9).read(&mut [0]).expect("nothing"), 0);
        assert!(short.seek(SeekFrom::End(-4)).is_err());
    }

    proptest! {
        #[test]
        fn remote_reader_matches_naive(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            block in 1..20usize,
            steps in prop::collection::vec((0..70u64, 0..30usize, any::<bool>()), 0..20),
        ) {
            let (mut remote, mut naive) = (reader(&bytes, block, false), io::Cursor::new(&bytes));
            for (to, length, is_exact) in steps {
                prop_assert_eq!(remote.seek(SeekFrom::Start(to)).ok(), naive.seek(SeekFrom::Start(to)).ok());
                let mut wanted = vec![0; length];
                if is_exact {
                    let is_there = naive.read_exact(&mut wanted).is_ok();
                    prop_assert_eq!(remote.exactly(length).ok(), is_there.then(|| Bytes::from(wanted)));
                } else {
                    let read = naive.read(&mut wanted).expect("in memory");
                    wanted.truncate(read);
                    let mut found = Vec::new();
                    remote.by_ref().take(length as u64).read_to_end(&mut found).expect("in memory");
                    prop_assert_eq!(found, wanted);
                }
            }
        }
    }
}
