//! One writer at a time for a folder.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The name of the file whose lock stands for the folder. It holds the number of the process.
pub const LOCK: &str = ".lexmill-lock";

/// Held while a process writes; the system releases the lock however the process ends.
///
/// The number in the file is for messages alone: the lock decides. So a file that a killed process has left keeps nobody out, also if
/// another process has its number by now.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    file: File,
}

impl FolderLock {
    /// Takes the lock of `folder`.
    ///
    /// On a file system without locks two writers are not kept apart.
    ///
    /// # Errors
    /// [`Error::Output`] if another process has it; [`Error::Io`].
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK);
        let failed = Error::io("lock", &path);
        loop {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = file.map_err(failed)?;
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                let mut process = String::new();
                let _ = file.read_to_string(&mut process);
                let message = match process.trim() {
                    "" => "another process writes to it".to_owned(),
                    process => format!("process {process} writes to it"),
                };
                return Err(Error::Output { path: folder.to_owned(), message });
            }
            // A writer that has just ended may have removed the file before it was locked here.
            if is_at(&file, &path) {
                // Made before the number is written, so that the file goes if there is no room for that.
                let mut lock = Self { path: path.clone(), file };
                lock.write_number().map_err(failed)?;
                return Ok(lock);
            }
        }
    }

    fn write_number(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(std::process::id().to_string().as_bytes())
    }
}

/// True if `path` still names this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let identity = |data: fs::Metadata| (data.dev(), data.ino());
    file.metadata().ok().map(identity) == fs::metadata(path).ok().map(identity)
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Removed while the lock is held, so that nobody else has locked this file. A file that remains is harmless.
        let _ = fs::remove_file(&self.path);
    }
}
