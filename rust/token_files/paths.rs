//! Names of files in a folder of token files.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::{Error, Result};

/// The folders of the splits within the folder of a run.
pub(super) const SPLITS: [&str; 2] = ["train", "validation"];

/// The name of a file within the folder of its split, if it is there.
pub(super) fn within<'a>(split: &str, name: &'a str) -> Option<&'a str> {
    if split.is_empty() { Some(name) } else { name.strip_prefix(split)?.strip_prefix('/') }
}

/// The name of a file in the folder of the run, from its name within the folder of its split.
pub(super) fn joined(split: &str, name: &str) -> String {
    if split.is_empty() { name.to_owned() } else { format!("{split}/{name}") }
}

/// Removes a file, unless it is not there.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if !matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(Error::io("remove", path)(source))
        }
        _ => Ok(()),
    }
}
