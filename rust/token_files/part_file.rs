//! A file that is written under a temporary name and gets its own once its whole part is on the disk.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 18;

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEntry {
    pub(super) bytes: u64,
    pub(super) crc32: String,
}

/// A file of a part. Unless it is finished, it is removed when it is dropped.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    /// Bytes at the beginning that are written last.
    header: usize,
    /// Of the bytes after the header.
    crc: Crc,
    bytes: u64,
    is_renamed: bool,
}

/// The temporary name of a file. It is the same in every process, so a process finds the file that a killed one has left.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

impl PartFile {
    /// Opens the file for `path`, with room for a header of so many bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn create(path: PathBuf, header: usize) -> Result<Self> {
        let temporary = temporary(&path);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&temporary);
        let file = BufWriter::with_capacity(BUFFER, file.map_err(Error::io("create", &path))?);
        let mut file =
            Self { path, temporary, file, header, crc: Crc::new(), bytes: header as u64, is_renamed: false };
        let zeros = vec![0; header];
        file.file.write_all(&zeros).map_err(Error::io("write", &file.path))?;
        Ok(file)
    }

    /// The folder and the name that the file gets.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// Fills in the header and has all bytes reach the disk.
    ///
    /// # Errors
    /// [`Error::Io`], also if the disk turns out to be full only now.
    pub(super) fn sync(&mut self, header: &[u8]) -> Result<FileEntry> {
        debug_assert_eq!(header.len(), self.header);
        let write = |file: &mut BufWriter<File>| {
            file.flush()?;
            if !header.is_empty() {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(header)?;
                file.flush()?;
            }
            file.get_ref().sync_all()
        };
        write(&mut self.file).map_err(Error::io("write", &self.path))?;
        let mut crc = Crc::new();
        crc.update(header);
        crc.combine(&self.crc);
        Ok(FileEntry { bytes: self.bytes, crc32: format!("{:08x}", crc.sum()) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn rename(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.path).map_err(Error::io("rename", &self.path))?;
        self.is_renamed = true;
        Ok(())
    }

    /// Opens the written file for reading, from its beginning.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn reread(&mut self) -> Result<io::BufReader<File>> {
        let read = |file: &mut BufWriter<File>| {
            file.flush()?;
            let mut again = file.get_ref().try_clone()?;
            again.seek(SeekFrom::Start(0))?;
            Ok(io::BufReader::with_capacity(BUFFER, again))
        };
        read(&mut self.file).map_err(Error::io("read", &self.path))
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            // An earlier error is the one that matters.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
