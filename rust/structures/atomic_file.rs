//! Files that appear whole or not at all, also after a power cut.
//!
//! The bytes go to a temporary file in the folder of the target, `.lexmill-<process id>-<random number>.tmp`, which is synced
//! and renamed to the target; then the folder is synced, since the new name is an entry of the folder.
//!
//! Closing a file may fail, too, and Rust does not tell. On the file systems where that matters, such as NFS, the error belongs to a
//! write that was put off, and syncing reports it first. A file that only its own process reads again, such as a run of words, is not
//! synced but has checksums.
//!
//! A process that is killed leaves its temporary file. So the writer of a temporary file holds a lock on it (`flock`), which
//! the system releases however the process ends, and each write first removes the temporary files of its folder that nobody has
//! locked. A file that is being written is never removed by a process of the same machine. On a file system without locks
//! nothing is removed, and on one that does not share locks between machines these must not save into one folder at the same
//! time.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The beginning and the end of the names of temporary files.
const PREFIX: &str = ".lexmill-";
const SUFFIX: &str = ".tmp";

/// Puts `bytes` in place of the file at `path`, durably.
///
/// A symbolic link stays: the file that it points to is replaced, or made if it is not there. A file that is not regular, such as a
/// pipe or `/dev/null`, is written to and not replaced.
///
/// # Errors
/// [`Error::Io`]; the temporary file is removed and the old contents of `path` stay, unless only the folder could not be synced.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write()`], with the bytes that `write` puts into the file.
///
/// # Errors
/// As [`write()`].
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let failed = |action| Error::io(action, path);
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut device = File::options().write(true).open(path).map_err(failed("open"))?;
        return write(&mut device).map_err(failed("write"));
    }
    let target = match there {
        Ok(_) => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        Err(error) => pointed_to(path, error).map_err(failed("open"))?,
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_litter(folder);
    let (temporary, file) = create_temporary(folder).map_err(failed("create"))?;
    let result = write_and_rename(file, &temporary, &target, write);
    if result.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    result?;
    sync_folder(folder).map_err(failed("sync the folder of"))
}

/// The path at the end of links that lead to no file; `error` if there are more than 40 links.
fn pointed_to(path: &Path, error: io::Error) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    // Linux follows as many.
    for _ in 0..=40 {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        // An absolute link takes the place of the whole path.
        target.set_file_name(next);
    }
    Err(error)
}

/// A new temporary file in `folder`, locked where the file system has locks.
fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let name = format!("{PREFIX}{}-{:016x}{SUFFIX}", std::process::id(), fastrand::u64(..));
        let path = folder.join(name);
        let file = match File::options().write(true).create_new(true).open(&path) {
            // A forked child draws the numbers that its parent draws, and other containers have the same process ids.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        // Another writer may have taken it for litter before it was locked.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken && path.try_exists()? {
            return Ok((path, file));
        }
    }
}

/// Removes the temporary files in `folder` whose writers have ended.
///
/// No error: a file that may not be read, locked or removed is left to another run.
fn remove_litter(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_temporary = |entry: &DirEntry| {
        is_temporary_name(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    for entry in entries.flatten().filter(is_temporary) {
        let path = entry.path();
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        // Held until the file is gone, so that nobody begins to write to it. A file that was renamed in the meantime keeps its
        // new name.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary_name(name: &OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    middle.and_then(|middle| middle.split_once('-')).is_some_and(|(process, number)| {
        process.parse::<u32>().is_ok() && number.len() == 16 && u64::from_str_radix(number, 16).is_ok()
    })
}

/// Writes, syncs and renames; the lock is released after that.
fn write_and_rename(
    mut file: File,
    temporary: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let failed = |action| Error::io(action, path);
    write(&mut file).map_err(failed("write"))?;
    file.sync_all().map_err(failed("write"))?;
    fs::rename(temporary, path).map_err(failed("replace"))
}

/// Makes a rename in `folder` last through a power cut.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};

    // The folder may be written to but not read, or the file system does not sync folders: there is nothing more to do.
    let is_final = |error: &io::Error| matches!(error.kind(), PermissionDenied | InvalidInput | Unsupported);
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if is_final(&error) => Ok(()),
        result => result,
    }
}

/// Elsewhere folders cannot be opened as files are.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn devices_are_written_and_links_followed() {
        use std::os::unix::fs::{FileTypeExt, symlink};

        let folder = std::env::temp_dir().join(format!("lexmill-devices-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let (device, link, file) = (folder.join("device"), folder.join("link"), folder.join("file"));
        // A link, so that a mistake replaces nothing but the link.
        symlink("/dev/null", &device).expect("a free name");
        write(&device, b"x").expect("it takes everything");
        let there = fs::metadata(&device).expect("it is there");
        assert!(there.file_type().is_char_device());
        fs::write(&file, b"old").expect("a free name");
        symlink(&file, &link).expect("a free name");
        write(&link, b"new").expect("it may be written");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read(&file).expect("it is there"), b"new");
        let (dangling, made, round) = (folder.join("dangling"), folder.join("made"), folder.join("round"));
        symlink("made", &dangling).expect("a free name");
        write(&dangling, b"new").expect("it may be made");
        assert!(fs::symlink_metadata(&dangling).expect("it is there").is_symlink());
        assert_eq!(fs::read(&made).expect("it is there"), b"new");
        symlink("round", &round).expect("a free name");
        assert!(write(&round, b"new").is_err());
        assert!(fs::symlink_metadata(&round).expect("it is there").is_symlink());
        fs::remove_dir_all(folder).expect("ours");
    }

    #[test]
    fn a_write_removes_what_ended_writers_left_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("lexmill-litter-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let names = || {
            let names = fs::read_dir(&folder).expect("it is there").flatten().map(|entry| entry.file_name());
            let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
            names.sort();
            names
        };
        let litter = ".lexmill-7-0123456789abcdef.tmp";
        let others = [".lexmill-7-0123456789abcde.tmp", ".lexmill-a-0123456789abcdef.tmp", "file.7.tmp"];
        for name in [litter].iter().chain(&others) {
            fs::write(folder.join(name), b"left").expect("a free name");
        }
        let (living, lock) = create_temporary(&folder).expect("a free name");
        assert!(is_temporary_name(living.file_name().expect("it has one")));
        write(&folder.join("file"), b"x").expect("a free name");
        let living_name = living.file_name().and_then(OsStr::to_str).expect("ours");
        let mut expected = [&others[..], &[living_name, "file"]].concat();
        expected.sort_unstable();
        assert_eq!(names(), expected);
        drop(lock);
        write(&folder.join("file"), b"x").expect("a free name");
        assert!(!living.exists());
        fs::remove_dir_all(folder).expect("ours");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_synced_is_an_error_unless_it_may_not_be_read() {
        assert!(sync_folder(Path::new(".")).is_ok());
        assert!(sync_folder(Path::new("/dev/null")).is_ok());
        assert!(sync_folder(Path::new("absent")).is_err());
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("lexmill-atomic-{}", std::process::id()));
        fs::create_dir_all(folder.join("taken")).expect("a temporary folder");
        assert!(write(&folder.join("taken"), b"x").is_err());
        assert!(write(&folder.join("absent/file"), b"x").is_err());
        write(&folder.join("file"), b"x").expect("a free name");
        let mut names: Vec<_> =
            fs::read_dir(&folder).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["file", "taken"]);
        fs::remove_dir_all(folder).expect("ours");
    }
}
