//! One writer at a time for a folder.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The name of the file whose lock stands for the folder. It holds the number of the process.
pub const LOCK: &str = ".lexmill-lock";

/// Held while a process writes; the system releases the lock however the process ends.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    _file: File,
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
        let failed = |source| Error::Io { action: "lock", path: path.clone(), source };
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
                let number = std::process::id().to_string();
                let write = |file: &mut File| {
                    file.rewind()?;
                    file.set_len(0)?;
                    file.write_all(number.as_bytes())
                };
                write(&mut file).map_err(failed)?;
                return Ok(Self { path, _file: file });
            }
        }
    }
}

/// Whether `path` still names this file.
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
        // While the lock is held, so that nobody else has locked this file. What remains is harmless.
        let _ = fs::remove_file(&self.path);
    }
}
