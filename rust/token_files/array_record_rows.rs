//! The positions of records in an `ArrayRecord` file, for readers that memory-map it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::layouts::{BLOCK, MAGIC, read_records, record_end, record_start};
use crate::formats::protobuf::{Message, WireValue};
use crate::{Error, Result};

/// The position in the file and the size in bytes of each record. A block header interrupts a record at every multiple of 64 KiB.
///
/// # Errors
/// [`Error::Io`]; [`Error::Format`] if the file is not one with a chunk for each record.
pub fn array_record_rows(path: &Path) -> Result<(Vec<i64>, Vec<i64>)> {
    let failed = Error::io("read", path);
    let broken = || Error::Format {
        path: path.display().to_string(),
        message: "it is not an ArrayRecord file with a chunk for each record".to_owned(),
    };
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let end = size.checked_sub(BLOCK).filter(|end| end.is_multiple_of(BLOCK)).ok_or_else(broken)?;
    let mut read = |chunk: u64| match read_records(&mut file, chunk) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => {
            Err(broken())
        }
        read => read.map_err(failed),
    };
    let postscript = read(end)?;
    let [footer, magic] = numbers(postscript.first().ok_or_else(broken)?)?;
    if magic != MAGIC || footer >= end {
        return Err(broken());
    }
    let entries = read(footer)?;
    let (mut starts, mut sizes) = (Vec::new(), Vec::new());
    // The first record of the footer counts the others.
    for entry in entries.iter().skip(1) {
        let [chunk, bytes, records] = numbers(entry)?;
        if records != 1 || chunk >= footer || bytes >= footer {
            return Err(broken());
        }
        let start = record_start(chunk, bytes);
        if record_end(start, bytes) > footer {
            return Err(broken());
        }
        starts.push(start as i64);
        sizes.push(bytes as i64);
    }
    Ok((starts, sizes))
}

/// The numbers in the first fields of a message; a missing one is 0.
fn numbers<const COUNT: usize>(message: &[u8]) -> Result<[u64; COUNT]> {
    let (mut message, mut found) = (Message::new("footer", message), [0; COUNT]);
    while let Some((field, value, _)) = message.next_field()? {
        let place = usize::try_from(field.wrapping_sub(1)).ok().and_then(|at| found.get_mut(at));
        if let (WireValue::Varint(number), Some(place)) = (value, place) {
            *place = number;
        }
    }
    Ok(found)
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
        #![proptest_config(cases(60))]

        #[test]
        fn records_are_counted_and_a_damaged_file_is_no_panic(
            lengths in prop::collection::vec(prop_oneof![1..900usize, 30_000..40_000usize], 0..9),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            end in any::<prop::sample::Index>(),
        ) {
            let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![7; length * 2]).collect();
            let (_folder, path) = layouts::written(Layout::ArrayRecord, Width::U16, &rows);
            let (starts, sizes) = array_record_rows(&path).expect("it is whole");
            let expected: Vec<i64> = lengths.iter().map(|&length| length as i64 * 2).collect();
            prop_assert_eq!(&sizes, &expected);
            let mut bytes = std::fs::read(&path).expect("it is there");
            for start in starts {
                // At the end of a block the header of the next one comes before the first id.
                let start = start as usize + if (start as u64).is_multiple_of(BLOCK) { 24 } else { 0 };
                prop_assert_eq!(bytes[start], 7);
            }
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len()) + 1);
            std::fs::write(&path, bytes).expect("it may be written");
            let _ = array_record_rows(&path);
        }
    }
}
