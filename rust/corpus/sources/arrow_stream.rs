//! Record batches that another library hands over in memory.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayReader;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::{DataType, Fields};

use super::decoders::{arrow_error, decoded};
use super::file_errors::named;
use crate::{Error, Result};

/// A stream of the Arrow C stream interface, which can be read once.
#[derive(Debug)]
pub struct ArrowStream(Mutex<Held>);

/// A stream before it is read.
#[derive(Debug)]
enum Held {
    Stream(FFI_ArrowArrayStream),
    /// Its schema has been asked for.
    Reader(ArrayStreamReader),
    /// It was read.
    Nothing,
}

impl ArrowStream {
    /// Takes over a stream, which is released when it has been read or is dropped.
    pub fn new(stream: FFI_ArrowArrayStream) -> Self {
        Self(Mutex::new(Held::Stream(stream)))
    }

    /// Takes the stream out.
    ///
    /// # Errors
    /// [`Error::Format`] for an error of the producer; [`Error::Unsupported`] if the stream was read before.
    pub(super) fn take(&self, path: &Path) -> Result<ArrayStreamReader> {
        let held =
            std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), Held::Nothing);
        match held {
            Held::Stream(stream) => decoded(|| ArrayStreamReader::try_new(stream), arrow_error)
                .map_err(|error| failed(path, &error)),
            Held::Reader(reader) => Ok(reader),
            Held::Nothing => Err(Error::Unsupported("an Arrow stream can be read only once".to_owned())),
        }
    }

    /// The columns of the stream; none if its arrays are no structs.
    ///
    /// # Errors
    /// [`Error::Format`] for an error of the producer; [`Error::Unsupported`] if the stream was read before.
    pub(super) fn fields(&self, path: &Path) -> Result<Option<Fields>> {
        let reader = self.take(path)?;
        let fields = match reader.field().data_type() {
            DataType::Struct(fields) => Some(fields.clone()),
            _ => None,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Held::Reader(reader);
        Ok(fields)
    }
}

/// The error of a stream, which is no file.
pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Format { path: named(path), message: error.to_string() }
}
