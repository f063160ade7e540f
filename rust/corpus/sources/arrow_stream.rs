//! Record batches that another library hands over in memory.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayReader;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::{DataType, Fields};

use super::added::{AddedColumn, path_of};
use super::arrow_column::{ArrowColumn, check_texts, column_path, io_error};
use super::columns::{decoded, no_column};
use super::reader::named;
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
    fn take(&self, path: &Path) -> Result<ArrayStreamReader> {
        let held =
            std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), Held::Nothing);
        match held {
            Held::Stream(stream) => {
                decoded(|| ArrayStreamReader::try_new(stream), io_error).map_err(|error| failed(path, &error))
            }
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

    /// The column `name` of the stream's batches, or all of its arrays if they are no structs.
    ///
    /// # Errors
    /// [`Error::Format`] for an error of the producer, and if a column is absent or holds no texts; [`Error::Unsupported`]
    /// if the stream was read before.
    pub(super) fn open(&self, name: &str, path: &Path, added: &[AddedColumn]) -> Result<ArrowColumn> {
        let reader = self.take(path)?;
        let (numbers, added) = match reader.field().data_type() {
            DataType::Struct(fields) => {
                let added = added.iter().map(|column| path_of(fields, column, path));
                (column_path(fields, name, path)?, added.collect::<Result<_>>()?)
            }
            found => {
                check_texts(found, name, path)?;
                if let Some(column) = added.first() {
                    return Err(no_column(&column.name, ["the texts"].into_iter(), path));
                }
                (Vec::new(), Vec::new())
            }
        };
        Ok(ArrowColumn::of_foreign(Box::new(reader), numbers, added))
    }
}

/// The error of a stream, which is no file.
pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Format { path: named(path), message: error.to_string() }
}
