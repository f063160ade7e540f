//! Record batches of Arrow's IPC files and streams, which are read front to back: a file is a stream between two marks, with an
//! index at the end that reading in order does not need.
//!
//! Source: Apache Arrow, "Columnar format", sections "IPC streaming format" and "IPC file format".

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Endianness, MessageHeader, RecordBatch, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::added::{AddedColumn, path_of};

use super::arrow_column::{ArrowColumn, column_path, io_error};
use super::columns::decoded;
use super::reader::failed;
use crate::Result;

/// What a file begins with, padding included, and ends with.
const MAGIC: &[u8; 8] = b"ARROW1\0\0";

/// Bytes of padding that are accepted after what a file begins with, beyond the two of the format.
const PADDING: usize = 64;

/// What a message begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The column `name` of a file or stream.
///
/// # Errors
/// [`Error::Io`](crate::Error) for what is neither, [`Error::Format`](crate::Error) if the column is absent or holds no texts.
pub(super) fn open(
    file: Box<dyn Read + Send>,
    name: &str,
    path: &Path,
    added: &[AddedColumn],
) -> Result<ArrowColumn> {
    let batches = decoded(|| IpcBatches::new(file), io_error).map_err(|error| failed("read", path, error))?;
    let mut numbers = column_path(batches.schema.fields(), name, path)?;
    let fields = batches.schema.fields();
    let added = added.iter().map(|column| path_of(fields, column, path)).collect::<Result<Vec<_>>>();
    let mut added = added?;
    // Other columns are not decoded.
    let mut columns: Vec<usize> = added.iter().map(|path| path.numbers[0]).chain([numbers[0]]).collect();
    columns.sort_unstable();
    columns.dedup();
    let outer = added.iter_mut().map(|path| &mut path.numbers[0]).chain([&mut numbers[0]]);
    outer.for_each(|number| *number = columns.partition_point(|decoded| decoded < number));
    Ok(ArrowColumn::of_decoded(Box::new(IpcBatches { columns, ..batches }), numbers, added))
}

/// The schema of a file or stream.
///
/// # Errors
/// [`Error::Io`](crate::Error) for what is neither.
pub(super) fn schema(file: Box<dyn Read + Send>, path: &Path) -> Result<SchemaRef> {
    let batches = decoded(|| IpcBatches::new(file), io_error);
    batches.map(|batches| batches.schema).map_err(|error| failed("read", path, error))
}

/// The batches of a file or stream.
struct IpcBatches {
    file: Box<dyn Read + Send>,
    /// Whether the end has to be marked, as in a file.
    is_file: bool,
    is_done: bool,
    schema: SchemaRef,
    /// The columns that are decoded, in ascending order.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
}

type Outcome<T> = std::result::Result<T, ArrowError>;

fn malformed<T>(message: impl Into<String>) -> Outcome<T> {
    Err(ArrowError::IpcError(message.into()))
}

impl IpcBatches {
    /// Reads the schema.
    fn new(mut file: Box<dyn Read + Send>) -> Outcome<Self> {
        let start = up_to(&mut file, 4)?;
        let is_file = MAGIC.starts_with(&start) && start.len() == 4;
        let mut first =
            if is_file && up_to(&mut file, 4)? == MAGIC[4..] { up_to(&mut file, 4)? } else { start };
        // Writers may pad the mark to the alignment of buffers.
        for _ in 0..PADDING / 4 {
            if is_file && first == [0; 4] {
                first = up_to(&mut file, 4)?;
            }
        }
        if first != CONTINUATION {
            return malformed("it is neither an Arrow file nor an Arrow stream");
        }
        let length = length(&mut file)?;
        let message = exactly(&mut file, length)?;
        let message = root_as_message(&message).map_err(|error| ArrowError::IpcError(error.to_string()))?;
        let Some(schema) = message.header_as_schema() else { return malformed("there is no schema") };
        if schema.endianness() != Endianness::Little {
            return malformed("numbers are big-endian but must be little-endian");
        }
        let schema = Arc::new(try_fb_to_schema(schema)?);
        Ok(Self { file, is_file, is_done: false, schema, columns: Vec::new(), dictionaries: HashMap::new() })
    }

