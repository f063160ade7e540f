//! Record batches of Arrow's IPC files and streams. A stream is read front to back; a file by its footer, since writers need not
//! repeat the schema at the front.
//!
//! Source: Apache Arrow, "Columnar format", sections "IPC streaming format" and "IPC file format".

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Block, Endianness, MessageHeader, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::added::{AddedColumn, path_of};

use super::arrow_column::ArrowColumn;
use super::column_paths::column_path;
use super::compression::open_plain;
use super::decoders::{arrow_error, decoded};
use super::file_errors::failed;
use super::seekable::SeekableFile;
use crate::Result;

/// First and last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

/// First bytes of a Feather file of version 1, which is another format.
const FEATHER_1: &[u8; 4] = b"FEA1";

/// First bytes of a message, except in streams of before 2019.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of the metadata of a message, at most, that begins without [`CONTINUATION`]: as a number, four bytes of text are more.
const LONGEST_OLD_METADATA: i32 = 1 << 24;

/// The column `name` of a file or stream; `read` becomes the number of bytes of the file that have been read.
///
/// # Errors
/// [`Error::Io`](crate::Error) for bytes that are neither, [`Error::Format`](crate::Error) if the column is absent or holds no texts.
pub(super) fn open(
    file: Box<dyn Read + Send>,
    name: &str,
    path: &Path,
    added: &[AddedColumn],
    read: &Arc<AtomicU64>,
) -> Result<ArrowColumn> {
    let batches = decoded(|| IpcBatches::new(file, path, read), arrow_error)
        .map_err(|error| failed("read", path, error))?;
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
/// [`Error::Io`](crate::Error) for bytes that are neither.
pub(super) fn schema(file: Box<dyn Read + Send>, path: &Path, read: &Arc<AtomicU64>) -> Result<SchemaRef> {
    let batches = decoded(|| IpcBatches::new(file, path, read), arrow_error);
    batches.map(|batches| batches.schema).map_err(|error| failed("read", path, error))
}

/// The batches of a file or stream.
struct IpcBatches {
    messages: Messages,
    is_done: bool,
    schema: SchemaRef,
    /// The columns that are decoded, in ascending order.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
}

/// Where the messages after the schema come from.
enum Messages {
    Stream(Box<dyn Read + Send>),
    /// The places of dictionaries, then of batches.
    File {
        file: SeekableFile,
        blocks: std::vec::IntoIter<Block>,
        /// Bytes of the file.
        len: u64,
        /// How far the file has been read.
        read: Arc<AtomicU64>,
    },
}

type Outcome<T> = std::result::Result<T, ArrowError>;

fn malformed<T>(message: impl Into<String>) -> Outcome<T> {
    Err(ArrowError::IpcError(message.into()))
}

impl IpcBatches {
    /// Reads the schema. A file that cannot be read from its end, as one that is compressed, is copied to the disk first.
    fn new(mut file: Box<dyn Read + Send>, path: &Path, read: &Arc<AtomicU64>) -> Outcome<Self> {
        let start = up_to(&mut file, MAGIC.len() as u64)?;
        if start.starts_with(FEATHER_1) {
            return malformed(
                "Feather files of version 1 are not read; write version 2, which is Arrow's file format",
            );
        }
        if start != MAGIC {
            return Self::of_stream(Box::new(io::Cursor::new(start).chain(file)));
        }
        if let Some((file, _)) = open_plain(path)? {
            return Self::of_file(file, Arc::clone(read));
        }
        let mut copy = tempfile::tempfile()?;
        io::copy(&mut io::Cursor::new(start).chain(file), &mut copy)?;
        Self::of_file(SeekableFile::Local(copy), Arc::default())
    }

    fn of_stream(mut file: Box<dyn Read + Send>) -> Outcome<Self> {
        let start: Option<[u8; 4]> = up_to(&mut file, 4)?.try_into().ok();
        let metadata = match start {
            Some(CONTINUATION) => length(&mut file)?,
            Some(start) if (1..LONGEST_OLD_METADATA).contains(&i32::from_le_bytes(start)) => {
                i32::from_le_bytes(start).into()
            }
            _ => return malformed("it is neither an Arrow file nor an Arrow stream"),
        };
        let message = exactly(&mut file, metadata)?;
        let message = root_as_message(&message).map_err(|error| ArrowError::IpcError(error.to_string()))?;
        let schema = schema_of(message.header_as_schema())?;
        Ok(Self::of_schema(schema, Messages::Stream(file)))
    }

    /// Reads the footer, after which the file has the footer's length and [`MAGIC`].
    fn of_file(mut file: SeekableFile, read: Arc<AtomicU64>) -> Outcome<Self> {
        let len = file.size()?;
        let tail = 4 + MAGIC.len() as u64;
        let cut_off = "it is cut off: an Arrow file ends with a footer";
        let Some(end) = len.checked_sub(tail) else { return malformed(cut_off) };
        file.seek(SeekFrom::Start(end))?;
        let tail = up_to(&mut file, tail)?;
        let Some((length, MAGIC)) = tail.split_first_chunk::<4>() else { return malformed(cut_off) };
        let length = i32::from_le_bytes(*length);
        let start = u64::try_from(length).ok().and_then(|length| end.checked_sub(length));
        let Some(start) = start else { return malformed(format!("its footer has {length} bytes")) };
        file.seek(SeekFrom::Start(start))?;
        let footer = exactly(&mut file, length.into())?;
        let footer = root_as_footer(&footer).map_err(|error| ArrowError::IpcError(error.to_string()))?;
        let schema = schema_of(footer.schema())?;
        let blocks = [footer.dictionaries(), footer.recordBatches()];
        let blocks: Vec<Block> = blocks.into_iter().flatten().flatten().copied().collect();
        Ok(Self::of_schema(schema, Messages::File { file, blocks: blocks.into_iter(), len, read }))
    }

    fn of_schema(schema: SchemaRef, messages: Messages) -> Self {
        Self { messages, is_done: false, schema, columns: Vec::new(), dictionaries: HashMap::new() }
    }

    /// The next batch, after the dictionaries before it.
    fn next_batch(&mut self) -> Outcome<Option<ArrayRef>> {
        while let Some((metadata, rest)) = self.messages.next_metadata()? {
            let message =
                root_as_message(&metadata).map_err(|error| ArrowError::IpcError(error.to_string()))?;
            let body = exactly(rest, message.bodyLength())?;
            let (body, version) = (Buffer::from_vec(body), message.version());
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let Some(batch) = message.header_as_dictionary_batch() else {
                        return malformed("a dictionary has no header");
                    };
                    check_sizes(batch.data(), &body)?;
                    let known = self.dictionaries.get(&batch.id()).cloned();
                    read_dictionary(&body, batch, &self.schema, &mut self.dictionaries, &version)?;
                    // The dictionaries of a file hold for all of its batches.
                    if let (Messages::File { .. }, Some(known)) = (&self.messages, known)
                        && !batch.isDelta()
                        && self.dictionaries.get(&batch.id()) != Some(&known)
                    {
                        let id = batch.id();
                        return malformed(format!(
                            "dictionary {id} is there twice, which only streams may have"
                        ));
                    }
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
                other => {
                    let kind = other.variant_name().unwrap_or("of an unknown kind");
                    return malformed(format!("a message is {kind} but must be a batch"));
                }
            }
        }
        Ok(None)
    }
}

