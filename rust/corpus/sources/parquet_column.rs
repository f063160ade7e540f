//! Blocks of the values of one column of a Parquet file. Memory holds some pages of the column, never a row group.

use std::collections::VecDeque;
use std::path::Path;

use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::added::AddedColumn;
use super::added::parquet_values::ParquetValues;
use super::columns::{BLOCK, Rows, no_column, no_texts};
use super::decoders::{decoded, parquet_error};
use super::file_errors::failed;
use super::record_block::RecordBlock;
use super::seekable::SeekableFile;
use super::source::{Skipped, Source};
use crate::Result;

/// Rows that are decoded at a time, if they are short.
const ROWS: usize = 1024;

/// One column of one file.
pub(super) struct ParquetColumn {
    file: SerializedFileReader<SeekableFile>,
    /// The file itself, to be compared with its status at the end.
    stored: SeekableFile,
    /// Bytes of the file.
    len: u64,
    column: usize,
    descriptor: ColumnDescPtr,
    /// The next row group.
    group: usize,
    /// The reader of the row group before, and the number of rows that it decodes at a time.
    values: Option<(ColumnReaderImpl<ByteArrayType>, usize)>,
    /// Set if the column has the type null: the rows of the row group that are left.
    nulls: Option<usize>,
    /// Decoded rows that no block has: values share the memory of their page.
    decoded: VecDeque<Option<ByteArray>>,
    rows: Rows,
    /// Columns that are kept beside it.
    added: Option<ParquetValues>,
}

impl ParquetColumn {
    /// Reads the schema, and finds the column whose path with dots is `name`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error) for a file that is not Parquet, [`Error::Format`](crate::Error) for a file whose column is absent or
    /// holds no texts.
    pub(super) fn open(path: &Path, name: &str, added: &[AddedColumn]) -> Result<Self> {
        let stored = SeekableFile::open_from_end(path).map_err(|error| failed("open", path, error))?;
        let (file, len) = stored
            .try_clone()
            .and_then(|file| Ok((file, stored.size()?)))
            .map_err(|error| failed("open", path, error))?;
        let file = decoded(|| SerializedFileReader::new(file), parquet_error)
            .map_err(|error| failed("read", path, error))?;
        let (column, descriptor) = found(file.metadata().file_metadata().schema_descr(), name, path)?;
        let is_null = matches!(descriptor.logical_type_ref(), Some(LogicalType::Unknown));
        let added = if added.is_empty() { None } else { Some(ParquetValues::open(path, added)?) };
        Ok(Self {
            added,
            file,
            stored,
            len,
            column,
            descriptor,
            group: 0,
            values: None,
            nulls: is_null.then_some(0),
            decoded: VecDeque::new(),
            rows: Rows::default(),
        })
    }

    /// Bytes of values before the next row.
    pub(super) fn offset(&self) -> u64 {
        self.rows.offset
    }

    /// The share of the file's bytes that its rows so far make up: the bytes of other columns are never read.
    pub(super) fn read(&self) -> u64 {
        let all = self.file.metadata().file_metadata().num_rows();
        match u64::try_from(all) {
            Ok(all) if self.rows.count < all => {
                (u128::from(self.len) * u128::from(self.rows.count) / u128::from(all)) as u64
            }
            _ => self.len,
        }
    }

    /// Replaces the values of `block` by the next ones; false at the end.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error) for a damaged file; the errors of [`Rows::push`] and of [`RecordBlock::end_added`].
    pub(super) fn next(
        &mut self,
        block: &mut RecordBlock,
        source: &Source,
        skipped: &Skipped,
    ) -> Result<bool> {
        block.bytes.clear();
        let first = self.rows.count;
        while block.bytes.len() + block.added.len() < BLOCK {
            if let Some(value) = self.decoded.pop_front() {
                let (value, mark) = (value.as_ref().map(ByteArray::data), block.mark());
                self.rows.push(value, block, source, skipped)?;
                if let Some(added) = &mut self.added {
                    let path = &source.paths[block.file];
                    let outcome = decoded(|| added.push(&mut block.added), parquet_error);
                    let outcome = outcome.map_err(|error| failed("read", path, error))?;
                    block.end_added(mark, outcome, source, skipped)?;
                }
                continue;
            }
            let path = &source.paths[block.file];
            if !decoded(|| self.decode(), parquet_error).map_err(|error| failed("read", path, error))? {
                self.stored.check_unchanged().map_err(|error| failed("read", path, error))?;
                break;
            }
        }
        Ok(self.rows.count > first)
    }

