//! Paths of files from Python.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::errors::exception;
use crate::corpus::remote::{is_scheme, url_of};

/// The path of a file or folder: a `str` or an `os.PathLike`.
pub(super) struct FilePath(PathBuf);

impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl From<FilePath> for PathBuf {
    fn from(path: FilePath) -> Self {
        path.0
    }
}

impl<'py> FromPyObject<'_, 'py> for FilePath {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let path: PathBuf = item.extract().or_else(|error: PyErr| {
            let found = if item.is_none() {
                "'None'".to_owned()
            } else {
                format!("'{}' object", item.get_type().name()?)
            };
            let message = format!("{found} is not an instance of 'str' or 'os.PathLike', as a path must be");
            let is_no_path = error.is_instance_of::<PyTypeError>(item.py());
            Err(if is_no_path { exception(item.py(), "InputTypeError", message) } else { error })
        })?;
        if url_of(&path).is_some() || is_spoilt_url(&path) {
            let message = format!(
                "{} is not on this machine, and no URL may stand here; copy the files, or mount the store as a folder",
                path.display()
            );
            return Err(exception(item.py(), "RemotePathError", message));
        }
        Ok(Self(path))
    }
}

/// The path of a file of texts, which may be a URL.
pub(super) struct InputPath(pub(super) PathBuf);

impl<'py> FromPyObject<'_, 'py> for InputPath {
    type Error = PyErr;

    fn extract(item: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let path = match item.extract::<PathBuf>() {
            Ok(path) if url_of(&path).is_some() => path,
            Ok(path) if is_spoilt_url(&path) => {
                let message =
                    format!("{} was a URL before it became a Path; pass URLs as str", path.display());
                return Err(exception(item.py(), "RemotePathError", message));
            }
            _ => item.extract::<FilePath>()?.into(),
        };
        Ok(Self(path))
    }
}

/// True if a path is a URL that `pathlib.Path` has made one slash of two in, such as `s3:/bucket/key`: there is no folder `s3:`.
fn is_spoilt_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|path| path.split_once(":/")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| is_scheme(scheme) && !Path::new(&format!("{scheme}:")).is_dir())
}
