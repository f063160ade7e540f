//! The ids and the loss masks of Parquet files, a row group at a time, for readers.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::Int32Type;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::corpus::sources::{decoded, parquet_error};
use crate::{Error, Result};

/// Rows that are decoded at a time. A damaged file that claims more rows takes no more memory.
const ROWS: usize = 1 << 12;

/// Rows of ids end to end, and the places where rows begin and end.
pub type GroupRows = (Vec<i32>, Vec<i64>);

/// For each row group of a Parquet file its rows, and the values of a column of lists.
///
/// # Errors
/// [`Error::Io`] for a file that is no Parquet file or has no such column.
pub fn parquet_groups(path: &Path, column: &str) -> Result<Vec<(u64, u64)>> {
    read_file(path, |file| {
        let column = list_column(file, column)?;
        let counts = |count: i64| {
            u64::try_from(count).map_err(|_| ParquetError::General(format!("a count is {count}")))
        };
        let groups = file.metadata().row_groups().iter();
        groups
            .map(|group| Ok((counts(group.num_rows())?, counts(group.column(column).num_values())?)))
            .collect()
    })
}

/// A column of the rows of a row group. Values beyond 31 bits are negative.
///
/// # Errors
/// [`Error::Io`] for a file that is not as it was written.
pub fn parquet_group(path: &Path, group: usize, column: &str) -> Result<GroupRows> {
    read_file(path, |file| {
        let column = list_column(file, column)?;
        let group = file.get_row_group(group)?;
        let reader = get_typed_column_reader(group.get_column_reader(column)?);
        let present = file.metadata().file_metadata().schema_descr().column(column).max_def_level();
        rows_of(reader, present)
    })
}

fn rows_of(
    mut reader: ColumnReaderImpl<Int32Type>,
    present: i16,
) -> std::result::Result<GroupRows, ParquetError> {
    let (mut ids, mut splits) = (Vec::new(), Vec::new());
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        definitions.clear();
        repetitions.clear();
        values.clear();
        let read = reader.read_records(ROWS, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
        if read == (0, 0, 0) {
            break;
        }
        let mut count = ids.len() as i64;
        for (&definition, &repetition) in definitions.iter().zip(&repetitions) {
            if repetition == 0 {
                splits.push(count);
            }
            count += i64::from(definition == present);
        }
        ids.extend_from_slice(&values);
    }
    splits.push(ids.len() as i64);
    Ok((ids, splits))
}

/// The number of a column of lists of integers.
fn list_column(file: &SerializedFileReader<File>, column: &str) -> std::result::Result<usize, ParquetError> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let is_named = |path: &[String]| path.first().is_some_and(|name| name == column);
    let found = columns.iter().position(|column| is_named(column.path().parts()));
    let found = found.filter(|&number| {
        let column = &columns[number];
        column.physical_type() == Type::INT32 && column.max_rep_level() == 1
    });
    found.ok_or_else(|| {
        ParquetError::General(format!("there is no column {column} of lists of 32-bit integers"))
    })
}

/// Opens a file and answers the result of `work`.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn read_file<T>(
    path: &Path,
    work: impl FnOnce(&SerializedFileReader<File>) -> std::result::Result<T, ParquetError>,
) -> Result<T> {
    let failed = Error::io("read", path);
    let file = File::open(path).map_err(failed)?;
    decoded(|| work(&SerializedFileReader::new(file)?), parquet_error).map_err(failed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::token_files::layout::Layout;
    use crate::token_files::layouts::{self, IDS};
    use crate::token_files::width::Width;

    proptest! {
        #![proptest_config(cases(100))]

        #[test]
        fn rows_come_back_and_a_damaged_file_is_no_panic(
            lengths in prop::collection::vec(0..9usize, 0..9),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            end in any::<prop::sample::Index>(),
        ) {
            let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| [7, 0, 0, 128].repeat(length)).collect();
            let (_folder, path) = layouts::written(Layout::Parquet, Width::U32, &rows);
            let groups = parquet_groups(&path, IDS).expect("it is whole");
            prop_assert_eq!(groups.iter().map(|group| group.0).sum::<u64>(), lengths.len() as u64);
            for group in 0..groups.len() {
                let (ids, splits) = parquet_group(&path, group, IDS).expect("it is whole");
                prop_assert_eq!(ids, vec![i32::MIN + 7; lengths.iter().sum()]);
                let rows: Vec<usize> = splits.windows(2).map(|ends| (ends[1] - ends[0]) as usize).collect();
                prop_assert_eq!(&rows, &lengths);
            }
            let mut bytes = std::fs::read(&path).expect("it is there");
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len()) + 1);
            std::fs::write(&path, bytes).expect("it may be written");
            if let Ok(groups) = parquet_groups(&path, IDS) {
                (0..groups.len()).for_each(|group| drop(parquet_group(&path, group, IDS)));
            }
        }
    }
}
