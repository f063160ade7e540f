//! A list in a file that grows by a line of JSON at a time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic_file;
use crate::{Error, Result};

/// A list that is being written. An added item is on the disk before the next call.
#[derive(Debug)]
pub struct AppendLog<T> {
    path: PathBuf,
    file: File,
    items: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> AppendLog<T> {
    /// The items of a list; none if there is no file. A line that is cut, as a killed process may leave it, ends the list.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read(path: &Path) -> Result<Vec<T>> {
        let lines = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            lines => lines.map_err(Error::io("read", path))?,
        };
        Ok(lines
            .split_inclusive(|&byte| byte == b'\n')
            .map_while(|line| serde_json::from_slice(line.strip_suffix(b"\n")?).ok())
            .collect())
    }

    /// Puts a list of some items in place of the one before.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: PathBuf, items: &[T]) -> Result<Self> {
        let lines = items.iter().map(line_of).collect::<Result<Vec<_>>>()?;
        atomic_file::write(&path, lines.concat().as_bytes())?;
        let file = File::options().append(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        Ok(Self { path, file, items: PhantomData })
    }

    /// Adds an item.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn push(&mut self, item: &T) -> Result<()> {
        let line = line_of(item)?;
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(Error::io("write", &self.path))
    }
}

fn line_of(item: &impl Serialize) -> Result<String> {
    let line = serde_json::to_string(item).map_err(|error| Error::Custom(Box::new(error)))?;
    Ok(line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_ends_the_list() {
        let folder = tempfile::tempdir().expect("room on the disk");
        let path = folder.path().join("items");
        assert!(AppendLog::<u32>::read(&path).expect("no file").is_empty());
        let mut log = AppendLog::create(path.clone(), &[1, 2]).expect("room on the disk");
        log.push(&34).expect("room on the disk");
        assert_eq!(AppendLog::<u32>::read(&path).expect("a list"), [1, 2, 34]);
        // A cut number is a number, too.
        fs::write(&path, "1\n2\n3").expect("room on the disk");
        assert_eq!(AppendLog::<u32>::read(&path).expect("a list"), [1, 2]);
        let pair = |at: u32| (at, "x".to_owned());
        let mut log = AppendLog::create(path.clone(), &[pair(1)]).expect("room on the disk");
        log.push(&pair(2)).expect("room on the disk");
        let whole = fs::read(&path).expect("a list");
        fs::write(&path, &whole[..whole.len() - 3]).expect("room on the disk");
        assert_eq!(AppendLog::<(u32, String)>::read(&path).expect("a list"), [pair(1)]);
    }
}
