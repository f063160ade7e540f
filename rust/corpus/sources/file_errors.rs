//! Files as errors name them.

use std::io;
use std::path::Path;

use crate::Error;

/// The name of standard input among paths.
pub(in crate::corpus) const STDIN: &str = "-";

/// The error of a file.
pub(super) fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::io(action, named(path).as_ref())(source)
}

/// A path as messages name it.
pub(super) fn named(path: &Path) -> String {
    if path.as_os_str() == STDIN { "standard input".to_owned() } else { path.display().to_string() }
}