    /// Decodes some rows; false at the end of the file.
    fn decode(&mut self) -> std::result::Result<bool, ParquetError> {
        if let Some(left) = &mut self.nulls {
            while *left == 0 && self.group < self.file.num_row_groups() {
                *left = self.file.get_row_group(self.group)?.metadata().num_rows().max(0) as usize;
                self.group += 1;
            }
            let rows = (*left).min(ROWS);
            *left -= rows;
            self.decoded.extend(std::iter::repeat_n(None, rows));
            return Ok(rows > 0);
        }
        loop {
            let Some((values, rows)) = &mut self.values else {
                if self.group == self.file.num_row_groups() {
                    return Ok(false);
                }
                self.values = Some(self.open_group()?);
                self.group += 1;
                continue;
            };
            let (mut levels, mut decoded) = (Vec::new(), Vec::new());
            let (count, ..) = values.read_records(*rows, Some(&mut levels), None, &mut decoded)?;
            if count == 0 {
                self.values = None;
                continue;
            }
            let mut decoded = decoded.into_iter();
            if levels.is_empty() {
                self.decoded.extend(decoded.map(Some));
            } else {
                let present = self.descriptor.max_def_level();
                self.decoded.extend(
                    levels.into_iter().map(|level| if level == present { decoded.next() } else { None }),
                );
            }
            return Ok(true);
        }
    }

    fn open_group(&self) -> std::result::Result<(ColumnReaderImpl<ByteArrayType>, usize), ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        let column = group.metadata().column(self.column);
        if let Compression::BROTLI(_) | Compression::LZO = column.compression() {
            let message = format!(
                "{} is not among the compressions that can be read: snappy, gzip, zstd, lz4",
                column.compression()
            );
            return Err(ParquetError::General(message));
        }
        let bytes_per_row = column.uncompressed_size().max(1) / column.num_values().max(1);
        let rows = (BLOCK / (bytes_per_row as usize).max(1)).clamp(1, ROWS);
        let pages = CheckedPages { pages: group.get_column_page_reader(self.column)?, has_dictionary: false };
        Ok((ColumnReaderImpl::new(self.descriptor.clone(), Box::new(pages)), rows))
    }
}

/// The column whose path with dots is `name`, and its number.
fn found(schema: &SchemaDescriptor, name: &str, path: &Path) -> Result<(usize, ColumnDescPtr)> {
    let columns = schema.columns();
    let Some(number) = columns.iter().position(|column| column.path().string() == name) else {
        let inner = format!("{name}.");
        if columns.iter().any(|column| column.path().string().starts_with(&inner)) {
            return Err(no_texts(name, "structs, lists or maps", path));
        }
        return Err(no_column(name, columns.iter().map(|column| column.path().string()), path));
    };
    let column = &columns[number];
    if column.max_rep_level() > 0 {
        return Err(no_texts(name, "values of a list or map", path));
    }
    let kind = match (column.physical_type(), column.logical_type_ref()) {
        (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json | LogicalType::Enum))
        | (_, Some(LogicalType::Unknown)) => None,
        (Type::BYTE_ARRAY, None) => match column.converted_type() {
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM => None,
            other => Some(other.to_string()),
        },
        (_, Some(logical)) => Some(named_type(logical, column.physical_type())),
        (physical, None) => Some(physical.to_string()),
    };
    match kind {
        None => Ok((number, column.clone())),
        Some(kind) => Err(no_texts(name, &kind, path)),
    }
}

/// A type in words, by its name in the format's specification.
fn named_type(logical: &LogicalType, physical: Type) -> String {
    let name = match logical {
        LogicalType::Integer(kind) => {
            return format!("{}int{}", if kind.is_signed { "" } else { "u" }, kind.bit_width);
        }
        LogicalType::Decimal(..) => "decimals",
        LogicalType::Date => "dates",
        LogicalType::Time(..) => "times",
        LogicalType::Timestamp(..) => "timestamps",
        LogicalType::Uuid => "UUIDs",
        LogicalType::Float16 => "float16",
        LogicalType::Bson => "BSON",
        LogicalType::Map => "maps",
        LogicalType::List => "lists",
        _ => return physical.to_string(),
    };
    name.to_owned()
}

/// Pages whose headers have been checked, since the crate `parquet` trusts them: a dictionary has no more values than there is room for,
/// and comes before the pages that refer to it.
struct CheckedPages {
    pages: Box<dyn PageReader>,
    has_dictionary: bool,
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> std::result::Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        match &page {
            Some(Page::DictionaryPage { buf, num_values, .. }) => {
                // Each value begins with its length in 4 bytes.
                if *num_values as usize > buf.len() / 4 {
                    let message =
                        format!("a dictionary of {} bytes cannot hold {num_values} values", buf.len());
                    return Err(ParquetError::General(message));
                }
                self.has_dictionary = true;
            }
            Some(page) if !self.has_dictionary && is_indices(page) => {
                return Err(ParquetError::General(
                    "a page refers to a dictionary that is not there".to_owned(),
                ));
            }
            _ => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> std::result::Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> std::result::Result<(), ParquetError> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> std::result::Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = std::result::Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn is_indices(page: &Page) -> bool {
    matches!(page.encoding(), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
}
