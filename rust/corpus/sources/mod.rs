//! Texts in files of several formats, plain or compressed.
//!
//! | file | holds |
//! |---|---|
//! | `source` | the files to read, their format, and the handling of broken records |
//! | `added` | columns that are kept beside texts |
//! | `wanted_columns` | the columns that a caller names, with their types |
//! | `columns` | shared by columns of all formats: rows, and the errors of a column |
//! | `column_paths` | where a column is in a schema |
//! | `decoders` | errors and panics of the decoders of other libraries |
//! | `file_errors` | files as errors name them |
//! | `compression` | a file's bytes, decompressed |
//! | `seekable` | a file of this machine or of a store, read from any place |
//! | `record_block` | a block of whole records |
//! | `reader` | the files of a source in such blocks |
//! | `line_ranges` | plain files of lines in ranges of bytes |
//! | `csv_records` | blocks of CSV records |
//! | `csv_scan` | where CSV records end, and where their values are |
//! | `parquet_column` | blocks of values of a Parquet column |
//! | `arrow_column` | blocks of values of a column of Arrow record batches |
//! | `arrow_ipc` | record batches of Arrow's IPC files and streams |
//! | `arrow_stream` | record batches of another library in memory |
//! | `documents` | blocks of documents of plain text |
//! | `json_field` | the one field of a JSON object that is a text |
//! | `texts` | the texts of a block of records |
//!
//! Of a plain file of lines, each thread reads the ranges that it works on. Of other files, one thread reads and decompresses a block
//! while the others parse theirs, so a block that leaves the [`SourceReader`] is still in the file's own spelling; but the values of
//! columns are decoded by the reading thread.

mod added;
mod arrow_column;
mod arrow_ipc;
mod arrow_stream;
mod column_paths;
mod columns;
mod compression;
mod csv_records;
mod csv_scan;
mod decoders;
mod documents;
mod file_errors;
mod json_field;
mod line_ranges;
mod parquet_column;
mod reader;
mod record_block;
mod seekable;
mod source;
mod texts;
mod wanted_columns;

use std::sync::Arc;

use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::tokenizer::{BlockEnd, WordCounting};

pub use added::{AddedColumn, AddedValue, AddedValues, ValueKind};
pub use arrow_stream::ArrowStream;
pub(in crate::corpus) use compression::open_text;
#[cfg(feature = "python")]
pub(crate) use decoders::arrow_error;
pub(crate) use decoders::{decoded, parquet_error};
pub(in crate::corpus) use file_errors::STDIN;
pub use reader::SourceReader;
pub use record_block::RecordBlock;
pub use source::{CsvColumn, Format, OnError, Skipped, Source};
pub use wanted_columns::added_columns;

/// Counts the words of a source text by text; progress counts bytes of files as they lie on the disk, of `total`.
///
/// Memory does not grow with the files; one record has to fit.
///
/// # Errors
/// The errors of [`SourceReader::next`], of [`Source::for_each_text`] and of [`WordCounting::add_blocks`].
pub fn count_source(
    counting: &mut WordCounting,
    source: &Arc<Source>,
    skipped: &Arc<Skipped>,
    total: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<()> {
    let mut reader = SourceReader::new(Arc::clone(source), Arc::clone(skipped));
    let begin = counting.begin_sources(source.paths.len())?;
    // Text takes more room decompressed; the estimate only decides how many threads are worth their start.
    let bytes = reader.bytes().map_or(u64::MAX, |bytes| bytes.saturating_mul(4));
    let read = |block: &mut RecordBlock, each: &mut dyn FnMut(&str, u64) -> Result<()>| {
        source.for_each_text(block, skipped, each)?;
        Ok(BlockEnd { offset: block.end, read: block.read })
    };
    let next = |block: &mut RecordBlock| {
        let is_filled = reader.next(block)?;
        begin(block.file, block.file_offset);
        Ok(is_filled)
    };
    counting.add_blocks(bytes, next, read, total, on_progress)
}

/// Texts of a source that stand for more of them.
#[derive(Debug, Default)]
pub struct Sample {
    /// Texts in order.
    pub texts: Vec<String>,
    /// Bytes of all texts that were read, of which `texts` may be the first ones.
    pub text_bytes: u64,
    /// Bytes of files, as they lie on the disk, that held these.
    pub file_bytes: u64,
}

/// Reads blocks until they hold `text_bytes` of text, or took `file_bytes` of files.
///
/// A record batch of Arrow's is read as a whole, since only then it is known how much of the file its texts took; texts beyond `text_bytes`
/// are not kept.
///
/// # Errors
/// The errors of [`SourceReader::next`] and of [`Source::for_each_text`].
pub fn sample(
    mut reader: SourceReader,
    source: &Source,
    skipped: &Skipped,
    text_bytes: u64,
    file_bytes: u64,
) -> Result<Sample> {
    let (mut sample, mut block) = (Sample::default(), RecordBlock::default());
    let is_enough = |sample: &Sample| sample.text_bytes >= text_bytes || sample.file_bytes >= file_bytes;
    while (!is_enough(&sample) || reader.is_within_batch()) && reader.next(&mut block)? {
        source.for_each_text(&mut block, skipped, |text, _| {
            if sample.text_bytes < text_bytes {
                sample.texts.push(text.to_owned());
            }
            sample.text_bytes += text.len() as u64;
            Ok(())
        })?;
        sample.file_bytes += block.read;
    }
    Ok(sample)
}

#[cfg(test)]
mod tests;
