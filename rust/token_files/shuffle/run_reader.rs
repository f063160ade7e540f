//! The documents of one sorted run, from any rank on.
//!
//! A run has its documents first: the record's file and byte and the lengths of ids and added values, four integers of 64 bits, then
//! the ids and the values. Marks follow, one for each megabyte or so: where in the run a document begins, and its record. At the end
//! stand the byte at which the marks begin and their number. All integers are little-endian.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::rank::Rank;
use crate::corpus::inputs::Place;
use crate::{Error, Result};

const HEADER: usize = 32;
const MARK: u64 = 24;
const TRAILER: u64 = 16;

/// The header of a document in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) place: Place,
    /// Bytes of ids.
    pub(super) ids: usize,
    /// Bytes of added values.
    pub(super) added: usize,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let words = [self.place.file as u64, self.place.byte, self.ids as u64, self.added as u64];
        for (at, word) in bytes.chunks_exact_mut(8).zip(words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn of_bytes(bytes: &[u8; HEADER]) -> Self {
        let [file, byte, ids, added] = words(bytes);
        let place = Place { file: file as usize, byte };
        Self { place, ids: ids as usize, added: added as usize }
    }
}

/// Little-endian integers one after the other.
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, at) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*at);
    }
    words
}

/// Reads a run. Between reads its file is closed if there are too many runs for the system to have all of them open.
struct RunFile {
    path: PathBuf,
    byte: u64,
    file: Option<File>,
    is_kept_open: bool,
}

impl Read for RunFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = if let Some(file) = self.file.take() {
            file
        } else {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.byte))?;
            file
        };
        let read = file.read(buffer)?;
        self.byte += read as u64;
        if self.is_kept_open {
            self.file = Some(file);
        }
        Ok(read)
    }
}

/// One run, at one of its documents.
pub(super) struct RunReader {
    bytes: BufReader<RunFile>,
    seed: u64,
    /// Bytes of documents from the next header on.
    left: u64,
    /// The header of the document whose ids are next.
    next: Option<(Rank, Header)>,
}

impl RunReader {
    /// Goes to the first document whose rank is `begin` or more.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Output`] for a run that is not as it was written.
    pub(super) fn open(
        path: PathBuf,
        seed: u64,
        begin: Option<Rank>,
        buffer: usize,
        is_kept_open: bool,
    ) -> Result<Self> {
        let found = start_of(&path, seed, begin);
        let (start, records) = found.map_err(Error::io("read", &path))?;
        let Some(left) = records.checked_sub(start) else { return Err(damaged(&path)) };
        let file = RunFile { path, byte: start, file: None, is_kept_open };
        let mut run = Self { bytes: BufReader::with_capacity(buffer, file), seed, left, next: None };
        run.read_header()?;
        while let (Some((rank, header)), Some(begin)) = (run.next, begin)
            && rank < begin
        {
            let skipped = run.bytes.by_ref().take((header.ids + header.added) as u64);
            let skipped = io::copy(&mut { skipped }, &mut io::sink());
            skipped.map_err(|source| run.failed(source))?;
            run.read_header()?;
        }
        Ok(run)
    }

    /// The rank of the next document; none at the end.
    pub(super) fn rank(&self) -> Option<Rank> {
        self.next.map(|(rank, _)| rank)
    }

    /// Replaces `document` by the bytes of the next document; answers its record, and how many of the bytes are ids.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(super) fn take(&mut self, document: &mut Vec<u8>) -> Result<Option<(Place, usize)>> {
        let Some((rank, header)) = self.next else { return Ok(None) };
        document.clear();
        document.resize(header.ids + header.added, 0);
        self.bytes.read_exact(document).map_err(|source| self.failed(source))?;
        self.read_header()?;
        // Whoever wrote ranks in another order wrote other documents.
        if self.rank().is_some_and(|next| next <= rank) {
            return Err(damaged(&self.bytes.get_ref().path));
        }
        Ok(Some((header.place, header.ids)))
    }

    fn read_header(&mut self) -> Result<()> {
        self.next = None;
        if self.left == 0 {
            return Ok(());
        }
        let mut header = [0; HEADER];
        self.bytes.read_exact(&mut header).map_err(|source| self.failed(source))?;
        let header = Header::of_bytes(&header);
        let bytes = (header.ids as u64).checked_add(header.added as u64);
        let bytes = bytes.and_then(|bytes| bytes.checked_add(HEADER as u64));
        let Some(left) = bytes.and_then(|bytes| self.left.checked_sub(bytes)) else {
            return Err(damaged(&self.bytes.get_ref().path));
        };
        self.left = left;
        self.next = Some((Rank::new(self.seed, header.place), header));
        Ok(())
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::io("read", &self.bytes.get_ref().path)(source)
    }
}

fn damaged(path: &Path) -> Error {
    let message = "this sorted run is not as it was written; pass overwrite=True to begin again".to_owned();
    Error::Output { path: path.to_owned(), message }
}

/// A byte of the run at which a document begins, the last marked one before the first of rank `begin`, and the byte at which all
/// documents end.
fn start_of(path: &Path, seed: u64, begin: Option<Rank>) -> io::Result<(u64, u64)> {
    let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut trailer = [0; TRAILER as usize];
    file.seek(SeekFrom::Start(size.checked_sub(TRAILER).ok_or_else(cut_off)?))?;
    file.read_exact(&mut trailer)?;
    let [records, marks] = words(&trailer);
    let end = marks.checked_mul(MARK).and_then(|marks| marks.checked_add(records));
    if end.and_then(|end| end.checked_add(TRAILER)) != Some(size) {
        return Err(cut_off());
    }
    let Some(begin) = begin else { return Ok((0, records)) };
    let (mut low, mut high, mut start) = (0, marks, 0);
    while low < high {
        let middle = low + (high - low) / 2;
        let mut mark = [0; MARK as usize];
        file.seek(SeekFrom::Start(records + middle * MARK))?;
        file.read_exact(&mut mark)?;
        let [byte, number, place] = words(&mark);
        if Rank::new(seed, Place { file: number as usize, byte: place }) <= begin {
            (low, start) = (middle + 1, byte);
        } else {
            high = middle;
        }
    }
    Ok((start, records))
}
