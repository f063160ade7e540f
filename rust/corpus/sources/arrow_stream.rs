//! Record batches that another library hands over in memory.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayReader;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::DataType;

use super::arrow_column::{ArrowColumn, check_texts, column_path, io_error};
use super::columns::decoded;
use super::reader::named;
use crate::{Error, Result};

/// A stream of the Arrow C stream interface, which can be read once.
#[derive(Debug)]
pub struct ArrowStream(Mutex<Option<FFI_ArrowArrayStream>>);

impl ArrowStream {
    /// Takes over a stream, which is released when it has been read or is dropped.
    pub fn new(stream: FFI_ArrowArrayStream) -> Self {
        Self(Mutex::new(Some(stream)))
    }

    /// The column `name` of the stream's batches, or all of its arrays if they are no structs.
    ///
    /// # Errors
    /// [`Error::Format`] for what the producer fails with, and if the column is absent or holds no texts; [`Error::Unsupported`]
    /// if the stream was read before.
    pub(super) fn open(&self, name: &str, path: &Path) -> Result<ArrowColumn> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(stream) = stream else {
            return Err(Error::Unsupported("an Arrow stream can be read only once".to_owned()));
        };
        let reader =
            decoded(|| ArrayStreamReader::try_new(stream), io_error).map_err(|error| failed(path, &error))?;
        let numbers = match reader.field().data_type() {
            DataType::Struct(fields) => column_path(fields, name, path)?,
            found => check_texts(found, name, path).map(|()| Vec::new())?,
        };
        Ok(ArrowColumn::of_foreign(Box::new(reader), numbers))
    }
}

/// The error of a stream, which is no file.
pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Format { path: named(path), message: error.to_string() }
}