    /// The next batch, after the dictionaries before it.
    fn next_batch(&mut self) -> Outcome<Option<ArrayRef>> {
        while let Some(metadata) = self.next_metadata()? {
            let message =
                root_as_message(&metadata).map_err(|error| ArrowError::IpcError(error.to_string()))?;
            let body = exactly(&mut self.file, message.bodyLength())?;
            let (body, version) = (Buffer::from_vec(body), message.version());
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let Some(batch) = message.header_as_dictionary_batch() else {
                        return malformed("a dictionary has no header");
                    };
                    check_sizes(batch.data(), &body)?;
                    read_dictionary(&body, batch, &self.schema, &mut self.dictionaries, &version)?;
                }
                MessageHeader::RecordBatch => {
                    let header = message.header_as_record_batch();
                    check_sizes(header, &body)?;
                    let Some(batch) = header else { return malformed("a batch has no header") };
                    let (schema, columns) = (Arc::clone(&self.schema), Some(&self.columns[..]));
                    let batch =
                        read_record_batch(&body, batch, schema, &self.dictionaries, columns, &version)?;
                    return Ok(Some(Arc::new(StructArray::from(batch))));
                }
                other => return malformed(format!("a message is {other:?} but must be a batch")),
            }
        }
        Ok(None)
    }

    /// The metadata of the next message, unless the stream ends here.
    fn next_metadata(&mut self) -> Outcome<Option<Vec<u8>>> {
        let start = up_to(&mut self.file, 4)?;
        // A stream may end without a mark.
        if start.is_empty() && !self.is_file {
            return Ok(None);
        }
        if start != CONTINUATION {
            return malformed("it is cut off, or a message does not begin where it should");
        }
        match length(&mut self.file)? {
            0 => self.check_end().map(|()| None),
            length => exactly(&mut self.file, length).map(Some),
        }
    }

    /// Reads to the end, where a file has a mark.
    fn check_end(&mut self) -> Outcome<()> {
        let (mut rest, mut tail) = ([0; 4096], Vec::new());
        loop {
            match self.file.read(&mut rest) {
                Ok(0) => break,
                Ok(read) => {
                    tail.extend_from_slice(&rest[..read]);
                    tail.drain(..tail.len().saturating_sub(6));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.is_file && tail != MAGIC[..6] { malformed("it is cut off") } else { Ok(()) }
    }
}

impl Iterator for IpcBatches {
    type Item = Outcome<ArrayRef>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.is_done = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// The number of bytes of a message's metadata.
fn length(file: &mut impl Read) -> Outcome<i64> {
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    Ok(i32::from_le_bytes(length).into())
}

/// The next `count` bytes, or those up to the end. Memory grows with what is there, whatever the count.
fn up_to(file: &mut impl Read, count: u64) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The next `count` bytes.
fn exactly(file: &mut impl Read, count: i64) -> Outcome<Vec<u8>> {
    let Ok(count) = u64::try_from(count) else {
        return malformed(format!("a message has {count} bytes"));
    };
    let bytes = up_to(file, count)?;
    match count - bytes.len() as u64 {
        0 => Ok(bytes),
        missing => malformed(format!("it is cut off: {missing} bytes of a message are missing")),
    }
}

/// Checks what a batch says about the sizes of its buffers, before the decoder asks for memory.
fn check_sizes(batch: Option<RecordBatch<'_>>, body: &Buffer) -> Outcome<()> {
    let Some(batch) = batch else { return malformed("a batch has no header") };
    for buffer in batch.buffers().into_iter().flatten() {
        let (start, length) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
        let bytes = match (start, length) {
            (Ok(start), Ok(length)) => body.as_slice().get(start..).and_then(|rest| rest.get(..length)),
            _ => None,
        };
        let Some(bytes) = bytes else { return malformed("a buffer goes beyond its message") };
        if let (Some(_), Some(size)) = (batch.compression(), bytes.first_chunk::<8>()) {
            // -1 stands for a buffer that is not compressed.
            let size = usize::try_from(i64::from_le_bytes(*size)).unwrap_or(0);
            if Vec::<u8>::new().try_reserve_exact(size).is_err() {
                return malformed(format!("a buffer says that it has {size} bytes, which no memory holds"));
            }
        }
    }
    Ok(())
}
