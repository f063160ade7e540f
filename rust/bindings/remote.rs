//! The stores of the core: Python's, see `lexmill._data.remote` and `lexmill._data.stored_run`.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::corpus::remote::{RemoteFile, Status, Store, set_store};
use crate::token_files::PartStore;

/// Hands the store to the core.
pub(super) fn set_up() {
    set_store(Box::new(PythonStore));
}

struct PythonStore;

/// A file that `lexmill._data.remote` has opened.
struct PythonFile {
    file: Py<PyAny>,
    size: u64,
}

/// Calls Python. The errors of the core carry the exception, which [`to_python`](super::errors::to_python) raises again.
fn call<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    Python::attach(work).map_err(io::Error::other)
}

impl Store for PythonStore {
    fn status(&self, url: &str, is_now: bool) -> io::Result<Status> {
        call(|py| {
            let status = py.import("lexmill._data.remote")?.call_method1("status", (url, is_now))?;
            let (bytes, version) = status.extract()?;
            Ok(Status { bytes, version })
        })
    }

    fn open(&self, url: &str) -> io::Result<Arc<dyn RemoteFile>> {
        call(|py| {
            let file = py.import("lexmill._data.remote")?.call_method1("RemoteFile", (url,))?;
            let size = file.getattr("size")?.extract()?;
            Ok(Arc::new(PythonFile { file: file.unbind(), size }) as _)
        })
    }
}

impl RemoteFile for PythonFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn block(&self, at: u64) -> io::Result<(u64, Bytes)> {
        call(|py| {
            let block = self.file.bind(py).call_method1("block", (at,))?;
            let (start, bytes): (u64, PyBackedBytes) = block.extract()?;
            Ok((start, Bytes::from_owner(bytes)))
        })
    }

    fn check_unchanged(&self) -> io::Result<()> {
        call(|py| self.file.call_method0(py, "check_unchanged").map(drop))
    }
}

/// A `StoredRun` of `lexmill._data.stored_run`.
#[derive(Debug)]
pub(super) struct PyPartStore(pub(super) Py<PyAny>);

impl PartStore for PyPartStore {
    fn begin(&self) -> io::Result<()> {
        call(|py| self.0.call_method0(py, "begin").map(drop))
    }

    fn take(&self, part: &str) -> io::Result<()> {
        call(|py| self.0.call_method1(py, "take", (part,)).map(drop))
    }
}