impl Messages {
    /// The metadata of the next message, and a reader that begins with its body; none after the last message.
    fn next_metadata(&mut self) -> Outcome<Option<(Vec<u8>, &mut dyn Read)>> {
        let (file, is_file): (&mut dyn Read, bool) = match self {
            Self::Stream(file) => (file, false),
            Self::File { file, blocks, len, read } => {
                let Some(block) = blocks.next() else {
                    read.fetch_max(*len, Ordering::Relaxed);
                    file.check_unchanged()?;
                    return Ok(None);
                };
                let Ok(offset) = u64::try_from(block.offset()) else {
                    return malformed(format!("a message begins at byte {}", block.offset()));
                };
                file.seek(SeekFrom::Start(offset))?;
                read.fetch_max(offset, Ordering::Relaxed);
                (file, true)
            }
        };
        let start = up_to(file, 4)?;
        // A stream may end without a mark.
        if start.is_empty() && !is_file {
            return Ok(None);
        }
        let length = match start.try_into() {
            Ok(CONTINUATION) => length(file)?,
            Ok(start) if i32::from_le_bytes(start) < LONGEST_OLD_METADATA => i32::from_le_bytes(start).into(),
            _ => return malformed("it is cut off, or a message does not begin where it should"),
        };
        match length {
            0 if is_file => malformed("a message is empty"),
            0 => {
                // Of a compressed stream, the end of the compression remains.
                let _: usize = file.read(&mut [0])?;
                Ok(None)
            }
            length => Ok(Some((exactly(file, length)?, file))),
        }
    }
}

/// A schema whose numbers can be read.
fn schema_of(schema: Option<arrow_ipc::Schema<'_>>) -> Outcome<SchemaRef> {
    let Some(schema) = schema else { return malformed("there is no schema") };
    if schema.endianness() != Endianness::Little {
        return malformed("numbers are big-endian but must be little-endian");
    }
    Ok(Arc::new(try_fb_to_schema(schema)?))
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
fn length(file: &mut (impl Read + ?Sized)) -> Outcome<i64> {
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    Ok(i32::from_le_bytes(length).into())
}

/// The next `count` bytes, or fewer at the end. Memory grows with the bytes that are there, not with `count`.
fn up_to(file: &mut (impl Read + ?Sized), count: u64) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The next `count` bytes.
fn exactly(file: &mut (impl Read + ?Sized), count: i64) -> Outcome<Vec<u8>> {
    let Ok(count) = u64::try_from(count) else {
        return malformed(format!("a message has {count} bytes"));
    };
    let bytes = up_to(file, count)?;
    match count - bytes.len() as u64 {
        0 => Ok(bytes),
        missing => malformed(format!("it is cut off: {missing} bytes of a message are missing")),
    }
}

/// Checks the sizes that a batch states for its buffers, before the decoder asks for memory.
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
