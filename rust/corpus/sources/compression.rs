//! A file's bytes, decompressed. The first bytes of a file tell its compression and its format, not its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::file_errors::{STDIN, failed, named};
use super::seekable::SeekableFile;
use crate::corpus::remote::{RemoteReader, url_of};
use crate::structures::binary_formats::{Compression, START, binary_format};
use crate::{Error, Result};

/// Bytes that are read from a file at a time.
const BUFFER: usize = 1 << 18;

/// The same for small files, which are read in less time than the larger buffer takes to get.
const LEAST_BUFFER: usize = 1 << 13;

/// KiB of memory that xz may take to decompress a file: as much as a file made by `xz -9` needs, and a little more.
const XZ_KIB: u32 = 80 << 10;

/// The binary logarithm of the largest window of zstd, which the decoder holds in memory: the window of `zstd --ultra -22`.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Opens a file for its decompressed bytes: all members of a gzip file, all frames or streams of the others. The number of bytes of
/// the file itself that these were made of is added to `read`.
///
/// # Errors
/// The errors of opening the file and of reading its first bytes.
pub(super) fn open(path: &Path, read: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
    let (file, capacity): (Box<dyn Read + Send>, usize) = if path.as_os_str() == STDIN {
        (Box::new(io::stdin()), BUFFER)
    } else if let Some(url) = url_of(path) {
        (Box::new(RemoteReader::open(url)?), BUFFER)
    } else {
        let file = File::open(path)?;
        let data = file.metadata()?;
        let capacity = if data.is_file() { data.len() as usize } else { BUFFER };
        (Box::new(file), capacity.clamp(LEAST_BUFFER, BUFFER))
    };
    let mut file = Counted { file: BufReader::with_capacity(capacity, file), read: Arc::clone(read) };
    Ok(match Compression::of(file.fill_buf()?) {
        None => Box::new(file),
        Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(file)),
        Some(Compression::Zstd) => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(file)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(ZstdReader(decoder))
        }
        Some(Compression::Bzip2) => Box::new(MultiBzDecoder::new(file)),
        Some(Compression::Xz) => Box::new(XzReader::new_mem_limit(file, true, XZ_KIB)),
    })
}

/// Opens a file of text as [`open`] does.
///
/// # Errors
/// [`Error::Io`]; [`Error::NotText`] for a file that begins, decompressed, with the bytes of another format.
pub(in crate::corpus) fn open_text(path: &Path, read: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send>> {
    let mut file = open(path, read).map_err(|error| failed("open", path, error))?;
    let start = first_bytes(&mut file).map_err(|error| failed("read", path, error))?;
    check_text(&start, path)?;
    Ok(Box::new(io::Cursor::new(start).chain(file)))
}

/// Opens a file of text as [`open_text`] does; a plain file of a store at the first line that begins at byte `skip` or after. Answers the
/// byte at which the file was opened.
///
/// # Errors
/// The errors of [`open_text`].
pub(super) fn open_text_after(
    path: &Path,
    skip: u64,
    read: &Arc<AtomicU64>,
) -> Result<(Box<dyn Read + Send>, u64)> {
    if skip > 0
        && url_of(path).is_some()
        && let Some(mut file) = open_plain_text(path)?
    {
        // A line begins at `skip` if the byte before is a line feed.
        file.seek(SeekFrom::Start(skip - 1)).map_err(|error| failed("read", path, error))?;
        let mut file = BufReader::with_capacity(BUFFER, file);
        let passed = file.skip_until(b'\n').map_err(|error| failed("read", path, error))?;
        return Ok((Box::new(Counted { file, read: Arc::clone(read) }), skip - 1 + passed as u64));
    }
    Ok((open_text(path, read)?, 0))
}

/// Opens a text file as [`open_plain`] does.
///
/// # Errors
/// The errors of [`open_text`].
pub(super) fn open_plain_text(path: &Path) -> Result<Option<SeekableFile>> {
    let opened = open_plain(path).map_err(|error| failed("open", path, error))?;
    let Some((file, start)) = opened else { return Ok(None) };
    check_text(&start, path)?;
    Ok(Some(file))
}

/// Opens a file whose bytes can be read from any place, after its first bytes; none if it is compressed or can only be read front to
/// back.
///
/// # Errors
/// The errors of opening the file and of reading its first bytes.
pub(super) fn open_plain(path: &Path) -> io::Result<Option<(SeekableFile, Vec<u8>)>> {
    let Some(mut file) = SeekableFile::open(path)? else { return Ok(None) };
    let start = first_bytes(&mut file)?;
    Ok(if Compression::of(&start).is_some() { None } else { Some((file, start)) })
}

/// The bytes that tell a format, or all if there are fewer.
fn first_bytes(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    Read::by_ref(file).take(START as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Refuses the first bytes of another format than text.
fn check_text(start: &[u8], path: &Path) -> Result<()> {
    match binary_format(start) {
        None => Ok(()),
        Some(kind) => Err(Error::NotText { path: named(path), kind }),
    }
}

/// Decompresses zstd, and tells the limit that a frame with too large a window exceeds.
struct ZstdReader<R: BufRead>(zstd::stream::read::Decoder<'static, R>);

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            // The library has no other name for this error.
            if !error.to_string().starts_with("Frame requires too much memory") {
                return error;
            }
            let limit = 1u64 << (ZSTD_WINDOW_LOG - 20);
            io::Error::other(format!(
                "its zstd window is above the limit of {limit} MiB; compress it without --long, or with --long={ZSTD_WINDOW_LOG}"
            ))
        })
    }
}

/// Counts the bytes that are taken, not the bytes that are buffered.
struct Counted<R> {
    file: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
