//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Writes `bytes` to a temporary name beside `path`, flushes them to disk and renames.
///
/// # Errors
/// [`Error::Io`]; the temporary file is removed and whatever `path` held stays.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let result = write_and_rename(&temporary, path, bytes);
    if result.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    result
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
