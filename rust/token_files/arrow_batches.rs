//! Where the columns of an Arrow stream lie in its file, for readers that memory-map it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::root_as_message;
use arrow_schema::{DataType, Schema};

use crate::{Error, Result};

/// The marker before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of a message's metadata at most: a batch of two columns has some hundred.
const LONGEST_METADATA: u32 = 1 << 20;

/// A column of lists of integers.
#[derive(Debug)]
pub struct ListColumn {
    /// The width of an integer, in bits.
    pub bits: usize,
    /// For each record batch its rows, and the bytes of the file at which the offsets and the values of the column begin.
    pub batches: Vec<(u64, u64, u64)>,
}

/// Finds the column `name` of an Arrow stream. The columns before it must have lists of integers, too.
///
/// # Errors
/// [`Error::Io`]; [`Error::Format`] if the file is no such stream.
pub fn arrow_batches(path: &Path, name: &str) -> Result<ListColumn> {
    let failed = Error::io("read", path);
    let malformed = |message| Error::Format { path: path.display().to_string(), message };
    let broken = || malformed("it is not an Arrow stream of lists".to_owned());
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let (mut column, mut batches, mut metadata) = (None, Vec::new(), Vec::new());
    while let Some(length) = next_length(&mut file).map_err(failed)? {
        if length > LONGEST_METADATA {
            return Err(broken());
        }
        metadata.resize(length as usize, 0);
        file.read_exact(&mut metadata).map_err(failed)?;
        let body = file.stream_position().map_err(failed)?;
        let message = root_as_message(&metadata).map_err(|_| broken())?;
        if let Some(schema) = message.header_as_schema() {
            let schema = try_fb_to_schema(schema).map_err(|_| broken())?;
            column = Some(list_column(&schema, name).map_err(malformed)?);
        }
        if let Some(batch) = message.header_as_record_batch() {
            // Of each column, validity and offsets of the lists, validity and values of their items.
            let first = column.ok_or_else(broken)?.0 * 4;
            let buffers = batch.buffers().filter(|buffers| buffers.len() >= first + 4).ok_or_else(broken)?;
            let start = |at: usize| body.checked_add_signed(buffers.get(at).offset()).ok_or_else(broken);
            // Each column has a node for its lists, and a node for their items.
            let items = batch.nodes().filter(|nodes| nodes.len() >= first / 2 + 2).ok_or_else(broken)?;
            if items.get(first / 2).null_count() != 0 || items.get(first / 2 + 1).null_count() != 0 {
                return Err(malformed(format!("column {name} has nulls")));
            }
            let rows = u64::try_from(batch.length()).map_err(|_| broken())?;
            batches.push((rows, start(first + 1)?, start(first + 3)?));
        }
        let rest = Some(message.bodyLength()).filter(|&length| length >= 0).ok_or_else(broken)?;
        file.seek_relative(rest).map_err(failed)?;
    }
    let (_, bits) = column.ok_or_else(broken)?;
    Ok(ListColumn { bits, batches })
}

/// The number of the column `name`, and the bits of its integers; or the fault of the schema.
fn list_column(schema: &Schema, name: &str) -> std::result::Result<(usize, usize), String> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut found = names.iter().enumerate().filter(|&(_, &other)| other == name);
    let (Some((column, _)), None) = (found.next(), found.next()) else {
        return Err(format!("it must have one column {name} but has the columns {}", names.join(", ")));
    };
    let mut bits = 0;
    for field in &schema.fields()[..=column] {
        bits = bits_of_items(field.data_type()).ok_or_else(|| {
            let other = field.name();
            format!("column {other} has no lists of integers, as column {name} and all columns before it must have")
        })?;
    }
    Ok((column, bits))
}

/// The bits of the integers in a list; none for other types.
fn bits_of_items(list: &DataType) -> Option<usize> {
    let DataType::List(items) = list else { return None };
    let width = items.data_type().primitive_width().filter(|_| items.data_type().is_integer());
    width.map(|bytes| 8 * bytes)
}

/// The length of the next message's metadata; none at the end.
fn next_length(file: &mut impl Read) -> io::Result<Option<u32>> {
    let mut word = [0; 4];
    match file.read_exact(&mut word) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if word == CONTINUATION {
        file.read_exact(&mut word)?;
    }
    Ok(Some(u32::from_le_bytes(word)).filter(|&length| length > 0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::token_files::layout::Layout;
    use crate::token_files::layouts;
    use crate::token_files::width::Width;

    proptest! {
        #![proptest_config(cases(200))]

        #[test]
        fn a_damaged_stream_is_no_panic(
            lengths in prop::collection::vec(0..9usize, 0..9),
            damage in prop::collection::vec((0..600usize, any::<u8>()), 0..4),
            end in 0..2000usize,
        ) {
            let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![7; length * 2]).collect();
            let (_folder, path) = layouts::written(Layout::Arrow, Width::U16, &rows);
            let mut bytes = std::fs::read(&path).expect("it is there");
            let ListColumn { bits, batches } = arrow_batches(&path, "input_ids").expect("it is whole");
            prop_assert_eq!(bits, 16);
            prop_assert_eq!(batches.iter().map(|batch| batch.0).sum::<u64>(), lengths.len() as u64);
            let (_, offsets, values) = batches[0];
            let ends = lengths.iter().scan(0, |end, &length| {
                *end += length as i32;
                Some(*end)
            });
            let ends: Vec<u8> = std::iter::once(0).chain(ends).flat_map(i32::to_le_bytes).collect();
            prop_assert_eq!(&bytes[offsets as usize..][..ends.len()], ends);
            let ids = lengths.iter().sum::<usize>() * 2;
            prop_assert_eq!(&bytes[values as usize..][..ids], vec![7; ids]);
            for (at, byte) in damage {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(end.max(1));
            std::fs::write(&path, bytes).expect("it may be written");
            let _ = arrow_batches(&path, "input_ids");
        }
    }
}
