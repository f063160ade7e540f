//! A file that is read from any place: a file of this machine, or of a store.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::file_errors::STDIN;
use crate::corpus::remote::{RemoteReader, url_of};

/// An open file.
#[derive(Debug)]
pub(super) enum SeekableFile {
    Local(File),
    Remote(RemoteReader),
}

impl SeekableFile {
    /// Opens a file; none if it can only be read front to back, such as a pipe.
    ///
    /// # Errors
    /// The errors of opening.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        if let Some(url) = url_of(path) {
            return RemoteReader::open(url).map(|file| Some(Self::Remote(file)));
        }
        if path.as_os_str() == STDIN || !path.metadata()?.is_file() {
            return Ok(None);
        }
        File::open(path).map(|file| Some(Self::Local(file)))
    }

    /// Opens a Parquet file, which is read from its end.
    ///
    /// # Errors
    /// The errors of opening; [`io::ErrorKind::Unsupported`] for a pipe.
    pub(super) fn open_from_end(path: &Path) -> io::Result<Self> {
        let message = "a Parquet file is read from its end, which a pipe does not allow";
        Self::open(path)?.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Another handle of the same file.
    ///
    /// # Errors
    /// The operating system's answer.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Local(file) => Self::Local(file.try_clone()?),
            Self::Remote(file) => Self::Remote(file.clone()),
        })
    }

    /// Bytes of the file.
    ///
    /// # Errors
    /// The operating system's answer.
    pub(super) fn size(&self) -> io::Result<u64> {
        match self {
            Self::Local(file) => file.metadata().map(|data| data.len()),
            Self::Remote(file) => Ok(file.size()),
        }
    }

    /// Compares a file of a store with its size and version when it was opened.
    ///
    /// # Errors
    /// The errors of [`RemoteReader::check_unchanged`].
    pub(super) fn check_unchanged(&self) -> io::Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(file) => file.check_unchanged(),
        }
    }
}

impl Read for SeekableFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.read(buffer),
            Self::Remote(file) => file.read(buffer),
        }
    }
}

impl Seek for SeekableFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Local(file) => file.seek(to),
            Self::Remote(file) => file.seek(to),
        }
    }
}

impl Length for SeekableFile {
    fn len(&self) -> u64 {
        self.size().unwrap_or(0)
    }
}

impl ChunkReader for SeekableFile {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self {
            Self::Local(file) => Box::new(file.get_read(start)?),
            Self::Remote(file) => Box::new(file.at(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Self::Local(file) => file.get_bytes(start, length),
            Self::Remote(file) => file.at(start).exactly(length).map_err(ParquetError::from),
        }
    }
}
