//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Writes `bytes` to a temporary name beside `path`, flushes them to disk and renames.
///
/// Through a symbolic link the file it points to is replaced, or made if it is not there. What is no regular file, such
/// as a pipe or `/dev/null`, is written to and not replaced.
///
/// # Errors
/// [`Error::Io`]; the temporary file is removed and whatever `path` held stays.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut device = File::options().write(true).open(path).map_err(failed("open"))?;
        return device.write_all(bytes).map_err(failed("write"));
    }
    let target = match there {
        Ok(_) => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        Err(error) => pointed_to(path, error).map_err(failed("open"))?,
    };
    let temporary = temporary_name(&target);
    let result = write_and_rename(&temporary, &target, bytes);
    if result.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Where the links end that lead to nothing; `error` is what is wrong with them if they do not end.
fn pointed_to(path: &Path, error: io::Error) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    // Linux follows as many.
    for _ in 0..=40 {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        // What is absolute takes the place of the whole.
        target.set_file_name(next);
    }
    Err(error)
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_and_rename(temporary: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
    let mut file = File::create(temporary).map_err(failed("create"))?;
    file.write_all(bytes).map_err(failed("write"))?;
    file.sync_all().map_err(failed("write"))?;
    fs::rename(temporary, path).map_err(failed("replace"))
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
