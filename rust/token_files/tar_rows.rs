//! The positions of ids in a tar file of arrays, for readers that memory-map it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use tar::Archive;

use super::layouts::{HEADER, IDS, header};
use super::width::Width;
use crate::{Error, Result};

/// Bytes of a block, and of the zeros at the end of a tar file.
const BLOCK: u64 = 512;
const END: u64 = 2 * BLOCK;

/// The position of the ids of each row in the file, and their size in bytes.
///
/// # Errors
/// [`Error::Io`]; [`Error::Format`] if the file is no such tar file.
pub fn tar_rows(path: &Path, width: Width) -> Result<(Vec<i64>, Vec<i64>)> {
    let failed = Error::io("read", path);
    let broken = || Error::Format {
        path: path.display().to_string(),
        message: format!("it is not a tar file of arrays of {}", width.name()),
    };
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let (mut archive, suffix) = (Archive::new(BufReader::new(file)), format!(".{IDS}.npy"));
    let (mut starts, mut sizes, mut end) = (Vec::new(), Vec::new(), 0);
    for entry in archive.entries_with_seek().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let (start, bytes) = (entry.raw_file_position(), entry.size());
        end = bytes
            .checked_next_multiple_of(BLOCK)
            .and_then(|bytes| start.checked_add(bytes))
            .ok_or_else(broken)?;
        if !entry.path_bytes().ends_with(suffix.as_bytes()) {
            continue;
        }
        let ids = bytes.checked_sub(HEADER as u64).filter(|_| end < size).ok_or_else(broken)?;
        let mut head = [0; HEADER];
        entry.read_exact(&mut head).map_err(failed)?;
        if head[..] != header(width.descr(), &format!("({},)", ids / width.bytes() as u64)) {
            return Err(broken());
        }
        starts.push((start + HEADER as u64) as i64);
        sizes.push(ids as i64);
    }
    if size != end.saturating_add(END) {
        return Err(broken());
    }
    Ok((starts, sizes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::token_files::layout::Layout;
    use crate::token_files::layouts;

    proptest! {
        #![proptest_config(cases(100))]

        #[test]
        fn positions_lead_to_ids_and_a_damaged_file_is_no_panic(
            lengths in prop::collection::vec(1..900usize, 0..9),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            end in any::<prop::sample::Index>(),
        ) {
            let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![7; length * 2]).collect();
            let (_folder, path) = layouts::written(Layout::WebDataset, Width::U16, &rows);
            let mut bytes = std::fs::read(&path).expect("it is there");
            let (starts, sizes) = tar_rows(&path, Width::U16).expect("it is whole");
            let expected: Vec<i64> = lengths.iter().map(|&length| length as i64 * 2).collect();
            prop_assert_eq!(&sizes, &expected);
            for (start, size) in starts.into_iter().zip(sizes) {
                prop_assert_eq!(&bytes[start as usize..][..size as usize], &vec![7; size as usize]);
            }
            prop_assert!(tar_rows(&path, Width::U32).is_err() || lengths.is_empty());
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len()) + 1);
            std::fs::write(&path, bytes).expect("it may be written");
            let _ = tar_rows(&path, Width::U16);
        }
    }
}
